package sqlitestore

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/engine"
)

const (
	defaultPage = 50
	maxPage     = 1000
)

// List implements engine.Store. A row's place in the order, its start and then
// its number, never changes.
func (s *Store) List(ctx context.Context, f engine.Filter) (engine.Page, error) {
	text, args, limit, err := listQuery(f)
	if err != nil {
		return engine.Page{}, fmt.Errorf("list: %w", err)
	}
	page, err := s.page(ctx, text, args, limit)
	if err != nil {
		return engine.Page{}, fmt.Errorf("list: %w", fail(ctx, err))
	}
	return page, nil
}

func (s *Store) page(ctx context.Context, text string, args []any, limit int) (engine.Page, error) {
	rows, err := s.reader.QueryContext(ctx, text, args...)
	if err != nil {
		return engine.Page{}, err
	}
	defer func() { _ = rows.Close() }() // its error is that of Err
	var page engine.Page
	var last row
	for rows.Next() {
		if len(page.Instances) == limit {
			page.Next = cursor(last)
			break
		}
		last = row{}
		if err := rows.Scan(last.head()...); err != nil {
			return engine.Page{}, err
		}
		in, err := last.instance()
		if err != nil {
			return engine.Page{}, err
		}
		page.Instances = append(page.Instances, in)
	}
	return page, rows.Err()
}

// listQuery asks for one row more than the page has, to know whether another
// page follows.
func listQuery(f engine.Filter) (text string, args []any, limit int, err error) {
	limit = f.Limit
	if limit == 0 {
		limit = defaultPage
	}
	if limit < 0 || limit > maxPage {
		return "", nil, 0, fmt.Errorf("%w: limit is %d, want 1 to %d", engine.ErrInvalid, f.Limit, maxPage)
	}
	where := []string{"true"}
	add := func(cond string, values ...any) {
		where = append(where, cond)
		args = append(args, values...)
	}
	if f.After != "" {
		started, n, err := parseCursor(f.After)
		if err != nil {
			return "", nil, 0, err
		}
		add("(started_at, n) < (?, ?)", started, n)
	}
	if f.Status != "" {
		add("status = ?", string(f.Status))
	}
	if f.Workflow != "" {
		add("workflow = ?", f.Workflow)
	}
	if f.State != "" {
		add("state = ?", f.State)
	}
	if f.DefHash != "" {
		add("def_hash = ?", f.DefHash)
	}
	if f.Key != "" {
		add("ikey = ? AND ikey <> ''", f.Key)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Labels)) {
		add("EXISTS (SELECT 1 FROM json_each(labels) WHERE key = ? AND value = ?)", name, f.Labels[name])
	}
	text = "SELECT " + headColumns + " FROM instance" + byIndex(f) + " WHERE " + strings.Join(where, " AND ") +
		" ORDER BY started_at DESC, n DESC LIMIT " + strconv.Itoa(limit+1)
	return text, args, limit, nil
}

// byIndex names the index that finds the rows of f, since SQLite has no
// statistics to choose by.
func byIndex(f engine.Filter) string {
	switch {
	case f.Key != "":
		return " INDEXED BY instance_key"
	case f.Status != "":
		return " INDEXED BY instance_status"
	default:
		return " INDEXED BY instance_started"
	}
}

// cursor names the place after r; callers see it as opaque.
func cursor(r row) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "1 %d %d", r.started, r.n))
}

func parseCursor(s string) (started, n int64, err error) {
	text, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		_, err = fmt.Sscanf(string(text), "1 %d %d", &started, &n)
	}
	if err != nil || s != cursor(row{started: started, n: n}) {
		return 0, 0, fmt.Errorf("%w: After is %q, want the Next of a page", engine.ErrInvalid, s)
	}
	return started, n, nil
}
