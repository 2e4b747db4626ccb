package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/engine"
)

// MergeInput names one reviewed commit and the branch that it goes into.
type MergeInput struct {
	RepoID  string `json:"repo_id"`
	PRID    string `json:"pr_id"`    // for the message only
	Base    string `json:"base"`     // name of the branch, without refs/heads/
	HeadSHA string `json:"head_sha"` // all digits; exactly this commit is merged

	// HeadRef is the full name of the ref that was reviewed, for example
	// refs/heads/topic. If it exists and is not at HeadSHA, nothing is merged.
	// Default: not looked at.
	HeadRef string `json:"head_ref,omitempty"`
}

// MergeOutput says where the merge is.
type MergeOutput struct {
	// MergeSHA is the merge commit. If somebody else was faster it is the
	// commit that brought the head into the branch: their merge, the head
	// itself after a fast-forward, or the tip if the changes alone are there.
	MergeSHA string `json:"merge_sha"`

	// BaseSHA is the tip that the merge was made on; if AlreadyMerged, the tip
	// that was looked at.
	BaseSHA string `json:"base_sha"`

	// AlreadyMerged says that it was not this step that merged.
	AlreadyMerged bool `json:"already_merged"`
}

// The codes that the step fails with. All of them are permanent.
const (
	codeConflict  = "merge_conflict"
	codeHeadGone  = "head_gone"
	codeHeadMoved = "head_moved"
	codeBaseGone  = "base_gone"
	codeUnrelated = "unrelated_histories"
)

// Codes are what the step may fail with: the files do not merge; the head
// commit is not in the repository; the head branch is no longer at it; the
// base branch does not exist; head and base have no common ancestor.
var Codes = []string{ //nolint:gochecknoglobals // a table that nobody writes
	codeConflict, codeHeadGone, codeHeadMoved, codeBaseGone, codeUnrelated,
}

// maxMoves is how often one attempt computes the merge. A branch moves only
// when somebody else got through, so this many pushes were faster.
const maxMoves = 10

var (
	_ engine.HandlerFunc[MergeInput, MergeOutput] = (*Merger)(nil).Merge
	_ engine.VerifyFunc[MergeInput, MergeOutput]  = (*Merger)(nil).VerifyMerge
)

var (
	// errCut means that git wrote more than is read.
	errCut = errors.New("the output of git is too long")

	// errHeadGone means that the repository lacks the object of the head.
	errHeadGone = errors.New("not in the repository; its branch was deleted or rewritten before it was merged")
)

// Merge is the handler of the step. It merges the head into the base branch,
// or finds that this has been done. See the package comment for what a
// repeated attempt does.
//
// An error with one of [Codes] is permanent, as is one about the input or an
// unknown repository. Any other refusal of git is definite: nothing happened,
// another attempt may help. If git was killed or ran out of time, or did not
// answer, the outcome is unknown; [Merger.VerifyMerge] settles it.
func (m *Merger) Merge(ctx context.Context, call engine.Call[MergeInput]) (MergeOutput, error) {
	out, err := m.merge(ctx, call)
	if err != nil {
		return MergeOutput{}, fmt.Errorf("merge %s into %s: %w",
			printable(call.In.HeadSHA, 64), printable(call.In.Base, 100), err)
	}
	return out, nil
}

func (m *Merger) merge(ctx context.Context, call engine.Call[MergeInput]) (MergeOutput, error) {
	j, err := m.open(ctx, call)
	if err != nil {
		return MergeOutput{}, err
	}
	refs, err := j.refs(ctx)
	for range maxMoves {
		if err != nil {
			return MergeOutput{}, err
		}
		var out MergeOutput
		out, refs, err = j.try(ctx, refs)
		if err == nil && refs == nil {
			return out, nil
		}
	}
	if err != nil {
		return MergeOutput{}, err
	}
	return MergeOutput{}, engine.Definite(fmt.Errorf("the branch moved %d times while the merge was made", maxMoves))
}

// try merges on the branches as they are in refs. If they have moved
// meanwhile, it returns them as they are then, and has changed nothing.
func (j *job) try(ctx context.Context, refs map[string]tip) (out MergeOutput, moved map[string]tip, err error) {
	base, ok := refs[j.baseRef]
	if !ok {
		return out, nil, fail(codeBaseGone, fmt.Errorf("there is no branch %s", j.baseRef))
	}
	if !j.headSeen {
		if err := j.findHead(ctx, base.commit); err != nil {
			return out, nil, err
		}
	}
	merged, err := j.mergeTree(ctx, base.commit)
	if err != nil {
		return out, nil, err
	}
	head, known := refs[j.headRef]
	switch {
	case merged.conflict == nil && merged.tree == base.tree:
		out, err = j.contained(ctx, base.commit)
		return out, nil, err
	case known && head.commit != j.head:
		return out, nil, fail(codeHeadMoved,
			fmt.Errorf("%s is at %s now, which was not reviewed", j.headRef, head.commit))
	case merged.conflict != nil:
		return out, nil, fail(codeConflict, merged.conflict)
	}
	commit, err := j.commitTree(ctx, merged.tree, base.commit)
	if err != nil {
		return out, nil, err
	}
	moved, err = j.publish(ctx, refs, commit)
	return MergeOutput{MergeSHA: commit, BaseSHA: base.commit}, moved, err
}

// VerifyMerge says whether the head is in the base branch, so that an attempt
// with an unknown outcome counts as done, with the output that it would have
// had. It changes nothing.
func (m *Merger) VerifyMerge(ctx context.Context, call engine.Call[MergeInput]) (MergeOutput, bool, error) {
	out, done, err := m.verify(ctx, call)
	if err != nil {
		return MergeOutput{}, false, fmt.Errorf("look for %s in %s: %w",
			printable(call.In.HeadSHA, 64), printable(call.In.Base, 100), err)
	}
	return out, done, nil
}

func (m *Merger) verify(ctx context.Context, call engine.Call[MergeInput]) (out MergeOutput, done bool, err error) {
	j, err := m.open(ctx, call)
	if err != nil {
		return out, false, err
	}
	refs, err := j.refs(ctx)
	if err != nil {
		return out, false, err
	}
	base, ok := refs[j.baseRef]
	if !ok {
		return out, false, nil
	}
	err = j.findHead(ctx, base.commit)
	if errors.Is(err, errHeadGone) {
		return out, false, nil
	}
	if err != nil {
		return out, false, err
	}
	ancestor, err := j.mergeBase(ctx, base.commit)
	if err != nil || ancestor != j.head {
		return out, false, err
	}
	out, err = j.ancestor(ctx, base.commit)
	return out, err == nil, err
}

// check reports all mistakes of the input at once.
func (in MergeInput) check() error {
	var errs []error
	errs = append(errs, checkRef("base", "refs/heads/"+in.Base))
	if !isHex(in.HeadSHA) {
		errs = append(errs, fmt.Errorf("head_sha: %q is not a full commit id", printable(in.HeadSHA, maxText)))
	}
	if in.HeadRef != "" {
		errs = append(errs, checkRef("head_ref", in.HeadRef))
		if !strings.HasPrefix(in.HeadRef, "refs/") {
			errs = append(errs, fmt.Errorf("head_ref: %q is not a full name; write refs/heads/... for a branch",
				printable(in.HeadRef, maxText)))
		}
	}
	return errors.Join(errs...)
}

// fail makes a coded error that is permanent also where no catch: names it:
// none of the codes goes away by itself.
func fail(code string, err error) error { return engine.Fail(code, engine.Permanent(err)) }
