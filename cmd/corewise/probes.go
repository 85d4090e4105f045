package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/corewise/corewise/advisor/report"
	"github.com/corewise/corewise/bpf"
)

func newProbes() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "probes",
		Short: "Say which probes this kernel and these privileges allow, and why not",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, states := cmd.OutOrStdout(), bpf.Detect()
			switch format {
			case "text":
				return report.ProbesText(w, states, report.Options{})
			case "json":
				enc := json.NewEncoder(w)
				enc.SetIndent("", "  ")
				return enc.Encode(states)
			}
			return fmt.Errorf("--format %q is not known; accepted: text, json", format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}
