package definition

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The YAML parser names a line at best, often a neighbour of the right one,
// and never a column. So the lines around are searched for the mistakes that
// people make.

// nearLines is how far from the named line the mistake may be.
const nearLines = 2

var (
	yamlError     = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
	quoteStart    = regexp.MustCompile(`(?:: +|- +)(["'])`)
	oddStart      = regexp.MustCompile("(?:: +|- +)([@`%])")
)

func (p *parser) syntaxError(err error) {
	line, text := 1, err.Error()
	if m := yamlError.FindStringSubmatch(text); m != nil {
		text = m[2]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
	}
	if m := unknownAnchor.FindStringSubmatch(text); m != nil {
		p.errorf(p.find("*"+m[1], line), "yaml-alias", "aliases (*%s) are not allowed; write the value out", m[1])
		return
	}
	if strings.Contains(text, "expected <document start>") {
		p.errorf(position{p.documentEnd(line), 1}, "multi-document",
			"a second YAML document starts here; one file holds one workflow")
		return
	}
	if strings.Contains(text, "exceeded max depth") {
		p.errorf(p.start(line), "depth", "this is nested far more than %d levels deep; make it flatter", maxDepth)
		return
	}
	if p.tabs() || p.nearExpression(line) || p.nearOddStart(line) || p.openQuote(line, text) {
		return
	}
	p.errorf(p.start(line), "yaml-syntax", "YAML cannot read this (%s); look at this line and its neighbours", text)
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

// documentEnd returns the line of the "..." or "---" near line.
func (p *parser) documentEnd(line int) int {
	for n := min(line+nearLines, len(p.src.lines)); n > 0; n-- {
		if l := p.src.line(n); strings.HasPrefix(l, "...") || strings.HasPrefix(l, "---") {
			return n
		}
	}
	return max(line, 1)
}

// tabs reports every line that a tab indents.
func (p *parser) tabs() bool {
	found := false
	for i, l := range p.src.lines {
		indent := l[:len(l)-len(strings.TrimLeft(l, " \t"))]
		at := strings.IndexByte(indent, '\t')
		if at < 0 || indent == l {
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
