package facts

// Host is the machine.
type Host struct {
	Unknown    Unknown  `json:"-"`
	Kind       string   `json:"kind" doc:"bare, vm, container or dpu-arm"`
	Hypervisor string   `json:"hypervisor" doc:"kvm, vmware, hyperv, xen ...; empty on bare metal"`
	Container  string   `json:"container" doc:"docker, podman, kubernetes ...; empty outside containers"`
	Cloud      string   `json:"cloud" doc:"aws, azure, gcp or oci by DMI; empty elsewhere"`
	Hostname   string   `json:"hostname" doc:"host name"`
	OS         string   `json:"os" doc:"PRETTY_NAME of /etc/os-release"`
	OSID       string   `json:"os_id" doc:"ID of /etc/os-release"`
	Arch       string   `json:"arch" doc:"x86_64 or aarch64"`
	Vendor     string   `json:"vendor" doc:"CPU vendor: intel, amd, arm, hygon ..."`
	SysVendor  string   `json:"sys_vendor" doc:"DMI system vendor"`
	Product    string   `json:"product" doc:"DMI product"`
	BIOS       string   `json:"bios" doc:"DMI BIOS version and date"`
	BIOSAgeY   float64  `json:"bios_age_years" doc:"age of the BIOS at the time of the run, years; DMI bios_date"`
	Nodes      int      `json:"nodes" doc:"NUMA nodes with CPUs"`
	CPUs       int      `json:"cpus" doc:"online logical CPUs"`
	Cores      int      `json:"cores" doc:"online physical cores"`
	Sockets    int      `json:"sockets" doc:"packages with online CPUs"`
	UptimeS    float64  `json:"uptime_s" doc:"seconds since boot; /proc/uptime"`
	Loadavg    float64  `json:"loadavg" doc:"load average of one minute; /proc/loadavg"`
	TwoSamples bool     `json:"two_samples" doc:"the host was read before and after, so that rates are known"`
	SpanS      float64  `json:"span_s" doc:"seconds between the two samples"`
	Live       bool     `json:"live" doc:"read from the running machine, not from a tree or bundle"`
	Hotplugged []int    `json:"hotplugged_cpus" doc:"CPUs that came or went between the samples"`
	Mitigated  []string `json:"mitigations" doc:"CPU vulnerabilities with an active mitigation; /sys/devices/system/cpu/vulnerabilities"`
}

// CPU is the processor topology.
type CPU struct {
	Unknown       Unknown  `json:"-"`
	Model         string   `json:"model" doc:"model name; /proc/cpuinfo"`
	Family        int      `json:"family" doc:"x86 family"`
	ModelNumber   int      `json:"model_number" doc:"x86 model"`
	Zen           int      `json:"zen" doc:"AMD generation 1..5 by family and model; 0 for other CPUs"`
	Microcode     string   `json:"microcode" doc:"microcode revision; /proc/cpuinfo"`
	Online        []int    `json:"online" doc:"online CPUs"`
	Offline       []int    `json:"offline" doc:"present CPUs that are offline"`
	OnlineCount   int      `json:"online_count" doc:"number of online CPUs"`
	PossibleCount int      `json:"possible_count" doc:"number of possible CPUs"`
	BootCPU       int      `json:"boot_cpu" doc:"CPU that the kernel booted on and that cannot be isolated"`
	BootCore      []int    `json:"boot_core" doc:"boot CPU with its SMT siblings"`
	SMTActive     bool     `json:"smt_active" doc:"some core has two online threads; sysfs smt/active"`
	SMTControl    string   `json:"smt_control" doc:"on, off, forceoff, notsupported, notimplemented; sysfs smt/control"`
	L3Domains     int      `json:"l3_domains" doc:"groups of online CPUs that share a level-3 cache"`
	L3PerNode     int      `json:"l3_per_node" doc:"most level-3 domains in one node"`
	L3PerSocket   int      `json:"l3_per_socket" doc:"most level-3 domains in one package"`
	Hybrid        bool     `json:"hybrid" doc:"cores of different kinds (capacity, core/atom)"`
	Has1GPages    bool     `json:"has_1g_pages" doc:"flag pdpe1gb: the CPU maps 1 GiB pages"`
	X2APIC        bool     `json:"x2apic" doc:"flag x2apic"`
	ConstantTSC   bool     `json:"constant_tsc" doc:"flags constant_tsc and nonstop_tsc"`
	ITLBMultihit  bool     `json:"itlb_multihit" doc:"affected by iTLB multihit; sysfs vulnerabilities"`
	Has           []string `json:"flags" doc:"flags of /proc/cpuinfo"`
}

