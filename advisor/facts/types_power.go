package facts

// Mem is memory as a whole.
type Mem struct {
	Unknown            Unknown  `json:"-"`
	TotalBytes         int      `json:"total_bytes" doc:"MemTotal"`
	AvailableBytes     int      `json:"available_bytes" doc:"MemAvailable"`
	SwapTotalBytes     int      `json:"swap_total_bytes" doc:"size of swap space"`
	SwapUsedBytes      int      `json:"swap_used_bytes" doc:"swap in use"`
	SwapInPerS         float64  `json:"swap_in_per_s" doc:"pages swapped in a second over the run; vmstat pswpin"`
	SwapOutPerS        float64  `json:"swap_out_per_s" doc:"pages swapped out a second over the run; vmstat pswpout"`
	MajorFaultsPerS    float64  `json:"major_faults_per_s" doc:"major faults a second, whole host; vmstat pgmajfault"`
	HugepagesTotal     int      `json:"hugepages_bytes" doc:"bytes in huge pages of all sizes and nodes, free or not"`
	HugepagesFree      int      `json:"hugepages_free_bytes" doc:"free bytes in huge pages of all sizes and nodes"`
	Hugepages2M        int      `json:"hugepages_2m" doc:"2 MiB pages"`
	Hugepages2MFree    int      `json:"hugepages_2m_free" doc:"free 2 MiB pages"`
	Hugepages1G        int      `json:"hugepages_1g" doc:"1 GiB pages"`
	Hugepages1GFree    int      `json:"hugepages_1g_free" doc:"free 1 GiB pages"`
	HugepagesNone      bool     `json:"hugepages_none" doc:"no huge page of any size is reserved"`
	HugepageDefault    int      `json:"hugepage_default_bytes" doc:"default huge page size"`
	HugetlbfsMounted   bool     `json:"hugetlbfs_mounted" doc:"a hugetlbfs is mounted"`
	HugetlbfsMounts    []string `json:"hugetlbfs_mounts" doc:"where"`
	THP                string   `json:"thp" doc:"transparent huge pages in force: always, madvise, never"`
	THPDefrag          string   `json:"thp_defrag" doc:"defrag setting in force"`
	THPFaultPerS       float64  `json:"thp_fault_alloc_per_s" doc:"huge pages given on faults a second over the run; vmstat thp_fault_alloc"`
	THPCollapsePerS    float64  `json:"thp_collapse_per_s" doc:"huge pages made by khugepaged a second; vmstat thp_collapse_alloc"`
	THPSplitPerS       float64  `json:"thp_split_per_s" doc:"huge pages split a second; vmstat thp_split_page"`
	CompactStallPerS   float64  `json:"compact_stall_per_s" doc:"allocations that stalled for compaction a second; vmstat compact_stall"`
	CompactDaemonPerS  float64  `json:"compact_daemon_wake_per_s" doc:"wake-ups of kcompactd a second; vmstat compact_daemon_wake"`
	DirectReclaimPerS  float64  `json:"direct_reclaim_per_s" doc:"pages scanned by direct reclaim a second; vmstat pgscan_direct"`
	KSMRun             int      `json:"ksm_run" doc:"ksm/run: 1 merges pages"`
	KSMSharing         int      `json:"ksm_pages_sharing" doc:"pages that KSM shares"`
	KhugepagedCPUs     []int    `json:"khugepaged_workload_cpus" doc:"data-path CPUs of the workload where khugepaged, ksmd or kcompactd ran; probes"`
	TLBShootdownsPerS  float64  `json:"tlb_shootdown_per_s" doc:"TLB shootdowns received a second, whole host; vmstat nr_tlb_remote_flush_received, else /proc/interrupts"`
	ChannelsPopulated  int      `json:"channels_populated" doc:"memory channels with a module, all sockets; dmidecode"`
	ChannelsPerSocket  int      `json:"channels_per_socket" doc:"memory channels that the socket with the fewest has in use; dmidecode"`
	DIMMs              int      `json:"dimms" doc:"modules; dmidecode"`
	ChannelsExpected   int      `json:"channels_expected" doc:"memory channels a socket of this CPU has, for known generations"`
	DIMMSpeedMTs       int      `json:"dimm_speed_mts" doc:"lowest configured speed of a module, MT/s"`
	DIMMRatedMTs       int      `json:"dimm_rated_mts" doc:"highest rated speed of a module, MT/s"`
	DIMMMixed          bool     `json:"dimm_mixed" doc:"modules run at different speeds, or sizes differ between channels"`
	ChannelsUnbalanced bool     `json:"channels_unbalanced" doc:"sockets have a different number of channels in use"`
	AllocFailures      bool     `json:"alloc_failures" doc:"page allocation failures in the kernel log"`
}

