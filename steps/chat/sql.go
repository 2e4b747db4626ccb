package chat

// A message that was taken back has no text any more. Its row stays for its
// key; its id is free for a new message.
const messageTableSQL = `
CREATE TABLE IF NOT EXISTS chat_message (
	key          TEXT    NOT NULL PRIMARY KEY,
	message_id   TEXT    NOT NULL,
	chat_id      TEXT    NOT NULL,
	text         TEXT    NOT NULL,
	stored_at    INTEGER NOT NULL,
	retracted_at INTEGER NOT NULL DEFAULT 0
)`

const messageIndexSQL = `
CREATE UNIQUE INDEX IF NOT EXISTS chat_message_id ON chat_message (message_id) WHERE retracted_at = 0`

const pushTableSQL = `
CREATE TABLE IF NOT EXISTS chat_push (
	key          TEXT    NOT NULL PRIMARY KEY,
	message_key  TEXT    NOT NULL,
	message_id   TEXT    NOT NULL,
	recipient_id TEXT    NOT NULL,
	sound        TEXT    NOT NULL,
	at           INTEGER NOT NULL
)`

const pushIndexSQL = `CREATE INDEX IF NOT EXISTS chat_push_message ON chat_push (message_key)`

func schema() []string {
	return []string{messageTableSQL, messageIndexSQL, pushTableSQL, pushIndexSQL}
}

const storeSQL = `
INSERT INTO chat_message (key, message_id, chat_id, text, stored_at) VALUES (?, ?, ?, ?, ?)`

const byKeySQL = `
SELECT message_id, chat_id, text, stored_at, retracted_at FROM chat_message WHERE key = ?`

const byIDSQL = `SELECT key FROM chat_message WHERE message_id = ? AND retracted_at = 0`

const retractSQL = `
INSERT INTO chat_message (key, message_id, chat_id, text, stored_at, retracted_at)
VALUES (?, ?, ?, '', ?, ?)
ON CONFLICT (key) DO UPDATE SET text = '', retracted_at = excluded.retracted_at WHERE retracted_at = 0`

const deliverSQL = `
INSERT INTO chat_push (key, message_key, message_id, recipient_id, sound, at) VALUES (?, ?, ?, ?, ?, ?)`

const pushSQL = `SELECT message_id, recipient_id, sound, at FROM chat_push WHERE key = ?`

const deliveredSQL = `SELECT EXISTS (SELECT 1 FROM chat_push WHERE message_key = ?)`
