// Package ledger is the steps ledger.reserve and ledger.withdraw with their
// compensations ledger.release_reserve and ledger.refund_withdraw, on a
// double-entry ledger in tables of an SQL database.
//
// Money is never made, it only moves: a movement takes an amount from one
// account and gives it to another, so its two postings, which the view
// ledger_posting shows, sum to zero. A customer has two accounts, for what is
// available and for what is reserved, and neither can fall below zero. Beside
// them each currency has an account clearing, for what was withdrawn and is
// owed to merchants, and outside, the rest of the world.
//
//	deposit   outside   -> available
//	reserve   available -> reserved
//	release   reserved  -> available
//	withdraw  reserved  -> clearing
//	refund    clearing  -> available
//
// The database itself refuses a movement that breaks these rules, and any
// change of one that was made. Amounts are integers in minor units (cents).
//
// # Repeats and late attempts
//
// The id of a movement is the idempotency key of the call that made it, so a
// repeated call finds its movement and gives the first result. A compensation
// looks for the movement of the step's key, and writes down that this key is
// undone, whether there was a movement or not: an attempt of the step that
// arrives later is refused.
//
// # The database
//
// The statements are those of SQLite. The caller opens the database so that
// BEGIN takes the write lock at once (with modernc.org/sqlite by
// _txlock=immediate, together with a busy_timeout). Times are integer UTC
// microseconds.
package ledger
