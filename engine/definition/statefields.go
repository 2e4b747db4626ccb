package definition

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// Limits of batch:.
const (
	minBatch = 2
	maxBatch = 100
)

// stateFields is the table of the states of all kinds.
func stateFields() []field[draftState] {
	return slices.Concat(kindFields(), flowFields(), stepFields(), []field[draftState]{
		{
			name: "payload", kinds: awaitKind, shape: like("fields"),
			doc: "Fields that the signals carry, and their types.",
			read: func(p *parser, s *draftState, n *yaml.Node) {
				s.Payload = p.schema("payload", n)
			},
		},
		{
			name: "output", kinds: endKind, shape: like("values"),
			doc: "Result of the instance.",
			read: func(p *parser, s *draftState, n *yaml.Node) {
				s.Output = p.mapValue(n, want{name: "output", place: s.entered()})
			},
		},
		{
			name: "emit", kinds: anyKind, shape: like("emit"),
			doc:  "Events to publish. They are written in the transaction that enters the state.",
			read: (*parser).emit,
		},
	})
}

// kindFields say what a state is.
func kindFields() []field[draftState] {
	return []field[draftState]{
		{
			name: "step", kinds: stepKind, required: stepKind, shape: like("word"),
			doc:  "Makes the state a step: the registered step to run, such as git.merge.",
			read: func(p *parser, s *draftState, n *yaml.Node) { s.Step, _ = p.word("step", n) },
		},
		{
			name: "wait", kinds: waitKind, required: waitKind, shape: like("wait"),
			doc:  "Makes the state a wait: how long to wait, or until when.",
			read: (*parser).wait,
		},
		{
			name: "await", kinds: awaitKind, required: awaitKind, shape: like("signals"),
			doc:  "Makes the state an await: the signals to wait for, and where each of them leads. The first one wins.",
			read: func(p *parser, s *draftState, n *yaml.Node) { p.await(s, n) },
		},
		{
			name: "end", kinds: endKind, required: endKind, shape: only("succeeded", "failed"),
			doc: "Makes the state an end: the instance has succeeded or failed.",
			read: func(p *parser, s *draftState, n *yaml.Node) {
				v, _ := p.oneOf("end", n, "succeeded", "failed")
				s.Failed = v == "failed"
			},
		},
		{
			name: "title", kinds: anyKind, shape: ofType("string"),
			doc:  "Short name of the state, for people and diagrams.",
			read: func(p *parser, s *draftState, n *yaml.Node) { s.Title, _ = p.text("title", n) },
		},
		{
			name: "description", kinds: anyKind, shape: ofType("string"),
			doc:  "What the state is for.",
			read: func(p *parser, s *draftState, n *yaml.Node) { s.Description, _ = p.text("description", n) },
		},
		{
			name: "meta", kinds: anyKind, shape: like("texts"),
			doc:  "Texts for people and tools, such as a lane of a diagram. The engine does not read them.",
			read: func(p *parser, s *draftState, n *yaml.Node) { s.Meta = p.textMap("meta", n) },
		},
	}
}

// flowFields say what a state takes, how often it is tried, and where it leads.
func flowFields() []field[draftState] {
	return []field[draftState]{
		{
			name: "with", kinds: stepKind, shape: like("values"),
			doc: "Input of the step. It is computed once, when the state is entered, so every attempt sees the same. " +
				"If absent, the step gets the input of the workflow.",
			read: func(p *parser, s *draftState, n *yaml.Node) {
				s.With = p.mapValue(n, want{name: "with", place: onEntry})
			},
		},
		{
			name: "next", kinds: stepKind | waitKind, required: stepKind | waitKind, shape: like("branches"),
			doc:  "State that follows, or a list of branches. The first branch whose guard is true is taken.",
			read: func(p *parser, s *draftState, n *yaml.Node) { s.Next = p.branches("next", n, afterSuccess) },
		},
		{
			name: "catch", kinds: stepKind | awaitKind, shape: like("catch"),
			doc: "Where errors lead, by their code: a code of the step, or timeout, unknown, panic or any. " +
				"An await can only catch timeout.",
			read: (*parser).catch,
		},
		{
			name: "retry", kinds: stepKind, shape: like("retry"),
			doc:  "When a failed attempt is repeated, and how often. What it does not say is taken from defaults.retry.",
			read: func(p *parser, s *draftState, n *yaml.Node) { s.retry = p.retry(n) },
		},
		{
			name: "timeout", kinds: stepKind | awaitKind, shape: like("duration"),
			doc: "Longest time of one attempt of a step, or of the wait for a signal. " +
				"Taking longer is an error with the code timeout.",
			read: func(p *parser, s *draftState, n *yaml.Node) { s.timeout = p.duration("timeout", n) },
		},
	}
}

// stepFields are the promises about the effect of a step.
func stepFields() []field[draftState] {
	return []field[draftState]{
		{
			name: "irreversible", kinds: stepKind, shape: ofType("boolean").or(false),
			doc: "The step cannot be undone. Once it has succeeded, or may have, nothing is compensated any more.",
			read: func(p *parser, s *draftState, n *yaml.Node) {
				s.Irreversible = p.boolean("irreversible", n)
			},
		},
		{
			name: "at_most_once", kinds: stepKind, shape: ofType("boolean").or(false),
			doc: "The step is tried a single time. If nobody knows what became of it, it fails with the code unknown.",
			read: func(p *parser, s *draftState, n *yaml.Node) {
				s.AtMostOnce = p.boolean("at_most_once", n)
			},
		},
		{
			name: "batch", kinds: stepKind, shape: whole(minBatch, maxBatch),
			doc: "How many instances one call of the step takes at most. If absent, one.",
			read: func(p *parser, s *draftState, n *yaml.Node) {
				s.Batch = p.between("batch", n, minBatch, maxBatch)
			},
		},
		{
			name: "concurrency", kinds: stepKind, shape: like("state_concurrency"),
			doc:  "Lets instances that have the same key be in this state only one at a time.",
			read: func(p *parser, s *draftState, n *yaml.Node) { s.Concurrency = p.concurrency(n, onEntry) },
		},
		{
			name: "on_failure", kinds: stepKind, shape: like("on_failure"),
			doc:  "What happens when this state fails, in place of the on_failure of the workflow.",
			read: func(p *parser, s *draftState, n *yaml.Node) { s.onFailure = new(p.onFailure(n)) },
		},
		{
			name: "compensate", kinds: stepKind, shape: like("compensate"),
			doc: "How the effect of the step is undone: a compensation, or none if there is nothing to undo. " +
				"A name alone gets the recorded input and output of the step.",
			read: (*parser).compensate,
		},
	}
}
