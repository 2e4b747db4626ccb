package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/engine/definition"
	"github.com/pawl-dev/pawl/store/sqlitestore"
)

const parcel = `pawl: 1
workflow: parcel
version: 1
input: {order: string}
instance_key: ${{ input.order }}
on_failure: {policy: mark_failed, to: STUCK}
start: PACKING
states:
  PACKING:
    step: warehouse.pack
    next: SENDING
  SENDING:
    step: carrier.send
    with: {label: "${{ states.PACKING.output.label }}"}
    irreversible: true
    retry: {max_attempts: 1}
    next: SENT
  SENT: {end: succeeded}
  STUCK: {end: failed}
`

type (
	order struct {
		Order string `json:"order"`
	}
	label struct {
		Label string `json:"label"`
	}
	receipt struct {
		Tracking string `json:"tracking"`
	}
)

// A workflow of two steps: the second one fails, and after an operator's word
// it alone is run again.
func Example() {
	ctx := context.Background()
	truck := errors.New("the truck has a flat tyre")

	var reg engine.Registry
	engine.Register(&reg, "warehouse.pack", func(_ context.Context, c engine.Call[order]) (label, error) {
		fmt.Println("pack", c.In.Order)
		return label{Label: "L-" + c.In.Order}, nil
	}, engine.Handler{})
	engine.Register(&reg, "carrier.send", func(_ context.Context, c engine.Call[label]) (receipt, error) {
		fmt.Println("send", c.In.Label, "with the key", c.Key)
		return receipt{Tracking: "T1"}, engine.Definite(truck)
	}, engine.Handler{})

	dir, err := os.MkdirTemp("", "parcel-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	store, err := sqlitestore.Open(ctx, filepath.Join(dir, "pawl.db"), sqlitestore.Options{})
	if err != nil {
		panic(err)
	}
	defer func() { _ = store.Close() }()
	def, diags := definition.Parse("parcel.yaml", []byte(parcel))
	if err := diags.Err(); err != nil {
		panic(err)
	}
	eng, err := engine.Open(ctx, engine.Config{
		Store: store, Handlers: &reg, Definitions: []*definition.Definition{def},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err)
	}

	started, err := eng.Start(ctx, engine.StartRequest{Workflow: "parcel", Input: []byte(`{"order": "7"}`)})
	fmt.Println(started.Instance.ID, started.Created, err)
	look := func() {
		if _, err := eng.Tick(ctx, time.Minute); err != nil {
			panic(err)
		}
		in, err := eng.Load(ctx, "parcel/7")
		fmt.Println(in.State, in.FailedState, in.Message, err)
	}
	look()

	truck = nil // it has been repaired
	plan, err := eng.Retry(ctx, "parcel/7", engine.Operator{Actor: "alice", Reason: "new tyre"})
	fmt.Println("retry runs", plan.Step, err)
	look()
	// Output:
	// parcel/7 true <nil>
	// pack 7
	// send L-7 with the key parcel/7/SENDING/1
	// STUCK SENDING the truck has a flat tyre <nil>
	// retry runs carrier.send <nil>
	// send L-7 with the key parcel/7/SENDING/1
	// SENT   <nil>
}
