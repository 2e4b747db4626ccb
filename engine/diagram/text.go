package diagram

import (
	"strings"
	"unicode"
)

// oneLine makes text fit for one line of at most width columns: white space is
// one space, what is not seen is left out, and a cut is marked.
func oneLine(text string, width int) string {
	text = strings.Join(strings.Fields(visible(text)), " ")
	if columns(text) <= width {
		return text
	}
	n := 1 // of the mark
	for i, r := range text {
		if n += Columns(r); n > width {
			return strings.TrimRight(text[:i], " ") + "…"
		}
	}
	return text
}

// visible leaves out control characters and what turns the direction of text.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == unicode.ReplacementChar:
			return -1
		default:
			return r
		}
	}, strings.ToValidUTF8(text, ""))
}

// joinLines joins words by commas, with as many on a line as fit.
func joinLines(words []string, width int) []string {
	var lines []string
	for i, w := range words {
		if i < len(words)-1 {
			w += ","
		}
		last := len(lines) - 1
		if last >= 0 && columns(lines[last])+1+columns(w) <= width {
			lines[last] += " " + w
			continue
		}
		lines = append(lines, w)
	}
	return lines
}

// columns is how many columns of a fixed-width font text takes.
func columns(text string) int {
	n := 0
	for _, r := range text {
		n += Columns(r)
	}
	return n
}

// Columns returns how many columns of a fixed-width font or a terminal r takes:
// two for the wide signs of East Asia and for emoji, none for marks that are
// put on the sign before.
func Columns(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r < 0x1100:
		return 1
	case r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60,
		r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	default:
		return 1
	}
}
