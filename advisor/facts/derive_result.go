package facts

import (
	"fmt"
	"slices"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/maybe"
)

func deriveResult(v *view, f *Facts) {
	r, u := &f.Result, &f.Result.Unknown
	r.Unreliable = []string{}
	b, ok := v.p.Result.Get()
	if !ok {
		why := v.p.Result.Why()
		if v.p.Result.IsZero() {
			why = "there is no output of a benchmark"
		}
		for _, e := range entries(Entry{}, typeOf(*r)) {
			u.miss(e.Name, why)
		}
		r.Present = false
		for _, field := range []string{"present", "valid", "has_latency", "has_throughput", "at_line_rate", "nothing_sent", "nothing_received", "parse_warnings", "repeats"} {
			delete(*u, field)
		}
		if !v.wl.present {
			delete(*u, "failed")
			delete(*u, "unreliable_percentiles")
			return
		}
		v.limitFacts(f)
		return
	}
	r.Present, r.Failed, r.FailedText, r.Tool, r.Mode, r.ParseWarn = true, b.Failed != "", b.Failed, b.Tool, b.Mode, b.ParseWarnings
	r.HasLatency, r.HasRate = b.Latency.Ok(), b.Throughput.Ok()
	r.Valid = !r.Failed && (r.HasLatency || r.HasRate || len(b.Metrics) > 0)
	take(u, "version", &r.Version, b.Version)
	take(u, "duration_s", &r.DurationS, b.DurationS)
	take(u, "warmup_s", &r.WarmupS, b.WarmupS)
	v.latencyFacts(r, &b)
	v.rateFacts(r, &b)
	v.lossFacts(r, &b)
	v.intervalFacts(r, &b)
	v.repeatFacts(r, &b)
	v.expectation(f, &b)
	v.targetFacts(f)
	v.limitFacts(f)
	u.reword("the tool does not print it")
}

func (v *view) latencyFacts(r *Result, b *bench.Result) {
	u := &r.Unknown
	l, ok := b.Latency.Get()
	if !ok {
		u.missAll(first(b.Latency.Why(), "the tool printed no latency"), "latency_kind", "avg_us", "min_us", "p50_us", "p90_us", "p99_us", "p99_9_us", "p99_99_us", "p99_999_us", "max_us", "samples", "tail_ratio", "max_ratio", "tail_bad")
		return
	}
	r.LatencyKind = l.Kind
	take(u, "avg_us", &r.AvgUS, l.AvgUS)
	take(u, "min_us", &r.MinUS, l.MinUS)
	take(u, "max_us", &r.MaxUS, l.MaxUS)
	take(u, "samples", &r.Samples, asInt(l.Samples))
	for _, e := range []struct {
		field string
		p     float64
		dst   *float64
	}{{"p50_us", 50, &r.P50US}, {"p90_us", 90, &r.P90US}, {"p99_us", 99, &r.P99US}, {"p99_9_us", 99.9, &r.P999US}, {"p99_99_us", 99.99, &r.P9999US}, {"p99_999_us", 99.999, &r.P99999US}} {
		take(u, e.field, e.dst, l.At(e.p))
	}
	for _, q := range l.Percentiles {
		if !q.Reliable {
			r.Unreliable = append(r.Unreliable, fmt.Sprintf("p%g", q.P))
		}
	}
	take(u, "tail_ratio", &r.TailRatio, tailRatio(l))
	r.TailBad = r.TailRatio > tailLimit
	missIf(u, (*u)["tail_ratio"], "tail_bad")
	if r.P50US > 0 && l.MaxUS.Ok() {
		r.MaxRatio = r.MaxUS / r.P50US
	} else {
		u.miss("max_ratio", "median or maximum was not printed")
	}
}

// tailRatio is p99.9 over the median; p99 where p99.9 does not rest on ten samples.
func tailRatio(l bench.Latency) maybe.Value[float64] {
	median, ok := l.At(50).Get()
	if !ok || median <= 0 {
		return maybe.None[float64](first(l.At(50).Why(), "the median is zero"))
	}
	best, p := 0.0, 0.0
	for _, q := range l.Percentiles {
		if q.P >= 99-1e-6 && q.P <= 99.9+1e-6 && q.Reliable && q.P > p {
			best, p = q.US, q.P
		}
	}
	if p == 0 {
		return maybe.None[float64]("no percentile between 99 and 99.9 rests on ten samples")
	}
	return maybe.Some(best / median)
}

