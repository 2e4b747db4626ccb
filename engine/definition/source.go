package definition

import (
	"errors"
	"io"
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Limits of one file.
const (
	maxFile   = 256 << 10
	maxDepth  = 20
	maxStates = 200
	maxExprs  = 2000  // each takes time to compile
	maxNodes  = 40000 // keys and values; each takes memory

	// maxBrackets bounds the open brackets before the YAML parser sees them.
	// It is far above maxDepth, since it also counts those in texts.
	maxBrackets = 500
)

// bom is the byte order mark that some editors write.
const bom = "\uFEFF"

// clamp moves a finding into the text: to the YAML parser what is absent at the
// end of the file stands behind it.
func (s *source) clamp(d *Diagnostic) {
	if d.Line > len(s.lines) {
		d.Line, d.Col = len(s.lines), math.MaxInt
	}
	d.Col = min(d.Col, len(s.row(d.Line).runes)+1)
}

// withoutBOM returns the text of a file.
func withoutBOM(src []byte) string { return strings.TrimLeft(string(src), bom) }

// source is the text of a file by lines. It is safe for concurrent use: values
// find their place in it when they are evaluated.
type source struct {
	lines []string

	mu   sync.Mutex
	last row // kept, since a line may hold very many values
}

// row is a line as runes.
type row struct {
	line  int
	runes []rune
	end   int // of the text: white space follows
}

func newSource(text string) *source {
	s := &source{lines: strings.Split(text, "\n")}
	for i, l := range s.lines {
		s.lines[i] = strings.TrimSuffix(l, "\r")
	}
	return s
}

// line returns the n-th line, counted from 1, or "".
func (s *source) line(n int) string {
	if n < 1 || n > len(s.lines) {
		return ""
	}
	return s.lines[n-1]
}

// row returns the n-th line, of which nothing must be changed.
func (s *source) row(n int) row {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n != s.last.line {
		l := s.line(n)
		end := utf8.RuneCountInString(strings.TrimRight(l, " \t"))
		s.last = row{line: n, runes: []rune(l), end: end}
	}
	return s.last
}

// read turns the text of a file into its one YAML document. It returns nil
// after it has reported why it cannot.
func (p *parser) read(src []byte) *yaml.Node {
	if len(src) > maxFile {
		p.errorf(position{1, 1}, "file-size", "the file has %d KiB, the limit is %d KiB; split the workflow",
			(len(src)+1023)>>10, maxFile>>10)
		return nil
	}
	p.src = newSource(withoutBOM(src))
	// The YAML parser sees the lines with the same ends, whatever theirs are.
	text := strings.Join(p.src.lines, "\n")
	if !p.plainText(text) || !p.brackets(text) || !p.stored && p.directive() {
		return nil
	}
	dec := yaml.NewDecoder(strings.NewReader(text))
	doc, err := decode(dec)
	if errors.Is(err, io.EOF) || err == nil && nothing(doc) {
		p.errorf(position{1, 1}, "empty", "the file has no workflow; begin with pawl: 1")
		return nil
	}
	if err != nil {
		p.syntaxError(err, text)
		return nil
	}
	switch next, err := decode(dec); {
	case errors.Is(err, io.EOF):
	case err != nil:
		p.syntaxError(err, text)
	default:
		p.secondDocument(next)
	}
	if nodes(doc) > maxNodes && !p.stored {
		p.errorf(position{1, 1}, "file-size", "the file has more than %d keys and values; split the workflow", maxNodes)
		return nil
	}
	return doc.Content[0]
}

// nodes counts what is in n.
func nodes(n *yaml.Node) int {
	sum := len(n.Content)
	for _, item := range n.Content {
		sum += nodes(item)
	}
	return sum
}

// nothing reports whether a document has no value.
func nothing(doc *yaml.Node) bool {
	return len(doc.Content) == 0 || doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].Tag == "!!null"
}

// decode reads the next document. The YAML parser is known to panic on some
// malformed input; to a caller that is one more syntax error.
func decode(dec *yaml.Decoder) (doc *yaml.Node, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errors.New("yaml: the text cannot be parsed")
		}
	}()
	doc = new(yaml.Node)
	return doc, dec.Decode(doc)
}

// plainText refuses what would make lines and columns ambiguous.
func (p *parser) plainText(text string) bool {
	if !utf8.ValidString(text) {
		for i, l := range p.src.lines {
			if utf8.ValidString(l) {
				continue
			}
			for col, rest := 1, l; ; col++ {
				r, size := utf8.DecodeRuneInString(rest)
				if r == utf8.RuneError && size <= 1 {
					p.errorf(position{i + 1, col}, "yaml-syntax", "this is not UTF-8; store the file as UTF-8")
					return false
				}
				rest = rest[size:]
			}
		}
	}
	for i, l := range p.src.lines {
		at := strings.IndexFunc(l, refused)
		if at < 0 {
			continue
		}
		what := "this is a control character"
		r, _ := utf8.DecodeRuneInString(l[at:])
		if strings.ContainsRune(breaks, r) {
			what = "this character is a line break to YAML only"
		}
		p.errorf(position{i + 1, utf8.RuneCountInString(l[:at]) + 1}, "yaml-syntax", "%s (%U); remove it", what, r)
		return false
	}
	return true
}

// breaks are line breaks to YAML, but not to editors.
const breaks = "\r\u0085\u2028\u2029"

// refused reports whether r is a line break to YAML only, or no part of YAML.
func refused(r rune) bool {
	return strings.ContainsRune(breaks, r) || r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0xfffe || r == 0xffff
}

// directive reports a line such as %YAML 1.2 before the workflow. The YAML
// parser takes some of them and drops them, and others are a puzzle to it.
func (p *parser) directive() bool {
	for i, l := range p.src.lines {
		switch {
		case strings.HasPrefix(l, "%"):
			p.errorf(position{i + 1, 1}, "yaml-syntax", "YAML directives (%s) are not allowed; remove this line", shorten(l))
			return true
		case strings.TrimSpace(l) != "" && !strings.HasPrefix(strings.TrimSpace(l), "#"):
			return false
		}
	}
	return false
}

// brackets refuses texts whose nesting alone would keep the YAML parser busy.
func (p *parser) brackets(text string) bool {
	depth, line, start := 0, 1, 0
	for i := range len(text) {
		switch text[i] {
		case '\n':
			line, start = line+1, i+1
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		}
		if depth > maxBrackets {
			at := position{line, utf8.RuneCountInString(text[start:i]) + 1}
			p.errorf(at, "depth", "more than %d levels of brackets, the limit is %d; make it flatter", maxBrackets, maxDepth)
			return false
		}
	}
	return true
}

func (p *parser) secondDocument(doc *yaml.Node) {
	at := position{doc.Line, doc.Column}
	if at.line == 0 && len(doc.Content) > 0 {
		at = place(doc.Content[0])
	}
	// The node of an explicit document stands at its content: look up.
	for n := at.line; n > 1; n-- {
		if l := p.src.line(n); strings.HasPrefix(l, "---") || strings.HasPrefix(l, "...") {
			at = position{n, 1}
			break
		}
	}
	p.errorf(at, "multi-document", "a second YAML document starts here; one file holds one workflow")
}

func place(n *yaml.Node) position { return position{n.Line, n.Column} }
