// Package pawlcmd is the command line of pawl as a library. A program that has
// handlers of its own calls [Main] with a function that registers them, and
// gets every subcommand: validate, graph, manifest, migrate, start, tick, run,
// list, show, history, retry, demo, version and shell completion. The program pawl is this
// package with pawl's own steps, see [Shipped].
//
// # Settings
//
// Every global flag has an environment variable of the same name: --store is
// PAWL_STORE, --log-level is PAWL_LOG_LEVEL. A flag wins over its variable.
//
// # Exit codes
//
//	0  done
//	1  failed
//	2  wrong use: a flag, an argument or an input is wrong
//	3  conflict: somebody was faster, or the present state does not allow it
//	4  not found
//
// # Output
//
// Results go to the standard output, errors and logs to the standard error.
// With -o json a command prints one JSON value. Its fields are part of the
// interface: they are only ever added to. Names are snake_case, times RFC 3339
// in UTC, durations seconds; what is absent is left out. Tables are for people
// and may change; they keep to 80 columns, or to COLUMNS if that is set.
//
// Here is no logic of workflows: what a command can do, a method of
// engine.Engine can do.
package pawlcmd
