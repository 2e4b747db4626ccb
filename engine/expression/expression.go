// Package expression is the small typed face of expr-lang that workflow
// definitions use: compile, allow-list, evaluate. It is the only importer of
// github.com/expr-lang/expr and knows nothing of YAML, positions in files,
// workflows or instances.
//
// An expression is compiled once against a typed environment and may then be
// evaluated by many goroutines at once. It differs from expr-lang on purpose:
// only the functions of [Functions] exist; int, float, string and duration
// refuse what they cannot convert; and what has no answer, such as 1/0 or an
// integer that overflows, is an error where expr-lang computes on.
package expression
