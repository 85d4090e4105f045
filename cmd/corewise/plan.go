package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/corewise/corewise/advisor/plan"
	"github.com/corewise/corewise/advisor/report"
	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

type planFlags struct {
	root     string
	workload string
	goal     string
	format   string
	whatIf   string
}

func newPlan() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan [RUN]",
		Short: "Choose cores for a workload and print them in every tool's syntax",
		Long: `plan chooses housekeeping, interrupt, isolated and workload cores for a saved run, or for a workload on this host (or a
host tree, --root) without running it, and says why for each core.`,
		Example: `  corewise plan corewise-20261201-142509-sockperf
  corewise plan --workload 'pktgen -l 0-4 -a 0000:81:00.0 -- -m "[1:2-4].0"'
  corewise plan --what-if 'nic=eth2 threads=8'
  corewise plan --root host.tar.zst --workload 'sockperf pp -i 192.0.2.2' --format taskset`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := f.profile(cmd, args)
			if err != nil {
				return err
			}
			in := plan.FromProfile(p)
			if f.whatIf != "" {
				if in, err = plan.WhatIf(in, p.Before, f.whatIf); err != nil {
					return fmt.Errorf("--what-if: %w", err)
				}
			}
			return f.print(cmd.OutOrStdout(), plan.Make(in))
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.root, "root", "", "host tree or bundle instead of this machine")
	fs.StringVar(&f.workload, "workload", "", "command line of the workload to plan for")
	fs.StringVar(&f.whatIf, "what-if", "", "plan for something else: nic=eth2 threads=8 node=1 goal=latency ...")
	fs.StringVar(&f.goal, "goal", "auto", "latency, throughput or auto (from the workload)")
	fs.StringVar(&f.format, "format", "text", "text, json, or the name of one syntax, such as taskset or cmdline")
	return cmd
}

func (f planFlags) profile(cmd *cobra.Command, args []string) (profile.Profile, error) {
	if len(args) == 1 {
		if f.root != "" || f.workload != "" {
			return profile.Profile{}, errors.New("a saved run already has its host and workload: give either RUN or --root and --workload")
		}
		return profile.Load(args[0])
	}
	p := profile.Profile{Schema: profile.Schema, Kind: "audit", Tool: tool(), Goal: bench.Goal(f.goal)}
	argv, err := bench.SplitShell(f.workload)
	if err != nil {
		return p, fmt.Errorf("--workload: %w", err)
	}
	if len(argv) > 0 {
		w, _ := bench.Ingest(argv, nil)
		p.Workload = maybe.Some(w)
	}
	if f.root != "" {
		return p, readTree(cmd, f.root, &p)
	}
	p.Before = host.Take(cmd.Context(), host.LiveSource())
	return p, nil
}

func (f planFlags) print(w io.Writer, pl plan.Plan) error {
	switch f.format {
	case "json":
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(pl)
	case "text":
		return report.PlanText(w, pl, report.Options{})
	}
	if text, ok := pl.Syntaxes[f.format]; ok {
		_, err := fmt.Fprintln(w, text)
		return err
	}
	return fmt.Errorf("--format %q is not known here; accepted: text, json, %s", f.format, strings.Join(slices.Sorted(maps.Keys(pl.Syntaxes)), ", "))
}
