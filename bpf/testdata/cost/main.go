// Command cost measures what corewise's probes cost in the kernel: ns per event by program, beside an empty program on the
// same tracepoint and beside a bpftrace script that collects the same, in turns under the same load, and the time of a
// pipe round trip with each of them attached. It needs root, and bpftrace for the last comparison.
//
//	go run ./bpf/testdata/cost [-rounds 5] [-window 500ms] [-cpu 1] [-best] [-script ""]
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"github.com/corewise/corewise/bpf"
)

// cost is one program's sum in one window.
type cost struct {
	runs uint64
	ns   uint64
}

func (c cost) perRun() float64 {
	if c.runs == 0 {
		return 0
	}
	return float64(c.ns) / float64(c.runs)
}

// contender is something that attaches programs; it returns the costs by tracepoint when the load has run.
type contender struct {
	name string
	run  func(b *bench) (map[string]cost, error)
}

type bench struct {
	load   *load
	tids   [2]int
	window time.Duration
	trip   float64 // ns per round trip of the last window
}

func main() {
	rounds := flag.Int("rounds", 5, "turns of each contender")
	window := flag.Duration("window", 500*time.Millisecond, "load in each turn")
	cpu := flag.Int("cpu", 1, "CPU of the load")
	script := flag.String("script", "bpf/testdata/cost/collect.bt", "the bpftrace script; empty: without bpftrace")
	best := flag.Bool("best", false, "compare the fastest third of the turns: for a machine that others use, too")
	flag.Parse()
	if err := run(*rounds, *window, *cpu, *script, *best); err != nil {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}

func run(rounds int, window time.Duration, cpu int, script string, best bool) error {
	l, err := newLoad(cpu)
	if err != nil {
		return err
	}
	idle := exec.Command("sleep", "1000000")
	if err := idle.Start(); err != nil {
		return err
	}
	defer idle.Process.Kill()
	if err := forkRate(5, idle.Process.Pid); err != nil {
		return err
	}
	b := &bench{load: l, window: window}
	b.tids[0], b.tids[1] = l.start()
	list := []contender{
		{"nothing", runNothing},
		{"empty", func(b *bench) (map[string]cost, error) { return runEmpty(b, ret0) }},
		{"clock", func(b *bench) (map[string]cost, error) { return runEmpty(b, clockOnly) }},
		{"corewise, load watched", func(b *bench) (map[string]cost, error) { return runCorewise(b, watching(os.Getpid())) }},
		{"corewise, load not watched", func(b *bench) (map[string]cost, error) { return runCorewise(b, watching(idle.Process.Pid)) }},
	}
	list = append(list, contender{"corewise, cost not measured", func(b *bench) (map[string]cost, error) {
		return runCorewise(b, bpf.Options{Watch: bpf.Watch{PIDs: []int{os.Getpid()}}, SkipCost: true})
	}})
	if _, err := exec.LookPath("bpftrace"); err == nil && script != "" {
		list = append(list, contender{"bpftrace, load watched", func(b *bench) (map[string]cost, error) { return runBpftrace(b, script) }})
	}
	costs, trips := map[string][]map[string]cost{}, map[string][]float64{}
	for range rounds {
		for _, c := range list {
			m, err := c.run(b)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			costs[c.name], trips[c.name] = append(costs[c.name], m), append(trips[c.name], b.trip)
		}
	}
	if best {
		for name := range costs {
			costs[name], trips[name] = fastest(costs[name], trips[name])
		}
	}
	report{list, costs, trips}.print()
	return nil
}

// under lets the load run for the window and notes the time of a round trip.
func (b *bench) under() {
	t, before := time.Now(), b.load.rounds.Load()
	time.Sleep(b.window)
	b.trip = float64(time.Since(t).Nanoseconds()) / float64(b.load.rounds.Load()-before)
}

func runNothing(b *bench) (map[string]cost, error) {
	b.under()
	return nil, nil
}

func watching(pid int) bpf.Options { return bpf.Options{Watch: bpf.Watch{PIDs: []int{pid}}} }

func runCorewise(b *bench, o bpf.Options) (map[string]cost, error) {
	s, err := bpf.Start(context.Background(), o)
	if err != nil {
		return nil, err
	}
	b.under()
	c, err := s.Stop()
	out := map[string]cost{}
	for _, p := range c.Probes {
		out[p.Name] = cost{p.Runs, p.RunNS}
	}
	return out, err
}

var (
	ret0 = asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}
	// clockOnly reads the clock once, which no probe that measures time can do without.
	clockOnly = asm.Instructions{asm.FnKtimeGetNs.Call(), asm.Mov.Imm(asm.R0, 0), asm.Return()}
)

