// Package sqlitestore keeps pawl's instances in one SQLite file: the embedded
// default, pure Go, without a server.
//
// Any number of processes of one machine may use the file at once, each with a
// [Store] of its own; the file may also hold tables of the application. An
// application that changes its own tables and starts an instance in the same
// transaction calls [StartTx].
//
// The file is in WAL mode. A [Store] has one connection that writes, in
// transactions that begin immediate, and a few that only read, so a reader
// never waits. Every write is durable when its call returns, see
// [Options.Synchronous].
//
// # The tables
//
// instance has one row per instance, which is the only truth about it. Its
// due_at is the next time that a tick must look: the end of the lease while it
// is leased. So a lost worker's row becomes due by itself, and one index over
// (step, due_at) answers every claim. history has the lines of all stories,
// hold the lines of the concurrency keys (the lowest ticket of a name holds
// it), definition the texts, and pawl_schema the version of all these.
//
// Times are integers, in microseconds since 1970 UTC.
package sqlitestore
