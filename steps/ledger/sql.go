package ledger

// Money is in an account; balances change by movements only. Accounts of
// customers cannot fall below zero; those of the house can. The upper bound
// keeps sums far from where SQLite goes over to floating point.
const accountTableSQL = `
CREATE TABLE IF NOT EXISTS ledger_account (
	id       TEXT    NOT NULL PRIMARY KEY,
	currency TEXT    NOT NULL,
	balance  INTEGER NOT NULL DEFAULT 0,
	CONSTRAINT ledger_not_negative CHECK (balance >= 0 OR id IN ('clearing/' || currency, 'outside/' || currency)),
	CONSTRAINT ledger_bounds CHECK (balance BETWEEN -4611686018427387904 AND 4611686018427387904)
)`

// empties names the reserve that a withdrawal or a release empties. It is
// unique: what was reserved leaves once.
const movementTableSQL = `
CREATE TABLE IF NOT EXISTS ledger_movement (
	id       TEXT    NOT NULL PRIMARY KEY,
	kind     TEXT    NOT NULL CHECK (kind IN ('deposit', 'reserve', 'release', 'withdraw', 'refund')),
	source   TEXT    NOT NULL,
	target   TEXT    NOT NULL,
	currency TEXT    NOT NULL,
	amount   INTEGER NOT NULL,
	empties  TEXT    UNIQUE,
	at       INTEGER NOT NULL,
	CONSTRAINT ledger_amount CHECK (amount BETWEEN 1 AND 9007199254740991),
	CONSTRAINT ledger_two_accounts CHECK (source <> target),
	CONSTRAINT ledger_empties CHECK ((empties IS NOT NULL) = (kind IN ('release', 'withdraw')))
)`

// undoneTableSQL keeps the keys of the steps that were undone, also of those
// that had not happened: they must not happen later.
const undoneTableSQL = `
CREATE TABLE IF NOT EXISTS ledger_undone (
	key TEXT    NOT NULL PRIMARY KEY,
	at  INTEGER NOT NULL
)`

const postingViewSQL = `
CREATE VIEW IF NOT EXISTS ledger_posting (movement, account, currency, amount) AS
	SELECT id, source, currency, -amount FROM ledger_movement
	UNION ALL
	SELECT id, target, currency, amount FROM ledger_movement`

const checkTriggerSQL = `
CREATE TRIGGER IF NOT EXISTS ledger_movement_check BEFORE INSERT ON ledger_movement
WHEN (SELECT count(*) FROM ledger_account
	WHERE id IN (NEW.source, NEW.target) AND currency = NEW.currency) <> 2
BEGIN
	SELECT RAISE(ABORT, 'both accounts of a movement must exist, in its currency');
END`

const applyTriggerSQL = `
CREATE TRIGGER IF NOT EXISTS ledger_movement_apply AFTER INSERT ON ledger_movement
BEGIN
	UPDATE ledger_account SET balance = balance - NEW.amount WHERE id = NEW.source;
	UPDATE ledger_account SET balance = balance + NEW.amount WHERE id = NEW.target;
END`

const updateTriggerSQL = `
CREATE TRIGGER IF NOT EXISTS ledger_movement_update BEFORE UPDATE ON ledger_movement
BEGIN
	SELECT RAISE(ABORT, 'a movement is never changed');
END`

const deleteTriggerSQL = `
CREATE TRIGGER IF NOT EXISTS ledger_movement_delete BEFORE DELETE ON ledger_movement
BEGIN
	SELECT RAISE(ABORT, 'a movement is never deleted');
END`

func schema() []string {
	return []string{
		accountTableSQL, movementTableSQL, undoneTableSQL, postingViewSQL,
		checkTriggerSQL, applyTriggerSQL, updateTriggerSQL, deleteTriggerSQL,
	}
}

const openSQL = `
INSERT INTO ledger_account (id, currency) VALUES (?, ?) ON CONFLICT (id) DO NOTHING`

const accountSQL = `SELECT currency, balance FROM ledger_account WHERE id = ?`

const balanceSQL = `
SELECT a.currency, a.balance, r.balance FROM ledger_account a, ledger_account r
WHERE a.id = ? AND r.id = ?`

const moveSQL = `
INSERT INTO ledger_movement (id, kind, source, target, currency, amount, empties, at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)`

const movementSQL = `
SELECT id, kind, source, target, currency, amount, coalesce(empties, '')
FROM ledger_movement WHERE id = ?`

const emptiedSQL = `SELECT id FROM ledger_movement WHERE empties = ?`

const undoneSQL = `SELECT EXISTS (SELECT 1 FROM ledger_undone WHERE key = ?)`

const undoSQL = `INSERT INTO ledger_undone (key, at) VALUES (?, ?) ON CONFLICT (key) DO NOTHING`