// runEmpty attaches the same program, which does nothing, to each tracepoint.
func runEmpty(b *bench, body asm.Instructions) (map[string]cost, error) {
	stats, err := ebpf.EnableStats(0)
	if err != nil {
		return nil, err
	}
	defer stats.Close()
	progs := map[string]*ebpf.Program{}
	for _, p := range bpf.Detect() {
		if !p.Attached {
			continue
		}
		prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
			Type: ebpf.Tracing, AttachType: ebpf.AttachTraceRawTp, AttachTo: p.Name, License: "GPL",
			Instructions: body,
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		defer prog.Close()
		l, err := link.AttachTracing(link.TracingOptions{Program: prog})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		defer l.Close()
		progs[p.Name] = prog
	}
	b.under()
	out := map[string]cost{}
	for name, p := range progs {
		st, err := p.Stats()
		if err != nil {
			return nil, err
		}
		out[name] = cost{st.RunCount, uint64(st.Runtime)}
	}
	return out, nil
}

// report compares the turns.
type report struct {
	list  []contender
	costs map[string][]map[string]cost
	trips map[string][]float64
}

func (r report) print() {
	base := median(r.trips["nothing"])
	fmt.Printf("%-28s %12s %8s\n", "pipe round trip, one CPU", "ns", "ratio")
	for _, c := range r.list {
		m := median(r.trips[c.name])
		fmt.Printf("%-28s %12.0f %8.2f\n", c.name, m, m/base)
	}
	fmt.Println("(with kernel.bpf_stats_enabled, as in a capture, but for \"nothing\" and \"cost not measured\")")
	fmt.Printf("\n%-26s %10s %8s %8s %8s %8s %8s %9s %9s %9s\n", "ns per event", "events", "empty", "clock", "unwatch", "watched", "bpftrace", "un/empty", "w/empty", "w/bpftr.")
	watched := r.costs["corewise, load watched"]
	for _, name := range slices.Sorted(maps.Keys(watched[0])) {
		if watched[0][name].runs == 0 {
			continue
		}
		e, u, x, t := r.ns("empty", name), r.ns("corewise, load not watched", name), r.ns("corewise, load watched", name), r.ns("bpftrace, load watched", name)
		fmt.Printf("%-26s %10d %8.0f %8.0f %8.0f %8.0f %8.0f %9.2f %9.2f %9.2f\n",
			name, watched[0][name].runs, e, r.ns("clock", name), u, x, t, ratio(u, e), ratio(x, e), ratio(x, t))
	}
}

// ns is the typical cost of one run of a program.
func (r report) ns(contender, program string) float64 {
	var v []float64
	for _, m := range r.costs[contender] {
		if m[program].runs > 0 {
			v = append(v, m[program].perRun())
		}
	}
	return median(v)
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// fastest keeps the third of the turns in which the load ran best.
func fastest(costs []map[string]cost, trips []float64) ([]map[string]cost, []float64) {
	order := make([]int, len(trips))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(trips[a], trips[b]) })
	var c []map[string]cost
	var t []float64
	for _, i := range order[:(len(order)+2)/3] {
		c, t = append(c, costs[i]), append(t, trips[i])
	}
	return c, t
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}