// Power is frequency and idle states. "Workload" means its data-path CPUs; for kernel sockets also the CPUs of its interfaces' interrupts.
type Power struct {
	Unknown           Unknown  `json:"-"`
	Driver            string   `json:"driver" doc:"cpufreq driver: intel_pstate, intel_cpufreq, amd-pstate-epp, acpi-cpufreq ..."`
	PstateStatus      string   `json:"pstate_status" doc:"active, passive, guided or off"`
	NoTurbo           bool     `json:"no_turbo" doc:"turbo or boost is switched off"`
	Governors         []string `json:"governors" doc:"governors in force on the workload's CPUs (all CPUs without a workload)"`
	SlowGovernor      []int    `json:"slow_governor_cpus" doc:"workload CPUs whose governor (or EPP under intel_pstate/amd-pstate active) does not ask for full speed; all CPUs without a workload"`
	SlowGovernorBy    string   `json:"slow_governor_text" doc:"what these CPUs have: governor, and EPP where it counts"`
	EPPs              []string `json:"epps" doc:"energy_performance_preference values on the workload's CPUs"`
	SlowEPP           []int    `json:"slow_epp_cpus" doc:"workload CPUs with an EPP other than performance or 0"`
	HighEPB           []int    `json:"high_epb_cpus" doc:"workload CPUs with an energy-performance bias above 4"`
	FreqLow           []int    `json:"freq_low_cpus" doc:"busy workload CPUs more than 100 MHz below the base (else the largest) frequency at the last sample"`
	FreqMinMHz        float64  `json:"freq_min_mhz" doc:"lowest current frequency of a busy workload CPU at the last sample"`
	FreqMaxMHz        float64  `json:"freq_max_mhz" doc:"highest current frequency of a busy workload CPU at the last sample"`
	MaxFreqMHz        float64  `json:"max_freq_mhz" doc:"largest frequency of the workload's CPUs"`
	FreqLimited       []int    `json:"freq_limited_cpus" doc:"workload CPUs whose scaling_max_freq is below what the hardware can"`
	FreqSpread        float64  `json:"freq_spread_share" doc:"spread of current frequencies of busy workload CPUs, share of the highest"`
	ThrottlesPerS     float64  `json:"throttles_per_s" doc:"thermal throttle events a second over the run, all CPUs; thermal_throttle"`
	ThrottleCPUs      []int    `json:"throttle_cpus" doc:"CPUs whose throttle counter moved over the run"`
	IdleDriver        string   `json:"idle_driver" doc:"cpuidle driver: intel_idle, acpi_idle, none ..."`
	IdleGovernor      string   `json:"idle_governor" doc:"cpuidle governor"`
	IdleKnown         bool     `json:"idle_known" doc:"cpuidle exists on this host"`
	DeepState         string   `json:"deep_state" doc:"deepest enabled idle state of the workload's CPUs (of all without a workload), by exit latency"`
	DeepLatencyUS     int      `json:"deep_latency_us" doc:"its exit latency"`
	AllowedLatencyUS  int      `json:"allowed_latency_us" doc:"exit latency of the deepest state that PM-QoS allows now"`
	DeepUsedState     string   `json:"deep_used_state" doc:"deepest state with an exit latency above 10 us that workload CPUs entered over the run; empty: none"`
	DeepUsedLatencyUS int      `json:"deep_used_latency_us" doc:"its exit latency"`
	DeepPerS          float64  `json:"deep_per_s" doc:"entries a second into states with an exit latency above 10 us, busiest workload CPU"`
	DeepCPUs          []int    `json:"deep_cpus" doc:"workload CPUs that entered such a state over the run"`
	IRQDeepPerS       float64  `json:"irq_deep_per_s" doc:"the same for the CPUs that take the workload's interrupts"`
	HostDeepState     string   `json:"host_deep_state" doc:"deepest enabled idle state of any CPU"`
	HostDeepLatencyUS int      `json:"host_deep_latency_us" doc:"its exit latency"`
	HostDeepPerS      float64  `json:"host_deep_per_s" doc:"entries a second into states with an exit latency above 10 us, busiest CPU of the host"`
	HostDeepUsed      string   `json:"host_deep_used_state" doc:"deepest state with an exit latency above 10 us that any CPU entered over the run; empty: none"`
	State3LatencyUS   int      `json:"state3_latency_us" doc:"exit latency of the idle state with index 3"`
	State3Name        string   `json:"state3_name" doc:"its name"`
	DMALatencyUS      int      `json:"dma_latency_us" doc:"request in force on /dev/cpu_dma_latency, microseconds; unknown when nobody holds it"`
	DMALatencyHeld    bool     `json:"dma_latency_held" doc:"some process holds /dev/cpu_dma_latency below 2000 s"`
	DMALatencyHolders []string `json:"dma_latency_holders" doc:"the processes that have it open: comm/pid"`
	SMIPerS           float64  `json:"smi_per_s" doc:"system management interrupts a second; turbostat"`
	SMICount          int      `json:"smi_count" doc:"system management interrupts over turbostat's interval, all CPUs"`
	UncoreDynamic     bool     `json:"uncore_dynamic" doc:"uncore frequency may vary: min below max; Intel"`
}

