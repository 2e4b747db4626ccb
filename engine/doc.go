// Package engine advances workflow instances that a [Store] keeps.
//
// No process owns an instance. Each [Engine.Tick] claims due instances under a
// short lease, runs the steps of their states, commits one [Transition] per
// step and returns. So a tick may run in a serverless function, a cron job or
// a loop ([Engine.Run]), on any number of machines at once, and may be killed
// at any instruction: what was not committed is found again when its lease has
// run out.
//
// # Writing a handler
//
// A handler is a Go function that does the work of a step. Its input and
// output are structs that survive encoding/json:
//
//	type MergeInput struct {
//		RepoID  string `json:"repo_id"`
//		HeadSHA string `json:"head_sha"`
//	}
//	type MergeOutput struct {
//		MergeSHA string `json:"merge_sha"`
//	}
//
//	func merge(ctx context.Context, call engine.Call[MergeInput]) (MergeOutput, error)
//
//	var reg engine.Registry
//	engine.Register(&reg, "git.merge", merge, engine.Handler{Codes: []string{"merge_conflict"}})
//
// A step runs at least once. [Call.Key] is equal on every attempt of the step,
// and on the retry of an operator, so a handler uses it to make a repeated
// effect harmless. The handler says what its error means by wrapping it:
//
//	engine.Fail(code, err)        definite: nothing happened; catch: may name the code
//	engine.Permanent(err)         definite: nothing happened, and another attempt cannot help
//	engine.Definite(err)          definite: nothing happened; another attempt may help
//	engine.RetryAfter(err, d)     unknown outcome; the next attempt waits at least d
//	engine.TargetDown(err)        the whole target is down, not this item
//	engine.Wait(d, "CI runs")     not ready: ask again after d, at no cost of attempts
//	any other error, a panic      unknown outcome: it may have happened
//
// ctx ends at the timeout of the step, when the lease is lost and at shutdown;
// heed it, since what comes later is ignored. A step whose earlier attempt
// ended unknown is not simply run again if [Verify] has registered a function
// for it: that is asked first whether the work is done. A handler for which
// ten items cost as much as one takes them together, by [RegisterBatch].
//
// What a step has done is undone by a compensation, see [RegisterCompensation]:
// where a failure has the policy compensate, and no irreversible step has
// happened, the completed visits are undone from the last to the first.
//
// The step pawl.noop, for states that only decide, is always there; names that
// begin with "pawl." are the engine's own.
//
// # Running it
//
//	def, diags := definition.Parse("pr-merge.yaml", text) // diags.Err() says what is wrong, and where
//	store, err := sqlitestore.Open(ctx, "pawl.db", sqlitestore.Options{})
//	eng, err := engine.Open(ctx, engine.Config{Store: store, Handlers: &reg, Definitions: []*definition.Definition{def}})
//	started, err := eng.Start(ctx, engine.StartRequest{Workflow: "pr-merge", Input: json})
//	report, err := eng.Tick(ctx, 10*time.Second) // or eng.Run(ctx, 5*time.Second)
//
// # What lives here
//
// The words of the domain, the rules of advancing an instance (a pure
// function, see decide.go), the model check that drives these rules through
// every situation ([Explore]), and the tick around them. No SQL, no YAML, no HTTP,
// no cloud SDK; those live in stores, steps and commands, which import this
// package and are never imported by it.
package engine
