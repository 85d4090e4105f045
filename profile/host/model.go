// Package host reads one host at one moment: a live machine, a host tree (directory, txtar) or a bundle (tar.zst).
//
// Reading is apart from parsing: readX opens files below a Source, parseX turns text into values. Whatever could not be
// read is a missing maybe.Value with its reason, never a zero. Nothing here judges: judging is advisor's work.
// One file an area (cpu.go, numa.go, irq.go, nic.go, pcie.go, ...); the types of all areas stand in model*.go.
package host

import (
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// Host is everything read from one host at one moment.
type Host struct {
	TimeS    float64  `json:"time_s"` // seconds since the epoch, with fraction
	Source   string   `json:"source"` // "live", or the path of the tree or bundle
	Identity Identity `json:"identity"`
	CPU      CPU      `json:"cpu"`
	NUMA     NUMA     `json:"numa"`
	IRQ      IRQTable `json:"irq"`
	Softirq  Softirqs `json:"softirq"`
	NICs     []NIC    `json:"nics"`
	RDMA     []RDMA   `json:"rdma"`
	PCI      []PCI    `json:"pci"`
	Kernel   Kernel   `json:"kernel"`
	Memory   Memory   `json:"memory"`
	Power    Power    `json:"power"`
	Firmware Firmware `json:"firmware"`
	Procs    []Proc   `json:"procs"`
	Cgroups  []Cgroup `json:"cgroups"`
	Services Services `json:"services"`
	K8s      K8s      `json:"k8s"`
	Storage  Storage  `json:"storage"`
	OVS      OVS      `json:"ovs"`
	Log      Log      `json:"log"`
	Net      Net      `json:"net"`
	// Commands holds what the allow-listed commands printed, by name (host-tree: cmd/NAME). Absent tools are missing with a reason.
	Commands map[string]maybe.Value[string] `json:"commands,omitempty"`
	Gaps     []Gap                          `json:"gaps,omitempty"` // whole files or rows that were unreadable or unparsable
}

// Gap is something that was there but could not be read or understood.
type Gap struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Identity says which machine this is.
type Identity struct {
	Hostname      maybe.Value[string] `json:"hostname,omitzero"`
	OS            maybe.Value[string] `json:"os,omitzero"`    // PRETTY_NAME of os-release
	OSID          maybe.Value[string] `json:"os_id,omitzero"` // ID of os-release
	KernelRelease maybe.Value[string] `json:"kernel_release,omitzero"`
	KernelVersion maybe.Value[string] `json:"kernel_version,omitzero"` // whole /proc/version
	// Kind is bare, vm, container or dpu-arm. Evidence: hypervisor flag, DMI, cgroup of process 1, BlueField device tree or DMI.
	Kind       maybe.Value[string] `json:"kind,omitzero"`
	Hypervisor maybe.Value[string] `json:"hypervisor,omitzero"` // kvm, vmware, hyperv, xen, ...
	Container  maybe.Value[string] `json:"container,omitzero"`  // docker, podman, kubernetes, lxc, ...
	Evidence   []string            `json:"evidence,omitempty"`  // what Kind rests on, in words
}

// CPU is the processor topology. Source: /proc/cpuinfo, /sys/devices/system/cpu.
type CPU struct {
	Arch       string                   `json:"arch"`               // x86_64, aarch64
	Vendor     maybe.Value[string]      `json:"vendor,omitzero"`    // intel, amd, arm, hygon ...
	Model      maybe.Value[string]      `json:"model,omitzero"`     // model name
	Family     maybe.Value[int]         `json:"family,omitzero"`    // x86 cpu family
	ModelNum   maybe.Value[int]         `json:"model_num,omitzero"` // x86 model
	Stepping   maybe.Value[int]         `json:"stepping,omitzero"`
	Microcode  maybe.Value[string]      `json:"microcode,omitzero"`
	Flags      []string                 `json:"flags,omitempty"`
	Online     maybe.Value[cpulist.Set] `json:"online,omitzero"`
	Possible   maybe.Value[cpulist.Set] `json:"possible,omitzero"`
	Present    maybe.Value[cpulist.Set] `json:"present,omitzero"`
	Offline    maybe.Value[cpulist.Set] `json:"offline,omitzero"`
	Isolated   maybe.Value[cpulist.Set] `json:"isolated,omitzero"`   // sysfs, not the command line
	NohzFull   maybe.Value[cpulist.Set] `json:"nohz_full,omitzero"`  // sysfs, not the command line
	BootCPU    int                      `json:"boot_cpu"`            // 0 on x86, else the first that cannot be unplugged
	SMTActive  maybe.Value[bool]        `json:"smt_active,omitzero"` // sysfs smt/active, else from siblings
	SMTControl maybe.Value[string]      `json:"smt_control,omitzero"`
	CPUs       []LogicalCPU             `json:"cpus"` // online CPUs, by number
	// Stat is /proc/stat in clock ticks of 1/100 s, by CPU; totals since boot: only differences mean anything.
	Stat  map[int]CPUTimes `json:"stat,omitempty"`
	Total CPUTimes         `json:"stat_total"` // the "cpu" row: all CPUs, also those that went offline
	// Vulnerabilities is /sys/devices/system/cpu/vulnerabilities, by name.
	Vulnerabilities map[string]string `json:"vulnerabilities,omitempty"`
}

// LogicalCPU is one online logical CPU.
type LogicalCPU struct {
	ID         int                 `json:"id"`
	Package    maybe.Value[int]    `json:"package,omitzero"`
	Die        maybe.Value[int]    `json:"die,omitzero"`
	Core       maybe.Value[int]    `json:"core,omitzero"` // core_id: repeats across packages, may have holes
	Siblings   cpulist.Set         `json:"siblings"`      // online SMT siblings with itself
	L3         cpulist.Set         `json:"l3"`            // online CPUs sharing the level-3 cache; the node's CPUs where there is none
	L3Known    bool                `json:"l3_known"`
	Node       int                 `json:"node"`              // -1: belongs to no node
	Capacity   maybe.Value[int]    `json:"capacity,omitzero"` // cpu_capacity (Arm, hybrid)
	MaxFreqKHz maybe.Value[int]    `json:"max_freq_khz,omitzero"`
	Hybrid     maybe.Value[string] `json:"hybrid,omitzero"` // core or atom
}

// CPUTimes is one row of /proc/stat, in clock ticks (1/100 s).
type CPUTimes struct {
	User, Nice, System, Idle, IOWait, IRQ, Softirq, Steal, Guest float64
}

// NUMA is the memory topology. Source: /sys/devices/system/node.
type NUMA struct {
	Nodes []Node `json:"nodes"`         // nodes with CPUs and nodes with memory only; ids may have holes
	Why   string `json:"why,omitempty"` // why there are none, such as a kernel without CONFIG_NUMA
}

// Node is one NUMA node.
type Node struct {
	ID        int                `json:"id"`
	CPUs      cpulist.Set        `json:"cpus"`               // online ones; empty: memory only
	Distance  map[int]int        `json:"distance,omitempty"` // to each node, 10 is itself
	MemTotal  maybe.Value[int64] `json:"mem_total_bytes,omitzero"`
	MemFree   maybe.Value[int64] `json:"mem_free_bytes,omitzero"`
	Numastat  map[string]int64   `json:"numastat,omitempty"` // numa_hit, numa_miss, ... totals in pages
	Hugepages []Hugepages        `json:"hugepages,omitempty"`
}

// Hugepages is one pool of one size, of a node or of the host.
type Hugepages struct {
	SizeBytes int64              `json:"size_bytes"`
	Total     maybe.Value[int64] `json:"total,omitzero"`
	Free      maybe.Value[int64] `json:"free,omitzero"`
	Surplus   maybe.Value[int64] `json:"surplus,omitzero"`
	Reserved  maybe.Value[int64] `json:"reserved,omitzero"` // not per node
}

// IRQTable is /proc/interrupts with /proc/irq and the devices that own the interrupts.
type IRQTable struct {
	CPUs            cpulist.Set              `json:"cpus"`                // columns of /proc/interrupts
	IRQs            []IRQ                    `json:"irqs"`                // numbered interrupts
	Local           map[string]map[int]int64 `json:"local"`               // logical name (timer.local, ipi.resched, ipi.call, ipi.tlb, nmi, mce, thermal, pmi, irq_work, ...) -> CPU -> total
	LocalRaw        map[string]map[int]int64 `json:"local_raw,omitempty"` // row label as printed (LOC, RES, IPI0 ...)
	DefaultAffinity maybe.Value[cpulist.Set] `json:"default_affinity,omitzero"`
	ParseWarnings   int                      `json:"parse_warnings,omitempty"`
}

// IRQ is one numbered interrupt.
type IRQ struct {
	Number    int                      `json:"number"`
	Chip      string                   `json:"chip,omitempty"`
	Trigger   string                   `json:"trigger,omitempty"`
	Actions   []string                 `json:"actions,omitempty"`
	Counts    map[int]int64            `json:"counts,omitempty"` // CPU -> total since boot; a CPU of IRQTable.CPUs that is not in it counted 0
	Affinity  maybe.Value[cpulist.Set] `json:"affinity,omitzero"`
	Effective maybe.Value[cpulist.Set] `json:"effective,omitzero"`
	Hint      maybe.Value[cpulist.Set] `json:"hint,omitzero"`    // affinity_hint; the empty set is "no hint"
	Node      maybe.Value[int]         `json:"node,omitzero"`    // /proc/irq/N/node
	Managed   maybe.Value[bool]        `json:"managed,omitzero"` // debugfs irq/irqs/N, or known from the driver (nvme I/O queues)
	Writable  maybe.Value[bool]        `json:"writable,omitzero"`
	PCI       string                   `json:"pci,omitempty"` // owner through msi_irqs, or the BDF in the action's name
	Netdev    string                   `json:"netdev,omitempty"`
	NVMe      string                   `json:"nvme,omitempty"` // nvme0
	RDMA      string                   `json:"rdma,omitempty"` // RDMA device of the same PCI function, mlx5_0
	Queue     maybe.Value[int]         `json:"queue,omitzero"` // queue number, where the action's name tells
	Role      string                   `json:"role,omitempty"` // rx, tx, txrx, io (a storage queue), async, admin, config: what the vector is for, where known
}

// Softirqs is /proc/softirqs and /proc/net/softnet_stat; totals since boot.
type Softirqs struct {
	Counts  map[string]map[int]int64 `json:"counts"` // vector (NET_RX ...) -> CPU -> total
	Softnet []Softnet                `json:"softnet,omitempty"`
}

// Softnet is one row of /proc/net/softnet_stat (Documentation: net/core/net-procfs.c); totals.
type Softnet struct {
	CPU         int   `json:"cpu"`
	Processed   int64 `json:"processed"`
	Dropped     int64 `json:"dropped"`
	TimeSqueeze int64 `json:"time_squeeze"`
	ReceivedRPS int64 `json:"received_rps"`
	FlowLimit   int64 `json:"flow_limit"`
}

// Missing lists the reason of each missing value by JSON path; filled by the reader for display.
type Missing map[string]string