// Tuned is the tuned daemon.
type Tuned struct {
	Unknown      Unknown  `json:"-"`
	Active       bool     `json:"active" doc:"the daemon runs"`
	Profile      string   `json:"profile" doc:"active profile"`
	LowLatency   bool     `json:"low_latency_profile" doc:"network-latency, latency-performance, cpu-partitioning*, realtime*, openshift-node-performance*, sap-hana ..."`
	Throughput   bool     `json:"throughput_profile" doc:"a profile that asks for full speed: the above, throughput-performance, network-throughput, hpc-compute ..."`
	Saving       bool     `json:"saving_profile" doc:"balanced, powersave, desktop, virtual-guest and the like"`
	ForceLatency string   `json:"force_latency" doc:"[cpu] force_latency of the active profile"`
	Isolated     []int    `json:"isolated_cpus" doc:"isolated_cores of its variables"`
	OwnedKeys    []string `json:"owned_keys" doc:"section.key that the active profile sets"`
	NodeOperator bool     `json:"node_operator" doc:"the profile comes from the OpenShift node tuning operator"`
}

// Services is daemons that disturb or own settings.
type Services struct {
	Unknown         Unknown  `json:"-"`
	Monitors        []string `json:"monitors" doc:"running monitoring agents that read every CPU: node_exporter, turbostat, perf, collectd, telegraf ..."`
	CPUFreqMonitors []string `json:"cpufreq_monitors" doc:"of these, the ones that read cpufreq (node_exporter without --no-collector.cpufreq), MSRs or perf counters on every CPU"`
	MonitorsText    string   `json:"monitors_text" doc:"the same with pid and what they read"`
	SystemdAffinity []int    `json:"systemd_cpu_affinity" doc:"CPUAffinity= of systemd; empty: not set"`
	SystemdOnWL     []int    `json:"systemd_workload_cpus" doc:"data-path CPUs of the workload that services started by systemd may use"`
	Stalld          bool     `json:"stalld" doc:"stalld runs"`
	Auditd          bool     `json:"auditd" doc:"auditd runs"`
	Firewalls       []string `json:"firewalls" doc:"firewalls with rules or running"`
	Kubelet         bool     `json:"kubelet" doc:"kubelet runs"`
	PTP             bool     `json:"ptp" doc:"ptp4l, phc2sys or chronyd runs"`
	PowerDaemons    []string `json:"power_daemons" doc:"running daemons that set frequency or profiles: tuned, power-profiles-daemon, tlp, thermald ..."`
}

