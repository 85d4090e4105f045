package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile"
)

type runFlags struct {
	judgeFlags
	out      string
	duration time.Duration
	tty      string
	metrics  []string
	noProbes bool
	quiet    bool
	explain  bool
	builtin  pingpongFlags
}

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [flags] [-- COMMAND ARGS...]",
		Short: "Run a benchmark under the probes and explain its result",
		Long: `run starts your command unchanged, follows its threads from the first instruction, captures what the kernel does to them,
samples the host before and after, saves everything in a run directory and prints the report on standard output. The command's own
output appears on standard error as it comes, and is kept.

Without a command it runs the built-in UDP ping-pong between two pinned threads, or two hosts with --server and --client.`,
		Example: `  corewise run -- sockperf pp -i 192.0.2.2 -p 5001 -t 10
  corewise run --target p99.9=20us -- taskset -c 5 sockperf pp -i 192.0.2.2
  corewise run --duration 30s -- dpdk-testpmd -l 2-4 -a 0000:31:00.0 -- --stats-period 1
  corewise run`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
				return fmt.Errorf("unexpected argument %q: put the benchmark after --, as in: corewise run -- %s", args[0], strings.Join(args, " "))
			}
			return f.run(cmd, args)
		},
	}
	f.add(cmd)
	fs := cmd.Flags()
	fs.StringVarP(&f.out, "out", "o", "", "run directory (default corewise-TIME-WORKLOAD); one that exists must be empty")
	fs.DurationVar(&f.duration, "duration", 0, "end an open-ended command after this time, with SIGINT first")
	fs.StringVar(&f.tty, "tty", "auto", "give the command a terminal of its own: auto, always, never")
	fs.StringArrayVar(&f.metrics, "metric", nil, "NAME=REGEXP that picks a number from the output of a command that corewise does not know (repeatable)")
	fs.BoolVar(&f.noProbes, "no-probes", false, "do not load eBPF programs")
	fs.BoolVar(&f.explain, "explain", false, "make the command log every message (sockperf: --full-log --no-rdtsc), so that its outliers can be explained one by one")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "do not show the command's output and the progress")
	f.builtin.add(fs)
	return cmd
}

func (f runFlags) run(cmd *cobra.Command, argv []string) error {
	j, err := f.check()
	if err != nil {
		return err
	}
	spec, err := f.spec(cmd, j)
	if err != nil {
		return err
	}
	if spec.Argv = argv; len(argv) == 0 {
		if spec.Argv, err = f.builtin.argv(f.duration); err != nil {
			return err
		}
		spec.Duration = 0
	} else if f.builtin.given() {
		return errors.New("--server, --client and the other ping-pong flags are for the built-in workload: leave out the command, or the flags")
	}
	if spec.Dir, err = f.makeDir(spec.Argv); err != nil {
		return err
	}
	if len(argv) == 0 {
		spec.Argv = append(spec.Argv, "--samples", filepath.Join(spec.Dir, profile.SamplesFile))
	}
	p, err := profile.Record(withoutInterrupt(cmd.Context()), spec)
	if err != nil && !p.Run.Ok() {
		return errors.Join(err, discard(spec.Dir))
	}
	if err != nil {
		p.Notices = append(p.Notices, err.Error())
	}
	return save(cmd, j, spec.Dir, p)
}

func (f runFlags) spec(cmd *cobra.Command, j judge) (profile.Spec, error) {
	spec := profile.Spec{Tool: tool(), Goal: j.goal, Targets: j.targets, Duration: f.duration, NoProbes: f.noProbes, Explain: f.explain}
	modes := map[string]bench.TerminalMode{"auto": bench.TerminalAuto, "always": bench.TerminalAlways, "never": bench.TerminalNever}
	mode, ok := modes[f.tty]
	if !ok {
		return spec, fmt.Errorf("--tty %q is not known; accepted: auto, always, never", f.tty)
	}
	if f.duration < 0 {
		return spec, fmt.Errorf("--duration %s is negative", f.duration)
	}
	spec.Terminal = mode
	for _, text := range f.metrics {
		m, err := bench.ParseMetric(text)
		if err != nil {
			return spec, fmt.Errorf("--metric: %w", err)
		}
		spec.Metrics = append(spec.Metrics, m)
	}
	if !f.quiet {
		spec.Live = cmd.ErrOrStderr()
		spec.Progress = progress(cmd.ErrOrStderr())
	}
	return spec, nil
}

// makeDir makes the run directory before the benchmark starts: minutes of measuring must not end in "no such directory".
func (f runFlags) makeDir(argv []string) (string, error) {
	dir := f.out
	if dir == "" {
		cmd := bench.ParseCommand(argv)
		dir = profile.DefaultDir(time.Now(), bench.Identify(cmd).Name())
	}
	return dir, profile.MakeDir(dir)
}

// withoutInterrupt keeps corewise alive on Ctrl-C, which is the benchmark's: the report comes all the same.
func withoutInterrupt(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }
