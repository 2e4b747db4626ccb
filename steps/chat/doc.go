// Package chat is the steps messages.store and push.deliver, and
// messages.retract, the compensation of the first, on tables of an SQL
// database.
//
// A message can be taken back until it has been delivered, and what was taken
// back is not delivered: retract and deliver read and write in one transaction
// each, so that exactly one of them wins. Delivered means that the push to the
// recipient's devices is in the table chat_push, from where a gateway sends
// them; the gateway does not live here.
//
// Each step is known by its idempotency key, so a repeat gives the first
// result. A message that is taken back before it was stored leaves a row by
// which a late attempt to store it is refused.
//
// The statements are those of SQLite. The caller opens the database so that
// BEGIN takes the write lock at once (with modernc.org/sqlite by
// _txlock=immediate, together with a busy_timeout). Times are integer UTC
// microseconds.
package chat
