package bench

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/corewise/corewise/profile/maybe"
)

// Bounds of what a benchmark can have measured; text beyond them is damaged, not a number.
const (
	mostUS   = 1e12 // eleven days
	mostRate = 1e15 // packets, operations or bits a second, in whatever unit
)

// setLatency keeps a latency whose values can be true, and lists them as metrics.
func (r *Result) setLatency(l Latency) {
	r.Latency = boundedLatency(l)
	l = r.Latency.Or(l)
	for _, m := range []struct {
		name string
		v    maybe.Value[float64]
	}{{"avg_us", l.AvgUS}, {"min_us", l.MinUS}, {"max_us", l.MaxUS}, {"stddev_us", l.StddevUS}} {
		if v, ok := m.v.Get(); ok {
			metric(&r.Metrics, m.name, v, "us")
		}
	}
	for _, p := range l.Percentiles {
		metric(&r.Metrics, fmt.Sprintf("p%g_us", p.P), p.US, "us")
	}
}

// boundedLatency replaces values that cannot be true by the reason.
func boundedLatency(l Latency) maybe.Value[Latency] {
	for _, v := range []*maybe.Value[float64]{&l.AvgUS, &l.StddevUS, &l.MinUS, &l.MaxUS} {
		*v = bounded(*v, mostUS)
	}
	l.Percentiles = sortPercentiles(l.Percentiles)
	return maybe.Some(l)
}

// setThroughput keeps rates that can be true, and lists them as metrics.
func (r *Result) setThroughput(t Throughput) {
	for _, v := range []*maybe.Value[float64]{&t.RxMpps, &t.TxMpps, &t.RxGbps, &t.TxGbps, &t.MsgPerS, &t.IOPS, &t.OpsPerS} {
		*v = bounded(*v, mostRate)
	}
	r.Throughput = maybe.Some(t)
	for _, m := range []struct {
		name, unit string
		v          maybe.Value[float64]
	}{
		{"rx_mpps", "Mpps", t.RxMpps}, {"tx_mpps", "Mpps", t.TxMpps}, {"rx_gbps", "Gb/s", t.RxGbps}, {"tx_gbps", "Gb/s", t.TxGbps},
		{"msg_per_s", "1/s", t.MsgPerS}, {"iops", "1/s", t.IOPS}, {"ops_per_s", "1/s", t.OpsPerS},
	} {
		if v, ok := m.v.Get(); ok {
			metric(&r.Metrics, m.name, v, m.unit)
		}
	}
}

// bounded refuses negative and absurd values.
func bounded(v maybe.Value[float64], most float64) maybe.Value[float64] {
	if x, ok := v.Get(); ok && !(x >= 0 && x <= most) {
		return maybe.Nonef[float64]("unparsable: %g cannot be true", x)
	}
	return v
}

// sortPercentiles returns the points that can be true in ascending order, each once.
func sortPercentiles(points []Percentile) []Percentile {
	out := []Percentile{}
	for _, p := range points {
		if p.P > 0 && p.P <= 100 && p.US >= 0 && p.US <= mostUS {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b Percentile) int { return cmp.Compare(a.P, b.P) })
	return slices.CompactFunc(out, func(a, b Percentile) bool { return a.P == b.P })
}
