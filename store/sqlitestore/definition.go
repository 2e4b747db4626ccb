package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

const (
	putDefinitionSQL = `
INSERT INTO definition (workflow, version, hash, stored_at, source) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (workflow, version) DO NOTHING`
	definitionHashSQL = `SELECT hash FROM definition WHERE workflow = ? AND version = ?`
	versionsSQL       = `SELECT version, hash, source FROM definition WHERE workflow = ? ORDER BY version DESC`
	definitionSQL     = `SELECT version, source FROM definition WHERE workflow = ? AND hash = ? LIMIT 1`
)

// PutDefinition implements engine.Store. It only reads if the definition is
// there.
func (s *Store) PutDefinition(ctx context.Context, now time.Time, d engine.StoredDefinition) error {
	what := fmt.Sprintf("store definition %s version %d", d.Workflow, d.Version)
	have, err := s.hashOf(ctx, d)
	if err != nil {
		return fmt.Errorf("%s: %w", what, fail(ctx, err))
	}
	if have == "" {
		err := s.write(ctx, what, func(ctx context.Context, w *writer) error {
			_, err := w.exec(ctx, putDefinitionSQL, d.Workflow, d.Version, d.Hash, toMicro(now), toBlob(d.Source))
			return err
		})
		if err != nil {
			return err
		}
		if have, err = s.hashOf(ctx, d); err != nil {
			return fmt.Errorf("%s: %w: %v", what, engine.ErrUnknown, err)
		}
	}
	if have != d.Hash {
		return fmt.Errorf("%s: %w: it is stored with the hash %s, this one has %s; give a changed definition a new version",
			what, engine.ErrConflict, have, d.Hash)
	}
	return nil
}

// hashOf returns the hash that d's version is stored with, or "".
func (s *Store) hashOf(ctx context.Context, d engine.StoredDefinition) (hash string, err error) {
	err = s.reader.QueryRowContext(ctx, definitionHashSQL, d.Workflow, d.Version).Scan(&hash)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return hash, err
}

// Definition implements engine.Store.
func (s *Store) Definition(ctx context.Context, workflow, hash string) (engine.StoredDefinition, error) {
	d := engine.StoredDefinition{Workflow: workflow, Hash: hash}
	err := s.reader.QueryRowContext(ctx, definitionSQL, workflow, hash).Scan(&d.Version, &d.Source)
	if err != nil {
		what := fmt.Sprintf("definition %s with hash %s", workflow, hash)
		return engine.StoredDefinition{}, fail(ctx, missing(err, what))
	}
	return d, nil
}

// Versions implements engine.Store.
func (s *Store) Versions(ctx context.Context, workflow string) (list []engine.StoredDefinition, err error) {
	what := "versions of " + workflow
	rows, err := s.reader.QueryContext(ctx, versionsSQL, workflow)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, fail(ctx, err))
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		d := engine.StoredDefinition{Workflow: workflow}
		if err := rows.Scan(&d.Version, &d.Hash, &d.Source); err != nil {
			return nil, fmt.Errorf("%s: %w", what, fail(ctx, err))
		}
		list = append(list, d)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, fail(ctx, err))
	}
	return list, nil
}
