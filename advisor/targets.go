package advisor

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/maybe"
)

// lineRate is what the interfaces of the workload could carry together, for targets in per cent of it.
type lineRate struct {
	gbps maybe.Value[float64]
	mpps maybe.Value[float64] // at the workload's frame size
}

// judgeTargets compares each declared target with the result. A target that cannot be judged says why.
func judgeTargets(targets []profile.Target, res bench.Result, line lineRate, spread float64) []TargetResult {
	out := []TargetResult{}
	for _, t := range targets {
		out = append(out, judgeTarget(t, res, line, spread))
	}
	return out
}

func judgeTarget(t profile.Target, res bench.Result, line lineRate, spread float64) TargetResult {
	r := TargetResult{Target: t}
	limit, atMost := t.Value, true
	var got maybe.Value[float64]
	switch name, isLatency := strings.CutSuffix(t.Metric, "_us"); {
	case isLatency:
		return judgeLatency(r, name, res)
	case t.Metric == "loss":
		got = lossPercent(res)
	default:
		atMost = false
		got = rateOf(t.Metric, res)
		if t.Unit == "%" {
			full := line.gbps
			if t.Metric == "mpps" {
				full = line.mpps
			}
			f, ok := full.Get()
			if !ok {
				r.Why = "the line rate is not known: " + full.Why()
				return r
			}
			limit = f * t.Value / 100
		}
	}
	v, ok := got.Get()
	if !ok {
		r.Why = got.Why()
		return r
	}
	r.Measured = &v
	r.compare(v, limit, atMost, spread)
	return r
}

// compare decides, unless the difference lies within what repeated results differ by.
func (r *TargetResult) compare(v, limit float64, atMost bool, spread float64) {
	met := v >= limit
	if atMost {
		met = v <= limit
	}
	if gap := abs(v-limit) / max(abs(limit), 1e-12); spread > 0 && gap <= spread {
		r.Why = fmt.Sprintf("%s is within the spread of repeated results (%s) of the target", decimal(v), pctText(spread))
		return
	}
	r.Met = &met
}

// judgeLatency wants ten samples above the percentile; but a target is missed for certain when a lower percentile that is
// reliable exceeds it already.
func judgeLatency(r TargetResult, name string, res bench.Result) TargetResult {
	l, ok := res.Latency.Get()
	if !ok {
		r.Why = "the result has no latencies: " + res.Latency.Why()
		return r
	}
	got, reliable, p := latencyOf(l, name)
	for _, q := range l.Percentiles {
		if q.Reliable && q.P <= p && q.US > r.Value {
			missed := false
			r.Met = &missed
			r.Measured = &q.US
			if q.P != p {
				r.Why = fmt.Sprintf("p%g is above it already", q.P)
			}
		}
	}
	v, ok := got.Get()
	if !ok {
		if r.Met == nil {
			r.Why = got.Why()
		}
		return r
	}
	r.Measured = &v
	if r.Met == nil && !reliable {
		r.Why = "fewer than ten samples lie above this percentile"
		return r
	}
	if r.Met == nil {
		met := v <= r.Value
		r.Met = &met
	}
	return r
}

// latencyOf reads p99.9, max or avg. p is the percentile that the value is one of: 100 for max, 0 for avg.
func latencyOf(l bench.Latency, name string) (v maybe.Value[float64], reliable bool, p float64) {
	switch name {
	case "max":
		return l.MaxUS, true, 100
	case "avg":
		return l.AvgUS, true, 0
	}
	p, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64)
	if err != nil {
		return maybe.Nonef[float64]("%s is no percentile", name), false, 0
	}
	for _, q := range l.Percentiles {
		if abs(q.P-p) < 1e-6 {
			return maybe.Some(q.US), q.Reliable, p
		}
	}
	return l.At(p), false, p
}

func lossPercent(res bench.Result) maybe.Value[float64] {
	l, ok := res.Loss.Get()
	if !ok {
		return maybe.None[float64]("the result says nothing about losses: " + res.Loss.Why())
	}
	sent, okSent := l.Sent.Get()
	dropped, okDropped := l.Dropped.Get()
	if received, ok := l.Received.Get(); ok && !okDropped && okSent {
		dropped, okDropped = max(sent-received, 0), true
	}
	if !okSent || !okDropped || sent <= 0 {
		return maybe.None[float64]("the result does not tell sent and lost messages")
	}
	return maybe.Some(dropped / sent * 100)
}

// rateOf is the received rate, else the sent one: what arrived counts.
func rateOf(metric string, res bench.Result) maybe.Value[float64] {
	t, ok := res.Throughput.Get()
	if !ok {
		return maybe.None[float64]("the result has no rates: " + res.Throughput.Why())
	}
	rx, tx := t.RxGbps, t.TxGbps
	if metric == "mpps" {
		rx, tx = t.RxMpps, t.TxMpps
	}
	if v, ok := rx.Get(); ok && v > 0 {
		return rx
	}
	if tx.Ok() {
		return tx
	}
	return rx
}

func abs(x float64) float64 { return max(x, -x) }
