package bench

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// RTLA is the adapter of the kernel's rtla: timerlat (top, hist), osnoise (top, hist) and hwnoise.
type RTLA struct{}

// Name implements Adapter.
func (RTLA) Name() string { return "rtla" }

// Recognise implements Adapter.
func (RTLA) Recognise(cmd Command) bool {
	return programIs(cmd, "rtla", "osnoise", "timerlat", "hwnoise")
}

var rtlaOptions = optionTable{
	Arity: map[string]arity{"a": oneArg, "auto": oneArg, "A": oneArg, "b": oneArg, "bucket-size": oneArg, "c": oneArg, "cpus": oneArg, "C": optArg, "cgroup": optArg, "d": oneArg, "duration": oneArg, "D": noArg, "debug": noArg, "E": oneArg, "entries": oneArg,
		"e": oneArg, "event": oneArg, "filter": oneArg, "trigger": oneArg, "H": oneArg, "house-keeping": oneArg, "i": oneArg, "irq": oneArg, "T": oneArg, "thread": oneArg, "n": noArg, "nano": noArg, "p": oneArg, "period": oneArg, "P": oneArg, "priority": oneArg,
		"q": noArg, "quiet": noArg, "r": oneArg, "runtime": oneArg, "s": oneArg, "stack": oneArg, "stop": oneArg, "S": oneArg, "stop-total": oneArg, "t": optArg, "trace": optArg, "u": noArg, "user-threads": noArg, "k": noArg, "kernel-threads": noArg, "U": noArg, "user-load": noArg,
		"dma-latency": oneArg, "no-header": noArg, "no-index": noArg, "no-irq": noArg, "no-thread": noArg, "no-summary": noArg, "with-zeros": noArg, "no-aa": noArg, "dump-tasks": noArg, "aa-only": oneArg, "warm-up": oneArg, "trace-buffer-size": oneArg, "deepest-idle-state": oneArg, "h": noArg, "help": noArg},
	Names: map[string]string{"a": "auto", "b": "bucket-size", "c": "cpus", "d": "duration", "E": "entries", "H": "house-keeping", "n": "nano", "p": "period", "P": "priority", "q": "quiet", "r": "runtime", "t": "trace", "u": "user-threads", "k": "kernel-threads"},
}

// Describe implements Adapter.
func (a RTLA) Describe(cmd Command) Workload {
	w := Workload{Kind: a.Name(), Mode: cmd.Name(), Goal: GoalLatency, Command: cmd, DataPath: "cpu", Notes: slices.Clone(cmd.Notes)}
	opts := rtlaOptions.read(plainArgs(cmd.Args))
	w.Options = mergeOptions(w.Options, opts)
	if len(opts.Rest) > 0 && cmd.Name() == "rtla" {
		w.Mode = opts.Rest[0]
	}
	w.PollMode = w.Mode != "timerlat"
	w.Roles = []Role{workerRole(&w, valueOr(opts, "cpus", ""), 0)}
	w.DurationS = durationOption(opts, "duration", "rtla runs until it is ended")
	return w
}

var (
	timerlatTop  = regexp.MustCompile(`^\s*(\d+) #(\d+)\s*\|\s*([-\d\s]+)\|\s*([-\d\s]+?)(?:\|.*)?$`)
	osnoiseTop   = regexp.MustCompile(`^\s*(\d+) #(\d+)\s+(\d+)\s+(\d+)\s+([0-9.]+)\s+(\d+)\s+(\d+)`)
	rtlaHistHead = regexp.MustCompile(`^Index((?:\s+(?:IRQ|Thr|Usr|CPU)-\d+)+)\s*$`)
	rtlaHistBin  = regexp.MustCompile(`^(\d+)((?:\s+\d+)+)\s*$`)
	rtlaSummary  = regexp.MustCompile(`^(over|count|min|avg|max):((?:\s+(?:-|\d+))+)\s*$`)
	rtlaNano     = regexp.MustCompile(`(?i)time is in ns|Time unit is nanoseconds`)
	rtlaStop     = regexp.MustCompile(`(?:rtla )?(?P<tool>timerlat|osnoise) hit stop tracing`)
)

// Parse implements Adapter. The last table counts: top repaints it every second.
func (a RTLA) Parse(w Workload, out Output) Result {
	r := newResult(a.Name(), w.Mode)
	r.Version = maybe.None[string]("rtla does not print its version")
	lines := splitLines(out.All())
	noteLines(&r, lines, []logPattern{{re: rtlaStop, code: "rt-break", level: "warning"}})
	noteLines(&r, lines, rtLog)
	per := 1.0
	for _, l := range lines {
		if rtlaNano.MatchString(l.S) {
			per = 1e3
		}
	}
	kind := "noise"
	threads, h := rtlaTop(&r, lines, per), histogram{}
	if len(threads) == 0 {
		threads, h = rtlaHist(lines, per)
	}
	if w.Mode == "timerlat" {
		kind = "wakeup"
	}
	r.fromThreads(kind, threads, h)
	r.ended(out, r.Latency.Ok())
	return r
}

