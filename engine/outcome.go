package engine

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/engine/definition"
)

// outcomeKind says what an attempt came to.
type outcomeKind int

const (
	outcomeDone      outcomeKind = iota // the step succeeded
	outcomeFailed                       // the attempt failed
	outcomeWait                         // not ready, ask again
	outcomeReturned                     // the attempt is given back
	outcomeElapsed                      // a wait or await is due
	outcomeSignal                       // a signal came for an await
	outcomeDeadline                     // the instance is over its deadline
	outcomeCancelled                    // an operator ends it
	outcomeParked                       // the instance cannot go on here
)

// outcome is what an attempt came to: the input of decide.
type outcome struct {
	kind     outcomeKind
	out      json.RawMessage // of outcomeDone; of outcomeSignal what it carries
	signal   string          // of outcomeSignal
	code     string          // of outcomeFailed
	message  string
	verdict  Verdict
	began    bool // the handler was called
	settled  bool // verify said that the attempts before this one did nothing
	counted  bool // the failure is in Failures already, as a lost worker's is
	duration time.Duration
}

// failure judges the error of an attempt.
func failure(err error) outcome {
	v := VerdictOf(err)
	o := outcome{kind: outcomeFailed, began: true, verdict: v, message: cleanText(err.Error())}
	switch {
	case v.Wait:
		o.kind = outcomeWait
	case v.Code != "":
		o.code = v.Code
	case v.Definite:
		o.code = definition.CodeFailed
	default:
		o.code = definition.CodeUnknown
	}
	return o
}

// cleanText makes an error text fit to be stored: valid UTF-8 without NUL, at
// most MaxMessage bytes, cut between runes.
func cleanText(s string) string {
	const mark = " …"
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "�"), "\x00", "�")
	if len(s) <= MaxMessage {
		return s
	}
	cut := MaxMessage - len(mark)
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + mark
}
