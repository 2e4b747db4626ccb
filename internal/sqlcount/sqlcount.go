// Package sqlcount counts, and on demand breaks, what goes through
// database/sql to a driver. It wraps a driver.Connector, so it sees what the
// database sees, whatever the code above believes that it does.
//
// It is support for tests.
package sqlcount

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync/atomic"
)

// Op is a kind of call of the driver.
type Op int

// The operations that are counted. Preparing a statement is none.
const (
	Query    Op = iota // statements that return rows
	Exec               // other statements
	Begin              // transactions
	Commit             // attempts to commit
	Rollback           // transactions given up
	ops
)

// Counts says how often each operation was called.
type Counts [ops]int64

// Sub returns what was counted since before.
func (c Counts) Sub(before Counts) Counts {
	for op := range c {
		c[op] -= before[op]
	}
	return c
}

// Counter counts the operations of all connectors that it wraps. The zero
// Counter is ready for use; its fields are set before it wraps one.
type Counter struct {
	// Before is called ahead of each operation, with its text if it is a
	// statement. An error is returned in place of the operation.
	Before func(op Op, query string) error
	// After is called when an Exec or a Commit has succeeded. An error is
	// returned although it has.
	After func(op Op, query string) error

	counts [ops]atomic.Int64
}

// Counts returns the present counts.
func (c *Counter) Counts() Counts {
	var out Counts
	for op := range out {
		out[op] = c.counts[op].Load()
	}
	return out
}

// Wrap returns a connector whose connections are counted.
func (c *Counter) Wrap(base driver.Connector) driver.Connector {
	return connector{base, c}
}

// around counts and calls one operation.
func around[T any](c *Counter, op Op, query string, call func() (T, error)) (T, error) {
	var none T
	c.counts[op].Add(1)
	if c.Before != nil {
		if err := c.Before(op, query); err != nil {
			return none, err
		}
	}
	out, err := call()
	if err == nil && c.After != nil && (op == Exec || op == Commit) {
		if err := c.After(op, query); err != nil {
			return none, err
		}
	}
	return out, err
}

type connector struct {
	driver.Connector
	c *Counter
}

func (k connector) Connect(ctx context.Context) (driver.Conn, error) {
	base, err := k.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	full, ok := base.(fullConn)
	if !ok {
		return nil, errors.Join(errors.New("sqlcount: the driver's connection lacks an interface"), base.Close())
	}
	return conn{full, k.c}, nil
}

// fullConn is all that database/sql may use of a connection; what a wrapper
// hides is lost.
type fullConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type conn struct {
	fullConn
	c *Counter
}

// Unwrap returns the driver's connection.
func (k conn) Unwrap() driver.Conn { return k.fullConn }

func (k conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	base, err := around(k.c, Begin, "", func() (driver.Tx, error) { return k.fullConn.BeginTx(ctx, opts) })
	if err != nil {
		return nil, err
	}
	return tx{base, k.c}, nil
}

func (k conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	base, err := k.fullConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	full, ok := base.(fullStmt)
	if !ok {
		return nil, errors.Join(errors.New("sqlcount: the driver's statement lacks an interface"), base.Close())
	}
	return stmt{full, query, k.c}, nil
}

func (k conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return around(k.c, Exec, query, func() (driver.Result, error) { return k.fullConn.ExecContext(ctx, query, args) })
}

func (k conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return around(k.c, Query, query, func() (driver.Rows, error) { return k.fullConn.QueryContext(ctx, query, args) })
}

type fullStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type stmt struct {
	fullStmt
	query string
	c     *Counter
}

func (s stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return around(s.c, Exec, s.query, func() (driver.Result, error) { return s.fullStmt.ExecContext(ctx, args) })
}

func (s stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return around(s.c, Query, s.query, func() (driver.Rows, error) { return s.fullStmt.QueryContext(ctx, args) })
}

type tx struct {
	driver.Tx
	c *Counter
}

func (t tx) Commit() error {
	tried := false
	_, err := around(t.c, Commit, "", func() (struct{}, error) {
		tried = true
		return struct{}{}, t.Tx.Commit()
	})
	if !tried { // database/sql takes the transaction for ended
		return errors.Join(err, t.Tx.Rollback())
	}
	return err
}

func (t tx) Rollback() error {
	_, err := around(t.c, Rollback, "", func() (struct{}, error) { return struct{}{}, t.Tx.Rollback() })
	return err
}
