package definition

import (
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// The YAML parser names a line at best, often a neighbour of the right one,
// and never a column. So the lines around are searched for the mistakes that
// people make.

// nearLines is how far from the named line the mistake may be.
const nearLines = 2

var (
	yamlError     = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)
	badIndent     = regexp.MustCompile(`^did not find expected (key|'-' indicator)$`)
	parserError   = regexp.MustCompile(`^(did not find expected (node content|',' or|<)|found undefined tag handle)`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
	quoteStart    = regexp.MustCompile(`(?:: +|- +)(["'])`)
	oddStart      = regexp.MustCompile("(?:: +|- +)([@`%])")
)

// syntaxError reports an error that the YAML parser has about doc.
func (p *parser) syntaxError(err error, doc string) {
	line, text := 1, err.Error()
	if m := yamlError.FindStringSubmatch(text); m != nil {
		text = m[2]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
	}
	switch {
	case badIndent.MatchString(text):
		// It named the first line of the block, maybe far above.
		line = lastLine(doc)
	case parserError.MatchString(text):
		line++ // it counts from 0 there
	}
	if m := unknownAnchor.FindStringSubmatch(text); m != nil {
		p.errorf(p.find("*"+m[1], line), "yaml-alias", "aliases (*%s) are not allowed; write the value out", m[1])
		return
	}
	if end := p.documentEnd(line); end > 0 && strings.Contains(text, "expected <document start>") {
		p.errorf(position{end, 1}, "multi-document",
			"a second YAML document starts here; one file holds one workflow")
		return
	}
	if strings.Contains(text, "exceeded max depth") {
		p.errorf(p.start(line), "depth", "this is nested far more than %d levels deep; make it flatter", maxDepth)
		return
	}
	if p.tabs(text) || p.nearExpression(line) || p.nearOddStart(line) || p.openQuote(line, text) {
		return
	}
	hint := "look at this line and its neighbours"
	if badIndent.MatchString(text) {
		hint += ", and whether they begin in the same column as the lines they belong to"
	}
	p.errorf(p.start(line), "yaml-syntax", "YAML cannot read this (%s); %s", text, hint)
}

// lastLine returns the last line that the YAML parser reads of doc before it
// finds the error in it. That is the line of the error, or the next one.
func lastLine(doc string) int {
	r := &lineReader{rest: doc}
	dec := yaml.NewDecoder(r)
	for {
		if _, err := decode(dec); err != nil {
			return max(r.line, 1)
		}
	}
}

// lineReader gives a text line by line, and counts the lines.
type lineReader struct {
	rest string
	line int
	cut  bool // the line before was longer than the buffer
}

// Read implements io.Reader.
func (r *lineReader) Read(b []byte) (int, error) {
	if r.rest == "" {
		return 0, io.EOF
	}
	if !r.cut {
		r.line++
	}
	line, _, whole := strings.Cut(r.rest, "\n")
	if whole {
		line = r.rest[:len(line)+1]
	}
	n := copy(b, line)
	r.cut, r.rest = n < len(line), r.rest[n:]
	return n, nil
}

// start returns the first character of a line of the file.
func (p *parser) start(line int) position {
	line = min(max(line, 1), len(p.src.lines))
	l := p.src.line(line)
	return position{line, utf8.RuneCountInString(l[:len(l)-len(strings.TrimLeft(l, " \t"))]) + 1}
}

// find returns the place of s, in the line if it is there, else in the file.
func (p *parser) find(s string, line int) position {
	for n, l := range p.src.lines {
		if before, _, ok := strings.Cut(l, s); ok {
			return position{n + 1, utf8.RuneCountInString(before) + 1}
		}
	}
	return p.start(line)
}

// documentEnd returns the line of the "..." or "---" near line, or 0.
func (p *parser) documentEnd(line int) int {
	for n := min(line+nearLines, len(p.src.lines)); n > max(line-nearLines-1, 0); n-- {
		if l := p.src.line(n); strings.HasPrefix(l, "...") || strings.HasPrefix(l, "---") {
			return n
		}
	}
	return 0
}

// tabs reports every line that a tab indents. Without any other text the tab
// is harmless, unless it is the error itself.
func (p *parser) tabs(text string) bool {
	blank := strings.Contains(text, "cannot start any token")
	found := false
	for i, l := range p.src.lines {
		indent := l[:len(l)-len(strings.TrimLeft(l, " \t"))]
		at := strings.IndexByte(indent, '\t')
		if at < 0 || indent == l && !blank {
			continue
		}
		p.errorf(position{i + 1, at + 1}, "yaml-syntax", "a tab indents this line; use spaces")
		found = true
	}
	return found
}

// around calls f for the line and its neighbours, the nearest first, until f
// returns true.
func (p *parser) around(line int, f func(n int, l string) bool) bool {
	for d := range nearLines + 1 {
		for _, n := range []int{line + d, line - d} {
			if n >= 1 && n <= len(p.src.lines) && f(n, p.src.line(n)) {
				return true
			}
			if d == 0 {
				break
			}
		}
	}
	return false
}

// nearExpression looks for an expression that needs quotes.
func (p *parser) nearExpression(line int) bool {
	return p.around(line, func(n int, l string) bool {
		at := strings.Index(l, openExpr)
		if at <= 0 || strings.HasPrefix(strings.TrimSpace(l), "#") {
			return false
		}
		where := position{n, utf8.RuneCountInString(l[:at]) + 1}
		before := strings.TrimRight(l[:at], " ")
		switch {
		case strings.HasSuffix(before, `"`), strings.HasSuffix(before, "'"):
			return false
		case strings.ContainsAny(before, "{["):
			p.errorf(where, "yaml-syntax",
				"an unquoted ${{ }} cannot stand inside {…} or […]; put the value in quotes, or write the map over several lines")
		case strings.Contains(l[at:], ": ") || strings.HasSuffix(strings.TrimSpace(l), ":"):
			p.errorf(where, "yaml-syntax",
				`YAML reads the ": " inside this unquoted expression as a key; put the value in quotes: "${{ … }}"`)
		default:
			return false
		}
		return true
	})
}

// openQuote looks for a value whose quote is not closed in its line. Nothing
// tells the parser where it should have been, so it stops far behind.
func (p *parser) openQuote(line int, text string) bool {
	for n := min(line, len(p.src.lines)); n > 0; n-- {
		l := p.src.line(n)
		m := quoteStart.FindStringSubmatchIndex(l)
		if m == nil || strings.Count(l[m[2]:], l[m[2]:m[3]])%2 == 0 {
			continue
		}
		p.errorf(position{n, utf8.RuneCountInString(l[:m[2]]) + 1}, "yaml-syntax",
			"this quote may not be closed (line %d: %s); close it", line, text)
		return true
	}
	return false
}

// nearOddStart looks for a value that begins with a character of YAML's own.
func (p *parser) nearOddStart(line int) bool {
	return p.around(line, func(n int, l string) bool {
		m := oddStart.FindStringSubmatchIndex(l)
		if m == nil || strings.HasPrefix(strings.TrimSpace(l), "#") {
			return false
		}
		p.errorf(position{n, utf8.RuneCountInString(l[:m[2]]) + 1}, "yaml-syntax",
			"an unquoted value cannot begin with %s; put it in quotes", l[m[2]:m[3]])
		return true
	})
}
