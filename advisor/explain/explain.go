// Package explain joins the samples of a benchmark with what the kernel did at that time, and says which share of the
// tail each cause explains, and how much nothing explains.
package explain

import "github.com/corewise/corewise/bpf"

// Tail is the explanation of all samples above the threshold.
type Tail struct {
	ThresholdUS   float64  `json:"threshold_us"`
	Percentile    float64  `json:"percentile"`
	Samples       int      `json:"samples"`   // above the threshold
	Total         int      `json:"total"`     // all
	ExcessUS      float64  `json:"excess_us"` // sum of what lies above the median
	Causes        []Cause  `json:"causes"`
	ResidualShare float64  `json:"residual_share"`
	Notes         []string `json:"notes,omitempty"` // clock mapping, slack, perturbation
}

// Cause is one cause and actor with its share of the excess.
type Cause struct {
	Cause bpf.Cause `json:"cause"`
	Actor string    `json:"actor"`
	CPU   int       `json:"cpu"`
	Share float64   `json:"share"`
	Lift  float64   `json:"lift"`  // how much more often than in ordinary samples
	Count int       `json:"count"` // outliers it overlapped
}