func (v *view) lossFacts(r *Result, b *bench.Result) {
	u := &r.Unknown
	l, ok := b.Loss.Get()
	if !ok {
		u.missAll(first(b.Loss.Why(), "the tool printed no losses"), "loss_share", "dropped", "duplicated", "out_of_order", "retransmits", "rate_met_share")
		return
	}
	take(u, "dropped", &r.Dropped, l.Dropped)
	take(u, "duplicated", &r.Duplicated, l.Duplicated)
	take(u, "out_of_order", &r.OutOfOrder, l.OutOfOrder)
	take(u, "retransmits", &r.Retransmits, l.Retransmits)
	take(u, "loss_share", &r.LossShare, v.lossShare(l))
	sent, ok := l.Sent.Get()
	rate, ok2 := v.wl.Offered.RatePPS.Get()
	seconds, ok3 := b.DurationS.Get()
	if ok && ok2 && ok3 && rate*seconds > 0 {
		r.SentShare = sent / (rate * seconds)
	} else {
		u.miss("rate_met_share", first(l.Sent.Why(), v.wl.Offered.RatePPS.Why(), b.DurationS.Why()))
	}
}

// lossShare goes by what was sent; of a receiver or forwarder by what arrived, since it sends less than it receives.
func (v *view) lossShare(l bench.Loss) maybe.Value[float64] {
	dropped, ok := l.Dropped.Get()
	all := l.Sent
	if v.receives() || v.forwards() {
		all = maybe.Map(l.Received, func(n float64) float64 { return n + dropped })
	}
	n, ok2 := all.Get()
	if !ok || !ok2 || n <= 0 {
		return maybe.None[float64](first(l.Dropped.Why(), all.Why(), "no packet was counted"))
	}
	return maybe.Some(dropped / n)
}

// intervalFacts is the spread of the rate that counts over the intervals: between the 10th and the 90th percentile.
func (v *view) intervalFacts(r *Result, b *bench.Result) {
	r.Intervals = len(b.Intervals)
	if r.Intervals < 5 {
		r.Unknown.miss("spread_share", "there are fewer than five intervals")
		return
	}
	byName := map[string][]float64{}
	for _, i := range b.Intervals {
		for _, m := range i.Metrics {
			byName[m.Name] = append(byName[m.Name], m.Value)
		}
	}
	for _, name := range []string{"rx_mpps", "tx_mpps", "rx_gbps", "tx_gbps", "gbps", "wire_gbps", "link_share", "mpps", "iops", "ops_per_s", "msg_per_s"} {
		values := byName[name]
		if len(values) < 5 || slices.Max(values) <= 0 {
			continue
		}
		slices.Sort(values)
		n := len(values)
		r.Spread = (values[n*9/10] - values[n/10]) / values[n/2]
		return
	}
	r.Unknown.miss("spread_share", "the intervals hold no rate")
}

// repeatFacts compares the same number of all results of the same command.
func (v *view) repeatFacts(r *Result, b *bench.Result) {
	r.Repeats = len(v.p.Repeats)
	if r.Repeats == 0 {
		r.Unknown.miss("repeat_spread_share", "there is one result only")
		return
	}
	values := []float64{}
	for _, one := range append(slices.Clone(v.p.Repeats), *b) {
		if x, ok := headline(&one).Get(); ok && x > 0 {
			values = append(values, x)
		}
	}
	if len(values) < 2 {
		r.Unknown.miss("repeat_spread_share", "the repeated results have no number in common")
		return
	}
	r.RepeatSpread = (slices.Max(values) - slices.Min(values)) / slices.Min(values)
}

// headline is the number by which two results of one command are compared.
func headline(b *bench.Result) maybe.Value[float64] {
	if l, ok := b.Latency.Get(); ok {
		if p := l.At(50); p.Ok() {
			return p
		}
		return l.AvgUS
	}
	t, ok := b.Throughput.Get()
	if !ok {
		return maybe.None[float64]("no rate")
	}
	for _, x := range []maybe.Value[float64]{t.TxMpps, t.RxMpps, t.TxGbps, t.RxGbps, t.IOPS, t.OpsPerS, t.MsgPerS} {
		if x.Or(0) > 0 {
			return x
		}
	}
	return maybe.None[float64]("no rate")
}
