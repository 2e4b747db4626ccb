// Package storetest is the suite that every engine.Store passes. Whoever
// writes a store for another database proves it with this:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) engine.Store { … })
//	}
//
// The clauses are named after what they claim. They use nothing but the
// interface, never wait, and give the time by hand. What a database can do
// beyond that, such as StartTx, its own package tests.
package storetest

import (
	"testing"

	"github.com/pawl-dev/pawl/engine"
)

// clause is one sentence of the contract.
type clause struct {
	name  string
	check func(t *testing.T, s engine.Store)
}

// Run runs every clause of the contract as a parallel subtest. It calls open
// once for each; open must return an empty store and close it by t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) engine.Store) {
	for _, group := range [][]clause{
		insertClauses(), keyClauses(), claimClauses(), leaseClauses(), commitClauses(), repeatClauses(),
		lineClauses(), waitClauses(), historyClauses(), listClauses(), valueClauses(), purgeClauses(),
		definitionClauses(), contextClauses(),
	} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				c.check(t, open(t))
			})
		}
	}
}
