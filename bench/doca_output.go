package bench

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// docaBlock is one statistics block: of a thread, or the aggregate.
type docaBlock struct {
	thread, core int // -1: aggregate, or not told
	durationUS   maybe.Value[float64]
	enqueued     maybe.Value[float64]
	dequeued     maybe.Value[float64]
	ops          maybe.Value[float64] // a second, as printed
	opsStep      float64              // rounding of ops
	ingress      maybe.Value[float64] // Gb/s
	egress       maybe.Value[float64]
	ns           map[string]float64 // precision-latency: min, max, median, mean
	percentiles  []Percentile
}

var (
	docaThread  = regexp.MustCompile(`^\s*Stats for thread\[(\d+)\]\s*\(core: (\d+)\)`)
	docaTotal   = regexp.MustCompile(`^\s*Aggregate stats`)
	docaNumber  = regexp.MustCompile(`^\s*(Duration|Enqueued jobs|Dequeued jobs):\s+(\d+)(?: micro seconds)?$`)
	docaOps     = regexp.MustCompile(`^\s*Throughput:\s+([0-9.]+) ([KMGT]?)Operations/s$`)
	docaRate    = regexp.MustCompile(`^\s*(Ingress|Egress) rate:\s+([0-9.]+) ([KMGT]?i?)b/s$`)
	docaNS      = regexp.MustCompile(`^\s*(min|max|median|mean|[0-9.]+th %ile):\s+(\d+) ns$`)
	docaBucket  = regexp.MustCompile(`^\s*\[(\d+)ns -> (\d+)ns\]:\s*(\d+)$`)
	docaWarmup  = regexp.MustCompile(`^WT\[\d+\] Executing (\d+) warm-up tasks`)
	docaRunning = regexp.MustCompile(`^Executing\.\.\.$`)
)

// docaRun is what one transcript holds.
type docaRun struct {
	totals  []*docaBlock // one a run; a sweep makes several
	threads []*docaBlock // of the last run
	buckets []docaRange  // of the last run
	warmup  maybe.Value[float64]
}

// docaRange is one bucket of bulk-latency, both ends inclusive.
type docaRange struct{ low, high, count float64 }

// readDoca reads the statistics. The echo of the configuration, whose form is not documented, ends at "Executing...".
func readDoca(lines []textLine) docaRun {
	var run docaRun
	var b *docaBlock
	for i, l := range lines {
		if docaRunning.MatchString(l.S) {
			lines = lines[i:]
			break
		}
	}
	for _, l := range lines {
		switch {
		case docaRunning.MatchString(l.S):
			run.threads, run.buckets, b = nil, nil, nil
		case docaTotal.MatchString(l.S):
			b = run.total()
		case docaThread.MatchString(l.S):
			m := docaThread.FindStringSubmatch(l.S)
			b = newDocaBlock(m[1], m[2])
			run.threads = append(run.threads, b)
		case docaWarmup.MatchString(l.S):
			run.warmup = number(docaWarmup.FindStringSubmatch(l.S)[1])
		case docaBucket.MatchString(l.S):
			run.bucket(docaBucket.FindStringSubmatch(l.S))
		case isDocaValue(l.S):
			if b == nil { // the last lines of a cut transcript are the aggregate's
				b = run.total()
			}
			b.line(l.S)
		}
	}
	return run
}

func isDocaValue(s string) bool {
	return docaNumber.MatchString(s) || docaOps.MatchString(s) || docaRate.MatchString(s) || docaNS.MatchString(s)
}

func (run *docaRun) total() *docaBlock {
	b := newDocaBlock("-1", "-1")
	if len(run.totals) < maxTests {
		run.totals = append(run.totals, b)
	}
	return b
}

func newDocaBlock(thread, core string) *docaBlock {
	t, _ := strconv.Atoi(thread)
	c, _ := strconv.Atoi(core)
	return &docaBlock{thread: t, core: c, ns: map[string]float64{}}
}

func (run *docaRun) bucket(m []string) {
	low, a := finite(m[1])
	high, b := finite(m[2])
	count, c := finite(m[3])
	if a && b && c && len(run.buckets) < 1<<16 {
		run.buckets = append(run.buckets, docaRange{low, high, count})
	}
}

