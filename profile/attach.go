package profile

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// AttachSpec says what to watch that already runs.
type AttachSpec struct {
	Tool     Tool
	Goal     bench.Goal
	Targets  []Target
	PIDs     []int // process trees
	CPUs     []int // "who ran on these CPUs", with or without a workload
	Duration time.Duration
	Events   bool
	Progress func(Progress)
}

// Attach watches processes or CPUs for a while. Unlike Record it cannot do without the probes: without them nothing would
// be known that an audit does not know.
func Attach(ctx context.Context, spec AttachSpec) (Profile, error) {
	src := host.LiveSource()
	p := Profile{
		Schema: Schema, Kind: "record", Tool: spec.Tool, Goal: spec.Goal, Targets: spec.Targets, TimeS: now(),
		Result: maybe.None[bench.Result]("record watches what runs; it does not see what the program prints"),
	}
	w, err := attachedWorkload(spec.PIDs)
	if err != nil {
		return p, err
	}
	p.Workload = w
	p.Before = host.Take(ctx, src)
	p.Before.Procs = mergeProcs(p.Before.Procs, readTrees(src, spec.PIDs))
	if err := bpf.KeepOff(spec.CPUs); err != nil {
		p.Notices = append(p.Notices, "corewise could not leave the watched CPUs: "+err.Error())
	}
	started := time.Now()
	session, err := bpf.Start(ctx, bpf.Options{
		Watch: bpf.Watch{PIDs: spec.PIDs, CPUs: spec.CPUs}, NodeOfCPU: nodeOfCPU(p.Before), KeepOff: spec.CPUs, Events: spec.Events,
	})
	if err != nil {
		return p, fmt.Errorf("record needs the probes: %w", err)
	}
	wait(ctx, spec, started)
	last := readTrees(src, spec.PIDs)
	p.Capture = maybe.From(session.Stop())
	after := host.Take(context.WithoutCancel(ctx), src)
	after.Procs = mergeProcs(after.Procs, last)
	p.After = maybe.Some(after)
	return p, nil
}

// wait returns at the end of the duration, on Ctrl-C, or when every watched process has ended.
func wait(ctx context.Context, spec AttachSpec, started time.Time) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		elapsed := time.Since(started)
		if spec.Duration > 0 && elapsed >= spec.Duration || len(spec.PIDs) > 0 && !anyAlive(spec.PIDs) {
			return
		}
		if spec.Progress != nil && n%5 == 0 {
			spec.Progress(Progress{Elapsed: elapsed, Expected: spec.Duration})
		}
	}
}

func anyAlive(pids []int) bool {
	for _, pid := range pids {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err == nil {
			return true
		}
	}
	return false
}

func readTrees(src *host.Source, pids []int) []host.Proc {
	var all []host.Proc
	for _, pid := range pids {
		all = mergeProcs(all, host.ReadProcs(src, host.Descendants(src, pid)...))
	}
	return all
}

// attachedWorkload describes the first process by its own command line; with CPUs alone there is no workload.
func attachedWorkload(pids []int) (maybe.Value[bench.Workload], error) {
	if len(pids) == 0 {
		return maybe.None[bench.Workload]("CPUs were watched, not a program"), nil
	}
	var first []string
	for i, pid := range pids {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			return maybe.Value[bench.Workload]{}, fmt.Errorf("process %d: %w", pid, err)
		}
		if i == 0 {
			first = strings.Split(strings.TrimRight(string(b), "\x00"), "\x00")
		}
	}
	w, _ := bench.Ingest(first, nil)
	return maybe.Some(w), nil
}
