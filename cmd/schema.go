package pawlcmd

import (
	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/engine/definition"
)

func schemaCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of workflow files, for editors",
		Long: "Print the JSON Schema (2020-12) of workflow files. Editors that know it complete the\n" +
			"fields, explain them and mark mistakes in their form; validate finds the others, too.",
		Example: "  " + e.opts.Name + " schema > pawl.schema.json\n" +
			"  # and as the first line of a workflow beside it:\n" +
			"  # yaml-language-server: $schema=pawl.schema.json",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := e.out.Write(definition.JSONSchema())
			return err
		},
	}
}