// NUMA is the memory topology.
type NUMA struct {
	Unknown           Unknown `json:"-"`
	Count             int     `json:"count" doc:"nodes with CPUs"`
	Nodes             []int   `json:"nodes" doc:"ids of nodes with CPUs"`
	MemoryOnly        []int   `json:"memory_only_nodes" doc:"nodes without CPUs"`
	Memoryless        []int   `json:"memoryless_nodes" doc:"nodes with CPUs and without memory"`
	PerSocket         int     `json:"nodes_per_socket" doc:"most nodes in one package: above 1 it is NPS, SNC or L3 as NUMA"`
	L3AsNUMA          bool    `json:"l3_as_numa" doc:"every node is one level-3 domain and packages have several"`
	CrossNode         bool    `json:"multi" doc:"more than one node with CPUs"`
	Balancing         int     `json:"balancing" doc:"kernel.numa_balancing: a bit mask, 0 is off"`
	HintFaultsPerS    float64 `json:"hint_faults_per_s" doc:"NUMA hinting faults a second over the run; vmstat numa_hint_faults"`
	PTEUpdatesPerS    float64 `json:"pte_updates_per_s" doc:"page-table entries scanned a second over the run; vmstat numa_pte_updates"`
	PagesMigratedPerS float64 `json:"pages_migrated_per_s" doc:"pages moved by balancing a second over the run; vmstat numa_pages_migrated"`
	MissPerS          float64 `json:"miss_per_s" doc:"allocations that missed their node, a second, all nodes; node numastat numa_miss, or vmstat"`
	ForeignPerS       float64 `json:"foreign_per_s" doc:"allocations meant for another node, a second; numastat numa_foreign"`
	ZoneReclaim       int     `json:"zone_reclaim" doc:"vm.zone_reclaim_mode"`
	MaxDistance       int     `json:"max_distance" doc:"largest distance between two nodes with CPUs; 10 is local"`
	SmallestNodeCores int     `json:"smallest_node_cores" doc:"physical cores of the smallest node with CPUs"`
}

// Node is one NUMA node.
type Node struct {
	Unknown          Unknown `json:"-"`
	ID               int     `json:"id" doc:"node number"`
	CPUs             []int   `json:"cpus" doc:"its online CPUs"`
	Cores            int     `json:"cores" doc:"its online physical cores"`
	L3Domains        int     `json:"l3_domains" doc:"its level-3 domains"`
	Socket           int     `json:"socket" doc:"package of its CPUs"`
	MemTotalBytes    int     `json:"mem_total_bytes" doc:"memory; node meminfo"`
	MemFreeBytes     int     `json:"mem_free_bytes" doc:"free memory; node meminfo"`
	Workload         bool    `json:"workload" doc:"a data-path core of the workload is on it"`
	WorkloadCPUs     []int   `json:"workload_cpus" doc:"cores of the workload on it"`
	WorkloadNIC      bool    `json:"workload_nic" doc:"an interface of the workload is on it"`
	NeedsHugepages   bool    `json:"needs_hugepages" doc:"the workload needs huge pages here: it has cores or an interface on this node"`
	HugepagesBytes   int     `json:"hugepages_bytes" doc:"bytes in huge pages of all sizes, free or not; sysfs node hugepages"`
	HugepagesFree    int     `json:"hugepages_free_bytes" doc:"free bytes in huge pages of all sizes"`
	Hugepages2M      int     `json:"hugepages_2m" doc:"2 MiB pages"`
	Hugepages2MFree  int     `json:"hugepages_2m_free" doc:"free 2 MiB pages"`
	Hugepages1G      int     `json:"hugepages_1g" doc:"1 GiB pages"`
	Hugepages1GFree  int     `json:"hugepages_1g_free" doc:"free 1 GiB pages"`
	HugepagesElse    bool    `json:"hugepages_elsewhere" doc:"some other node has huge pages"`
	HugepagesFreeOut int     `json:"hugepages_free_elsewhere_bytes" doc:"free bytes in huge pages of the other nodes together"`
	HugepagesShort   bool    `json:"hugepages_short" doc:"needed here, and none at all, or the workload named this node when it ran out, or less is free than it asked for"`
	HugepageSize     int     `json:"hugepage_want_bytes" doc:"page size to reserve here: the largest that another node has"`
	HugepageWant     int     `json:"hugepage_want_count" doc:"pages of that size to reserve here: what --socket-mem asks, else as many as the other node has, at most half of the free memory"`
	SocketMemBytes   int     `json:"socket_mem_bytes" doc:"what --socket-mem asks of this node"`
	Housekeeping     []int   `json:"housekeeping_cpus" doc:"its online CPUs that are not isolated"`
	NoHousekeeping   bool    `json:"no_housekeeping" doc:"every online CPU of it is isolated"`
	MissPerS         float64 `json:"miss_per_s" doc:"allocations that missed their node, a second; numastat numa_miss"`
	FreeWorkloadPct  float64 `json:"free_cores_share" doc:"physical cores without a workload thread, share of its cores"`
}

