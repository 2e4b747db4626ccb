// Package storequeue is a message queue in a table of an SQL database: the
// embedded queue, beside the instances, for programs that have no broker.
//
// A message that was received is invisible for a while and comes again unless
// it is deleted, so each is delivered at least once. What was received too
// often moves to the queue of dead letters, named after the first with
// [DeadSuffix]. Messages come about in the order in which they were sent; a
// message that comes again comes later. The group of a message is kept and
// handed on, but does not order or lock anything.
//
// # The database
//
// The statements are those of SQLite. The caller opens the database with a
// driver of its choice, so that BEGIN takes the write lock at once: with
// modernc.org/sqlite by _txlock=immediate, together with a busy_timeout. A
// deferred transaction that reads and then writes would fail with "database is
// locked" at once, without waiting.
//
// Times are integer UTC microseconds of [Options.Clock]. Several processes may
// share a queue; their clocks must agree to within a small part of the
// visibility timeout.
//
// Only the table and its statements live here. Neither a loop that receives
// nor a driver import does.
package storequeue
