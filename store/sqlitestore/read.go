package sqlitestore

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl/engine"
)

const existsSQL = `SELECT 1 FROM instance WHERE id = ?`

// Load implements engine.Store.
func (s *Store) Load(ctx context.Context, id string) (engine.Instance, error) {
	var r row
	if err := s.load.QueryRowContext(ctx, id).Scan(r.all()...); err != nil {
		return engine.Instance{}, fail(ctx, missing(err, fmt.Sprintf("load %q", id)))
	}
	in, err := r.instance()
	return in, fail(ctx, err)
}
