// Package profile is the measured truth: the host before and after, what the kernel did, what the benchmark printed.
//
// A Profile is the seam of the program: left of it everything touches the host, right of it nothing does.
// Saved as RUN/profile.json it is the user's bug report, the test fixture and the input of an offline analysis alike.
package profile

import (
	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// Schema is the version of profile.json.
const Schema = 1

// Profile is one recorded run, audit or attachment.
type Profile struct {
	Schema  int        `json:"schema"`
	Kind    string     `json:"kind"` // run, audit, record, analyze
	Tool    Tool       `json:"tool"`
	TimeS   float64    `json:"time_s"` // start, seconds since the epoch
	Goal    bench.Goal `json:"goal"`   // as asked: auto, latency, throughput
	Targets []Target   `json:"targets,omitempty"`

	Before host.Host              `json:"before"`
	After  maybe.Value[host.Host] `json:"after,omitzero"` // second sample of everything that counts

	Workload maybe.Value[bench.Workload] `json:"workload,omitzero"`
	Result   maybe.Value[bench.Result]   `json:"result,omitzero"`
	Run      maybe.Value[Run]            `json:"run,omitzero"`
	Capture  maybe.Value[bpf.Capture]    `json:"capture,omitzero"`
	// Notices are remarks about the recording itself.
	Notices []string `json:"notices,omitempty"`
	// Earlier results of the same command, oldest first, when repeats were asked for.
	Repeats []bench.Result `json:"repeats,omitempty"`
}

// Tool is who recorded it.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Go      string `json:"go"`
}

// Target is what the user declared before the run, such as p99.9=20us or gbps=90%.
type Target struct {
	Metric string  `json:"metric"` // p50_us ... p99.999_us, max_us, gbps, mpps, loss
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"` // us, gbps, mpps, %
	Text   string  `json:"text"` // as typed
}

// Run is how the command ran.
type Run struct {
	PID         int                `json:"pid"`
	StartNS     int64              `json:"start_ns"` // CLOCK_MONOTONIC: the exec of the command
	EndNS       int64              `json:"end_ns"`
	Exit        bench.Exit         `json:"exit"`
	Interrupted bool               `json:"interrupted,omitempty"` // Ctrl-C or --duration ended it
	Stdout      string             `json:"stdout,omitempty"`      // file names inside the run directory
	Stderr      string             `json:"stderr,omitempty"`
	Dir         string             `json:"dir,omitempty"` // working directory
	CPUSeconds  float64            `json:"cpu_s"`
	MaxRSSBytes maybe.Value[int64] `json:"max_rss_bytes,omitzero"`
}

// Samples are two moments of the same host, SpanS seconds apart; ok is false when there is only one.
func (p Profile) Samples() (before, after host.Host, spanS float64, ok bool) {
	after, ok = p.After.Get()
	if !ok {
		return p.Before, host.Host{}, 0, false
	}
	spanS = after.TimeS - p.Before.TimeS
	return p.Before, after, spanS, spanS > 0
}
