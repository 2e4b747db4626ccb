package definition

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// words finds where the words end that findings stand at. It reads the file
// once, from the top down, so it must be asked for places in order.
type words struct {
	src *source

	line, col int // the next place to read; col from 0
	row       []rune
	comment   bool // a comment has begun in the row

	// open is set inside of an expression: to the quote around it, or to a
	// space if it has none.
	open rune
}

// keyLine is a line that begins a field, so no expression goes on there. One
// whose end is missing would reach to the end of the file otherwise.
var keyLine = regexp.MustCompile(`^\s*(- +)*[\w-]+:(\s|$)`)

// end returns the column just behind the word at the place.
func (w *words) end(at position) int {
	for w.line < at.line && w.line <= len(w.src.lines) {
		w.next()
	}
	for w.line == at.line && w.col < min(at.col-1, len(w.row)) {
		w.step()
	}
	if w.line != at.line || at.col > len(w.row) {
		return at.col
	}
	return at.col + w.length(w.row[max(at.col-1, 0):])
}

// next reads the rest of the row and moves to the next line.
func (w *words) next() {
	for w.col < len(w.row) {
		w.step()
	}
	w.line++
	l := w.src.line(w.line)
	if w.comment || w.open != 0 && keyLine.MatchString(l) {
		w.open = 0 // what is only in a comment does not count
	}
	w.row, w.col, w.comment = []rune(l), 0, false
}

// step reads what an expression begins or ends with, or one rune.
func (w *words) step() {
	rest := w.row[w.col:]
	switch {
	case w.open == 0 && begins(rest, openExpr):
		w.open = ' '
		if w.col > 0 && isQuote(w.row[w.col-1]) {
			w.open = w.row[w.col-1]
		}
		w.col += len(openExpr)
		return
	case w.open != 0 && begins(rest, closeExpr):
		w.open = 0
		w.col += len(closeExpr)
		return
	case w.open == 0 && rest[0] == '#' && (w.col == 0 || unicode.IsSpace(w.row[w.col-1])):
		w.comment = true
	}
	w.col++
}

// length returns how many runes the word at the begin of rest has.
func (w *words) length(rest []rune) int {
	switch {
	case w.open != 0:
		return exprWord(rest, w.open)
	case isQuote(rest[0]):
		return quoted(rest)
	case begins(rest, openExpr):
		return wholeExpr(rest)
	}
	for _, mark := range []string{"<<", "|-", "|+", ">-", ">+"} {
		if begins(rest, mark) {
			return len(mark)
		}
	}
	marks := 0 // of a tag, an anchor or an alias
	for marks < len(rest) && strings.ContainsRune("!&*", rest[marks]) {
		marks++
	}
	return max(marks+run(rest[marks:], "_.-"), 1)
}

// quoted returns the length of a YAML text in quotes, of which only the first
// line counts.
func quoted(rest []rune) int {
	quote := rest[0]
	for i := 1; i < len(rest); i++ {
		switch {
		case quote == '"' && rest[i] == '\\', quote == '\'' && begins(rest[i:], "''"):
			i++
		case rest[i] == quote:
			return i + 1
		}
	}
	return trimmed(rest)
}

// wholeExpr returns the length of an expression with its markers: to the last
// end marker before a comment, since it may hold braces of its own.
func wholeExpr(rest []rune) int {
	text := string(rest)
	if at := strings.Index(text, " #"); at >= 0 {
		text = text[:at]
	}
	if at := strings.LastIndex(text, closeExpr); at >= 0 {
		text = text[:at+len(closeExpr)]
	}
	return trimmed([]rune(text))
}

// exprWord returns the length of a text, name, number or operator in an
// expression that is itself in quotes of the kind open.
func exprWord(rest []rune, open rune) int {
	for _, quote := range []string{"''", `\"`} { // quotes in quotes
		if rune(quote[1]) != open || !begins(rest, quote) {
			continue
		}
		for i := 2; i < len(rest); i++ {
			if begins(rest[i:], quote) {
				return i + 2
			}
		}
		return trimmed(rest)
	}
	switch {
	case rest[0] == open: // the end of the YAML text
		return 1
	case isQuote(rest[0]) || rest[0] == '`':
		for i := 1; i < len(rest); i++ {
			switch rest[i] {
			case '\\':
				i++
			case rest[0]:
				return i + 1
			}
		}
		return trimmed(rest)
	case unicode.IsDigit(rest[0]):
		n := run(rest, "_")
		if n+1 < len(rest) && rest[n] == '.' && unicode.IsDigit(rest[n+1]) {
			n += 1 + run(rest[n+1:], "_")
		}
		return n
	}
	for _, operator := range []string{"==", "!=", "<=", ">=", "&&", "||", "??", "?.", "**", ".."} {
		if begins(rest, operator) {
			return len(operator)
		}
	}
	return max(run(rest, "_"), 1)
}

// run counts the letters, digits and runes of more that text begins with.
func run(text []rune, more string) int {
	n := slices.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(more, r)
	})
	if n < 0 {
		return len(text)
	}
	return n
}

// begins reports whether row begins with s, which is ASCII.
func begins(row []rune, s string) bool {
	return len(row) >= len(s) && string(row[:len(s)]) == s
}

func isQuote(r rune) bool { return r == '\'' || r == '"' }

// trimmed returns the length of row without spaces at its end.
func trimmed(row []rune) int {
	return len([]rune(strings.TrimRightFunc(string(row), unicode.IsSpace)))
}
