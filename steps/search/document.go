package search

import (
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/analysis/token/length"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/regexp"
	"github.com/blevesearch/bleve/v2/mapping"
)

// The fields of the documents. There is one document per file, and one per
// repository that records what the index has of it.
const (
	fieldRepo = "repo" // of a file: the repository, as one term
	fieldPath = "path" // of a file: the words of its path
	fieldText = "text" // of a file: its words
	fieldHash = "hash" // of a file: stored, the hash of its content

	fieldCommit = "commit"    // of a record: stored
	fieldCount  = "documents" // of a record: stored
)

// Names in the mapping.
const (
	analyzerCode = "code"
	wordsOfCode  = "words_of_code"
	saneLength   = "sane_length"
)

// maxWord leaves out the words of minified and encoded files.
const maxWord = 100

// newMapping describes the index. A word is a run of letters and digits in any
// script, in lower case; all else parts words. So foo_bar and pkg.Name are two
// words each, in a file as in a query, and no word of a language is dropped.
func newMapping() (mapping.IndexMapping, error) {
	m := bleve.NewIndexMapping()
	err := m.AddCustomTokenizer(wordsOfCode, map[string]any{
		"type": regexp.Name, "regexp": `[\p{L}\p{M}\p{N}]+`,
	})
	if err != nil {
		return nil, err
	}
	err = m.AddCustomTokenFilter(saneLength, map[string]any{
		"type": length.Name, "min": 1.0, "max": float64(maxWord),
	})
	if err != nil {
		return nil, err
	}
	err = m.AddCustomAnalyzer(analyzerCode, map[string]any{
		"type": custom.Name, "tokenizer": wordsOfCode, "token_filters": []string{lowercase.Name, saneLength},
	})
	if err != nil {
		return nil, err
	}
	doc := bleve.NewDocumentStaticMapping()
	doc.AddFieldMappingsAt(fieldRepo, indexed(keyword.Name))
	doc.AddFieldMappingsAt(fieldPath, indexed(analyzerCode))
	doc.AddFieldMappingsAt(fieldText, indexed(analyzerCode))
	doc.AddFieldMappingsAt(fieldHash, stored())
	doc.AddFieldMappingsAt(fieldCommit, stored())
	doc.AddFieldMappingsAt(fieldCount, stored())
	doc.AddSubDocumentMapping("_all", bleve.NewDocumentDisabledMapping())
	m.DefaultMapping = doc
	return m, nil
}

// indexed is a field that can be searched and is not kept.
func indexed(analyzer string) *mapping.FieldMapping {
	f := bleve.NewTextFieldMapping()
	f.Analyzer = analyzer
	f.Store, f.IncludeInAll, f.IncludeTermVectors, f.DocValues = false, false, false, false
	return f
}

// stored is a field that is kept and cannot be searched.
func stored() *mapping.FieldMapping {
	f := bleve.NewTextFieldMapping()
	f.Index, f.IncludeInAll, f.IncludeTermVectors, f.DocValues = false, false, false, false
	return f
}

// A NUL parts an id, since neither a repository nor a path has one.
const (
	fileID   = "file\x00"
	recordID = "repo\x00"
)

// idOf is the id of the document of a file.
func idOf(repo, path string) string { return fileID + repo + "\x00" + path }

// parseID is the reverse of idOf.
func parseID(id string) (repo, path string, ok bool) {
	rest, ok := strings.CutPrefix(id, fileID)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, "\x00")
}

func validRepo(s string) bool { return s != "" && !strings.Contains(s, "\x00") }

func commitID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
