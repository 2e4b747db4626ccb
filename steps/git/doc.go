// Package git is the step git.merge: it merges one reviewed commit into one
// branch of a bare repository, with the git command line (2.38 or newer).
//
// No work tree is needed and nothing is forced. The merge is computed from
// commit ids with merge-tree, written with commit-tree, and published with one
// compare-and-set of update-ref, so a push that comes between is never lost:
// the merge is computed again on the new tip. What happened is judged by what
// git wrote and by what the refs say afterwards, because its exit codes do not
// tell a conflict from a missing ref or a moved branch from a stale lock.
//
// The step may run again at any time. The commit is a function of the tip, the
// head and the [engine.Call], dates included, so a repeated attempt on the same
// tip writes the same commit id; and once the head is contained in the branch
// the step only reports the merge, its own by the trailer Pawl-Key:
//
//	Merge pull request 42 into main
//
//	Pawl-Instance: 0198c0de
//	Pawl-Key: 0198c0de/MERGING/1
//
// # What git sees
//
// The environment of git is pinned: no configuration of the system or the user,
// no attributes of theirs, no inherited GIT_ variables, no prompts, no network,
// no replacement objects. The configuration, the info/attributes and the
// reference-transaction hook of the repository itself do count; the hooks of a
// push do not run. Do not rely on merge drivers named in a .gitattributes file:
// whether git looks into one of a bare repository depends on its version.
//
// On Unix a git that runs out of time is asked to end with its whole process
// group, so that it removes its lock files, and killed after two seconds.
// Elsewhere the git process alone is killed, and a lock file may stay behind.
//
// # What lives here
//
// Everything that knows the git command line, and the mapping of repository
// ids to directories. No HTTP API of a hosting service, no fetch, no push, no
// policy about who may merge what: that is decided before the step.
package git
