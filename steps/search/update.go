package search

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/blevesearch/bleve/v2"
)

const (
	binaryPrefix = 8 << 10 // where a binary file has a NUL, as git judges it
	listPage     = 1000
	docOverhead  = 200 // what a document costs beside its text, roughly
)

// record says what the index has of a repository.
type record struct {
	commit string // empty while an update is under way
	count  int
}

// update is one run of the step.
type update struct {
	cfg Config
	ix  bleve.Index
	in  Input

	old   map[string]string // path -> hash of the documents not yet met
	batch *bleve.Batch
	size  int // of the batch
	count int // files met
	wrote bool
}

func (u *update) run(ctx context.Context) (Output, error) {
	rec, err := u.record(ctx)
	if err != nil {
		return Output{}, fmt.Errorf("read the record: %w", err)
	}
	done, err := u.done(ctx, rec.commit)
	if err != nil {
		return Output{}, err
	}
	if done {
		return Output{Documents: rec.count, Commit: rec.commit}, nil
	}
	if u.old, err = u.list(ctx); err != nil {
		return Output{}, fmt.Errorf("list the documents: %w", err)
	}
	u.batch = u.ix.NewBatch()
	err = u.cfg.Source.Files(ctx, u.in.RepoID, u.in.SHA, func(path string, content []byte) error {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		return u.visit(path, content)
	})
	if err != nil {
		return Output{}, fmt.Errorf("read the files: %w", err)
	}
	for path := range u.old {
		u.batch.Delete(idOf(u.in.RepoID, path))
	}
	if err := u.flush(record{commit: u.in.SHA, count: u.count}); err != nil {
		return Output{}, err
	}
	return Output{Documents: u.count, Commit: u.in.SHA}, nil
}

// done reports whether the index has the commit, or a later one.
func (u *update) done(ctx context.Context, has string) (bool, error) {
	if has == "" || has == u.in.SHA {
		return has != "", nil
	}
	history, ok := u.cfg.Source.(History)
	if !ok {
		return false, nil
	}
	later, err := history.Contains(ctx, u.in.RepoID, has, u.in.SHA)
	if err != nil {
		return false, fmt.Errorf("order the commits: %w", err)
	}
	return later, nil
}

// visit takes a file into the batch, unless the index has it as it is.
func (u *update) visit(path string, content []byte) error {
	if len(content) > u.cfg.MaxFile || bytes.IndexByte(content[:min(len(content), binaryPrefix)], 0) >= 0 {
		return nil
	}
	u.count++
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:])
	old, met := u.old[path]
	delete(u.old, path)
	if met && old == hash {
		return nil
	}
	err := u.batch.Index(idOf(u.in.RepoID, path), map[string]any{
		fieldRepo: u.in.RepoID, fieldPath: path, fieldText: string(content), fieldHash: hash,
	})
	if err != nil {
		return fmt.Errorf("take in %q: %w", path, err)
	}
	u.size += len(content) + len(path) + docOverhead
	if u.size < u.cfg.BatchBytes {
		return nil
	}
	return u.flush(record{})
}

// flush writes the batch, and with it what the index has now.
func (u *update) flush(rec record) error {
	err := u.batch.Index(recordID+u.in.RepoID, map[string]any{
		fieldCommit: rec.commit, fieldCount: strconv.Itoa(rec.count),
	})
	if err != nil {
		return fmt.Errorf("take in the record: %w", err)
	}
	u.wrote = true
	if err := u.ix.Batch(u.batch); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	// Not Reset: bleve may still be reading the batch that it has written.
	u.batch, u.size = u.ix.NewBatch(), 0
	return nil
}

// record reads what the index has of the repository.
func (u *update) record(ctx context.Context) (record, error) {
	req := bleve.NewSearchRequest(bleve.NewDocIDQuery([]string{recordID + u.in.RepoID}))
	req.Fields = []string{fieldCommit, fieldCount}
	res, err := u.ix.SearchInContext(ctx, req)
	if err != nil || len(res.Hits) == 0 {
		return record{}, err
	}
	commit, _ := res.Hits[0].Fields[fieldCommit].(string)
	text, _ := res.Hits[0].Fields[fieldCount].(string)
	count, err := strconv.Atoi(text)
	if err != nil {
		return record{}, err
	}
	return record{commit: commit, count: count}, nil
}

// list reads the paths and hashes of the repository's documents.
func (u *update) list(ctx context.Context) (map[string]string, error) {
	q := bleve.NewTermQuery(u.in.RepoID)
	q.SetField(fieldRepo)
	old := make(map[string]string)
	var after []string
	for {
		req := bleve.NewSearchRequestOptions(q, listPage, 0, false)
		req.Fields = []string{fieldHash}
		req.SortBy([]string{"_id"})
		req.SearchAfter = after
		res, err := u.ix.SearchInContext(ctx, req)
		if err != nil {
			return nil, err
		}
		for _, hit := range res.Hits {
			if _, path, ok := parseID(hit.ID); ok {
				old[path], _ = hit.Fields[fieldHash].(string)
			}
		}
		if len(res.Hits) < listPage {
			return old, nil
		}
		after = []string{res.Hits[len(res.Hits)-1].ID}
	}
}
