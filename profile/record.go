package profile

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// Spec says what to record.
type Spec struct {
	Tool     Tool
	Goal     bench.Goal
	Targets  []Target
	Argv     []string
	Dir      string // the run directory; it exists
	Live     io.Writer
	Duration time.Duration // ends an open-ended command; 0: it ends by itself
	Terminal bench.TerminalMode
	Metrics  []bench.MetricPattern
	NoProbes bool
	// Explain asks a command that can log every message to do so; it is changed by that, which the report says.
	Explain bool
	// Progress is called about once a second while the command runs; nil: not at all.
	Progress func(Progress)
}

// Progress is what a person who waits wants to know.
type Progress struct {
	Elapsed  time.Duration
	Expected time.Duration // 0: not known
}

// Record runs one command under the probes and returns everything that was measured. The error is about what made a run
// impossible (the command cannot be started, the directory cannot be written); all else is data in the Profile.
func Record(ctx context.Context, spec Spec) (Profile, error) {
	r := recorder{spec: spec, src: host.LiveSource()}
	r.describe()
	r.logMessages()
	r.p.TimeS = now()
	r.p.Before = host.Take(ctx, r.src)
	if err := r.prepare(ctx); err != nil {
		return r.p, err
	}
	r.attach(ctx)
	err := r.run(ctx)
	r.collect(ctx)
	return r.p, err
}

// recorder is the state of one recording, from left to right.
type recorder struct {
	spec    Spec
	src     *host.Source
	adapter bench.Adapter
	p       Profile
	proc    *bench.Process
	session *bpf.Session
	watcher *watcher
	out     bench.Output
}

// describe reads what argv tells before anything runs.
func (r *recorder) describe() {
	cmd := bench.ParseCommand(r.spec.Argv).WithEnviron(os.Environ())
	r.adapter = bench.Identify(cmd)
	if g, ok := r.adapter.(bench.Generic); ok {
		g.Metrics = r.spec.Metrics
		r.adapter = g
	}
	r.p = Profile{
		Schema: Schema, Kind: "run", Tool: r.spec.Tool, Goal: r.spec.Goal, Targets: r.spec.Targets,
		Workload: maybe.Some(r.adapter.Describe(cmd)),
		After:    maybe.None[host.Host]("the run did not end"),
		Result:   maybe.None[bench.Result]("the run did not end"),
		Capture:  maybe.None[bpf.Capture]("probes were switched off (--no-probes)"),
	}
}

// logMessages adds the options that make the command log every message, when the user wants outliers explained.
func (r *recorder) logMessages() {
	if !r.spec.Explain || bench.SampleFile(r.adapter, r.workload()) != "" {
		return
	}
	extra := bench.SampleArgs(r.adapter, r.workload(), filepath.Join(r.spec.Dir, "messages.log"))
	if len(extra) == 0 {
		r.p.Notices = append(r.p.Notices, "--explain: "+r.workload().Kind+" cannot log every message; outliers are not explained one by one")
		return
	}
	r.spec.Argv = append(slices.Clone(r.spec.Argv), extra...)
	r.describe()
	r.p.Notices = append(r.p.Notices, "--explain added "+strings.Join(extra, " ")+": two clock readings a message go through clock_gettime, some 20 ns each")
}

// workload is what describe found.
func (r *recorder) workload() bench.Workload { return r.p.Workload.Or(bench.Workload{}) }

// prepare parks the command in front of its first instruction.
func (r *recorder) prepare(ctx context.Context) (err error) {
	r.proc, err = bench.Prepare(ctx, bench.Spec{
		Argv: r.spec.Argv, Live: r.spec.Live, SaveDir: r.spec.Dir, Terminal: r.spec.Terminal, Duration: r.spec.Duration,
		WantsTerminal: bench.WantsTerminal(r.adapter, r.workload()),
		CPUs:          ownAffinity(),
	})
	return err
}

// attach starts the probes on the parked command; without the privilege the run goes on from /proc alone.
func (r *recorder) attach(ctx context.Context) {
	keep := r.keepOff()
	if err := bpf.KeepOff(keep); err != nil {
		r.p.Notices = append(r.p.Notices, "corewise could not leave the workload's CPUs: "+err.Error())
	}
	if r.spec.NoProbes {
		return
	}
	session, err := bpf.Start(ctx, bpf.Options{
		Watch: bpf.Watch{PIDs: []int{r.proc.PID()}}, NodeOfCPU: nodeOfCPU(r.p.Before), KeepOff: keep,
		Events: bench.SampleFile(r.adapter, r.workload()) != "",
	})
	if err != nil {
		r.p.Capture = maybe.None[bpf.Capture](err.Error())
		return
	}
	r.session = session
}

