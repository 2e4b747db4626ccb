package search

import (
	"context"
	"fmt"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search/query"
)

const (
	maxQuery     = 1000 // bytes
	defaultLimit = 20
	maxLimit     = 1000
)

// Query says what to search.
type Query struct {
	// Text are words, all of which a file must have, in its text or in its
	// path. There is no query language, so no text is wrong; one without a
	// word finds nothing. It may have up to 1000 bytes.
	Text string
	// RepoID is the repository to search. Default: all of them.
	RepoID string
	// Limit is the number of hits, at most 1000. Default: 20.
	Limit int
}

// Hit is a file that was found.
type Hit struct {
	RepoID string
	Path   string
	Score  float64
}

// Search returns the files that match best. It sees each repository as of its
// last update; while one is under way it waits for [Config.LockWait] and then
// returns an error.
func (x *Index) Search(ctx context.Context, q Query) ([]Hit, error) {
	hits, err := x.search(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return hits, nil
}

func (x *Index) search(ctx context.Context, q Query) (hits []Hit, err error) {
	if len(q.Text) > maxQuery {
		return nil, fmt.Errorf("the text has %d bytes, want at most %d", len(q.Text), maxQuery)
	}
	ix, err := x.open(ctx, true)
	if err != nil || ix == nil {
		return nil, err
	}
	defer func() {
		if cerr := ix.Close(); cerr != nil && err == nil {
			err = fmt.Errorf("close the index: %w", cerr)
		}
	}()
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	res, err := ix.SearchInContext(ctx, bleve.NewSearchRequestOptions(q.compile(), min(q.Limit, maxLimit), 0, false))
	if err != nil {
		return nil, err
	}
	for _, hit := range res.Hits {
		if repo, path, ok := parseID(hit.ID); ok {
			hits = append(hits, Hit{RepoID: repo, Path: path, Score: hit.Score})
		}
	}
	return hits, nil
}

// compile makes the query for bleve.
func (q Query) compile() query.Query {
	words := bleve.NewDisjunctionQuery(q.match(fieldText, 1), q.match(fieldPath, 2))
	if q.RepoID == "" {
		return words
	}
	repo := bleve.NewTermQuery(q.RepoID)
	repo.SetField(fieldRepo)
	repo.SetBoost(0)
	return bleve.NewConjunctionQuery(repo, words)
}

func (q Query) match(field string, boost float64) query.Query {
	m := bleve.NewMatchQuery(q.Text)
	m.SetField(field)
	m.SetBoost(boost)
	m.SetOperator(query.MatchQueryOperatorAnd)
	return m
}
