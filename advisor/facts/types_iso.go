package facts

// Iso is isolation: which CPUs the scheduler leaves alone, and what reaches them all the same.
type Iso struct {
	Unknown            Unknown  `json:"-"`
	CPUs               []int    `json:"cpus" doc:"isolated CPUs: sysfs cpu/isolated and cgroup isolated partitions"`
	Count              int      `json:"count" doc:"number of isolated CPUs"`
	Share              float64  `json:"share" doc:"isolated CPUs as a share of the online ones"`
	DomainCPUs         []int    `json:"domain_cpus" doc:"of these, CPUs outside load balancing (isolcpus with domain, isolated partition)"`
	PartitionCPUs      []int    `json:"partition_cpus" doc:"CPUs of cgroup partitions of type isolated"`
	NohzFullCPUs       []int    `json:"nohz_full_cpus" doc:"tickless CPUs; sysfs cpu/nohz_full"`
	Protected          []int    `json:"protected_cpus" doc:"isolated or tickless CPUs together"`
	Sources            []string `json:"sources" doc:"where the isolation comes from: isolcpus, nohz_full, partition"`
	Housekeeping       []int    `json:"housekeeping_cpus" doc:"online CPUs that are not isolated"`
	HousekeepingMask   string   `json:"housekeeping_mask" doc:"the same as hexadecimal mask, in groups of 32 bits"`
	HousekeepingCores  int      `json:"housekeeping_cores" doc:"physical cores of housekeeping"`
	HousekeepingBusy   float64  `json:"housekeeping_busy_share" doc:"mean busy share of housekeeping CPUs over the run; /proc/stat"`
	HousekeepingMax    float64  `json:"housekeeping_busy_max_share" doc:"busy share of the busiest housekeeping CPU over the run"`
	HousekeepingMaxCPU int      `json:"housekeeping_busiest_cpu" doc:"that CPU"`
	HousekeepingSmall  bool     `json:"housekeeping_small" doc:"less than one housekeeping core for 16 online cores"`
	HousekeepingSqueez float64  `json:"housekeeping_squeeze_per_s" doc:"softnet time_squeeze a second on housekeeping CPUs"`
	NodesWithout       []int    `json:"nodes_without_housekeeping" doc:"nodes whose online CPUs are all isolated (single-core nodes are left out where L3 is NUMA)"`
	WorkloadOutside    []int    `json:"workload_outside_cpus" doc:"data-path CPUs of the workload that are neither isolated nor of an exclusive cpuset"`
	WorkloadInside     []int    `json:"workload_inside_cpus" doc:"data-path CPUs of the workload that are isolated"`
	Unused             []int    `json:"unused_cpus" doc:"isolated CPUs without a workload thread, SMT siblings of workload CPUs left out"`
	NotTickless        []int    `json:"workload_not_nohz_full_cpus" doc:"data-path CPUs of the workload that are not tickless"`
	NocbMissing        []int    `json:"workload_not_nocb_cpus" doc:"data-path CPUs of the workload covered by neither nohz_full nor rcu_nocbs"`
	DefaultIRQMask     []int    `json:"default_irq_cpus" doc:"/proc/irq/default_smp_affinity"`
	DefaultIRQOnIso    []int    `json:"default_irq_isolated_cpus" doc:"isolated CPUs in it"`
	IRQPerS            float64  `json:"irq_per_s" doc:"device interrupts a second on all isolated CPUs together"`
	IRQCPUs            []int    `json:"irq_cpus" doc:"isolated CPUs that device interrupts reached over the run"`
	ManagedIRQPerS     float64  `json:"managed_irq_per_s" doc:"of these, managed interrupts"`
	ManagedIRQs        []int    `json:"managed_irqs" doc:"managed interrupts that fired on an isolated CPU over the run"`
	TickPerSMax        float64  `json:"tick_per_s_max" doc:"most local timer interrupts a second on one isolated CPU"`
	TimerSoftirqMax    float64  `json:"timer_softirq_per_s_max" doc:"most TIMER softirqs a second on one isolated CPU"`
	TimerSoftirqCPUs   []int    `json:"timer_softirq_cpus" doc:"isolated CPUs with more than 10 TIMER softirqs a second"`
	CallIPIMax         float64  `json:"call_ipi_per_s_max" doc:"most function-call interrupts a second on one isolated CPU"`
	CallIPICPUs        []int    `json:"call_ipi_cpus" doc:"isolated CPUs with more than one function-call interrupt in 10 s"`
	TLBIPIMax          float64  `json:"tlb_ipi_per_s_max" doc:"most TLB shootdowns a second on one isolated CPU"`
	ReschedIPIMax      float64  `json:"resched_ipi_per_s_max" doc:"most reschedule interrupts a second on one isolated CPU"`
	CgroupLimited      bool     `json:"cgroup_limited" doc:"the workload's cpuset holds fewer CPUs than are online"`
	Partition          string   `json:"partition" doc:"cpuset partition type of the workload's cgroup: member, root, isolated"`
}