// run lets the command go and waits for its end.
func (r *recorder) run(ctx context.Context) error {
	if err := r.proc.Release(); err != nil {
		r.stopCapture()
		return err
	}
	r.watcher = watch(r.src, r.proc.PID(), r.expected(), r.spec.Progress)
	exit, usage, err := r.proc.Wait()
	r.watcher.stop()
	r.stopCapture()
	r.p.Run = maybe.Some(runOf(r.proc.PID(), exit, usage))
	r.p.Notices = append(r.p.Notices, noteTexts(usage.Notes)...)
	r.out = r.proc.Output()
	r.out.Ended, r.out.ElapsedS = maybe.Some(exit), maybe.Some(usage.ElapsedS)
	return errors.Join(err, ctx.Err())
}

func (r *recorder) stopCapture() {
	if r.session != nil {
		r.p.Capture = maybe.From(r.session.Stop())
		r.session = nil
	}
}

// collect samples the host again and parses what the command printed.
func (r *recorder) collect(ctx context.Context) {
	if !r.p.Run.Ok() {
		return
	}
	after := host.Take(context.WithoutCancel(ctx), r.src)
	first, last := r.watcher.samples()
	r.p.Before.Procs = mergeProcs(r.p.Before.Procs, first)
	after.Procs = mergeProcs(after.Procs, last)
	r.p.After = maybe.Some(after)
	r.out.Files = readSideFiles(bench.SideFiles(r.adapter, r.workload()))
	r.p.Result = maybe.Some(r.adapter.Parse(r.workload(), r.out))
	r.keepSamples()
}

// keepSamples saves messages and timeline, from which outliers are explained; without them the report does without.
func (r *recorder) keepSamples() {
	if err := saveSamples(r.spec.Dir, r.adapter, r.p); err != nil {
		r.p.Notices = append(r.p.Notices, "outliers cannot be explained: "+err.Error())
	}
}

// expected is the length of the run where argv or the user told it.
func (r *recorder) expected() time.Duration {
	if r.spec.Duration > 0 {
		return r.spec.Duration
	}
	return time.Duration(r.workload().DurationS.Or(0) * float64(time.Second))
}

// keepOff are the CPUs that argv gives to the workload, with their siblings.
func (r *recorder) keepOff() []int {
	cpus := cpulist.Set{}
	for _, role := range r.workload().Roles {
		cpus = cpus.Or(role.CPUs)
	}
	if pinned, ok := r.workload().Command.Taskset.Get(); ok {
		cpus = cpus.Or(pinned)
	}
	for _, c := range r.p.Before.CPU.CPUs {
		if len(c.Siblings.And(cpus)) > 0 {
			cpus = cpus.Or(c.Siblings)
		}
	}
	return cpus
}

func nodeOfCPU(h host.Host) map[int]int {
	nodes := map[int]int{}
	for _, c := range h.CPU.CPUs {
		nodes[c.ID] = c.Node
	}
	return nodes
}

func runOf(pid int, exit bench.Exit, u bench.Usage) Run {
	run := Run{
		PID: pid, StartNS: u.StartNS, EndNS: u.EndNS, Exit: exit, Interrupted: u.Interrupted,
		Stdout: bench.StdoutName, Stderr: bench.StderrName, CPUSeconds: u.CPUSeconds, MaxRSSBytes: u.MaxRSSBytes,
	}
	if u.Terminal {
		run.Stderr = ""
	}
	if dir, err := os.Getwd(); err == nil {
		run.Dir = dir
	}
	return run
}

func noteTexts(notes []bench.Note) []string {
	var out []string
	for _, n := range notes {
		out = append(out, n.Text)
	}
	return out
}

// maxSideFile bounds a file that the command wrote beside its output.
const maxSideFile = 1 << 30

func readSideFiles(names []string) map[string][]byte {
	files := map[string][]byte{}
	for _, name := range names {
		st, err := os.Stat(name)
		if err != nil || !st.Mode().IsRegular() || st.Size() > maxSideFile {
			continue
		}
		if b, err := os.ReadFile(filepath.Clean(name)); err == nil {
			files[name] = b
		}
	}
	return files
}

func now() float64 { return float64(time.Now().UnixMicro()) / 1e6 }
