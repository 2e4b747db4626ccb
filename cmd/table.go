package pawlcmd

import (
	"io"
	"strings"
)

// table is a list of rows in columns. The first column is whole in any case:
// a cell that would make the line too wide gets a line of its own, so that ids
// can be copied. The last column is cut where the line ends.
type table struct {
	head []string
	rows [][]string
}

const (
	gap      = 2  // spaces between columns
	lastRoom = 16 // what the last column gets at least, if it needs it
)

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write prints the table in at most width columns.
func (t *table) write(w io.Writer, width int) error {
	rows := append([][]string{t.head}, t.rows...)
	widths := make([]int, len(t.head))
	room := width // for the first column
	for i := len(widths) - 1; i >= 0; i-- {
		for _, row := range rows {
			if n := columns(row[i]); i > 0 || n <= max(room, columns(t.head[0])) {
				widths[i] = max(widths[i], n)
			}
		}
		if i == len(widths)-1 {
			widths[i] = min(widths[i], lastRoom) // it is cut where the line ends
		}
		room -= widths[i] + gap
	}
	var b strings.Builder
	for _, row := range rows {
		if columns(row[0]) > widths[0] {
			b.WriteString(row[0] + "\n")
			row = append([]string{""}, row[1:]...)
		}
		writeRow(&b, row, widths, width)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeRow(b *strings.Builder, row []string, widths []int, room int) {
	var line strings.Builder
	for i, cell := range row {
		if i == len(row)-1 {
			cell = clip(cell, max(room, 1))
		}
		cell = pad(cell, widths[i]+gap)
		room -= columns(cell)
		line.WriteString(cell)
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}
