// Package demo shows the main job of pawl on a throw-away git repository: pull
// requests that are checked, merged, announced and indexed; one step of them
// that fails for a real reason, is mended and retried alone.
//
// Nothing in it is staged: it uses the steps that pawl ships, the real git, an
// HTTP server on the loopback interface and a store in a file. Only the clock
// is ahead: where the engine would wait, the demo moves it on. In the end it
// checks with git, the history and the queue that what it tells is true.
package demo
