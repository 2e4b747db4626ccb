package sqlitestore

import (
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/engine"
)

// Options says how to open a [Store]. Every zero field means the default
// named in its comment.
type Options struct {
	// Synchronous is "FULL", by which a commit survives a power cut, or
	// "NORMAL", by which it survives the end of the process, but a power cut
	// may take back the last ones. Default: "FULL".
	Synchronous string

	// BusyTimeout is how long a write waits for other processes, and for
	// other writes of this one, before it is engine.ErrUnavailable.
	// Default: 30 seconds.
	BusyTimeout time.Duration

	// Readers is how many reads may run at once. Default: 4.
	Readers int

	// NoMigrate makes Open leave the schema alone: tables that are missing or
	// old are engine.ErrSchema then. Default: Open migrates.
	NoMigrate bool

	// Clock is the store's own clock. Default: time.Now.
	Clock func() time.Time

	// Wrap gets to see all that goes to the database: it is called for the
	// connector of the writer and for that of the readers. Tests count and
	// break statements by it. Default: nothing is wrapped.
	Wrap func(driver.Connector) driver.Connector
}

// withDefaults fills what is not set and checks the rest.
func (o Options) withDefaults() (Options, error) {
	switch o.Synchronous {
	case "":
		o.Synchronous = "FULL"
	case "FULL", "NORMAL":
	default:
		return o, fmt.Errorf(`%w: Synchronous is %q, want "FULL" or "NORMAL"`, engine.ErrInvalid, o.Synchronous)
	}
	if o.BusyTimeout < 0 || o.Readers < 0 {
		return o, fmt.Errorf("%w: BusyTimeout is %s and Readers is %d, want none below 0",
			engine.ErrInvalid, o.BusyTimeout, o.Readers)
	}
	if o.BusyTimeout == 0 {
		o.BusyTimeout = 30 * time.Second
	}
	if o.Readers == 0 {
		o.Readers = 4
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Wrap == nil {
		o.Wrap = func(c driver.Connector) driver.Connector { return c }
	}
	return o, nil
}
