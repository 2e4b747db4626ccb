package definition

import (
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Limits of one file.
const (
	maxFile   = 256 << 10
	maxDepth  = 20
	maxStates = 200

	// maxBrackets bounds the open brackets before the YAML parser sees them.
	// It is far above maxDepth, since it also counts those in texts.
	maxBrackets = 500
)

// bom is the byte order mark that some editors write.
const bom = "\uFEFF"

// source is the text of a file by lines.
type source struct {
	lines []string

	// The last row is kept: a line may hold very many values.
	last int
	row  []rune
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

// runes returns the n-th line as runes. It must not be used by several
// goroutines at once.
func (s *source) runes(n int) []rune {
	if n != s.last {
		s.last, s.row = n, []rune(s.line(n))
	}
	return s.row
}

// read turns the text of a file into its one YAML document. It returns nil
// after it has reported why it cannot.
func (p *parser) read(src []byte) *yaml.Node {
	if len(src) > maxFile {
		p.errorf(position{1, 1}, "file-size", "the file has %d KiB, the limit is %d KiB; split the workflow",
			(len(src)+1023)>>10, maxFile>>10)
		return nil
	}
	text := strings.TrimPrefix(string(src), bom)
	p.src = newSource(text)
	if !p.plainText(text) || !p.brackets(text) {
		return nil
	}
	dec := yaml.NewDecoder(strings.NewReader(text))
	doc, err := decode(dec)
	if errors.Is(err, io.EOF) || err == nil && nothing(doc) {
		p.errorf(position{1, 1}, "empty", "the file has no workflow; begin with pawl: 1")
		return nil
	}
	if err != nil {
		p.syntaxError(err)
		return nil
	}
	switch next, err := decode(dec); {
	case errors.Is(err, io.EOF):
	case err != nil:
		p.syntaxError(err)
	default:
		p.secondDocument(next)
	}
	return doc.Content[0]
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
		if at := strings.IndexAny(l, "\r\u0085\u2028\u2029"); at >= 0 {
			p.errorf(position{i + 1, utf8.RuneCountInString(l[:at]) + 1}, "yaml-syntax",
				"this character is a line break to YAML only; remove it")
			return false
		}
	}
	return true
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
