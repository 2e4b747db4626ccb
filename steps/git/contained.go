package git

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// contained reports a head that adds nothing to base: it is merged, or its
// changes came another way, as by a squash.
func (j *job) contained(ctx context.Context, base string) (MergeOutput, error) {
	ancestor, err := j.mergeBase(ctx, base)
	if err != nil {
		return MergeOutput{}, err
	}
	if ancestor != j.head {
		return MergeOutput{MergeSHA: base, BaseSHA: base, AlreadyMerged: true}, nil
	}
	return j.ancestor(ctx, base)
}

// ancestor reports a head that is an ancestor of base: by our own commit if
// there is one, else by the commit that brought it into the branch.
func (j *job) ancestor(ctx context.Context, base string) (MergeOutput, error) {
	if base == j.head {
		return MergeOutput{MergeSHA: base, BaseSHA: base, AlreadyMerged: true}, nil
	}
	own, err := j.own(ctx, base)
	if own.MergeSHA != "" {
		return own, nil
	}
	sha := base
	if err == nil {
		sha, err = j.bringer(ctx, base)
	}
	if errors.Is(err, errCut) { // a very old merge: not worth the memory
		sha, err = base, nil
	}
	return MergeOutput{MergeSHA: sha, BaseSHA: base, AlreadyMerged: true}, err
}

// own finds the commit that an earlier attempt has made: a merge of the head
// that carries our key.
func (j *job) own(ctx context.Context, base string) (MergeOutput, error) {
	if j.trailer == "" {
		return MergeOutput{}, nil
	}
	out, err := j.read(ctx, "", "rev-list", "--no-commit-header", "--format=%H%x00%P%x00%B%x00",
		"--fixed-strings", "--grep="+j.trailer, "--ancestry-path", "^"+j.head, base)
	if err != nil {
		return MergeOutput{}, err
	}
	f := strings.Split(string(out), "\x00")
	for ; len(f) > 3; f = f[3:] {
		parents := strings.Fields(f[1])
		if len(parents) == 2 && parents[1] == j.head && slices.Contains(strings.Split(f[2], "\n"), j.trailer) {
			return MergeOutput{MergeSHA: strings.TrimSpace(f[0]), BaseSHA: parents[0]}, nil
		}
	}
	return MergeOutput{}, nil
}

// bringer finds the commit of the first-parent history of base with which the
// head came in: the oldest that descends from the head, or the head itself if
// it lies on that history.
func (j *job) bringer(ctx context.Context, base string) (string, error) {
	out, err := j.read(ctx, "", "rev-list", "--first-parent", "--parents", "^"+j.head, base)
	if err != nil {
		return "", err
	}
	var line []string // newest first
	for l := range strings.Lines(string(out)) {
		f := strings.Fields(l)
		if len(f) > 1 && f[1] == j.head {
			return j.head, nil
		}
		line = append(line, f[0])
	}
	out, err = j.read(ctx, "", "rev-list", "--ancestry-path", "^"+j.head, base)
	if err != nil {
		return "", err
	}
	descends := make(map[string]bool)
	for l := range strings.Lines(string(out)) {
		descends[strings.TrimSpace(l)] = true
	}
	for _, sha := range slices.Backward(line) {
		if descends[sha] {
			return sha, nil
		}
	}
	return base, nil
}