// Kernel is the kernel with its build, clock and log.
type Kernel struct {
	Unknown          Unknown  `json:"-"`
	Release          string   `json:"release" doc:"uname -r"`
	Version          int      `json:"version" doc:"major * 100 + minor: 515 is 5.15, 612 is 6.12"`
	RT               bool     `json:"rt" doc:"PREEMPT_RT"`
	HZ               int      `json:"hz" doc:"CONFIG_HZ: ticks a second"`
	Preempt          string   `json:"preempt" doc:"none, voluntary, full or lazy"`
	NohzFullBuilt    bool     `json:"nohz_full_built" doc:"CONFIG_NO_HZ_FULL=y; boot/config or the kernel log"`
	RCUNocbAll       bool     `json:"rcu_nocb_all" doc:"CONFIG_RCU_NOCB_CPU_DEFAULT_ALL=y"`
	Clocksource      string   `json:"clocksource" doc:"clock in use; sysfs current_clocksource"`
	Clocksources     []string `json:"clocksources" doc:"clocks that can be used"`
	ClocksourceGood  bool     `json:"clocksource_good" doc:"the fast clock of this kind of host: tsc on bare x86, arch_sys_counter on Arm, kvm-clock or the hypervisor's in a guest (tsc too)"`
	ClocksourceBest  string   `json:"clocksource_best" doc:"the clock that would be right here and is available; empty: none"`
	TSCUnstable      bool     `json:"tsc_unstable" doc:"the kernel log says that the TSC was given up"`
	WorkqueueMask    []int    `json:"workqueue_cpus" doc:"CPUs of unbound workqueues; /sys/devices/virtual/workqueue/cpumask"`
	WorkqueueOnWL    []int    `json:"workqueue_workload_cpus" doc:"of these, CPUs of the workload"`
	WritebackMask    []int    `json:"writeback_cpus" doc:"CPUs of the writeback workqueue"`
	WritebackOnWL    []int    `json:"writeback_workload_cpus" doc:"of these, CPUs of the workload"`
	Tracer           string   `json:"tracer" doc:"ftrace tracer in use; nop: none"`
	MCECheckS        int      `json:"mce_check_interval_s" doc:"seconds between polls for machine-check events; 0: off"`
	WatchdogMask     []int    `json:"watchdog_cpus" doc:"kernel.watchdog_cpumask"`
	WatchdogOnWL     []int    `json:"watchdog_workload_cpus" doc:"of these, CPUs of the workload"`
	WatchdogOn       bool     `json:"watchdog_on" doc:"kernel.watchdog or kernel.nmi_watchdog is on"`
	DebugOptions     []string `json:"debug_options" doc:"expensive debugging built in: LOCKDEP, KASAN, DEBUG_OBJECTS, PROVE_LOCKING, a +debug release"`
	FairServerOn     bool     `json:"fair_server_on" doc:"the deadline server of normal tasks has a runtime; debugfs sched/fair_server"`
	LogRead          bool     `json:"log_read" doc:"a kernel log was readable"`
	LogCodes         []string `json:"log_codes" doc:"codes of known patterns in the kernel log; see the list log_hits"`
	ConntrackLoaded  bool     `json:"conntrack_loaded" doc:"module nf_conntrack is loaded"`
	PeermemLoaded    bool     `json:"peermem_loaded" doc:"module nvidia_peermem or nv_peer_mem is loaded"`
	Tainted          int      `json:"tainted" doc:"kernel.tainted"`
	NxHugePages      string   `json:"kvm_nx_huge_pages" doc:"kvm.nx_huge_pages"`
	NxRecoveryRatio  string   `json:"kvm_nx_recovery_ratio" doc:"kvm.nx_huge_pages_recovery_ratio"`
	HaltPollNS       int      `json:"kvm_halt_poll_ns" doc:"kvm.halt_poll_ns"`
	NVMePollQueues   int      `json:"nvme_poll_queues" doc:"module parameter nvme.poll_queues"`
	Mlx4SteeringMode string   `json:"mlx4_steering" doc:"mlx4_core.log_num_mgm_entry_size"`
}

