package sqlitestore_test

import (
	"testing"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/store/sqlitestore"
	"github.com/pawl-dev/pawl/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) engine.Store {
		return mustOpen(t, sqlitestore.Options{Synchronous: "NORMAL"})
	})
}
