package definition

// Manifest describes the handlers that a program has, by name of the step. It
// is what the checks of steps, codes and inputs are made against.
type Manifest map[string]HandlerInfo

// HandlerInfo describes one handler.
type HandlerInfo struct {
	Codes         []string `json:"codes,omitempty"`
	Batch         bool     `json:"batch,omitempty"`
	NotIdempotent bool     `json:"not_idempotent,omitempty"`
	// Compensates is the step that the handler undoes, from its recorded input
	// and output. Such a handler is no step itself.
	Compensates string `json:"compensates,omitempty"`
	// Input and Output are the fields of the Go structs, in JSON names; nil
	// if the type is not a struct, which takes anything.
	Input  []Field `json:"input,omitzero"`
	Output []Field `json:"output,omitzero"`
}

// Field is a named value of a schema.
type Field struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
}
