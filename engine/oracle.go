package engine

import (
	"encoding/json"
	"time"

	"github.com/pawl-dev/pawl/engine/definition"
)

// oracle stands in for the data of an instance where there is none: the model
// check asks it what an expression gives, and it gives every answer in turn.
// The nil oracle asks the data.
type oracle struct {
	// answer returns a number below n, the number of possible answers.
	answer func(n int, v *definition.Value) int
}

func (o *oracle) bool(v *definition.Value, vars *definition.Vars) (bool, error) {
	if o == nil {
		return v.Bool(vars)
	}
	return o.answer(2, v) == 0, nil
}

func (o *oracle) text(v *definition.Value, vars *definition.Vars) (string, error) {
	if o == nil {
		return v.Text(vars)
	}
	return "any", nil
}

func (o *oracle) json(v *definition.Value, vars *definition.Vars) (json.RawMessage, error) {
	if o == nil {
		return v.JSON(vars)
	}
	return json.RawMessage("{}"), nil
}

func (o *oracle) duration(v *definition.Value, vars *definition.Vars) (time.Duration, error) {
	if o == nil {
		return v.Duration(vars)
	}
	return time.Hour, nil
}

func (o *oracle) time(v *definition.Value, vars *definition.Vars) (time.Time, error) {
	if o == nil {
		return v.Time(vars)
	}
	return vars.Now.Add(time.Hour), nil
}
