// Package advisor judges: it evaluates the rules over the facts and says what to do, with evidence, confidence, undo and
// a check for every claim. It is pure: no clock, no files, no exec. Only its sub-package remedy writes to a host.
//
// Data flows one way: profile -> facts -> rules (fires, holds, unknown) -> findings -> verdict -> Report -> report.Format.
package advisor

import (
	"github.com/corewise/corewise/advisor/action"
	"github.com/corewise/corewise/advisor/explain"
	"github.com/corewise/corewise/advisor/plan"
	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile"
)

// ReportSchema is the version of the report's JSON.
const ReportSchema = "1"

// Severity orders findings.
type Severity string

// The severities, lowest first.
const (
	Info     Severity = "info"
	Low      Severity = "low"
	Medium   Severity = "medium"
	High     Severity = "high"
	Critical Severity = "critical"
)

// Status is the outcome of a rule for one subject.
type Status string

// The outcomes.
const (
	Fires   Status = "fires"
	Holds   Status = "holds"
	Unknown Status = "unknown"
)

// Confidence says how well a finding is supported.
type Confidence string

// The confidences.
const (
	Measured      Confidence = "measured"      // the probes or counters saw the effect on the workload
	Correlated    Confidence = "correlated"    // it goes together with the result
	Configuration Confidence = "configuration" // only the configuration is wrong
)

// Report is the whole answer; every format renders this value. JSON keys are stable, more may be added.
type Report struct {
	SchemaVersion string           `json:"schema_version"`
	Tool          profile.Tool     `json:"tool"`
	Kind          string           `json:"kind"` // run, audit, record, analyze
	Identity      Identity         `json:"identity"`
	Goal          bench.Goal       `json:"goal"`
	GoalWhy       string           `json:"goal_why,omitempty"`
	Targets       []TargetResult   `json:"target"`
	Verdict       Verdict          `json:"verdict"`
	Workload      *bench.Workload  `json:"workload,omitempty"`
	Result        *ResultView      `json:"result,omitempty"`
	Run           *profile.Run     `json:"run,omitempty"`
	Disturbance   []Disturbance    `json:"disturbance"`
	Findings      []Finding        `json:"findings"`
	AlsoSeen      []Finding        `json:"also_seen"`
	Waived        []Finding        `json:"waived,omitempty"`
	Plan          *plan.Plan       `json:"plan,omitempty"`
	Tail          *explain.Tail    `json:"tail,omitempty"`
	NotChecked    []NotChecked     `json:"not_checked"`
	Probes        []bpf.ProbeState `json:"probes,omitempty"`
	CaptureMode   string           `json:"capture_mode"` // ebpf, proc, none
	CaptureWhy    string           `json:"capture_why,omitempty"`
	OwnCost       *bpf.Cost        `json:"own_cost,omitempty"`
	CaptureNS     int64            `json:"capture_ns,omitempty"`
	LostEvents    []bpf.Lost       `json:"lost_events"`
	Notices       []string         `json:"notices"`
}

// Identity is what the numbers belong to.
type Identity struct {
	Hostname string   `json:"hostname,omitempty"`
	Kind     string   `json:"kind,omitempty"`
	OS       string   `json:"os,omitempty"`
	Kernel   string   `json:"kernel,omitempty"`
	Machine  string   `json:"machine,omitempty"` // vendor and product
	BIOS     string   `json:"bios,omitempty"`
	CPU      string   `json:"cpu,omitempty"` // "2 x AMD EPYC 7763, 128 cores, 256 CPUs, 2 nodes"
	NICs     []string `json:"nics,omitempty"`
	Command  []string `json:"command,omitempty"`
	Cmdline  string   `json:"kernel_cmdline,omitempty"`
	TimeS    float64  `json:"time_s"`
}

// Verdict is met, missed or not_proven, with reasons. Without a target it is about validity alone: then "met" means valid.
type Verdict struct {
	Status   string   `json:"status"`
	Headline string   `json:"headline"`
	Reasons  []string `json:"reasons"`
}

// TargetResult is one declared target with what was measured.
type TargetResult struct {
	profile.Target
	Measured *float64 `json:"measured,omitempty"`
	Met      *bool    `json:"met,omitempty"`
	Why      string   `json:"why,omitempty"`
}

// ResultView is the benchmark's result as reported.
type ResultView struct {
	Workload string         `json:"workload"`
	Tool     string         `json:"tool"`
	Version  string         `json:"version,omitempty"`
	Failed   string         `json:"failed,omitempty"`
	Metrics  []bench.Metric `json:"metrics"`
	Warnings []bench.Note   `json:"warnings"`
	Detail   *bench.Result  `json:"detail,omitempty"`
}

// Disturbance is one line of "what disturbed the workload": one cause and actor on the workload's CPUs.
type Disturbance struct {
	Cause   bpf.Cause `json:"cause"`
	Actor   string    `json:"actor"` // "IRQ 57 mlx5_comp3 (eth0 queue 3)"
	CPUs    string    `json:"cpus"`
	Threads []string  `json:"threads"` // comm/tid
	Count   uint64    `json:"count"`
	TotalUS float64   `json:"total_us"`
	MaxUS   float64   `json:"max_us"`
	PerS    float64   `json:"per_s"`
	Share   float64   `json:"share"`         // of the watched threads' wall time
	Own     bool      `json:"own,omitempty"` // corewise itself
}

// Finding is one rule that fired for one subject.
type Finding struct {
	Rule           string     `json:"rule"`
	Subject        string     `json:"subject"`
	Status         Status     `json:"status"`
	Severity       Severity   `json:"severity"`
	Confidence     Confidence `json:"confidence"`
	Domain         string     `json:"domain"`
	Title          string     `json:"title"`
	Text           string     `json:"text"`
	ExplainedShare *float64   `json:"explained_share,omitempty"`
	Evidence       []Evidence `json:"evidence"`
	Effect         string     `json:"effect,omitempty"` // expected gain class, with its source
	Remedy         Remedy     `json:"remedy"`
	Sources        []string   `json:"sources"`
	DependsOn      []string   `json:"depends_on,omitempty"`
	Cause          string     `json:"cause,omitempty"` // rule of the finding this one is folded under
	Why            string     `json:"why,omitempty"`   // why it is where it is: capped, demoted, folded
	Waiver         string     `json:"waiver,omitempty"`
}

// Evidence is one observation for or against a finding.
type Evidence struct {
	Text     string `json:"text"`
	Supports bool   `json:"supports"`
	Measured bool   `json:"measured"`
	// Correlated evidence goes together with the result, but was not seen by the probes or counters.
	Correlated bool `json:"correlated,omitempty"`
}

// Remedy is what to do, at three levels, with its undo and its check.
type Remedy struct {
	Actions []action.Action `json:"actions"`
	Run     string          `json:"run,omitempty"`     // commands for now
	Persist string          `json:"persist,omitempty"` // how to keep it over a reboot
	Undo    string          `json:"undo,omitempty"`
	Verify  string          `json:"verify,omitempty"`
	Reboot  string          `json:"reboot"` // no, boot, bios, fw, power-cycle
	Risk    string          `json:"risk,omitempty"`
	Choice  string          `json:"choice,omitempty"` // the trade-off, where sources conflict and the goal does not decide
}

// NotChecked is a rule that could not be decided for a subject, and which facts were missing.
type NotChecked struct {
	Rule    string        `json:"rule"`
	Subject string        `json:"subject,omitempty"`
	Missing []MissingFact `json:"missing"`
}

// MissingFact is one fact with the reason why it is missing.
type MissingFact struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}
