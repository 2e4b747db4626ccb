// Package expression is the small typed face of expr-lang that workflow
// definitions use: compile, allow-list, evaluate. It is the only importer of
// github.com/expr-lang/expr and knows nothing of YAML, positions in files,
// workflows or instances.
//
// An expression is compiled once against a typed environment and may then be
// evaluated by many goroutines at once.
package expression