func (b *docaBlock) line(s string) {
	if m := docaNumber.FindStringSubmatch(s); m != nil {
		switch m[1] {
		case "Duration":
			b.durationUS = number(m[2])
		case "Enqueued jobs":
			b.enqueued = number(m[2])
		default:
			b.dequeued = number(m[2])
		}
	} else if m := docaOps.FindStringSubmatch(s); m != nil {
		factor := siFactor(strings.ReplaceAll(m[2], "K", "k"))
		b.ops = maybe.Map(number(m[1]), func(v float64) float64 { return v * factor })
		_, decimals, _ := strings.Cut(m[1], ".")
		b.opsStep = factor * math.Pow(10, -float64(len(decimals)))
	} else if m := docaRate.FindStringSubmatch(s); m != nil {
		v := maybe.Map(number(m[2]), func(v float64) float64 { return v * binaryFactor(m[3]) / 1e9 })
		if m[1] == "Ingress" {
			b.ingress = v
		} else {
			b.egress = v
		}
	} else if m := docaNS.FindStringSubmatch(s); m != nil {
		b.latencyLine(m[1], m[2])
	}
}

func (b *docaBlock) latencyLine(name, text string) {
	v, ok := finite(text)
	if !ok {
		return
	}
	if p, isPct := strings.CutSuffix(name, "th %ile"); isPct {
		if q, ok := finite(p); ok && q > 0 && q < 100 {
			b.percentiles = append(b.percentiles, Percentile{P: q, US: v / 1e3})
		}
		return
	}
	b.ns[name] = v
	if name == "median" {
		b.percentiles = append(b.percentiles, Percentile{P: 50, US: v / 1e3})
	}
}

// Parse implements Adapter.
func (d DOCABench) Parse(w Workload, out Output) Result {
	r := newResult(d.Name(), w.Mode)
	r.Version = maybe.None[string]("doca_bench does not print its version")
	text := out.All()
	lines := splitLines(text)
	parseDocaLog(&r, lines)
	switch w.Mode {
	case "query":
		r.fromCapabilities(ParseDOCACapabilities(text))
	case "companion":
	default:
		r.fromDoca(w, readDoca(lines))
		r.fromDocaCSV(w, out, text)
		if !r.Throughput.Ok() && !r.Latency.Ok() {
			r.failFromNotes("the output has no statistics")
		}
	}
	r.tooShort(3)
	r.ended(out, r.Throughput.Ok() || r.Latency.Ok())
	return r
}

func (r *Result) fromDoca(w Workload, run docaRun) {
	if v, ok := run.warmup.Get(); ok {
		metric(&r.Metrics, "warmup_jobs", v, "jobs")
	}
	if len(run.totals) == 0 {
		return
	}
	if n := len(run.totals); n > 1 {
		r.note("doca-several-runs", "info", fmt.Sprintf("the output holds %d runs (a sweep): the last one stands here", n), 0, "runs", strconv.Itoa(n))
	}
	b := run.totals[len(run.totals)-1]
	if v, ok := b.durationUS.Get(); ok {
		r.DurationS = maybe.Some(v / 1e6)
	}
	if b.ops.Ok() || b.ingress.Ok() || b.egress.Ok() {
		r.docaThroughput(w, b)
	}
	switch {
	case len(run.buckets) > 0:
		r.docaBulk(run.buckets)
	case len(b.ns) > 0:
		r.docaPrecision(b)
	}
	r.docaThreads(run.threads)
}

// docaThroughput: ingress and egress are the operation's own input and output, payload; Gib/s were made Gb/s.
func (r *Result) docaThroughput(w Workload, b *docaBlock) {
	t := Throughput{Basis: "payload", RxGbps: b.ingress, TxGbps: b.egress, OpsPerS: b.ops, FrameBytes: maybe.None[int]("doca_bench counts jobs, not frames")}
	jobs, a := b.dequeued.Get()
	us, c := b.durationUS.Get()
	printed, d := b.ops.Get()
	if a && c && d && us > 0 {
		exact := jobs / us * 1e6
		if math.Abs(exact-printed) <= b.opsStep {
			t.OpsPerS = maybe.Some(exact)
		} else {
			r.note("doca-numbers-inconsistent", "warning", fmt.Sprintf("%.0f jobs in %.6f s are %.0f operations/s, the output says %.0f", jobs, us/1e6, exact, printed), 0)
		}
	}
	r.setThroughput(t)
	enqueued, e := b.enqueued.Get()
	if a && e && jobs < enqueued*0.99 {
		r.note("doca-stalled", "error", fmt.Sprintf("%.0f jobs were submitted, %.0f finished", enqueued, jobs), 0, "enqueued", fmt.Sprintf("%.0f", enqueued), "dequeued", fmt.Sprintf("%.0f", jobs))
		if jobs == 0 {
			r.fail("no job finished")
		}
	}
}

