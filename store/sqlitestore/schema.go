package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl/engine"
)

// schemaVersion is the version that this program reads and writes: the number
// of migrations.
const schemaVersion = 1

// migrations returns the steps from each version to the next. A step that was
// published is never changed.
func migrations() []string { return []string{schema1} }

// versionSQL makes the table that has exactly one row.
const versionSQL = `
CREATE TABLE IF NOT EXISTS pawl_schema (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	version INTEGER NOT NULL
) STRICT;
INSERT INTO pawl_schema (one, version) VALUES (1, 0) ON CONFLICT DO NOTHING`

// schema1 is the first schema. The columns of instance that change least come
// first and the large ones last, so that short reads stay short. Only rows
// that a tick has to look at are in instance_due.
const schema1 = `
CREATE TABLE instance (
	n            INTEGER PRIMARY KEY,
	id           TEXT NOT NULL UNIQUE,
	workflow     TEXT NOT NULL,
	def_version  INTEGER NOT NULL,
	def_hash     TEXT NOT NULL,
	ikey         TEXT NOT NULL,    -- '' is no key
	run          INTEGER NOT NULL,
	key_freed    INTEGER NOT NULL,
	state        TEXT NOT NULL,
	status       TEXT NOT NULL,
	step         TEXT NOT NULL,    -- '' is nothing to do
	version      INTEGER NOT NULL, -- +1 by every write but the renewal of a lease
	attempt      INTEGER NOT NULL,
	failures     INTEGER NOT NULL,
	doubt        INTEGER NOT NULL,
	due_at       INTEGER NOT NULL, -- end of the lease while leased; the largest integer is never
	was_due      INTEGER NOT NULL, -- due_at before the last claim
	lease_owner  TEXT NOT NULL,
	lease_until  INTEGER NOT NULL, -- 0 is free
	code         TEXT NOT NULL,
	message      TEXT NOT NULL,
	failed_state TEXT NOT NULL,
	note         TEXT NOT NULL,
	started_at   INTEGER NOT NULL,
	entered_at   INTEGER NOT NULL,
	updated_at   INTEGER NOT NULL,
	ended_at     INTEGER NOT NULL, -- here and below: 0 is not set
	deadline_at  INTEGER NOT NULL,
	expire_at    INTEGER NOT NULL,
	labels       TEXT NOT NULL,
	with_input   BLOB NOT NULL,
	data         BLOB NOT NULL,
	output       BLOB NOT NULL,
	input        BLOB NOT NULL
) STRICT;
CREATE INDEX instance_due ON instance (step, due_at) WHERE step <> '';
CREATE INDEX instance_expire ON instance (expire_at) WHERE expire_at > 0;
CREATE INDEX instance_key ON instance (ikey, workflow, key_freed, run DESC) WHERE ikey <> '';
CREATE INDEX instance_started ON instance (started_at);
CREATE INDEX instance_status ON instance (status, started_at);

CREATE TABLE history (
	id           TEXT NOT NULL,
	version      INTEGER NOT NULL, -- of the row with this line
	sub          INTEGER NOT NULL, -- 0; counts the late results, which leave the version as it is
	in_line      INTEGER NOT NULL, -- the row was queued by the same write
	token        TEXT NOT NULL,    -- of the transition
	at           INTEGER NOT NULL,
	from_state   TEXT NOT NULL,
	to_state     TEXT NOT NULL,
	reason       TEXT NOT NULL,
	attempt      INTEGER NOT NULL,
	code         TEXT NOT NULL,
	message      TEXT NOT NULL,
	failed_state TEXT NOT NULL,
	duration     INTEGER NOT NULL, -- microseconds
	actor        TEXT NOT NULL,
	PRIMARY KEY (id, version, sub)
) STRICT, WITHOUT ROWID;

CREATE TABLE hold (
	name   TEXT NOT NULL,
	ticket INTEGER NOT NULL, -- the lowest of a name holds the key, the others wait in this order
	id     TEXT NOT NULL,
	PRIMARY KEY (name, ticket)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX hold_id ON hold (id, name);

CREATE TABLE definition (
	workflow  TEXT NOT NULL,
	version   INTEGER NOT NULL,
	hash      TEXT NOT NULL,
	stored_at INTEGER NOT NULL,
	source    BLOB NOT NULL,
	PRIMARY KEY (workflow, version)
) STRICT;
CREATE INDEX definition_hash ON definition (workflow, hash)`

// Migrate brings the schema up to date, in one transaction; what is up to date
// is left alone. Any number of processes may call it at once. A schema that is
// newer than this program is engine.ErrSchema.
func (s *Store) Migrate(ctx context.Context) error {
	if err := s.checkSchema(ctx); err == nil {
		return nil
	}
	tx, free, err := s.begin(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", fail(ctx, err))
	}
	defer free()
	defer func() { _ = tx.Rollback() }() // no effect after the commit
	if err := migrate(context.WithoutCancel(ctx), tx); err != nil {
		return fmt.Errorf("migrate: %w", fail(ctx, err))
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("migrate: %w: %v", engine.ErrUnknown, err)
	}
	return nil
}

// migrate takes the steps that are missing. It reads the version under the
// lock of tx: whoever waited for that finds the work done.
func migrate(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, versionSQL); err != nil {
		return err
	}
	var have int
	if err := tx.QueryRowContext(ctx, "SELECT version FROM pawl_schema").Scan(&have); err != nil {
		return err
	}
	if have > schemaVersion {
		return newer(have)
	}
	for _, step := range migrations()[have:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "UPDATE pawl_schema SET version = ?", schemaVersion)
	return err
}

// checkSchema reports, as ErrSchema, a schema that this program cannot use.
func (s *Store) checkSchema(ctx context.Context) error {
	var name string
	err := s.reader.QueryRowContext(ctx, "SELECT name FROM sqlite_schema WHERE name = 'pawl_schema'").Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: the tables are missing; run migrate", engine.ErrSchema)
	}
	var have int
	if err == nil {
		err = s.reader.QueryRowContext(ctx, "SELECT version FROM pawl_schema").Scan(&have)
	}
	switch {
	case err != nil:
		return fail(ctx, err)
	case have > schemaVersion:
		return newer(have)
	case have < schemaVersion:
		return fmt.Errorf("%w: schema %d is older than this program (%d); run migrate",
			engine.ErrSchema, have, schemaVersion)
	default:
		return nil
	}
}

func newer(have int) error {
	return fmt.Errorf("%w: schema %d is newer than this program (%d); update the program",
		engine.ErrSchema, have, schemaVersion)
}
