package pawlcmd

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/engine/diagram"
)

// The colours of a terminal, as the numbers of their escape sequences.
const (
	bold   = "1"
	dim    = "2"
	red    = "1;31"
	yellow = "1;33"
)

// tab is what a tab of the file is shown as.
const tab = "    "

// style says how findings are shown.
type style struct {
	lines  bool // with the line of the file
	colour bool
	width  int // of the terminal
}

// style returns how to print to the standard error: for people if it is a
// terminal, else for programs.
func (e *env) style() style {
	s := style{width: e.width()}
	if f, ok := e.err.(interface{ Fd() uintptr }); ok && term.IsTerminal(int(f.Fd())) {
		s.lines = true
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			s.width = width
		}
	}
	switch e.color {
	case "always":
		s.lines, s.colour = true, true
	case "auto":
		s.colour = s.lines && e.takesColours()
	}
	return s
}

// takesColours reports whether the terminal and its user want colours.
func (e *env) takesColours() bool {
	kind := e.opts.Getenv("TERM")
	if runtime.GOOS == "windows" && kind == "" && e.opts.Getenv("WT_SESSION") == "" {
		return false // an old console shows the escape sequences
	}
	return e.opts.Getenv("NO_COLOR") == "" && kind != "dumb"
}

func (s style) paint(colour, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// finding is the line of a finding. Its words are those of
// [definition.Diagnostic.Error].
func (s style) finding(d *definition.Diagnostic) string {
	if !s.colour {
		return printable(d.Error()) + "\n"
	}
	text := s.paint(bold, fmt.Sprintf("%s:%d:%d:", printable(d.File), d.Line, d.Col)) + " "
	if d.Warning {
		text += s.paint(yellow, "warning:") + " "
	}
	return text + printable(d.Message) + " " + s.paint(dim, "["+printable(d.Rule)+"]") + "\n"
}

// snippet is the line of the file that d is about, as far as it fits, with a
// mark below the word.
func (s style) snippet(d *definition.Diagnostic, row []rune) string {
	const least = 20
	number := fmt.Sprintf("%5d", d.Line)
	room := max(s.width-len(number)-len(" | "), least)
	from := min(max(d.Col-1, 0), len(row))
	to := min(max(d.EndCol-1, from), len(row))

	// Only what is near is looked at: a line may be very long. More than half
	// of the room is given to what stands before the word only if all fits.
	left := shown(row[max(from-room, 0):from])
	right := shown(row[from:min(from+room+1, len(row))])
	if from > room || columns(left)+columns(right) > room {
		left = clipLeft(left, room/2, from > room)
	}
	right = clip(right, room-columns(left))

	mark := min(columns(shown(row[from:min(to, from+room)])), columns(right))
	colour := red
	if d.Warning {
		colour = yellow
	}
	return s.paint(dim, number+" |") + strings.TrimRight(" "+left+right, " ") + "\n" +
		s.paint(dim, strings.Repeat(" ", len(number))+" |") + " " + strings.Repeat(" ", columns(left)) +
		s.paint(colour, "^"+strings.Repeat("~", max(mark-1, 0))) + "\n"
}

// shown is a part of a line, fit for a terminal.
func shown(row []rune) string {
	return printable(strings.ReplaceAll(string(row), "\t", tab))
}

// clipLeft cuts s to its last width columns and marks the cut, also if s is
// itself cut.
func clipLeft(s string, width int, cut bool) string {
	if columns(s) <= width && !cut {
		return s
	}
	runes := []rune(s)
	n := 1 // of the mark
	for i, r := range slices.Backward(runes) {
		if n += diagram.Columns(r); n > width {
			return "…" + string(runes[i+1:])
		}
	}
	return "…" + s
}