// Cmdline is the kernel command line and what became of it. Flags that are absent are false, lists empty: the command line is known as a whole.
type Cmdline struct {
	Unknown            Unknown  `json:"-"`
	Text               string   `json:"text" doc:"/proc/cmdline"`
	Isolcpus           string   `json:"isolcpus" doc:"value of isolcpus= as written (last one); empty: absent"`
	IsolcpusCPUs       []int    `json:"isolcpus_cpus" doc:"CPUs that isolcpus= asks for"`
	IsolcpusFlags      []string `json:"isolcpus_flags" doc:"its flags: managed_irq, domain, nohz; without a flag it is domain"`
	IsolcpusDomain     bool     `json:"isolcpus_domain" doc:"isolcpus= takes its CPUs out of load balancing"`
	IsolcpusManagedIRQ bool     `json:"isolcpus_managed_irq" doc:"isolcpus= has the flag managed_irq"`
	NohzFull           string   `json:"nohz_full" doc:"value of nohz_full= as written; empty: absent"`
	NohzFullCPUs       []int    `json:"nohz_full_cpus" doc:"CPUs that nohz_full= asks for"`
	RCUNocbs           string   `json:"rcu_nocbs" doc:"value of rcu_nocbs= as written; empty: absent"`
	RCUNocbsCPUs       []int    `json:"rcu_nocbs_cpus" doc:"CPUs that rcu_nocbs= asks for"`
	RCUNocbPoll        bool     `json:"rcu_nocb_poll" doc:"rcu_nocb_poll is given"`
	Irqaffinity        string   `json:"irqaffinity" doc:"value of irqaffinity= as written; empty: absent"`
	IrqaffinityCPUs    []int    `json:"irqaffinity_cpus" doc:"CPUs that irqaffinity= asks for"`
	IrqaffinityOnIso   []int    `json:"irqaffinity_isolated_cpus" doc:"CPUs in irqaffinity= that are isolated"`
	IsolationAsked     bool     `json:"isolation_asked" doc:"isolcpus= or nohz_full= is given"`
	IsolcpusIgnored    []int    `json:"isolcpus_ignored_cpus" doc:"online CPUs that isolcpus= asks for and the kernel did not isolate; sysfs isolated (domain flag only)"`
	NohzFullIgnored    []int    `json:"nohz_full_ignored_cpus" doc:"online CPUs but the boot CPU that nohz_full= asks for and sysfs nohz_full lacks"`
	ParseErrors        []string `json:"parse_errors" doc:"CPU lists on the command line that cannot be understood, with the reason"`
	UnknownParams      []string `json:"unknown_params" doc:"words that the kernel log calls unknown"`
	RepeatedKeys       []string `json:"repeated_keys" doc:"keys of CPU lists and C-states that are given more than once with different values"`
	Typographic        bool     `json:"typographic" doc:"holds a typographic dash or quotation mark"`
	OfflineCPUs        []int    `json:"impossible_cpus" doc:"CPUs in its lists that are not possible on this host"`
	Iommu              string   `json:"iommu" doc:"values of iommu=, intel_iommu=, amd_iommu= and iommu.passthrough=, as written"`
	IommuPassthrough   bool     `json:"iommu_passthrough" doc:"iommu=pt or iommu.passthrough=1"`
	IommuOff           bool     `json:"iommu_off" doc:"iommu=off, intel_iommu=off or amd_iommu=off"`
	IommuStrict        bool     `json:"iommu_strict" doc:"iommu.strict=1 or intel_iommu=strict"`
	IommuInvalid       []string `json:"iommu_invalid" doc:"IOMMU words that no kernel knows, such as amd_iommu=pt, or that the log calls unknown"`
	IntelIdleMax       int      `json:"intel_idle_max_cstate" doc:"value of intel_idle.max_cstate=; read intel_idle_max_set first"`
	IntelIdleMaxSet    bool     `json:"intel_idle_max_set" doc:"intel_idle.max_cstate= is given"`
	ProcessorMax       int      `json:"processor_max_cstate" doc:"value of processor.max_cstate=; read processor_max_set first"`
	ProcessorMaxSet    bool     `json:"processor_max_set" doc:"processor.max_cstate= is given"`
	Idle               string   `json:"idle" doc:"value of idle=; empty: absent"`
	TSC                string   `json:"tsc" doc:"value of tsc=; empty: absent"`
	Clocksource        string   `json:"clocksource" doc:"value of clocksource=; empty: absent"`
	MCE                string   `json:"mce" doc:"value of mce=; empty: absent"`
	Mitigations        string   `json:"mitigations" doc:"value of mitigations=; empty: absent"`
	Nosoftlockup       bool     `json:"nosoftlockup" doc:"nosoftlockup is given"`
	SkewTick           bool     `json:"skew_tick" doc:"skew_tick=1"`
	Nosmt              bool     `json:"nosmt" doc:"nosmt is given"`
	NohzOff            bool     `json:"nohz_off" doc:"nohz=off"`
	Pstate             string   `json:"pstate" doc:"value of intel_pstate= or amd_pstate=; empty: absent"`
	PcieASPM           string   `json:"pcie_aspm" doc:"value of pcie_aspm=; empty: absent"`
	THP                string   `json:"transparent_hugepage" doc:"value of transparent_hugepage=; empty: absent"`
	Hugepages          string   `json:"hugepages" doc:"the hugepage words, as written"`
}

