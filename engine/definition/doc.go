// Package definition turns the YAML text of a workflow into a checked
// [Definition], or into a list of [Diagnostics] with file, line, column, rule
// and mend.
//
// It is a pure function of bytes: no I/O, no clock, no engine, no store. It is
// the only importer of yaml.v3, and no yaml type stands in its exported
// signatures. Expressions are compiled by package expression.
//
// The checks come in phases. [Parse] makes those that need the file alone: the
// YAML itself, fields and types by the tables in top.go, states.go and their
// neighbours, names, the graph, expressions. [Check] makes those that need to
// know the handlers.
package definition