// docaPrecision: one job in flight, so each sample is a job's own latency.
func (r *Result) docaPrecision(b *docaBlock) {
	at := func(name string) maybe.Value[float64] {
		if v, ok := b.ns[name]; ok {
			return maybe.Some(v / 1e3)
		}
		return maybe.Nonef[float64]("the output has no %s", name)
	}
	l := Latency{Kind: "service", AvgUS: at("mean"), MinUS: at("min"), MaxUS: at("max"), StddevUS: maybe.None[float64]("doca_bench prints none"), Samples: b.sampleCount()}
	l.Percentiles = sortPercentiles(b.percentiles)
	for i, p := range l.Percentiles {
		l.Percentiles[i].Reliable = reliable(p.P, l.Samples)
	}
	r.setLatency(l)
}

func (b *docaBlock) sampleCount() maybe.Value[int64] {
	if n, ok := b.dequeued.Get(); ok && n < 1<<53 {
		return maybe.Some(int64(n))
	}
	return maybe.None[int64]("the output does not tell the number of samples")
}

// docaBulk reads the buckets; a sample is a batch. The first and the last bucket are open: what lies in the last one is
// above its start, and how far is not known.
func (r *Result) docaBulk(buckets []docaRange) {
	var h histogram
	for _, b := range buckets[:len(buckets)-1] {
		if b.count > 0 {
			h.add((b.high+1)/1e3, b.count)
		}
	}
	last := buckets[len(buckets)-1]
	h.over = last.count
	l := Latency{Kind: "batch", Percentiles: h.percentiles(), Samples: maybe.Some(int64(min(h.total(), 1<<53)))}
	l.AvgUS, l.StddevUS = maybe.None[float64]("the output has buckets only"), maybe.None[float64]("the output has buckets only")
	l.MinUS, l.MaxUS = maybe.None[float64]("the output has buckets only"), maybe.None[float64]("the output has buckets only")
	r.setLatency(l)
	if last.count > 0 {
		r.note("doca-bucket-overflow", "warning", fmt.Sprintf("%.0f batches took longer than the last bucket's start (%.0f us): widen --latency-bucket-range", last.count, last.low/1e3), 0, "batches", fmt.Sprintf("%.0f", last.count), "us", fmt.Sprintf("%.0f", last.low/1e3))
	}
	if buckets[0].count > 0 {
		r.note("doca-bucket-underflow", "warning", "batches lie in the first bucket, which has no lower end", 0, "batches", fmt.Sprintf("%.0f", buckets[0].count))
	}
}

// docaThreads lists the threads by core and notes one that is far behind.
func (r *Result) docaThreads(threads []*docaBlock) {
	var slow, fast *docaBlock
	for _, b := range threads {
		v, ok := b.ops.Get()
		if !ok {
			continue
		}
		metric(&r.Metrics, fmt.Sprintf("cpu%d_ops_per_s", b.core), v, "1/s")
		if slow == nil || v < slow.ops.Or(0) {
			slow = b
		}
		if fast == nil || v > fast.ops.Or(0) {
			fast = b
		}
	}
	if slow == nil || slow == fast || fast.ops.Or(0) <= 0 {
		return
	}
	if ratio := slow.ops.Or(0) / fast.ops.Or(0); ratio < 0.85 {
		r.note("doca-thread-skew", "warning", fmt.Sprintf("the thread on core %d does %.0f %% of the one on core %d", slow.core, ratio*100, fast.core), 0,
			"slow_core", strconv.Itoa(slow.core), "fast_core", strconv.Itoa(fast.core), "ratio", fmt.Sprintf("%.3f", ratio))
	}
}
