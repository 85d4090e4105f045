package bench

import (
	"slices"

	"github.com/corewise/corewise/profile/maybe"
)

// histogram counts samples by value in microseconds; over counts those above the last bin, whose value is not known.
type histogram struct {
	bins map[float64]float64
	over float64
}

// usualPercentiles are the points that are read from a histogram.
var usualPercentiles = []float64{50, 90, 99, 99.9, 99.99, 99.999}

func (h *histogram) add(us, count float64) {
	if h.bins == nil {
		h.bins = map[float64]float64{}
	}
	h.bins[us] += count
}

func (h histogram) total() float64 {
	sum := h.over
	for _, n := range h.bins {
		sum += n
	}
	return sum
}

// percentiles returns the points that lie inside the bins, by the nearest-rank rule. A point among the overflows is left
// out: the bins do not tell it.
func (h histogram) percentiles() []Percentile {
	values := make([]float64, 0, len(h.bins))
	for us := range h.bins {
		values = append(values, us)
	}
	slices.Sort(values)
	total := h.total()
	out := []Percentile{}
	seen, i := 0.0, 0
	for _, p := range usualPercentiles {
		rank := p / 100 * total
		for i < len(values) && seen+h.bins[values[i]] < rank-1e-9 {
			seen += h.bins[values[i]]
			i++
		}
		if i == len(values) || total == 0 {
			break
		}
		out = append(out, Percentile{P: p, US: values[i], Reliable: reliable(p, maybe.Some(int64(total)))})
	}
	return out
}