// Sysctl is values of /proc/sys that rules compare.
type Sysctl struct {
	Unknown          Unknown `json:"-"`
	StatInterval     int     `json:"vm_stat_interval" doc:"vm.stat_interval, seconds"`
	Swappiness       int     `json:"vm_swappiness" doc:"vm.swappiness"`
	Compaction       int     `json:"vm_compaction_proactiveness" doc:"vm.compaction_proactiveness"`
	MaxMapCount      int     `json:"vm_max_map_count" doc:"vm.max_map_count"`
	MinFreeKB        int     `json:"vm_min_free_kbytes" doc:"vm.min_free_kbytes"`
	TimerMigration   int     `json:"kernel_timer_migration" doc:"kernel.timer_migration"`
	SchedRTRuntimeUS int     `json:"kernel_sched_rt_runtime_us" doc:"kernel.sched_rt_runtime_us; -1: no throttling"`
	NMIWatchdog      int     `json:"kernel_nmi_watchdog" doc:"kernel.nmi_watchdog"`
	Watchdog         int     `json:"kernel_watchdog" doc:"kernel.watchdog"`
	ASLR             int     `json:"kernel_randomize_va_space" doc:"kernel.randomize_va_space"`
	BusyPoll         int     `json:"net_busy_poll" doc:"net.core.busy_poll, microseconds"`
	BusyRead         int     `json:"net_busy_read" doc:"net.core.busy_read, microseconds"`
	NetdevBudget     int     `json:"netdev_budget" doc:"net.core.netdev_budget, packets"`
	NetdevBudgetUS   int     `json:"netdev_budget_usecs" doc:"net.core.netdev_budget_usecs"`
	NetdevBacklog    int     `json:"netdev_max_backlog" doc:"net.core.netdev_max_backlog, packets"`
	RmemMax          int     `json:"net_rmem_max" doc:"net.core.rmem_max, bytes"`
	RmemDefault      int     `json:"net_rmem_default" doc:"net.core.rmem_default, bytes"`
	WmemMax          int     `json:"net_wmem_max" doc:"net.core.wmem_max, bytes"`
	RPSFlowEntries   int     `json:"rps_sock_flow_entries" doc:"net.core.rps_sock_flow_entries"`
	TCPTimestamps    int     `json:"tcp_timestamps" doc:"net.ipv4.tcp_timestamps"`
	TCPSack          int     `json:"tcp_sack" doc:"net.ipv4.tcp_sack"`
	TCPLowLatency    int     `json:"tcp_low_latency" doc:"net.ipv4.tcp_low_latency"`
	TCPRmemMax       int     `json:"tcp_rmem_max" doc:"third value of net.ipv4.tcp_rmem, bytes"`
	TCPWmemMax       int     `json:"tcp_wmem_max" doc:"third value of net.ipv4.tcp_wmem, bytes"`
}
