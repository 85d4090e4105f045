package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

type analyzeFlags struct {
	judgeFlags
	host     string
	workload string
	stdout   string
	stderr   string
	capture  string
}

func newAnalyze() *cobra.Command {
	var f analyzeFlags
	cmd := &cobra.Command{
		Use:   "analyze [RUN]",
		Short: "Evaluate a saved run again, or a host tree with a transcript",
		Long: `analyze evaluates again what was recorded: with new rules, another goal, other targets. Nothing of the machine it runs
on is read. Instead of a run it takes a host tree or bundle (--host) with the command line and the output of a benchmark.`,
		Example: `  corewise analyze corewise-20261201-142509-sockperf --goal throughput
  corewise analyze --host host.tar.zst --workload 'taskset -c 5 sockperf pp -i 192.0.2.2' --stdout out.txt --format json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := f.check()
			if err != nil {
				return err
			}
			p, err := f.profile(cmd, args)
			if err != nil {
				return err
			}
			_, err = j.answer(cmd, p, runDir(args))
			return err
		},
	}
	f.add(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.host, "host", "", "host tree (directory or .txtar) or bundle (.tar.zst)")
	fs.StringVar(&f.workload, "workload", "", "command line of the benchmark, as one shell word")
	fs.StringVar(&f.stdout, "stdout", "", "file with the benchmark's output (both streams), - for standard input")
	fs.StringVar(&f.stderr, "stderr", "", "file with the benchmark's standard error, when it is apart")
	fs.StringVar(&f.capture, "capture", "", "kernel capture (JSON) that belongs to the host tree")
	return cmd
}

// runDir is the directory of the run that args name, "" without one.
func runDir(args []string) string {
	if len(args) == 0 {
		return ""
	}
	if st, err := os.Stat(args[0]); err == nil && !st.IsDir() {
		return filepath.Dir(args[0])
	}
	return args[0]
}

func (f analyzeFlags) profile(cmd *cobra.Command, args []string) (profile.Profile, error) {
	if len(args) == 1 {
		if given := cmp.Or(f.host, f.workload, f.stdout, f.stderr, f.capture); given != "" {
			return profile.Profile{}, errors.New("a saved run already has its host, workload and output: give either RUN or --host, --workload, --stdout, --stderr, --capture")
		}
		return profile.Load(args[0])
	}
	if f.host == "" && f.workload == "" && f.stdout == "" {
		return profile.Profile{}, errors.New("nothing to analyze: give a run directory, or --host, --workload and --stdout")
	}
	return f.assemble(cmd)
}

// assemble builds a profile from a host tree, a command line and a transcript; each may be absent.
func (f analyzeFlags) assemble(cmd *cobra.Command) (profile.Profile, error) {
	p := profile.Profile{Schema: profile.Schema, Kind: "analyze", Tool: tool()}
	if err := readTree(cmd, f.host, &p); err != nil {
		return p, err
	}
	out, err := f.output(cmd.InOrStdin())
	if err != nil {
		return p, err
	}
	if p.Capture, err = readCapture(f.capture); err != nil {
		return p, err
	}
	p.Workload = maybe.None[bench.Workload]("no command line was given (--workload)")
	p.Result = maybe.None[bench.Result]("no output was given (--stdout)")
	argv, err := bench.SplitShell(f.workload)
	if err != nil {
		return p, fmt.Errorf("--workload: %w", err)
	}
	if len(argv) == 0 && out == nil {
		return p, nil
	}
	w, r := bench.Ingest(argv, out)
	p.Workload = maybe.Some(w)
	if out != nil {
		p.Result = maybe.Some(r)
	}
	return p, nil
}

// readTree fills both samples from a host tree; no tree leaves the host empty, every fact missing.
func readTree(cmd *cobra.Command, path string, p *profile.Profile) error {
	p.After = maybe.None[host.Host]("only one sample: no t1/ with times.json")
	if path == "" {
		p.Before.Gaps = []host.Gap{{Path: "host", Reason: "no host tree was given (--host)"}}
		return nil
	}
	tree, err := host.Open(path)
	if err != nil {
		return err
	}
	defer tree.Close()
	p.Before = host.Take(cmd.Context(), tree.First())
	p.TimeS = p.Before.TimeS
	if second, ok := tree.Second(); ok {
		p.After = maybe.Some(host.Take(cmd.Context(), second))
	}
	return nil
}

func (f analyzeFlags) output(in io.Reader) (*bench.Output, error) {
	if f.stdout == "" && f.stderr == "" {
		return nil, nil
	}
	out, err := readText(f.stdout, in)
	if err != nil {
		return nil, fmt.Errorf("--stdout: %w", err)
	}
	if f.stderr == "" {
		return &bench.Output{Mixed: out}, nil
	}
	errText, err := readText(f.stderr, in)
	if err != nil {
		return nil, fmt.Errorf("--stderr: %w", err)
	}
	return &bench.Output{Stdout: out, Stderr: errText}, nil
}

// maxTranscript bounds a transcript; the numbers of a benchmark stand at its end, so only a monster is refused.
const maxTranscript = 1 << 30

func readText(name string, in io.Reader) ([]byte, error) {
	switch name {
	case "":
		return []byte{}, nil
	case "-":
	default:
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxTranscript+1))
	if err == nil && len(b) > maxTranscript {
		err = fmt.Errorf("%s is larger than %d MiB", name, maxTranscript>>20)
	}
	return b, err
}

func readCapture(name string) (maybe.Value[bpf.Capture], error) {
	none := maybe.None[bpf.Capture]("no kernel capture was given (--capture)")
	if name == "" {
		return none, nil
	}
	c, err := profile.LoadCapture(name)
	if err != nil {
		return none, fmt.Errorf("--capture: %w", err)
	}
	return maybe.Some(c), nil
}
