package pawlcmd

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/pawl-dev/pawl/engine/diagram"
)

// printable makes s fit for one line of a terminal: what could move the
// cursor, or is not seen, is escaped as in Go.
func printable(s string) string {
	ok := func(r rune) bool { return unicode.IsGraphic(r) && r != unicode.ReplacementChar }
	if !strings.ContainsFunc(s, func(r rune) bool { return !ok(r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case ok(r) || r == unicode.ReplacementChar:
			b.WriteRune(r)
		case r == '\t':
			b.WriteByte(' ')
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// oneLine is the first line of s that says something, fit for a terminal.
func oneLine(s string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if strings.TrimSpace(rest) != "" {
		first += " …"
	}
	return printable(first)
}

// columns is how many columns of a terminal s takes.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += diagram.Columns(r)
	}
	return n
}

// clip cuts s to width columns and marks the cut.
func clip(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	n := 1 // of the mark
	for i, r := range s {
		n += diagram.Columns(r)
		if n > width {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// pad fills s with spaces to width columns.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(width-columns(s), 0))
}

// wrap breaks s into lines of at most width columns, at spaces where it can.
func wrap(s string, width int) []string {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(s)) {
		line = printable(strings.TrimRight(line, "\r\n"))
		for columns(line) > width {
			cut, n, space := 0, 0, 0
			for i, r := range line {
				if n += diagram.Columns(r); n > width {
					cut = i
					break
				}
				if r == ' ' && i > 0 {
					space = i
				}
			}
			if space > 0 {
				cut = space
			}
			lines = append(lines, strings.TrimRight(line[:cut], " "))
			line = strings.TrimLeft(line[cut:], " ")
		}
		lines = append(lines, line)
	}
	return lines
}

// span shows a duration in at most two units, as short as people say it.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	if d < 0 {
		return "-" + span(-d)
	}
	switch {
	case d == 0:
		return "0s"
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second && d%time.Second != 0:
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return units(d, time.Minute, "m", time.Second, "s")
	case d < day:
		return units(d, time.Hour, "h", time.Minute, "m")
	default:
		return units(d, day, "d", time.Hour, "h")
	}
}

func units(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	text := fmt.Sprintf("%d%s", d/large, largeName)
	if rest := d % large / small; rest > 0 {
		text += fmt.Sprintf("%d%s", rest, smallName)
	}
	return text
}

// age shows a duration in one unit.
func age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= day:
		d = d.Truncate(day)
	case d >= time.Hour:
		d = d.Truncate(time.Hour)
	case d >= time.Minute:
		d = d.Truncate(time.Minute)
	default:
		d = d.Truncate(time.Second)
	}
	return span(d)
}

// clockText shows a time as people read it at night.
func clockText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