// rtlaTop reads the rows of both "top" tables. For timerlat the thread's columns count: cur, min, avg, max.
func rtlaTop(r *Result, lines []textLine, per float64) []noiseThread {
	byCPU := map[int]noiseThread{}
	for _, l := range lines {
		if m := timerlatTop.FindStringSubmatch(l.S); m != nil {
			cells := strings.Fields(m[4])
			if len(cells) < 4 {
				r.ParseWarnings++
				continue
			}
			putThread(byCPU, m[1], number(m[2]), scaledText(cells[1], per), scaledText(cells[2], per), scaledText(cells[3], per))
		} else if m := osnoiseTop.FindStringSubmatch(l.S); m != nil {
			none := maybe.None[float64]("osnoise tells the largest only")
			putThread(byCPU, m[1], maybe.None[float64]("osnoise counts periods"), none, none, scaledText(m[7], per))
		}
	}
	var threads []noiseThread
	for _, cpu := range slices.Sorted(maps.Keys(byCPU)) {
		threads = append(threads, byCPU[cpu])
	}
	return threads
}

func putThread(byCPU map[int]noiseThread, cpuText string, count, low, avg, high maybe.Value[float64]) {
	cpu, err := strconv.Atoi(cpuText)
	if err != nil || cpu > 1<<16 {
		return
	}
	byCPU[cpu] = noiseThread{id: cpu, cpu: maybe.Some(cpu), cycles: count, min: low, avg: avg, max: high}
}

// rtlaHist reads "hist" tables; of timerlat only the thread columns.
func rtlaHist(lines []textLine, per float64) ([]noiseThread, histogram) {
	var h histogram
	var threads []noiseThread
	var columns []int // index of the thread, -1: skipped
	for _, l := range lines {
		if m := rtlaHistHead.FindStringSubmatch(l.S); m != nil {
			threads, columns = histColumns(strings.Fields(m[1]))
			h = histogram{}
			continue
		}
		if m := rtlaHistBin.FindStringSubmatch(l.S); m != nil {
			us, _ := finite(m[1])
			for i, cell := range strings.Fields(m[2]) {
				if n, ok := finite(cell); ok && n > 0 && i < len(columns) && columns[i] >= 0 {
					h.add(us/per, n)
				}
			}
		} else if m := rtlaSummary.FindStringSubmatch(l.S); m != nil {
			fillHist(threads, columns, m[1], strings.Fields(m[2]), per, &h)
		}
	}
	return threads, h
}

func histColumns(names []string) (threads []noiseThread, columns []int) {
	for _, name := range names {
		kind, cpuText, _ := strings.Cut(name, "-")
		cpu, err := strconv.Atoi(cpuText)
		if kind == "IRQ" || kind == "Usr" || err != nil {
			columns = append(columns, -1)
			continue
		}
		none := maybe.None[float64]("the summary was cut off")
		columns = append(columns, len(threads))
		threads = append(threads, noiseThread{id: cpu, cpu: maybe.Some(cpu), min: none, avg: none, max: none, cycles: none})
	}
	return threads, columns
}

func fillHist(threads []noiseThread, columns []int, label string, cells []string, per float64, h *histogram) {
	for i, cell := range cells {
		if i >= len(columns) || columns[i] < 0 {
			continue
		}
		t := &threads[columns[i]]
		switch label {
		case "over":
			n, _ := finite(cell)
			h.over += n
		case "count":
			t.cycles = number(cell)
		case "min":
			t.min = scaledText(cell, per)
		case "avg":
			t.avg = scaledText(cell, per)
		case "max":
			t.max = scaledText(cell, per)
		}
	}
}

// HwlatSample is one line of the kernel's hwlat tracer: a gap, in microseconds, in which the CPU did nothing at all with
// interrupts off. Inner is between the two reads of a loop, outer between loops.
type HwlatSample struct {
	InnerUS float64 `json:"inner_us"`
	OuterUS float64 `json:"outer_us"`
	TimeS   float64 `json:"time_s"`
	CPU     int     `json:"cpu"` // -1: not told
	Count   int     `json:"count"`
}

var hwlatLine = regexp.MustCompile(`(?:\[(\d+)\].*)?#\d+\s+inner/outer\(us\):\s*(\d+)/(\d+)\s+ts:(\d+\.\d+)(?:\s+count:(\d+))?`)

// ParseHwlat reads a hwlat trace, with or without the columns of the trace file.
func ParseHwlat(text []byte) []HwlatSample {
	var out []HwlatSample
	for _, l := range splitLines(text) {
		m := hwlatLine.FindStringSubmatch(l.S)
		if m == nil || len(out) >= maxTests {
			continue
		}
		s := HwlatSample{CPU: -1, Count: 1}
		s.InnerUS, _ = finite(m[2])
		s.OuterUS, _ = finite(m[3])
		s.TimeS, _ = finite(m[4])
		if cpu, ok := wholeNumber(m[1]); ok {
			s.CPU = cpu
		}
		if n, ok := wholeNumber(m[5]); ok {
			s.Count = n
		}
		out = append(out, s)
	}
	return out
}
