package pawlcmd

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionJSON is the answer of version.
type versionJSON struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

func versionCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := versionJSON{Version: e.version(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
			if e.json() {
				return e.print(v)
			}
			e.printf("%s %s (%s, %s)\n", e.opts.Name, v.Version, v.Go, v.System)
			return nil
		},
	}
}

// version is that of the options, else what the toolchain has recorded.
func (e *env) version() string {
	if e.opts.Version != "" {
		return e.opts.Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}