// CPUState is one CPU of the workload, or one isolated CPU: what it is and what happened on it over the run.
type CPUState struct {
	Unknown          Unknown  `json:"-"`
	CPU              int      `json:"cpu" doc:"CPU number"`
	Node             int      `json:"node" doc:"NUMA node of the CPU"`
	Role             string   `json:"role" doc:"roles of the workload's threads on it: rx, tx, worker ...; empty: none"`
	Data             bool     `json:"data" doc:"a data-path thread of the workload uses it"`
	Online           bool     `json:"online" doc:"it is online"`
	Boot             bool     `json:"boot" doc:"it is the boot CPU"`
	BootSibling      bool     `json:"boot_sibling" doc:"it is an SMT sibling of the boot CPU"`
	Isolated         bool     `json:"isolated" doc:"isolated by isolcpus or a partition"`
	Domain           bool     `json:"domain" doc:"outside load balancing"`
	Exclusive        bool     `json:"exclusive" doc:"in an exclusive cpuset of the workload (isolated partition, CPU manager)"`
	NohzFull         bool     `json:"nohz_full" doc:"tickless"`
	NIC              bool     `json:"nic_local" doc:"on the node of an interface of the workload"`
	Siblings         []int    `json:"siblings" doc:"its online SMT siblings, without itself"`
	SiblingWorkload  bool     `json:"sibling_workload" doc:"a data-path thread of the workload also uses a sibling"`
	SiblingBusy      float64  `json:"sibling_busy_share" doc:"largest busy share of its siblings over the run; /proc/stat"`
	SiblingIRQPerS   float64  `json:"sibling_irq_per_s" doc:"device interrupts a second on its siblings"`
	SiblingIRQs      []int    `json:"sibling_irqs" doc:"interrupts that fired on its siblings more than 10 times a second"`
	Threads          int      `json:"threads" doc:"threads of the workload whose only allowed CPU it is"`
	DataThreads      int      `json:"data_threads" doc:"of these (or by argv), data-path threads"`
	Busy             float64  `json:"busy_share" doc:"busy share over the run; /proc/stat"`
	Steal            float64  `json:"steal_share" doc:"time taken by the hypervisor, share; /proc/stat"`
	SoftirqShare     float64  `json:"softirq_share" doc:"time in softirq and irq, share; /proc/stat"`
	TickPerS         float64  `json:"tick_per_s" doc:"local timer interrupts a second; /proc/interrupts"`
	ReschedPerS      float64  `json:"resched_ipi_per_s" doc:"reschedule interrupts a second"`
	CallPerS         float64  `json:"call_ipi_per_s" doc:"function-call interrupts a second"`
	TLBPerS          float64  `json:"tlb_ipi_per_s" doc:"TLB shootdowns a second; unknown on Arm"`
	NMIPerS          float64  `json:"nmi_per_s" doc:"non-maskable interrupts a second"`
	MCEPollPerS      float64  `json:"mce_poll_per_s" doc:"machine-check polls a second"`
	TimerSoftirqPerS float64  `json:"timer_softirq_per_s" doc:"TIMER softirqs a second; /proc/softirqs"`
	RCUSoftirqPerS   float64  `json:"rcu_softirq_per_s" doc:"RCU softirqs a second"`
	SchedSoftirqPerS float64  `json:"sched_softirq_per_s" doc:"SCHED softirqs a second"`
	NetRxSoftirqPerS float64  `json:"net_rx_softirq_per_s" doc:"NET_RX softirqs a second"`
	IRQPerS          float64  `json:"irq_per_s" doc:"device interrupts a second"`
	NICIRQPerS       float64  `json:"nic_irq_per_s" doc:"of these, of network devices"`
	OtherIRQPerS     float64  `json:"other_irq_per_s" doc:"of these, of other devices"`
	IRQs             []int    `json:"irqs" doc:"interrupts that fired on it over the run"`
	Governor         string   `json:"governor" doc:"cpufreq governor"`
	EPP              string   `json:"epp" doc:"energy_performance_preference"`
	FreqMHz          float64  `json:"freq_mhz" doc:"current frequency at the last sample"`
	MaxFreqMHz       float64  `json:"max_freq_mhz" doc:"largest frequency that policy allows"`
	DeepState        string   `json:"deep_state" doc:"deepest enabled idle state by latency"`
	DeepLatencyUS    int      `json:"deep_latency_us" doc:"exit latency of the deepest state that may be entered now, after the PM-QoS limits"`
	DeepUsedState    string   `json:"deep_used_state" doc:"deepest state with latency above 10 us that was entered over the run; empty: none"`
	DeepUsedLatency  int      `json:"deep_used_latency_us" doc:"its exit latency"`
	DeepPerS         float64  `json:"deep_per_s" doc:"entries a second into states with a latency above 10 us"`
	Preemptions      int      `json:"preemptions" doc:"times that another task ran in place of the workload; probes"`
	PreemptShare     float64  `json:"preempt_share" doc:"time that other tasks took from the workload, share of the wall time; probes"`
	Preemptors       []string `json:"preemptors" doc:"their names; probes"`
	IRQShare         float64  `json:"irq_time_share" doc:"time in interrupts, softirqs and IPIs taken from the workload, share of wall time; probes"`
}
