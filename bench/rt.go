package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// noiseThread is one measuring thread of cyclictest, oslat or rtla. Values are in microseconds.
type noiseThread struct {
	id     int
	cpu    maybe.Value[int]
	min    maybe.Value[float64]
	avg    maybe.Value[float64]
	max    maybe.Value[float64]
	cycles maybe.Value[float64]
}

// fromThreads makes a latency of several measuring threads: the extremes over all, the mean weighted with the cycles.
func (r *Result) fromThreads(kind string, threads []noiseThread, h histogram) {
	if len(threads) == 0 {
		r.failFromNotes("the output has no thread with values")
		return
	}
	l := Latency{Kind: kind, Percentiles: h.percentiles(), StddevUS: maybe.None[float64]("the tool prints none")}
	var sum, weight float64
	for _, t := range threads {
		l.MinUS = extreme(l.MinUS, t.min, func(a, b float64) bool { return a < b })
		l.MaxUS = extreme(l.MaxUS, t.max, func(a, b float64) bool { return a > b })
		if a, ok := t.avg.Get(); ok {
			n := t.cycles.Or(1)
			sum, weight = sum+a*n, weight+n
		}
		t.metrics(r)
	}
	l.AvgUS = maybe.None[float64]("the threads have no average")
	if weight > 0 {
		l.AvgUS = maybe.Some(sum / weight)
	}
	l.Samples = maybe.None[int64]("the output tells no number of samples")
	if n := threadCycles(threads); n > 0 && n < 1<<53 {
		l.Samples = maybe.Some(int64(n))
	}
	r.setLatency(l)
}

func threadCycles(threads []noiseThread) float64 {
	n := 0.0
	for _, t := range threads {
		n += t.cycles.Or(0)
	}
	return n
}

func extreme(have, v maybe.Value[float64], better func(a, b float64) bool) maybe.Value[float64] {
	x, ok := v.Get()
	if !ok {
		if have.IsZero() {
			return v
		}
		return have
	}
	if old, has := have.Get(); has && !better(x, old) {
		return have
	}
	return v
}

// metrics names a thread by its CPU where the tool tells it.
func (t noiseThread) metrics(r *Result) {
	name := fmt.Sprintf("thread%d", t.id)
	if cpu, ok := t.cpu.Get(); ok {
		name = fmt.Sprintf("cpu%d", cpu)
	}
	if v, ok := t.max.Get(); ok {
		metric(&r.Metrics, name+"_max_us", v, "us")
	}
	if v, ok := t.avg.Get(); ok {
		metric(&r.Metrics, name+"_avg_us", v, "us")
	}
}

// secondsText reads a duration as the real-time tools take it: 10, 10s, 5m, 2h, 1d.
func secondsText(s string) (float64, bool) {
	factor := 1.0
	if n := len(s); n > 1 {
		switch s[n-1] {
		case 's':
			s = s[:n-1]
		case 'm':
			s, factor = s[:n-1], 60
		case 'h':
			s, factor = s[:n-1], 3600
		case 'd':
			s, factor = s[:n-1], 86400
		}
	}
	v, ok := finite(s)
	return v * factor, ok && v >= 0
}

// durationOption reads a duration of argv.
func durationOption(p parsedOptions, name, absent string) maybe.Value[float64] {
	text, ok := p.get(name)
	if !ok {
		return maybe.None[float64](absent)
	}
	if s, ok := secondsText(text); ok {
		return maybe.Some(s)
	}
	return maybe.Nonef[float64]("unparsable: %.40q", text)
}

// workerRole is the measuring threads on the CPUs of a list option.
func workerRole(w *Workload, list string, count int) Role {
	r := Role{Name: "worker", Data: true, Count: count}
	if list == "" {
		return r
	}
	cpus, err := cpulist.Parse(strings.TrimPrefix(list, "+"))
	if err != nil {
		w.warn("bench-cpu-list-invalid", err.Error(), "value", clip(list))
		return r
	}
	r.CPUs, r.Fixed = cpus, true
	if count == 0 {
		r.Count = len(cpus)
	}
	return r
}

// Oslat is the adapter of rt-tests' oslat: how long a spinning thread is kept from running.
type Oslat struct{}

// Name implements Adapter.
func (Oslat) Name() string { return "oslat" }

// Recognise implements Adapter.
func (Oslat) Recognise(cmd Command) bool { return programIs(cmd, "oslat") }

var oslatOptions = optionTable{
	Arity: map[string]arity{
		"b": oneArg, "bucket-size": oneArg, "B": noArg, "bias": noArg, "c": oneArg, "cpu-list": oneArg, "C": oneArg, "cpu-main-thread": oneArg,
		"D": oneArg, "duration": oneArg, "f": oneArg, "rtprio": oneArg, "m": oneArg, "workload-mem": oneArg, "q": noArg, "quiet": noArg,
		"s": noArg, "single-preheat": noArg, "T": oneArg, "trace-threshold": oneArg, "w": oneArg, "workload": oneArg, "W": oneArg, "bucket-width": oneArg,
		"z": noArg, "zero-omit": noArg, "json": oneArg, "h": noArg, "help": noArg, "v": noArg, "version": noArg, "i": oneArg, "interval": oneArg,
	},
	Names: map[string]string{"b": "bucket-size", "B": "bias", "c": "cpu-list", "C": "cpu-main-thread", "D": "duration", "f": "rtprio", "m": "workload-mem",
		"q": "quiet", "s": "single-preheat", "T": "trace-threshold", "w": "workload", "W": "bucket-width", "z": "zero-omit"},
}

