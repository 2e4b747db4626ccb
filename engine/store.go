package engine

import (
	"context"
	"time"
)

// Store keeps instances, their history and the definitions they run on.
//
// Implementations are safe for concurrent use by many processes, take the time
// from their arguments, and pass storetest.Run. Times are exact to the
// microsecond and come back in UTC. A method that gets an error of the
// database wraps [ErrUnavailable] if nothing can have happened and
// [ErrUnknown] if it may have; every write is safe to repeat with the same
// arguments.
type Store interface {
	DefinitionStore

	// Now returns the time of the store's own clock, by which engines on
	// several machines correct theirs.
	Now(ctx context.Context) (time.Time, error)

	// Insert starts instances, in one transaction. A key (of one workflow) is
	// held by an instance until a transition of it frees the key; a start under
	// a held key creates nothing, and its Started has the holder. An id that is
	// taken gives the instance that has it.
	Insert(ctx context.Context, now time.Time, in []New) ([]Started, error)

	// Claim leases due instances to one owner. It first looks by read only
	// and writes nothing if nothing is due. It skips what it cannot have.
	Claim(ctx context.Context, req ClaimRequest) (Claimed, error)

	// Commit applies transitions in one transaction. A transition whose
	// version is not that of the row any more changes nothing and has the
	// result Lost; the others are applied all the same. A transition that was
	// applied before, by a call whose outcome did not arrive, has the result
	// that it had then.
	Commit(ctx context.Context, now time.Time, tr []Transition) ([]Outcome, error)

	// Extend sets the end of leases that are still held to until, in one
	// statement, and reports for each whether it was. A lease that is over and
	// that nobody has claimed since is still held.
	Extend(ctx context.Context, until time.Time, leases []Lease) ([]bool, error)

	// Load returns the instance or ErrNotFound.
	Load(ctx context.Context, id string) (Instance, error)

	// List returns a page of instances, newest start first. A row that exists
	// during the whole walk is seen exactly once, however rows move.
	List(ctx context.Context, f Filter) (Page, error)

	// History returns up to limit lines with a Seq above after, in order, or
	// ErrNotFound if the instance does not exist.
	History(ctx context.Context, id string, after int64, limit int) ([]History, error)

	// Purge deletes up to limit instances with ExpireAt <= now together with
	// all that belongs to them, and returns how many.
	Purge(ctx context.Context, now time.Time, limit int) (int, error)
}

// DefinitionStore keeps the text of definitions.
type DefinitionStore interface {
	// PutDefinition stores d. It does nothing if the same workflow, version
	// and hash is there, and returns ErrConflict, naming the stored hash, if
	// the version is there with another hash.
	PutDefinition(ctx context.Context, now time.Time, d StoredDefinition) error

	// Definition returns the text of the workflow's definition with that
	// hash, or ErrNotFound.
	Definition(ctx context.Context, workflow, hash string) (StoredDefinition, error)

	// Versions returns all that is stored of the workflow, newest version
	// first; nothing is no error.
	Versions(ctx context.Context, workflow string) ([]StoredDefinition, error)
}

// StoredDefinition is a definition as a store keeps it.
type StoredDefinition struct {
	Workflow string
	Version  int
	Hash     string
	Source   []byte
}

// New is an instance that is to be started, as made by [Engine.NewInstance].
type New struct {
	// Instance is the row, as the first of its key. If the key had instances
	// before, the store asks AsRun for the row of the next one.
	Instance Instance
	// Acquire are the concurrency keys that it needs to begin. If one is not
	// free it is stored as Queued, with Attempt 0, due at DeadlineAt.
	Acquire []Hold
	// Start are the instances that begin with it.
	Start []New

	rebuild func(run int) (New, error)
}

// AsRun returns the same start as the run-th instance of its key: the id, and
// all that is made from it, differ.
func (n New) AsRun(run int) (New, error) {
	if run == n.Instance.Run || n.rebuild == nil {
		return n, nil
	}
	return n.rebuild(run)
}

// Started tells what became of a [New].
type Started struct {
	Instance Instance // the new one, or the one that was there
	Created  bool
	// Refused is the id of the holder of a key with Reject set; nothing was
	// created then, and Instance is empty.
	Refused string
}

// Hold is a concurrency key that an instance takes, or stands in line for.
type Hold struct {
	Name string // scope and key
	// Reject refuses the start if another instance holds the key; otherwise
	// the instance is queued.
	Reject bool
}

// StepLimit names a step and how many of its instances may be claimed.
type StepLimit struct {
	Step  string
	Limit int
}

// ClaimRequest says what to claim.
type ClaimRequest struct {
	Owner string
	Now   time.Time
	Until time.Time // end of the leases
	Steps []StepLimit
	Limit int // of all steps together, oldest due first
}

// Claimed is the answer to a claim.
type Claimed struct {
	// Instances are as after the claim: the lease is set, Attempt counts the
	// attempt that begins now. An instance whose former lease ran out (its
	// worker is lost) has Failures one higher and Doubt set.
	Instances []Instance
	// Now is the store's own clock.
	Now time.Time
	// Expired says that Purge has something to do.
	Expired bool
}

// Lease names what a worker holds.
type Lease struct {
	ID      string
	Version int64
}

// Transition is one change of one instance.
type Transition struct {
	// Instance is the row as it shall be, except Version, which the store
	// counts on. Instance.Version is the version that the row must still have.
	// Workflow, its definition, Key, Run, Input, Labels and StartedAt are never
	// changed. A set LeaseUntil keeps the lease: the next attempt is counted
	// already.
	Instance Instance
	// History is the line to write; its Seq is the store's to choose. A nil
	// History writes none; a repeat of such a transition may be Lost. Where the
	// result is Lost its line, if LateNote asks for it, goes from From to From.
	History *History
	// Token is kept with the line. A transition whose version is gone was
	// applied before if the line of that version has the same token and actor.
	// It is never empty, and no two callers use the same one.
	Token string
	// Start are instances that begin in the same transaction.
	Start []New
	// Release are the concurrency keys given back; the next in line of each
	// becomes due now.
	Release []string
	// Acquire are the keys that the state needs. If one is not free, the
	// instance is stored as Queued, without a lease and with Attempt 0, and
	// is due at DeadlineAt. Reject has no meaning here.
	Acquire []Hold
	// Free gives the instance key back, Reclaim takes it again. Reclaim fails
	// with the result Taken if another instance has the key.
	Free    bool
	Reclaim bool
	// LateNote writes a history line with ReasonLate if the result is Lost.
	LateNote bool
}

// CommitResult is what became of a transition.
type CommitResult string

// The results of a transition.
const (
	Done   CommitResult = "done"   // stored
	Lost   CommitResult = "lost"   // another write came first; nothing stored
	InLine CommitResult = "queued" // stored, and waiting for a concurrency key
	Taken  CommitResult = "taken"  // Reclaim: another instance holds the key
	Absent CommitResult = "absent" // there is no such instance
)

// Outcome tells what became of a transition.
type Outcome struct {
	Result  CommitResult
	Version int64 // of the row after the transition, or as it is if Lost
	// Woken says that other instances became due by it, or may have.
	Woken bool
	// By is the holder of the key for InLine and Taken.
	By string
}

// Filter selects instances. Empty fields select everything.
type Filter struct {
	Workflow string
	State    string
	Status   Status
	Labels   map[string]string
	Key      string
	DefHash  string // of the definition that they run on
	After    string // Page.Next of the page before
	Limit    int    // default 50, at most 1000
}

// Page is a part of a list.
type Page struct {
	Instances []Instance // without Input, With, Data and Output
	Next      string     // empty on the last page
}
