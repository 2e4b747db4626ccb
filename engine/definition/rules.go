package definition

// Phase says when a rule is checked. An error in one of the first three stops
// the next; see [Parse].
type Phase string

// The phases of the checks, in order.
const (
	PhaseYAML        Phase = "yaml"
	PhaseFields      Phase = "fields"
	PhaseNames       Phase = "names"
	PhaseGraph       Phase = "graph"
	PhasePolicy      Phase = "policy"
	PhaseExpressions Phase = "expressions"
	PhaseHandlers    Phase = "handlers" // see [Check]
	PhaseModel       Phase = "model"    // all situations an instance can get into
	PhaseLoad        Phase = "load"     // against the store of a program
	PhaseRun         Phase = "run"      // against the data of an instance
)

// Rule describes a check.
type Rule struct {
	ID      string // as in [Diagnostic]
	Phase   Phase  // the first, if it is checked in several
	Summary string // one sentence
	Warning bool   // it never finds an error
}

// Rules returns every rule that a finding may name, by phases.
func Rules() []Rule {
	return append(formRules(), meaningRules()...)
}

// formRules are about the text of the file.
func formRules() []Rule {
	return []Rule{
		{ID: "file-size", Phase: PhaseYAML, Summary: "A file is at most 256 KiB large and has at most 40000 keys and values."},
		{ID: "empty", Phase: PhaseYAML, Summary: "A file holds a workflow, and every key has a value."},
		{ID: "depth", Phase: PhaseYAML, Summary: "Values are nested at most 20 levels deep."},
		{ID: "yaml-syntax", Phase: PhaseYAML, Summary: "A file is YAML in UTF-8, indented by spaces."},
		{ID: "multi-document", Phase: PhaseYAML, Summary: "A file holds one YAML document."},
		{ID: "duplicate-key", Phase: PhaseYAML, Summary: "A map has every key once."},
		{ID: "yaml-alias", Phase: PhaseYAML, Summary: "YAML aliases (*name) are not part of the language."},
		{ID: "yaml-anchor", Phase: PhaseYAML, Summary: "YAML anchors (&name) are not part of the language."},
		{ID: "yaml-merge", Phase: PhaseYAML, Summary: "YAML merge keys (<<) are not part of the language."},
		{ID: "yaml-tag", Phase: PhaseYAML, Summary: "YAML tags (!name) are not part of the language."},
		{ID: "key-type", Phase: PhaseYAML, Summary: "A key is a plain name."},
		{ID: "yaml-1.1-boolean", Phase: PhaseYAML, Summary: "Words that YAML 1.1 takes for booleans, such as yes and no, are quoted."},
		{ID: "expr-cut", Phase: PhaseYAML, Summary: "No YAML comment begins inside of an expression."},

		{ID: "states-limit", Phase: PhaseFields, Summary: "A workflow has at most 200 states."},
		{ID: "language-version", Phase: PhaseFields, Summary: "The version of the language, after pawl:, is one that this engine reads."},
		{ID: "unknown-field", Phase: PhaseFields, Summary: "A field is one that the language has at this place."},
		{ID: "missing-field", Phase: PhaseFields, Summary: "The fields that a block needs are there."},
		{ID: "state-kind", Phase: PhaseFields, Summary: "A state is exactly one of step, wait, await and end."},
		{ID: "type", Phase: PhaseFields, Summary: "The value of a field has the type that the field takes."},
		{ID: "range", Phase: PhaseFields, Summary: "A number is within its limits."},
		{ID: "enum", Phase: PhaseFields, Summary: "A word is one of those that its place takes."},
		{ID: "duration", Phase: PhaseFields, Summary: "A duration has a unit and is longer than zero."},
		{ID: "retry", Phase: PhaseFields, Summary: "A retry rule makes at least one attempt, and its delays fit together."},
		{ID: "name", Phase: PhaseFields, Summary: "A name can be used in expressions, keys and ids."},
		{ID: "schema", Phase: PhaseFields, Summary: "A type is one of the language, written as the language writes it."},
		{ID: "wait", Phase: PhaseFields, Summary: "A wait has exactly one of for and until."},
		{ID: "await", Phase: PhaseFields, Summary: "An await names signals, and catches a timeout only if it has one."},
		{ID: "dynamic-target", Phase: PhaseFields, Summary: "A target is the name of a state, not an expression."},
		{ID: "guard-exhaustive", Phase: PhaseFields, Summary: "The last branch of a list has no guard."},
		{ID: "guard-dead", Phase: PhaseFields, Summary: "No branch but the last is without a guard."},
		{ID: "expr-expected", Phase: PhaseFields, Summary: "A field that must be computed holds an expression."},
		{ID: "expr-mixed", Phase: PhaseFields, Summary: "A value is either text or one expression."},
		{ID: "literal", Phase: PhaseFields, Summary: "A value means the same to YAML and to JSON."},
		{ID: "literal-looks-like-expr", Phase: PhaseFields, Summary: "A text that looks like an expression was not meant to be one.", Warning: true},
		{ID: "file-name", Phase: PhaseFields, Summary: "A file is named like its workflow.", Warning: true},
	}
}