// Describe implements Adapter.
func (o Oslat) Describe(cmd Command) Workload {
	w := Workload{Kind: o.Name(), Mode: "noise", Goal: GoalLatency, Command: cmd, DataPath: "cpu", PollMode: true, Notes: slices.Clone(cmd.Notes)}
	opts := oslatOptions.read(plainArgs(cmd.Args))
	w.Options = mergeOptions(w.Options, opts)
	w.Roles = []Role{workerRole(&w, valueOr(opts, "cpu-list", ""), 0)}
	main := Role{Name: "main", Count: 1, CPUs: cpulist.Of(intOption(opts, "cpu-main-thread", 0)), Fixed: true}
	w.Roles = append(w.Roles, main)
	w.DurationS = durationOption(opts, "duration", "oslat runs until it is ended")
	return w
}

// SideFiles implements SideFiler.
func (Oslat) SideFiles(w Workload) []string { return jsonSide(w) }

func jsonSide(w Workload) []string {
	if f := w.Options["json"]; f != "" && f != "true" && f != "-" {
		return []string{f}
	}
	return nil
}

// Cyclictest is the adapter of rt-tests' cyclictest: how late a timer wakes a thread.
type Cyclictest struct{}

// Name implements Adapter.
func (Cyclictest) Name() string { return "cyclictest" }

// Recognise implements Adapter.
func (Cyclictest) Recognise(cmd Command) bool { return programIs(cmd, "cyclictest") }

var cyclictestOptions = optionTable{
	Arity: map[string]arity{
		"a": optArg, "affinity": optArg, "A": oneArg, "aligned": oneArg, "b": oneArg, "breaktrace": oneArg, "c": oneArg, "clock": oneArg,
		"d": oneArg, "distance": oneArg, "D": oneArg, "duration": oneArg, "F": oneArg, "fifo": oneArg, "h": oneArg, "histogram": oneArg, "H": oneArg, "histofall": oneArg,
		"histfile": oneArg, "i": oneArg, "interval": oneArg, "json": oneArg, "laptop": noArg, "latency": oneArg, "l": oneArg, "loops": oneArg, "mainaffinity": oneArg,
		"m": noArg, "mlockall": noArg, "M": noArg, "refresh_on_max": noArg, "N": noArg, "nsecs": noArg, "o": oneArg, "oscope": oneArg, "p": oneArg, "priority": oneArg,
		"policy": oneArg, "priospread": noArg, "q": noArg, "quiet": noArg, "r": noArg, "relative": noArg, "R": noArg, "resolution": noArg, "s": noArg, "system": noArg,
		"S": noArg, "smp": noArg, "secaligned": optArg, "smi": noArg, "spike": oneArg, "spike-nodes": oneArg, "t": optArg, "threads": optArg, "tracemark": noArg,
		"u": noArg, "unbuffered": noArg, "v": noArg, "verbose": noArg, "x": noArg, "posix_timers": noArg, "n": noArg, "default-system": noArg, "deepest-idle-state": oneArg,
	},
	Names: map[string]string{"a": "affinity", "A": "aligned", "b": "breaktrace", "c": "clock", "d": "distance", "D": "duration", "F": "fifo", "h": "histogram",
		"H": "histofall", "i": "interval", "l": "loops", "m": "mlockall", "M": "refresh_on_max", "N": "nsecs", "o": "oscope", "p": "priority", "q": "quiet",
		"r": "relative", "R": "resolution", "s": "system", "S": "smp", "t": "threads", "u": "unbuffered", "v": "verbose", "x": "posix_timers"},
}

// Describe implements Adapter.
func (c Cyclictest) Describe(cmd Command) Workload {
	w := Workload{Kind: c.Name(), Mode: "wakeup", Goal: GoalLatency, Command: cmd, DataPath: "cpu", Notes: slices.Clone(cmd.Notes)}
	opts := cyclictestOptions.read(joinOptional(plainArgs(cmd.Args), "-a", "-t", "--affinity", "--threads"))
	w.Options = mergeOptions(w.Options, opts)
	threads := intOption(opts, "threads", 1)
	list, pinned := opts.get("affinity")
	if opts.has("smp") || w.Options["threads"] == "true" {
		threads = 0
	}
	if opts.has("smp") && list == "" || pinned && list == "" {
		w.Roles = []Role{{Name: "worker", Data: true, Count: threads}}
	} else {
		w.Roles = []Role{workerRole(&w, list, threads)}
	}
	w.DurationS = durationOption(opts, "duration", "the run is bounded by loops, or not at all")
	return w
}

// SideFiles implements SideFiler.
func (Cyclictest) SideFiles(w Workload) []string { return jsonSide(w) }

// joinOptional attaches a number that follows an option as a word of its own: cyclictest takes both forms.
func joinOptional(args []string, names ...string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if slices.Contains(names, a) && i+1 < len(args) && args[i+1] != "" && args[i+1][0] >= '0' && args[i+1][0] <= '9' {
			if strings.HasPrefix(a, "--") {
				a += "="
			}
			a += args[i+1]
			i++
		}
		out = append(out, a)
	}
	return out
}
