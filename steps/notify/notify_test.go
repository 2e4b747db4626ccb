package notify_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/pawl-dev/pawl/engine"
	"github.com/pawl-dev/pawl/steps/notify"
)

func call(key string) engine.Call[notify.Input] {
	return engine.Call[notify.Input]{Key: key, In: notify.Input{PRID: "org/repo#42", MergeSHA: "abc"}}
}

func watchers(names ...string) notify.WatchersFunc {
	return func(_ context.Context, prID string) ([]string, error) {
		if prID != "org/repo#42" {
			return nil, errors.New("asked about " + prID)
		}
		return names, nil
	}
}

// memory keeps what it was told, and fails for some.
type memory struct {
	got  []notify.Notice
	fail map[string]error
}

func (m *memory) Notify(_ context.Context, n notify.Notice) error {
	if err := m.fail[n.Watcher]; err != nil {
		return err
	}
	m.got = append(m.got, n)
	return nil
}

func (m *memory) names() []string {
	var names []string
	for _, n := range m.got {
		names = append(names, n.Watcher)
	}
	return names
}

func TestNotifyWhom(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		watchers notify.WatchersFunc
		want     []string
	}{
		{"Unknown", nil, []string{""}},
		{"Nobody", watchers(), nil},
		{"Some", watchers("ann", "bob"), []string{"ann", "bob"}},
		{"TwiceInTheList", watchers("bob", "ann", "bob"), []string{"ann", "bob"}},
		{"OddNames", watchers("ё/😀", "'; DROP", "a%2Fb", "a/b"), []string{"'; DROP", "a%2Fb", "a/b", "ё/😀"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := &memory{}
			out, err := notify.Notify(notify.Config{Notifier: m, Watchers: tt.watchers})(t.Context(), call("k"))
			if err != nil || out.Notified != len(tt.want) || !slices.Equal(m.names(), tt.want) {
				t.Errorf("Notify = %+v, %v, told %q, want %q", out, err, m.names(), tt.want)
			}
			for _, n := range m.got {
				want := notify.Notice{Key: "k", Watcher: n.Watcher, PRID: "org/repo#42", MergeSHA: "abc"}
				if n != want {
					t.Errorf("notice = %+v, want %+v", n, want)
				}
			}
		})
	}
}

func TestNotifyDoesNotSortTheCallersList(t *testing.T) {
	t.Parallel()
	names := []string{"b", "a"}
	_, err := notify.Notify(notify.Config{Notifier: &memory{}, Watchers: watchers(names...)})(t.Context(), call("k"))
	if err != nil || names[0] != "b" {
		t.Errorf("names = %q, %v, want them as they were", names, err)
	}
}

func TestNotifyErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	tests := []struct {
		name string
		cfg  notify.Config
		want engine.Verdict
		text string
		told []string
	}{
		{
			"WatchersUnknown",
			notify.Config{Watchers: func(context.Context, string) ([]string, error) { return nil, broken }},
			engine.Verdict{Definite: true},
			`find the watchers of "org/repo#42": broken`, nil,
		},
		{
			"OneOfThree",
			notify.Config{
				Notifier: &memory{fail: map[string]error{"bob": broken}},
				Watchers: watchers("ann", "bob", "eve"),
			},
			engine.Verdict{},
			`notify "bob" of "org/repo#42": broken`,
			[]string{"ann", "eve"},
		},
		{
			"Permanent",
			notify.Config{
				Notifier: &memory{fail: map[string]error{"bob": engine.Permanent(broken)}},
				Watchers: watchers("bob"),
			},
			engine.Verdict{Definite: true, Permanent: true},
			"broken", nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, _ := tt.cfg.Notifier.(*memory)
			if m == nil {
				m = &memory{}
				tt.cfg.Notifier = m
			}
			_, err := notify.Notify(tt.cfg)(t.Context(), call("k"))
			if !errors.Is(err, broken) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("Notify = %v, want %q", err, tt.text)
			}
			if got := engine.VerdictOf(err); got != tt.want {
				t.Errorf("verdict = %+v, want %+v", got, tt.want)
			}
			if !slices.Equal(m.names(), tt.told) {
				t.Errorf("told %q, want %q", m.names(), tt.told)
			}
		})
	}
}

func TestNotifyStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(engine.ErrShutdown)
	m := &memory{}
	_, err := notify.Notify(notify.Config{Notifier: m, Watchers: watchers("ann", "bob")})(ctx, call("k"))
	if !errors.Is(err, engine.ErrShutdown) || len(m.got) > 1 {
		t.Errorf("Notify = %v, told %q, want it to stop at the first", err, m.names())
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	l := notify.Log{Logger: textLogger(&buf)}
	if _, err := notify.Notify(notify.Config{Notifier: l, Watchers: watchers("ann")})(t.Context(), call("k")); err != nil {
		t.Fatal(err)
	}
	want := "level=INFO msg=\"pull request merged\" pr_id=org/repo#42 merge_sha=abc watcher=ann key=k\n"
	if diff := cmp.Diff(want, buf.String()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()
	var reg engine.Registry
	notify.Register(&reg, notify.Config{})
	info, ok := reg.Manifest()[notify.Step]
	if !ok || info.NotIdempotent || len(info.Input) != 2 || len(info.Output) != 1 {
		t.Errorf("manifest of %s = %+v, %v", notify.Step, info, ok)
	}
}

// lockedBuffer may be written by many at once.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func textLogger(w interface{ Write([]byte) (int, error) }) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

func mustOpen(t *testing.T, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite",
		"file:"+file+"?_txlock=immediate&_pragma=busy_timeout(30000)&_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

var noon = time.Date(2026, 3, 29, 12, 0, 0, 1000, time.UTC)

func mustRecorder(t *testing.T, db *sql.DB, logger *slog.Logger) *notify.Recorder {
	t.Helper()
	r, err := notify.NewRecorder(t.Context(), db, notify.RecorderOptions{
		Logger: logger,
		Clock:  func() time.Time { return noon.In(time.FixedZone("", -5*3600)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRecorderNotifiesOncePerKey(t *testing.T) {
	t.Parallel()
	db := mustOpen(t, filepath.Join(t.TempDir(), "n.db"))
	buf := &lockedBuffer{}
	var wg sync.WaitGroup
	for range 4 { // attempts that overlap, in several processes
		r := mustRecorder(t, db, textLogger(buf))
		wg.Go(func() {
			out, err := notify.Notify(notify.Config{Notifier: r, Watchers: watchers("ann", "ё/😀")})(t.Context(), call("k"))
			if err != nil || out.Notified != 2 {
				t.Errorf("Notify = %+v, %v, want 2 notified", out, err)
			}
		})
	}
	wg.Wait()
	if got := strings.Count(buf.String(), "\n"); got != 2 {
		t.Errorf("%d log records, want 2:\n%s", got, buf.String())
	}
	r := mustRecorder(t, db, textLogger(buf))
	if _, err := notify.Notify(notify.Config{Notifier: r, Watchers: watchers("ann")})(t.Context(), call("other")); err != nil {
		t.Fatal(err)
	}
	got, err := r.List(t.Context(), "org/repo#42", 10)
	if err != nil {
		t.Fatal(err)
	}
	notice := func(key, watcher string) notify.Recorded {
		return notify.Recorded{
			Notice: notify.Notice{Key: key, Watcher: watcher, PRID: "org/repo#42", MergeSHA: "abc"},
			At:     noon,
		}
	}
	want := []notify.Recorded{notice("k", "ann"), notice("k", "ё/😀"), notice("other", "ann")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
	if got, err := r.List(t.Context(), "org/repo#42", 1); err != nil || len(got) != 1 {
		t.Errorf("List of one = %v, %v", got, err)
	}
	if got, err := r.List(t.Context(), "org/repo", 10); err != nil || got != nil {
		t.Errorf("List of another = %v, %v, want none", got, err)
	}
}

func TestRecorderErrors(t *testing.T) {
	t.Parallel()
	db := mustOpen(t, filepath.Join(t.TempDir(), "n.db"))
	var buf bytes.Buffer
	r := mustRecorder(t, db, textLogger(&buf))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	err := r.Notify(t.Context(), notify.Notice{Key: "k"})
	if err == nil || !strings.HasPrefix(err.Error(), "record the notice: ") || buf.Len() > 0 {
		t.Errorf("Notify = %v, logged %q, want an error and nothing logged", err, buf.String())
	}
	if _, err := r.List(t.Context(), "x", 1); err == nil || !strings.HasPrefix(err.Error(), `list the notices about "x": `) {
		t.Errorf("List = %v, want an error", err)
	}
	if _, err := notify.NewRecorder(t.Context(), db, notify.RecorderOptions{}); err == nil {
		t.Error("NewRecorder on a closed database succeeded")
	}
}
