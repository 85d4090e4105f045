// Package action is the closed set of typed remedies. An action is data: plan, script and apply render or execute the
// same value, and no text is ever pasted into a shell. Nothing here touches the host.
package action

import (
	"github.com/corewise/corewise/profile/cpulist"
)

// Kind names one of the closed set.
type Kind string

// The kinds.
const (
	IRQAffinity     Kind = "irq-affinity"     // IRQ -> CPUs through /proc/irq/N/smp_affinity_list
	WriteFile       Kind = "write-file"       // Path (below /sys or /proc/sys, from an allow-list) -> Value
	Sysctl          Kind = "sysctl"           // Key -> Value
	Ethtool         Kind = "ethtool"          // Iface, Group (coalesce, rings, channels, pause, feature, priv-flag, rss) Key -> Value
	Service         Kind = "service"          // Name, Value: stop, start, disable, enable
	IrqbalanceBan   Kind = "irqbalance-ban"   // CPUs -> IRQBALANCE_BANNED_CPULIST
	CpusetPartition Kind = "cpuset-partition" // cgroup v2 isolated partition of CPUs named Name
	Governor        Kind = "governor"         // CPUs -> Value
	IdleState       Kind = "idle-state"       // CPUs, Key = state name, Value 1 disables
	PMQoS           Kind = "pm-qos"           // hold /dev/cpu_dma_latency at Value us, or per-CPU resume latency for CPUs
	KernelCmdline   Kind = "kernel-cmdline"   // Args set, Drop removed; needs a reboot
	Tuned           Kind = "tuned-profile"    // Name
	Hugepages       Kind = "hugepages"        // Node, SizeBytes -> Count
	BIOS            Kind = "bios"             // Token (vendor-neutral name) -> Value, Name the vendor where known; never written by the tool
	Firmware        Kind = "nic-firmware"     // PCI, Key -> Value by mlxconfig; printed, never executed by the tool
	Restart         Kind = "restart-workload" // run the benchmark with these placement wrappers and environment
	Manual          Kind = "manual"           // Text: something only a person can do (move a card, change a cable)
)

// Action is one remedy. Only the fields of its kind are set.
type Action struct {
	Kind      Kind        `json:"kind"`
	IRQ       int         `json:"irq,omitempty"`
	CPUs      cpulist.Set `json:"cpus,omitempty"`
	Path      string      `json:"path,omitempty"`
	Key       string      `json:"key,omitempty"`
	Value     string      `json:"value,omitempty"`
	Iface     string      `json:"iface,omitempty"`
	Group     string      `json:"group,omitempty"`
	Name      string      `json:"name,omitempty"`
	Node      *int        `json:"node,omitempty"`
	SizeBytes int64       `json:"size_bytes,omitempty"`
	Count     int64       `json:"count,omitempty"`
	Args      []string    `json:"args,omitempty"` // kernel arguments key=value to set, or argv of a restart
	Drop      []string    `json:"drop,omitempty"` // kernel argument keys to remove
	Env       []string    `json:"env,omitempty"`  // NAME=VALUE for a restart
	Token     string      `json:"token,omitempty"`
	PCI       string      `json:"pci,omitempty"`
	Text      string      `json:"text,omitempty"`
	Found     string      `json:"found,omitempty"`  // the value before, where known
	Reboot    string      `json:"reboot,omitempty"` // no, boot, bios, fw, power-cycle
	DropsLink bool        `json:"drops_link,omitempty"`
	Risk      string      `json:"risk,omitempty"`
}
