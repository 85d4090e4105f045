// Package explain joins the samples of a benchmark with what the kernel did at that time, and says which share of the
// tail each cause explains, and how much nothing explains.
//
// A sample above the threshold is an outlier; what it took beyond the median is its excess. Every event that overlapped it
// is charged with the overlap, less what the same cause takes from an ordinary sample on average: a timer tick that hits
// every sample explains nothing. What is left of the excess is the residual, and is always said.
package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile"
)

// Tail is the explanation of all samples above the threshold.
type Tail struct {
	ThresholdUS   float64  `json:"threshold_us"`
	Percentile    float64  `json:"percentile"`
	MedianUS      float64  `json:"median_us"`
	Samples       int      `json:"samples"`   // above the threshold
	Total         int      `json:"total"`     // all
	ExcessUS      float64  `json:"excess_us"` // sum of what the outliers took beyond the median
	Causes        []Cause  `json:"causes"`    // largest share first
	ResidualShare float64  `json:"residual_share"`
	Notes         []string `json:"notes,omitempty"` // what limits the explanation
}

// Cause is one cause and actor on one CPU with its share of the excess.
type Cause struct {
	Cause    bpf.Cause `json:"cause"`
	Actor    bpf.Actor `json:"-"`
	Name     string    `json:"actor"`
	CPU      int       `json:"cpu"`
	Share    float64   `json:"share"`
	ShareErr float64   `json:"share_err"` // standard error, from ten parts of the run
	Lift     float64   `json:"lift"`      // its share of the outliers' time over its share of the ordinary samples' time
	Count    int       `json:"count"`     // outliers it overlapped
	TotalUS  float64   `json:"total_us"`  // charged
}

// Options may be left zero.
type Options struct {
	Percentile float64 // 0: 99
	// SlackNS widens each sample at both ends, for the error of the clock mapping.
	SlackNS int64
}

const (
	blocks     = 10  // parts of the run for the standard error
	minLift    = 1.5 // below, a cause takes as much of an ordinary sample's time and explains nothing
	maxLift    = 9999
	minSamples = 100
)

// Join explains the outliers among samples by the timeline. Samples may be in any order and may overlap.
func Join(samples []bench.Sample, tl profile.Timeline, o Options) Tail {
	o.Percentile = cmp.Or(o.Percentile, 99)
	t := Tail{Percentile: o.Percentile, Total: len(samples), Causes: []Cause{}, ResidualShare: 1}
	if len(samples) < minSamples {
		t.Notes = append(t.Notes, fmt.Sprintf("%d samples are too few to speak of a tail (at least %d)", len(samples), minSamples))
		return t
	}
	if !slices.IsSortedFunc(samples, byStart) {
		samples = slices.Clone(samples)
		slices.SortFunc(samples, byStart)
	}
	median, threshold := quantiles(samples, o.Percentile)
	t.MedianUS, t.ThresholdUS = float64(median)/1e3, float64(threshold)/1e3
	j := newJoin(samples, tl, o, median, threshold)
	j.run()
	j.result(&t)
	if tl.Dropped > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d events did not fit into the timeline (shorter than %d ns, or lost): the residual holds what they took", tl.Dropped, tl.MinNS))
	}
	return t
}

func byStart(a, b bench.Sample) int { return cmp.Compare(a.SentNS, b.SentNS) }

// quantiles returns the median and the nearest-rank percentile.
func quantiles(samples []bench.Sample, percentile float64) (median, threshold int64) {
	ns := make([]int64, len(samples))
	for i, s := range samples {
		ns[i] = s.RTTNS
	}
	slices.Sort(ns)
	rank := int(math.Ceil(percentile / 100 * float64(len(ns))))
	return ns[(len(ns)-1)/2], ns[max(0, min(len(ns), rank)-1)]
}
