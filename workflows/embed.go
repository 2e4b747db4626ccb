// Package workflows holds the workflows that pawl ships, as files, and embeds
// them. It has no logic: steps live under steps/, their wiring under cmd/.
package workflows

import "embed"

// FS has every shipped workflow as NAME.yaml.
//
//go:embed *.yaml
var FS embed.FS
