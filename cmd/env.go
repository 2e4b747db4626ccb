package pawlcmd

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Levels of the log, unless --log-level says another one. Commands that act
// once are quiet, so that their answer is not lost among records.
const (
	quiet = slog.LevelWarn
	full  = slog.LevelInfo
)

// env is all that a command may touch of the process, so that tests can
// replace it, and the global flags.
type env struct {
	opts     Options
	in       io.Reader
	out, err io.Writer
	now      func() time.Time

	store     string
	workflows string
	queue     string
	output    string
	color     string
	logFormat string
	logLevel  string
}

func newEnv(o Options) *env {
	return &env{opts: o, in: o.Stdin, out: o.Stdout, err: o.Stderr, now: o.Clock}
}

// flags defines the global flags.
func (e *env) flags(fs *pflag.FlagSet) {
	fs.StringVar(&e.store, "store", "sqlite:pawl.db", "where instances live: sqlite:`FILE`")
	fs.StringVar(&e.workflows, "workflows", "", "`DIR` of workflow files (default: those in the program)")
	fs.StringVar(&e.queue, "queue", "store:", "where events go: store: is a queue in the store's database")
	fs.StringVarP(&e.output, "output", "o", "table", "form of the output: table or json; for validate also sarif")
	fs.StringVar(&e.color, "color", "auto", "colours: auto (on a terminal), always or never")
	fs.StringVar(&e.logFormat, "log-format", "text", "form of the log: text or json")
	fs.StringVar(&e.logLevel, "log-level", "", "least level of the log: debug, info, warn or error\n(default: info for tick and run, else warn)")
	e.opts.Flags(fs)
}

// settle takes what no flag says from the environment, and checks the result.
func (e *env) settle(fs *pflag.FlagSet) error {
	var err error
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == "help" || err != nil {
			return
		}
		name := variable(f.Name)
		if text := e.opts.Getenv(name); text != "" {
			if bad := fs.Set(f.Name, text); bad != nil {
				err = usagef("%s=%s: %w", name, text, bad)
			}
		}
	})
	if err != nil {
		return err
	}
	if !slices.Contains([]string{"table", "json", sarif}, e.output) {
		return usagef("--output is %q; write table or json", e.output)
	}
	if !slices.Contains([]string{"auto", "always", "never"}, e.color) {
		return usagef("--color is %q; write auto, always or never", e.color)
	}
	if e.logFormat != "text" && e.logFormat != "json" {
		return usagef("--log-format is %q; write text or json", e.logFormat)
	}
	if _, err := parseLevel(e.logLevel, slog.LevelInfo); err != nil {
		return err
	}
	return e.checkQueue()
}

// variable is the environment variable of a flag.
func variable(flag string) string {
	return "PAWL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func parseLevel(text string, otherwise slog.Level) (slog.Level, error) {
	switch text {
	case "":
		return otherwise, nil
	case "debug", "info", "warn", "error":
		var l slog.Level
		return l, l.UnmarshalText([]byte(text))
	}
	return 0, usagef("--log-level is %q; write debug, info, warn or error", text)
}

// logger returns the log of the program.
func (e *env) logger(otherwise slog.Level) *slog.Logger {
	level, err := parseLevel(e.logLevel, otherwise)
	if err != nil {
		level = otherwise // settle has refused it
	}
	o := &slog.HandlerOptions{Level: level}
	if e.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(e.err, o))
	}
	return slog.New(slog.NewTextHandler(e.err, o))
}

// json reports whether the output is for programs.
func (e *env) json() bool { return e.output == "json" }

// print writes v as JSON.
func (e *env) print(v any) error {
	enc := json.NewEncoder(e.out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func (e *env) printf(format string, args ...any) { fmt.Fprintf(e.out, format, args...) }

// hintf writes a remark for people, which is not part of the answer.
func (e *env) hintf(format string, args ...any) { fmt.Fprintf(e.err, format+"\n", args...) }

// width is how many columns a table may have.
func (e *env) width() int {
	const narrow, usual = 60, 80
	n, err := strconv.Atoi(e.opts.Getenv("COLUMNS"))
	if err != nil {
		return usual
	}
	return max(n, narrow)
}
