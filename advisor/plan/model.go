// Package plan chooses cores: which are housekeeping, which take interrupts, which are isolated, which run the workload,
// with the reason for each, and writes the choice in every tool's syntax.
//
// Make is pure: Input holds everything it looks at, and the same Input gives the same Plan. Sources of the method: the
// kernel's admin-guide/cpu-isolation.rst and timers/no_hz.rst, networking/scaling.rst, DPDK's linux_gsg, FD.io CSIT,
// ScyllaDB's perftune.py for the number of interrupt cores.
package plan

import "github.com/corewise/corewise/profile/cpulist"

// Plan is the recommended placement.
type Plan struct {
	Sets     Sets              `json:"sets"`
	Roles    []RoleCPUs        `json:"roles"`
	Syntaxes map[string]string `json:"syntaxes"`     // taskset, numactl, eal, pktgen-map, doca_bench, cmdline, tuned ... -> text
	Order    []string          `json:"syntax_order"` // names of Syntaxes, those of this workload first
	Own      int               `json:"syntax_own"`   // how many of Order are for this workload and the host settings that go with it
	Reasons  []Reason          `json:"reasons"`      // one line for each core or group of cores
	Node     int               `json:"node"`         // NIC node; -1 unknown
	NodeWhy  string            `json:"node_why"`
	Nodes    cpulist.Set       `json:"nodes"`             // nodes of the workload's cores
	Steps    []string          `json:"steps"`             // degradations that were taken, and warnings
	Current  string            `json:"current"`           // how the present placement differs; "" when it is right already
	Kept     bool              `json:"kept"`              // the present cores are right and stay
	Reuse    bool              `json:"reuse"`             // the isolation in force is enough: no reboot
	Optional bool              `json:"optional"`          // no finding asks for it: offered, not recommended
	Limited  string            `json:"limited,omitempty"` // why no kernel command line or IRQ plan is given
	Args     []string          `json:"args,omitempty"`    // kernel arguments to set, key=value; empty: none needed or Limited
	Queues   int               `json:"queues,omitempty"`  // NIC queues that fit the interrupt cores; 0: no IRQ plan
	Command  []string          `json:"command,omitempty"` // the workload's own command line with the planned cores
}

// Sets of the plan. IRQ lies within Housekeeping, Workload within Isolated where isolation is planned; Housekeeping and
// Isolated are disjoint. All lie within the online CPUs that the workload's control group may use.
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
	Data bool   `json:"data"`
	CPUs []int  `json:"cpus"`
}

// Reason explains some cores.
type Reason struct {
	CPUs cpulist.Set `json:"cpus"`
	Text string      `json:"text"`
}