// meaningRules are about what the file says.
func meaningRules() []Rule {
	return []Rule{
		{ID: "unknown-state", Phase: PhaseNames, Summary: "A state that is named exists."},
		{ID: "name-clash", Phase: PhaseNames, Summary: "Names differ by more than case, and codes differ from those of the engine."},
		{ID: "start", Phase: PhaseNames, Summary: "The start is a state with work to do."},
		{ID: "on-failure", Phase: PhaseNames, Summary: "A failure leads to a state with end: failed."},
		{ID: "catch-code", Phase: PhaseNames, Summary: "A code that is caught can occur at this place."},
		{ID: "not-idempotent", Phase: PhaseNames, Summary: "A step that must not be repeated has a single attempt."},

		{ID: "unreachable-state", Phase: PhaseGraph, Summary: "A path leads from the start to every state."},
		{ID: "no-end", Phase: PhaseGraph, Summary: "An end can be reached from every state by its own transitions."},
		{ID: "no-success", Phase: PhaseGraph, Summary: "A state with end: succeeded can be reached."},
		{ID: "irreversible-cycle", Phase: PhaseGraph, Summary: "No path leads back to an irreversible state."},
		{ID: "tight-cycle", Phase: PhaseGraph, Summary: "A cycle has a wait or an await in it.", Warning: true},
		{ID: "deadline", Phase: PhaseGraph, Summary: "The attempts of a state fit into the deadline.", Warning: true},
		{ID: "retention", Phase: PhaseGraph, Summary: "Failed instances are kept long enough to retry them.", Warning: true},

		{ID: "irreversible-compensate", Phase: PhasePolicy, Summary: "A state is not both irreversible and compensated."},
		{ID: "compensate-missing", Phase: PhasePolicy, Summary: "A state that a later failure undoes says how."},
		{ID: "compensate-after-pivot", Phase: PhasePolicy, Summary: "No compensation stands where only an irreversible state leads."},
		{ID: "compensate-unused", Phase: PhasePolicy, Summary: "Compensations stand in workflows that compensate."},
		{ID: "start-unkeyed", Phase: PhasePolicy, Summary: "A workflow with an irreversible state has an instance_key.", Warning: true},

		{ID: "expr", Phase: PhaseExpressions, Summary: "An expression can be read, and what it names is known at its place."},
		{ID: "expr-size", Phase: PhaseExpressions, Summary: "An expression has at most 1000 characters and 200 parts, a file at most 2000 expressions."},
		{ID: "expr-forbidden", Phase: PhaseExpressions, Summary: "An expression uses what gives the same result every time."},
		{ID: "expr-nested", Phase: PhaseExpressions, Summary: "No predicate holds another predicate."},
		{ID: "expr-regex", Phase: PhaseExpressions, Summary: "The pattern of matches is a text in quotes."},
		{ID: "guard-type", Phase: PhaseExpressions, Summary: "A guard is true or false."},
		{ID: "guard-constant", Phase: PhaseExpressions, Summary: "A guard is not always the same."},
		{ID: "type-mismatch", Phase: PhaseExpressions, Summary: "A value has the type that its place takes."},
		{ID: "optional", Phase: PhaseExpressions, Summary: "An input that may be absent has a default."},
		{ID: "state-order", Phase: PhaseExpressions, Summary: "The output of a state is used only where the state has run."},
		{ID: "unused-input", Phase: PhaseExpressions, Summary: "Every input is used.", Warning: true},

		{ID: "unknown-step", Phase: PhaseHandlers, Summary: "A step is registered."},
		{ID: "step-kind", Phase: PhaseHandlers, Summary: "A compensation is not used as a step, nor a step as a compensation."},
		{ID: "with-unknown", Phase: PhaseHandlers, Summary: "A step takes the inputs that it is given."},
		{ID: "with-missing", Phase: PhaseHandlers, Summary: "A step gets the inputs that it needs."},
		{ID: "batch", Phase: PhaseHandlers, Summary: "A step with batch: is registered as a batch step."},
		{ID: "compensation", Phase: PhaseHandlers, Summary: "A compensation takes the input and output of the step that it undoes."},

		{ID: "model-stuck", Phase: PhaseModel, Summary: "An instance can go on from every situation."},
		{ID: "model-twice", Phase: PhaseModel, Summary: "An irreversible state is done once at most."},
		{ID: "model-undo-left", Phase: PhaseModel, Summary: "A failure leaves nothing that is not undone.", Warning: true},
		{ID: "model-undo-data", Phase: PhaseModel, Summary: "A compensation has the data that it needs."},
		{ID: "model-size", Phase: PhaseModel, Summary: "All situations of an instance can be gone through.", Warning: true},

		{ID: "version-reused", Phase: PhaseLoad, Summary: "A stored version of a workflow keeps its content."},
		{ID: "old-version-step", Phase: PhaseLoad, Summary: "The steps of running instances of old versions are registered."},

		{ID: "expr-fault", Phase: PhaseRun, Summary: "The data of an instance fit the expressions."},
	}
}