// Bios is firmware settings by vendor-neutral name and value (advisor/bios): from a dump of the attributes, else what the kernel
// shows of them; unknown where nothing shows a setting.
type Bios struct {
	Unknown       Unknown `json:"-"`
	Readable      bool    `json:"readable" doc:"a dump of the firmware settings was readable"`
	Vendor        string  `json:"vendor" doc:"dell, hpe, lenovo, supermicro, cisco ... by DMI; empty: other"`
	Profile       string  `json:"profile" doc:"system or workload profile"`
	ProfileSaving bool    `json:"profile_saving" doc:"the profile saves power: balanced, DAPC, OsDbpm, efficiency ..."`
	PowerMgmt     string  `json:"power_management" doc:"CPU power management"`
	CStates       string  `json:"c_states" doc:"C-states"`
	C1E           string  `json:"c1e" doc:"C1E"`
	Turbo         string  `json:"turbo" doc:"turbo or boost"`
	SMT           string  `json:"smt" doc:"SMT or Hyper-Threading"`
	SNC           string  `json:"snc" doc:"sub-NUMA clustering"`
	NPS           string  `json:"nps" doc:"NUMA nodes per socket"`
	L3AsNUMA      string  `json:"l3_as_numa" doc:"L3 as NUMA node"`
	Determinism   string  `json:"determinism" doc:"determinism slider"`
	APBDIS        string  `json:"apbdis" doc:"APBDIS or fixed SoC P-state"`
	DFCStates     string  `json:"df_c_states" doc:"data fabric C-states"`
	XGMIWidth     string  `json:"xgmi_width" doc:"xGMI link width management"`
	PreferredIO   string  `json:"preferred_io" doc:"preferred IO bus"`
	PreferredIOOn bool    `json:"preferred_io_on" doc:"a dump of the firmware settings has preferred IO switched on; false without a dump, as nothing else shows it"`
	ASPM          string  `json:"aspm" doc:"PCIe ASPM"`
	RelaxedOrder  string  `json:"relaxed_ordering" doc:"PCIe relaxed ordering"`
	IOMMU         string  `json:"iommu" doc:"IOMMU, VT-d, AMD-Vi"`
	Virtual       string  `json:"virtualization" doc:"CPU virtualisation"`
	X2APIC        string  `json:"x2apic" doc:"x2APIC"`
	SRIOV         string  `json:"sriov" doc:"SR-IOV"`
	Uncore        string  `json:"uncore" doc:"uncore frequency"`
	JitterControl string  `json:"jitter_control" doc:"HPE processor jitter control"`
	PatrolScrub   string  `json:"patrol_scrub" doc:"patrol scrubbing"`
	MemorySpeed   string  `json:"memory_speed" doc:"memory frequency"`
	LLCPrefetch   string  `json:"llc_prefetch" doc:"LLC prefetch"`
	SnoopedNPS    int     `json:"nps_seen" doc:"nodes per socket as the kernel sees them"`
	IndirectSlow  bool    `json:"indirect_saving" doc:"the OS sees what a power-saving profile leaves: deep idle states are offered and entered on workload CPUs, or busy CPUs stay below their base frequency"`
	IOMMUGroups   int     `json:"iommu_groups" doc:"IOMMU groups that the kernel made; 0: no IOMMU"`
}
