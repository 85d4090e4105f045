package host

import (
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// Kernel is version, command line, options and knobs.
type Kernel struct {
	Release       maybe.Value[string]            `json:"release,omitzero"`
	Version       [3]int                         `json:"version"`     // 6, 1, 26; zero when the release is missing
	RT            maybe.Value[bool]              `json:"rt,omitzero"` // PREEMPT_RT
	HZ            maybe.Value[int]               `json:"hz,omitzero"` // CONFIG_HZ
	Cmdline       maybe.Value[string]            `json:"cmdline,omitzero"`
	Args          []Arg                          `json:"args,omitempty"`         // in order; a key may repeat
	Unknown       []string                       `json:"unknown_args,omitempty"` // "Unknown kernel command line parameters" and the like, from the log
	Config        map[string]string              `json:"config,omitempty"`       // CONFIG_NO_HZ_FULL -> y, n ("is not set"), or text
	ConfigWhy     string                         `json:"config_why,omitempty"`   // why Config is empty
	Sysctl        map[string]maybe.Value[string] `json:"sysctl"`                 // kernel.numa_balancing -> text
	Clocksource   maybe.Value[string]            `json:"clocksource,omitzero"`
	Clocksources  maybe.Value[[]string]          `json:"clocksources,omitzero"` // available ones
	WorkqueueMask maybe.Value[cpulist.Set]       `json:"workqueue_cpumask,omitzero"`
	WritebackMask maybe.Value[cpulist.Set]       `json:"writeback_cpumask,omitzero"` // of the writeback workqueue, which has one of its own
	WatchdogMask  maybe.Value[cpulist.Set]       `json:"watchdog_cpumask,omitzero"`
	Modules       map[string]bool                `json:"modules,omitempty"`       // loaded modules
	ModuleParams  map[string]string              `json:"module_params,omitempty"` // "nvme.poll_queues" -> "0"
	Preempt       maybe.Value[string]            `json:"preempt,omitzero"`        // none, voluntary, full, lazy (debugfs sched/preempt, else config)
	SchedDebug    map[string]string              `json:"sched_debug,omitempty"`   // /sys/kernel/debug/sched: fair_server, features ...
	UptimeS       maybe.Value[float64]           `json:"uptime_s,omitzero"`
	Loadavg       maybe.Value[float64]           `json:"loadavg_1m,omitzero"`
	VMStat        map[string]int64               `json:"vmstat,omitempty"` // /proc/vmstat; totals
	Tainted       maybe.Value[int64]             `json:"tainted,omitzero"`
	// MCECheckS is the interval of polling for machine-check events, seconds; 0: off. Of CPU 0.
	MCECheckS maybe.Value[int64]  `json:"mce_check_interval_s,omitzero"`
	Tracer    maybe.Value[string] `json:"tracer,omitzero"` // current_tracer of ftrace; nop: none
}

// Arg is one word of the kernel command line.
type Arg struct {
	Key      string `json:"key"` // as written; '-' and '_' are equal in names
	Value    string `json:"value,omitempty"`
	HasValue bool   `json:"has_value,omitempty"`
}

// Memory is memory as a whole.
type Memory struct {
	TotalBytes           maybe.Value[int64]  `json:"total_bytes,omitzero"`
	AvailableBytes       maybe.Value[int64]  `json:"available_bytes,omitzero"`
	SwapTotalBytes       maybe.Value[int64]  `json:"swap_total_bytes,omitzero"`
	SwapUsedBytes        maybe.Value[int64]  `json:"swap_used_bytes,omitzero"`
	Hugepages            []Hugepages         `json:"hugepages,omitempty"`
	DefaultHugepageBytes maybe.Value[int64]  `json:"default_hugepage_bytes,omitzero"`
	HugetlbfsMounts      []Mount             `json:"hugetlbfs_mounts,omitempty"`
	MountsKnown          bool                `json:"mounts_known"`
	THP                  maybe.Value[string] `json:"thp,omitzero"` // always, madvise, never: the one in force
	THPDefrag            maybe.Value[string] `json:"thp_defrag,omitzero"`
	KSMRun               maybe.Value[int]    `json:"ksm_run,omitzero"`
	KSMPagesSharing      maybe.Value[int64]  `json:"ksm_pages_sharing,omitzero"`
}

// Mount is one mounted file system.
type Mount struct {
	Path    string `json:"path"`
	Type    string `json:"type"`
	Options string `json:"options"`
}

// Power is frequency scaling, idle states and PM-QoS.
type Power struct {
	Driver            maybe.Value[string] `json:"driver,omitzero"`     // intel_pstate, amd-pstate-epp, acpi-cpufreq ...
	Governors         map[int]string      `json:"governors,omitempty"` // CPU -> governor
	EPP               map[int]string      `json:"epp,omitempty"`
	EPB               map[int]int         `json:"epb,omitempty"`
	MinFreqKHz        map[int]int         `json:"min_freq_khz,omitempty"`
	MaxFreqKHz        map[int]int         `json:"max_freq_khz,omitempty"`
	CurFreqKHz        map[int]int         `json:"cur_freq_khz,omitempty"`
	HWMaxFreqKHz      map[int]int         `json:"hw_max_freq_khz,omitempty"`
	NoTurbo           maybe.Value[bool]   `json:"no_turbo,omitzero"`
	Boost             maybe.Value[bool]   `json:"boost,omitzero"`
	PstateStatus      maybe.Value[string] `json:"pstate_status,omitzero"` // active, passive, guided, off
	IdleDriver        maybe.Value[string] `json:"idle_driver,omitzero"`
	IdleGovernor      maybe.Value[string] `json:"idle_governor,omitzero"`
	Idle              map[int][]IdleState `json:"idle,omitempty"`                     // CPU -> states in index order; the index is not the C-number
	DMALatencyUS      maybe.Value[int]    `json:"cpu_dma_latency_us,omitzero"`        // request in force; 2000000000 is none
	DMALatencyHolders []int               `json:"cpu_dma_latency_holders,omitempty"`  // pids with the device open
	ResumeLatencyUS   map[int]int         `json:"pm_qos_resume_latency_us,omitempty"` // CPU -> limit, 0 included; a CPU without a limit is left out
	PackageThrottles  map[int]int64       `json:"package_throttles,omitempty"`        // thermal_throttle/package_throttle_count; totals
	CoreThrottles     map[int]int64       `json:"core_throttles,omitempty"`
	Why               string              `json:"why,omitempty"`           // why cpufreq or cpuidle is absent
	BaseFreqKHz       map[int]int         `json:"base_freq_khz,omitempty"` // base_frequency, where the driver tells
	Uncore            []Uncore            `json:"uncore,omitempty"`        // Intel
}

// Uncore is one domain of the clock of mesh, last-level cache and memory controller; min below max: it may vary.
type Uncore struct {
	Name   string           `json:"name"` // package_00_die_00
	MinKHz maybe.Value[int] `json:"min_khz,omitzero"`
	MaxKHz maybe.Value[int] `json:"max_khz,omitzero"`
}

// IdleState is one cpuidle state of one CPU. Usage and TimeUS are totals.
type IdleState struct {
	Index       int    `json:"index"` // N of stateN
	Name        string `json:"name"`
	Desc        string `json:"desc,omitempty"`
	LatencyUS   int    `json:"latency_us"`
	ResidencyUS int    `json:"residency_us"`
	Disabled    bool   `json:"disabled"`
	Usage       int64  `json:"usage"`
	TimeUS      int64  `json:"time_us"`
	Counted     bool   `json:"counted"` // usage and time were readable; else both are 0 and mean nothing
}

// Firmware is DMI and what the OS shows of firmware settings.
type Firmware struct {
	SysVendor   maybe.Value[string] `json:"sys_vendor,omitzero"`
	Product     maybe.Value[string] `json:"product,omitzero"`
	Board       maybe.Value[string] `json:"board,omitzero"`
	Chassis     maybe.Value[string] `json:"chassis,omitzero"` // chassis type in words
	BIOSVendor  maybe.Value[string] `json:"bios_vendor,omitzero"`
	BIOSVersion maybe.Value[string] `json:"bios_version,omitzero"`
	BIOSDate    maybe.Value[string] `json:"bios_date,omitzero"`
	IOMMUGroups maybe.Value[int]    `json:"iommu_groups,omitzero"`
	// Tokens holds BIOS attributes by their Redfish name where a readable file gave them (bundle: cmd/redfish-bios).
	Tokens map[string]string `json:"tokens,omitempty"`
}

// Proc is one process with its threads. Of a host tree only some are there.
type Proc struct {
	PID          int                      `json:"pid"`
	PPID         int                      `json:"ppid"`
	Comm         string                   `json:"comm"`
	Argv         []string                 `json:"argv,omitempty"`
	KThread      bool                     `json:"kthread,omitempty"`
	Env          map[string]string        `json:"env,omitempty"` // only VMA_*, XLIO_*, LD_PRELOAD, RTE_*, DOCA_*, MLX5_*, UCX_*, NCCL_*, OMP_*, GOMAXPROCS ...
	EnvWhy       string                   `json:"env_why,omitempty"`
	Threads      []Thread                 `json:"threads"`
	Cgroup       map[string]string        `json:"cgroup,omitempty"`       // controller ("" for v2) -> path
	MemlockBytes maybe.Value[int64]       `json:"memlock_bytes,omitzero"` // soft limit; -1 unlimited
	RSSBytes     maybe.Value[int64]       `json:"rss_bytes,omitzero"`
	MemsAllowed  maybe.Value[cpulist.Set] `json:"mems_allowed,omitzero"`
	NUMAPages    map[int]int64            `json:"numa_pages,omitempty"` // node -> bytes of numa_maps
	NUMAHuge     map[int]int64            `json:"numa_huge,omitempty"`  // node -> bytes in hugetlb mappings
	NUMAPolicy   maybe.Value[string]      `json:"numa_policy,omitzero"` // default, bind:1, prefer:0, interleave:0-1; of most mappings
	FDs          map[string]string        `json:"fds,omitempty"`        // fd -> target of interesting ones (/dev/cpu_dma_latency, /dev/vfio, ...)
	Maps         []string                 `json:"maps,omitempty"`       // mapped libraries that matter: libvma.so, libxlio.so
	StartTicks   int64                    `json:"start_ticks,omitempty"`
	ReadS        float64                  `json:"read_s,omitempty"` // seconds since the epoch, when it was read apart from the host; 0: with the host
}

// Thread is one thread; times in clock ticks of 1/100 s, totals.
type Thread struct {
	TID          int                 `json:"tid"`
	Comm         string              `json:"comm"`
	State        string              `json:"state"`
	Allowed      cpulist.Set         `json:"allowed"` // Cpus_allowed_list
	AllowedKnown bool                `json:"allowed_known"`
	LastCPU      maybe.Value[int]    `json:"last_cpu,omitzero"`
	Policy       maybe.Value[string] `json:"policy,omitzero"` // other, fifo, rr, batch, idle, deadline
	RTPrio       int                 `json:"rt_prio,omitempty"`
	Nice         int                 `json:"nice,omitempty"`
	UTicks       float64             `json:"utime_ticks"`
	STicks       float64             `json:"stime_ticks"`
	Voluntary    maybe.Value[int64]  `json:"voluntary_switches,omitzero"`
	Involuntary  maybe.Value[int64]  `json:"involuntary_switches,omitzero"`
	MinFaults    int64               `json:"min_faults,omitempty"`
	MajFaults    int64               `json:"maj_faults,omitempty"`
}

// Cgroup is one control group that limits CPUs, memory nodes or time. Version 1 values are converted to version 2 units.
type Cgroup struct {
	Path          string                   `json:"path"`
	Version       int                      `json:"version"`
	CPUs          maybe.Value[cpulist.Set] `json:"cpus,omitzero"`
	EffectiveCPUs maybe.Value[cpulist.Set] `json:"effective_cpus,omitzero"`
	EffectiveMems maybe.Value[cpulist.Set] `json:"effective_mems,omitzero"`
	Partition     maybe.Value[string]      `json:"partition,omitzero"` // member, root, isolated, "isolated invalid (...)"
	Exclusive     maybe.Value[bool]        `json:"exclusive,omitzero"` // v1 cpuset.cpu_exclusive
	QuotaUS       maybe.Value[int64]       `json:"quota_us,omitzero"`  // -1: no quota
	PeriodUS      maybe.Value[int64]       `json:"period_us,omitzero"`
	NrPeriods     maybe.Value[int64]       `json:"nr_periods,omitzero"`   // total
	NrThrottled   maybe.Value[int64]       `json:"nr_throttled,omitzero"` // total
	ThrottledUS   maybe.Value[int64]       `json:"throttled_us,omitzero"` // total
	Weight        maybe.Value[int64]       `json:"weight,omitzero"`
	PIDs          []int                    `json:"pids,omitempty"`
}

// Services is what runs that changes placement or power by itself.
type Services struct {
	Irqbalance   Irqbalance               `json:"irqbalance"`
	TunedProfile maybe.Value[string]      `json:"tuned_profile,omitzero"`
	TunedActive  maybe.Value[bool]        `json:"tuned_active,omitzero"`
	TunedConf    map[string]string        `json:"tuned_conf,omitempty"`          // section.key -> value of the active profile, its variables under "variables."
	CPUAffinity  maybe.Value[cpulist.Set] `json:"systemd_cpu_affinity,omitzero"` // CPUAffinity= of systemd
	Firewalls    []string                 `json:"firewalls,omitempty"`           // nftables, iptables, firewalld ... with rules or running
	Running      map[string]bool          `json:"running,omitempty"`             // daemons by comm that are running (only true entries mean anything in a host tree)
	TunedMode    maybe.Value[string]      `json:"tuned_mode,omitzero"`           // manual or auto
}

// Irqbalance is the daemon with its configuration.
type Irqbalance struct {
	Running    maybe.Value[bool]        `json:"running,omitzero"`
	PID        int                      `json:"pid,omitempty"`
	Version    maybe.Value[string]      `json:"version,omitzero"`
	ConfigPath string                   `json:"config_path,omitempty"`
	Args       string                   `json:"args,omitempty"`
	BannedMask maybe.Value[cpulist.Set] `json:"banned_cpus,omitzero"`    // IRQBALANCE_BANNED_CPUS
	BannedList maybe.Value[cpulist.Set] `json:"banned_cpulist,omitzero"` // IRQBALANCE_BANNED_CPULIST
	OneShot    bool                     `json:"one_shot,omitempty"`
	LogErrors  []string                 `json:"log_errors,omitempty"` // "Cannot change IRQ 55 affinity: Input/output error"
	// ConfigKnown: its configuration file or its environment was readable, so that a variable that is missing is not set.
	ConfigKnown bool       `json:"config_known"`
	IRQErrors   []IRQError `json:"irq_errors,omitempty"` // LogErrors, one by one
}

// IRQError is one interrupt that irqbalance could not move. Reason: managed (EIO: the kernel places it), sandboxed (EACCES,
// EPERM, EROFS: the unit may not write), no-vector (ENOSPC), given-up (irqbalance stopped trying), other.
type IRQError struct {
	IRQ    int    `json:"irq"`
	Reason string `json:"reason"`
}

// K8s is kubelet and its CPU manager.
type K8s struct {
	CPUManagerPolicy maybe.Value[string]      `json:"cpu_manager_policy,omitzero"`
	DefaultCPUSet    maybe.Value[cpulist.Set] `json:"default_cpuset,omitzero"`
	Exclusive        map[string]cpulist.Set   `json:"exclusive,omitempty"` // container -> CPUs
	ReservedCPUs     maybe.Value[cpulist.Set] `json:"reserved_system_cpus,omitzero"`
	TopologyPolicy   maybe.Value[string]      `json:"topology_manager_policy,omitzero"`
	CPUCFSQuota      maybe.Value[bool]        `json:"cpu_cfs_quota,omitzero"`
	Kubelet          maybe.Value[bool]        `json:"kubelet,omitzero"`
	IRQLBDisabled    map[string]cpulist.Set   `json:"irq_lb_disabled,omitempty"` // running container with irq-load-balancing disabled -> its CPUs
	// OrigIRQBanned is the ban mask that CRI-O saved when it first changed irqbalance's (/etc/sysconfig/orig_irq_banned_cpus).
	OrigIRQBanned maybe.Value[cpulist.Set] `json:"orig_irq_banned_cpus,omitzero"`
}

// OVS is the Open vSwitch configuration and statistics as read; judged by advisor.
type OVS struct {
	Running     maybe.Value[bool]              `json:"running,omitzero"`
	Version     maybe.Value[string]            `json:"version,omitzero"`
	OtherConfig maybe.Value[map[string]string] `json:"other_config,omitzero"`
	// Texts of ovs-vsctl/ovs-appctl stay in Host.Commands; bench parses them.
	LogLines []string `json:"log_lines,omitempty"` // lines of ovs-vswitchd.log that matter
}

// Log holds kernel ring buffer lines that match known patterns.
type Log struct {
	Known maybe.Value[bool] `json:"known,omitzero"` // was a log readable at all
	Hits  []LogHit          `json:"hits,omitempty"`
	// PCIeLimits is what the kernel said about the PCIe bandwidth of functions when their drivers bound to them.
	PCIeLimits []PCIeLimit `json:"pcie_limits,omitempty"`
}

// PCIeLimit is one message about available PCIe bandwidth, in Gb/s after encoding.
type PCIeLimit struct {
	BDF           string               `json:"bdf"`
	AvailableGbps float64              `json:"available_gbps"`
	LimitedBy     string               `json:"limited_by,omitempty"` // the bridge whose link is the narrowest
	CapableGbps   maybe.Value[float64] `json:"capable_gbps,omitzero"`
}

// LogHit is one pattern that was seen (cases/formats P22).
type LogHit struct {
	Code   string               `json:"code"` // rt-throttling, clocksource-unstable, nohz-full-unsupported, pcie-bandwidth, workqueue-lockup, ...
	Count  int                  `json:"count"`
	First  string               `json:"first"`            // the line, shortened
	FirstS maybe.Value[float64] `json:"first_s,omitzero"` // seconds since boot
	LastS  maybe.Value[float64] `json:"last_s,omitzero"`
}

// Net is addresses and routes.
type Net struct {
	Routes []Route `json:"routes,omitempty"`
	// Protocols is /proc/net/snmp and netstat, such as "Udp.RcvbufErrors"; totals.
	Protocols   map[string]int64 `json:"protocols,omitempty"`
	RoutesKnown bool             `json:"routes_known"`
}

// Route is one IPv4 or IPv6 route.
type Route struct {
	Dst    string `json:"dst"` // CIDR; 0.0.0.0/0 is the default
	Via    string `json:"via,omitempty"`
	Dev    string `json:"dev"`
	Src    string `json:"src,omitempty"`
	Metric int    `json:"metric,omitempty"`
}
