package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// oracle stands in for the data of an instance where there is none: the model
// check asks it what an expression gives, and it gives every answer in turn,
// that the expression fails included where it can. The nil oracle asks the
// data.
type oracle struct {
	// answer returns a number below n, the number of possible answers.
	answer func(n int) int
	// fault is the value that failed last, and why.
	fault *definition.Value
	why   string
}

// ask returns a number below n, or an error where v can fail.
func (o *oracle) ask(n int, v *definition.Value, vars *definition.Vars) (int, error) {
	if state := v.Missing(vars.States); state != "" {
		return 0, o.fail(v, fmt.Sprintf("states.%s.output may not exist then", state))
	}
	why, partial := v.Partial()
	if partial {
		n++
	}
	if n == 1 {
		return 0, nil
	}
	a := o.answer(n)
	if partial && a == n-1 {
		return 0, o.fail(v, why)
	}
	return a, nil
}

func (o *oracle) fail(v *definition.Value, why string) error {
	o.fault, o.why = v, why
	return errors.New(why)
}

// vars gives the expressions their values. With an oracle it is enough to know
// which states have an output.
func (d *draft) vars(now time.Time) (*definition.Vars, error) {
	if d.m.oracle == nil {
		return d.snapshot.vars(now)
	}
	states := make(map[string]any, len(d.progress.Outputs))
	for state := range d.progress.Outputs {
		states[state] = nil
	}
	return &definition.Vars{Now: now, States: states, Error: d.progress.Error}, nil
}

func (o *oracle) bool(v *definition.Value, vars *definition.Vars) (bool, error) {
	if o == nil {
		return v.Bool(vars)
	}
	a, err := o.ask(2, v, vars)
	return a == 0, err
}

func (o *oracle) text(v *definition.Value, vars *definition.Vars) (string, error) {
	if o == nil {
		return v.Text(vars)
	}
	_, err := o.ask(1, v, vars)
	return "any", err
}

func (o *oracle) json(v *definition.Value, vars *definition.Vars) (json.RawMessage, error) {
	if o == nil {
		return v.JSON(vars)
	}
	_, err := o.ask(1, v, vars)
	return json.RawMessage("{}"), err
}

func (o *oracle) duration(v *definition.Value, vars *definition.Vars) (time.Duration, error) {
	if o == nil {
		return v.Duration(vars)
	}
	_, err := o.ask(1, v, vars)
	return time.Hour, err
}

func (o *oracle) time(v *definition.Value, vars *definition.Vars) (time.Time, error) {
	if o == nil {
		return v.Time(vars)
	}
	_, err := o.ask(1, v, vars)
	return vars.Now.Add(time.Hour), err
}
