package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ReadPayload decodes and checks what a signal to the await s carries against
// its payload:, as [Definition.ReadInput] does with start data.
func (s *State) ReadPayload(raw json.RawMessage) (map[string]any, error) {
	return readObject("payload", raw, s.Payload)
}

// ReadOutput decodes the recorded output of s for use in expressions: as
// [ReadJSON] does, but with the payload of an await converted as
// [State.ReadPayload] does it, which is what the expressions count on.
func (s *State) ReadOutput(raw json.RawMessage) (any, error) {
	if s.Kind != AwaitState {
		return ReadJSON(raw)
	}
	var out struct {
		Signal  string          `json:"signal"`
		Payload json.RawMessage `json:"payload"`
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("read the output of %s: %w", s.Name, err)
	}
	if string(out.Payload) == "null" {
		out.Payload = nil
	}
	payload, err := s.ReadPayload(out.Payload)
	if err != nil {
		return nil, fmt.Errorf("read the output of %s: %w", s.Name, err)
	}
	return map[string]any{"signal": out.Signal, "payload": payload}, nil
}

// readObject decodes an object that must have the given fields.
func readObject(name string, raw json.RawMessage, fields []Field) (map[string]any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	v, err := decodeJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("%s is not valid JSON: %w", name, err)
	}
	if key, ok := twice(raw, v); ok {
		return nil, fmt.Errorf("%s has the key %q twice; remove one", name, shorten(key))
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s must be an object, not %s", name, jsonType(v))
	}
	r := &reader{}
	r.object(name, m, fields)
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	for _, f := range fields {
		if _, ok := m[f.Name]; !ok {
			m[f.Name] = nil
		}
	}
	return m, nil
}
