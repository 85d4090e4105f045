package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/corewise/corewise/profile"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "corewise",
		Short: "Run a benchmark under eBPF probes, explain its result, fix the host",
		Long: `corewise runs your benchmark under eBPF probes, explains its jitter or missing throughput with what the kernel did to
its threads, and recommends core lists, kernel arguments and BIOS settings, each with evidence, undo and a check.

It only reads the host, except in the commands apply, verify and rollback.`,
		Example: `  corewise run -- sockperf pp -i 192.0.2.2 -p 5001 -t 10
  corewise run
  corewise audit
  corewise analyze corewise-20261201-142509-sockperf --goal throughput`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		Version:       tool().Version,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(newRun(), newAudit(), newRecord(), newAnalyze(), newReport(), newPlan(), newApply(), newRollback(), newRules(), newProbes(), newCollect(), newPingpong())
	return root
}

// tool names this build; the version comes from the build info, so that a plain go install tells it too.
func tool() profile.Tool {
	t := profile.Tool{Name: "corewise", Version: "devel", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return t
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		t.Version = v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && t.Version == "devel" {
			t.Version = fmt.Sprintf("devel-%.12s", s.Value)
		}
	}
	return t
}
