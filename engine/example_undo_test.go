package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

const trip = `pawl: 1
workflow: trip
version: 1
input: {id: string}
instance_key: ${{ input.id }}
on_failure: {policy: compensate, to: CANCELLED}
start: FLIGHT
states:
  FLIGHT: {step: flight.book, compensate: flight.cancel, next: HOTEL}
  HOTEL: {step: hotel.book, compensate: none, next: BOOKED}
  BOOKED: {end: succeeded}
  CANCELLED: {end: failed}
`

// A compensation gets what the step that it undoes has taken and given.
func ExampleRegisterCompensation() {
	type traveller struct {
		ID string `json:"id"`
	}
	type seat struct {
		Seat string `json:"seat"`
	}
	var reg engine.Registry
	engine.Register(&reg, "flight.book", func(_ context.Context, c engine.Call[traveller]) (seat, error) {
		fmt.Println("book a flight for", c.In.ID)
		return seat{"12A"}, nil
	}, engine.Handler{})
	engine.RegisterCompensation(&reg, "flight.cancel", "flight.book",
		func(_ context.Context, c engine.Call[engine.Undone[traveller, seat]]) error {
			// Out is nil if nobody knows whether the flight was booked.
			fmt.Println("cancel seat", c.In.Out.Seat, "of", c.In.In.ID, "with the key", c.Key)
			return nil
		}, engine.Handler{})
	engine.Register(&reg, "hotel.book", func(context.Context, engine.Call[traveller]) (struct{}, error) {
		return struct{}{}, engine.Permanent(errors.New("no room"))
	}, engine.Handler{})

	in, err := runOnce(&reg, trip, "trip", `{"id": "ann"}`)
	fmt.Println(in.State, in.FailedState, in.Message, err)
	// Output:
	// book a flight for ann
	// cancel seat 12A of ann with the key trip/ann/FLIGHT/1/undo
	// CANCELLED HOTEL no room <nil>
}

// The model check finds what can go wrong with a definition before anything
// runs.
func ExampleExplore() {
	def, _ := parseExample(`pawl: 1
workflow: shop
version: 1
input: {id: string}
instance_key: ${{ input.id }}
on_failure: {policy: compensate, to: FAILED}
start: RESERVE
states:
  RESERVE: {step: stock.reserve, compensate: stock.release, next: PAY}
  PAY: {step: card.charge, compensate: card.refund, catch: {declined_card: SORRY}, next: DONE}
  DONE: {end: succeeded}
  SORRY: {end: succeeded}
  FAILED: {end: failed}
`)
	found := engine.Explore(def)
	fmt.Println(found.Findings[0])
	// Output:
	// shop.yaml:10:60: warning: the failure of PAY ends in success and leaves RESERVE as it is, not undone (RESERVE succeeds, PAY fails with declined_card); lead it to a state with end: failed [model-undo-left]
}

// runOnce starts one instance on a store that is thrown away, ticks once and
// returns it.
func runOnce(reg *engine.Registry, source, workflow, input string) (engine.Instance, error) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		return engine.Instance{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	store, err := sqlitestore.Open(ctx, filepath.Join(dir, "pawl.db"), sqlitestore.Options{})
	if err != nil {
		return engine.Instance{}, err
	}
	defer func() { _ = store.Close() }()
	def, err := parseExample(source)
	if err != nil {
		return engine.Instance{}, err
	}
	eng, err := engine.Open(ctx, engine.Config{
		Store: store, Handlers: reg, Definitions: []*definition.Definition{def}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return engine.Instance{}, err
	}
	started, err := eng.Start(ctx, engine.StartRequest{Workflow: workflow, Input: []byte(input)})
	if err != nil {
		return engine.Instance{}, err
	}
	if _, err := eng.Tick(ctx, time.Minute); err != nil {
		return engine.Instance{}, err
	}
	return eng.Load(ctx, started.Instance.ID)
}

func parseExample(source string) (*definition.Definition, error) {
	_, rest, _ := strings.Cut(source, "workflow: ")
	name, _, _ := strings.Cut(rest, "\n")
	def, diags := definition.Parse(name+".yaml", []byte(source))
	return def, diags.Err()
}
