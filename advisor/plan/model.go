// Package plan chooses cores: which are housekeeping, which take interrupts, which are isolated, which run the workload,
// with the reason for each, and writes the choice in every tool's syntax. Algorithm and its sources: see plan.go.
package plan

import "github.com/corewise/corewise/profile/cpulist"

// Plan is the recommended placement.
type Plan struct {
	Sets     Sets              `json:"sets"`
	Roles    []RoleCPUs        `json:"roles"`
	Syntaxes map[string]string `json:"syntaxes"` // taskset, numactl, eal, pktgen-map, doca_bench, cmdline, tuned ... -> text
	Reasons  []Reason          `json:"reasons"`  // one line for each core or group of cores
	Node     int               `json:"node"`     // NIC node; -1 unknown
	NodeWhy  string            `json:"node_why"`
	Steps    []string          `json:"steps"`             // degradations that were taken, and warnings
	Current  string            `json:"current"`           // how the present placement differs; "" when it is right already
	Optional bool              `json:"optional"`          // no finding asks for it: offered, not recommended
	Limited  string            `json:"limited,omitempty"` // why no kernel command line or IRQ plan is given
}

// Sets are disjoint but for Workload, which lies within Isolated where isolation is planned.
type Sets struct {
	Housekeeping cpulist.Set `json:"housekeeping"`
	IRQ          cpulist.Set `json:"irq"`
	Isolated     cpulist.Set `json:"isolated"`
	Workload     cpulist.Set `json:"workload"`
}

// RoleCPUs is the cores of one role, in the order of its threads.
type RoleCPUs struct {
	Role string `json:"role"`
	Port int    `json:"port"`
	CPUs []int  `json:"cpus"`
}

// Reason explains some cores.
type Reason struct {
	CPUs cpulist.Set `json:"cpus"`
	Text string      `json:"text"`
}
