package plan

import (
	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// Input is everything the planner looks at. FromProfile and FromHost fill it; it can be written by hand.
type Input struct {
	Online    cpulist.Set
	Possible  cpulist.Set // empty: as Online
	Boot      int         // the CPU that cannot be unplugged; 0 on x86
	CPUs      []CPU       // every online CPU
	Distance  map[int]map[int]int
	NodeCount int // highest node id + 1, memory-only nodes too; for lists with one value a node

	// Allowed is cpuset.cpus.effective of the workload's control group. Missing: not limited.
	Allowed maybe.Value[cpulist.Set]
	Foreign cpulist.Set // CPUs of other exclusive partitions and containers

	Kind     string   // bare, vm, container, dpu-arm
	Devices  []Device // NICs (or NVMe controllers) of the workload; none: locality does not matter
	Roles    []Role
	Goal     bench.Goal
	Datapath string // bypass, kernel, storage, cpu
	SMT      string // one (default): a thread a core; both: siblings become workers when cores run out
	Scope    string // minimal, node (default), all: how much is isolated

	Isolated cpulist.Set // in force, from sysfs
	NohzFull cpulist.Set // in force, from sysfs
	// NoHZFullBuilt and IsolationBuilt say what the kernel was built with; missing: not known.
	NoHZFullBuilt  maybe.Value[bool]
	IsolationBuilt maybe.Value[bool]
	Cmdline        string // in force; "" not known

	ManagedIRQ  cpulist.Set          // CPUs on which an interrupt that cannot be moved fires often, not because of the workload
	SoftirqBusy maybe.Value[float64] // cores' worth of softirq time on the NIC's CPUs, from the capture

	Reserved cpulist.Set // kubelet's reservedSystemCPUs: always housekeeping

	Workload *bench.Workload // for the syntaxes and the rewritten command; may be nil
}

// CPU is one online logical CPU.
type CPU struct {
	ID       int
	Siblings cpulist.Set // with itself
	L3       int         // any number that is the same for CPUs that share a level-3 cache
	Node     int
	Package  int
	Capacity int // relative speed, 0: not known. Below 4/5 of the fastest it counts as a small core
}

// Device is one device the workload uses.
type Device struct {
	Name       string
	PCI        string
	Node       int              // numa_node as sysfs says; -1 not told
	LocalCPUs  cpulist.Set      // local_cpulist, empty not told
	ParentNode maybe.Value[int] // of the bridge above it
	PeerNode   maybe.Value[int] // of other devices below the same root bus
	Measured   maybe.Value[int] // node that a measurement found to be the near one; wins over sysfs
}

// Role is one kind of thread and where it runs now.
type Role struct {
	Name   string
	Data   bool // needs a physical core of its own, on the device's node
	Count  int
	Port   int
	Device int         // index of Input.Devices
	Now    []int       // present CPUs, in the order of threads; empty: not pinned or not known
	Mask   cpulist.Set // where its threads may run now when they are not pinned one by one; empty: not known
	Guess  bool        // Count is a guess
	Shares int         // 1 + index of an earlier role whose threads do this too (a DPDK lcore that receives and sends); 0: none
}
