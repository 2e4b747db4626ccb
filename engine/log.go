package engine

import (
	"context"
	"log/slog"
	"maps"
	"slices"
)

// Keys of the log records. Renaming one is a breaking change.
const (
	keyWorkflow    = "workflow"
	keyInstance    = "instance"
	keyFrom        = "from"
	keyTo          = "to"
	keyReason      = "reason"
	keyAttempt     = "attempt"
	keyFailedState = "failed_state"
	keyCode        = "code"
	keyDuration    = "duration"
	keyBehind      = "queued_behind"
	keyActor       = "actor"
	keyError       = "error"
	keyNote        = "note"
)

// logKeys are the keys of a transition record; a label with one of these names
// is logged as label_NAME.
func logKeys() []string {
	return []string{
		slog.TimeKey, slog.LevelKey, slog.MessageKey, slog.SourceKey,
		keyWorkflow, keyInstance, keyFrom, keyTo, keyReason, keyAttempt, keyFailedState,
		keyCode, keyDuration, keyBehind, keyActor, keyError, keyNote,
	}
}

// logCommit is the one place that logs a transition. Errors of steps are not
// logged where they happen: they arrive here as code and error.
func (e *Engine) logCommit(ctx context.Context, tr Transition, out Outcome) {
	h := tr.History
	if h == nil || out.Result != Done && out.Result != InLine && out.Result != Lost {
		return
	}
	level := slog.LevelInfo
	if h.Code != "" || tr.Instance.Status == Failed || tr.Instance.Status == Parked || tr.Instance.Status == CompensationFailed || out.Result == Lost {
		level = slog.LevelWarn
	}
	if !e.cfg.Logger.Enabled(ctx, level) {
		return
	}
	reason := h.Reason
	if out.Result == Lost {
		reason = ReasonLate
	}
	attrs := make([]slog.Attr, 0, 16)
	attrs = append(attrs,
		slog.String(keyWorkflow, tr.Instance.Workflow),
		slog.String(keyInstance, tr.Instance.ID),
		slog.String(keyFrom, h.From),
		slog.String(keyTo, h.To),
		slog.String(keyReason, reason),
		slog.Int(keyAttempt, h.Attempt),
	)
	if h.FailedState != "" {
		attrs = append(attrs, slog.String(keyFailedState, h.FailedState))
	}
	switch {
	case h.Code != "":
		attrs = append(attrs, slog.String(keyCode, h.Code), slog.String(keyError, h.Message))
	case h.Message != "":
		attrs = append(attrs, slog.String(keyNote, h.Message))
	}
	if out.Result == InLine {
		attrs = append(attrs, slog.String(keyBehind, out.By))
	}
	attrs = append(attrs, slog.Duration(keyDuration, h.Duration), slog.String(keyActor, h.Actor))
	taken := logKeys()
	for _, label := range slices.Sorted(maps.Keys(tr.Instance.Labels)) {
		name := label
		if slices.Contains(taken, name) {
			name = "label_" + name
		}
		attrs = append(attrs, slog.String(name, tr.Instance.Labels[label])) //nolint:sloglint // labels are the author's keys
	}
	e.cfg.Logger.LogAttrs(ctx, level, "transition", attrs...)
}
