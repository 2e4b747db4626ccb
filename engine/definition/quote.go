package definition

import "gopkg.in/yaml.v3"

// scalar is where a scalar stands in the file and how it is quoted. That is
// enough to find the place of each of its characters again.
type scalar struct {
	src   *source
	at    position
	style yaml.Style
}

// find returns the place in the file of the offset-th rune of the scalar's
// value. It walks the source and the value side by side.
func (s scalar) find(value string, offset int) position {
	c := &cursor{src: s.src, line: s.at.line, col: s.at.col - 1}
	c.load()
	next := c.plain
	switch {
	case s.style&yaml.DoubleQuotedStyle != 0:
		c.col++
		next = c.double
	case s.style&yaml.SingleQuotedStyle != 0:
		c.col++
		next = c.single
	case s.style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		c.block()
		next = c.plain
	}
	var at position
	i := 0
	for _, r := range value {
		at = next(r)
		if i == offset {
			return at
		}
		i++
	}
	return position{c.line, c.col + 1} // just behind the value
}

// cursor is a place in the source. The methods that take a rune of the value
// return the place where it is written and move on behind it.
type cursor struct {
	src    *source
	row    []rune
	line   int
	col    int // from 0
	end    int // of the text in row
	indent int // of a block scalar
}

// load reads the row of the line.
func (c *cursor) load() {
	r := c.src.row(c.line)
	c.row, c.end = r.runes, r.end
}

// here returns the place of the cursor.
func (c *cursor) here() position { return position{c.line, c.col + 1} }

func (c *cursor) more() bool { return c.line < len(c.src.lines) }

// newline moves to the text of the next line.
func (c *cursor) newline() {
	c.line++
	c.load()
	c.col = 0
	if c.indent > 0 {
		c.col = min(c.indent, len(c.row))
		return
	}
	for c.col < len(c.row) && (c.row[c.col] == ' ' || c.row[c.col] == '\t') {
		c.col++
	}
}

// atEnd reports whether only white space follows in the line.
func (c *cursor) atEnd() bool { return c.col >= c.end }

// plain reads a rune of a plain scalar and of a block scalar, where the end of
// a line is a space or a line feed of the value.
func (c *cursor) plain(r rune) position {
	if (r == ' ' || r == '\n') && c.atEnd() && c.more() {
		at := c.here()
		c.newline()
		return at
	}
	for c.atEnd() && c.more() && (c.col >= len(c.row) || c.row[c.col] != r) {
		c.newline()
	}
	at := c.here()
	c.col++
	return at
}

func (c *cursor) single(r rune) position {
	at := c.plain(r)
	if r == '\'' {
		c.col++ // it is written twice
	}
	return at
}

func (c *cursor) double(r rune) position {
	for c.col < len(c.row) && c.row[c.col] == '\\' {
		at := c.here()
		if c.col+1 >= len(c.row) { // an escaped end of line
			c.newline()
			continue
		}
		switch c.row[c.col+1] {
		case 'x':
			c.col += 4
		case 'u':
			c.col += 6
		case 'U':
			c.col += 10
		default:
			c.col += 2
		}
		return at
	}
	return c.plain(r)
}

// block moves from the header of a block scalar to its first character.
func (c *cursor) block() {
	for c.more() {
		c.newline()
		if !c.atEnd() {
			break
		}
	}
	c.indent = c.col
}
