package facts

// IRQ is interrupts as a whole.
type IRQ struct {
	Unknown          Unknown `json:"-"`
	TotalPerS        float64 `json:"total_per_s" doc:"device interrupts a second on the host over the run"`
	WorkloadPerS     float64 `json:"workload_per_s" doc:"device interrupts a second on data-path CPUs of the workload"`
	WorkloadNICPerS  float64 `json:"workload_nic_per_s" doc:"of these, of network devices"`
	WorkloadOther    float64 `json:"workload_other_per_s" doc:"of these, of other devices"`
	WorkloadCPUs     []int   `json:"workload_cpus" doc:"data-path CPUs of the workload that device interrupts reached"`
	Moved            []int   `json:"moved" doc:"interrupts whose affinity changed between the samples"`
	EffectiveOutside []int   `json:"effective_outside" doc:"interrupts whose effective CPUs lie outside the ones asked for and that fired"`
	Unwritable       []int   `json:"managed" doc:"managed interrupts: writing their affinity fails with EIO by design"`
	DefaultAll       bool    `json:"default_affinity_all" doc:"default_smp_affinity names every online CPU"`
	MostCPU          int     `json:"busiest_cpu" doc:"CPU with the most device interrupts over the run"`
	MostShare        float64 `json:"busiest_cpu_share" doc:"its share of all device interrupts"`
}

// IRQDevice is one device that owns interrupts. Rates are over the run.
type IRQDevice struct {
	Unknown          Unknown `json:"-"`
	Name             string  `json:"name" doc:"interface, NVMe controller, else PCI address or action name"`
	Kind             string  `json:"kind" doc:"nic, nvme, other"`
	Driver           string  `json:"driver" doc:"driver of the device"`
	PCI              string  `json:"pci" doc:"PCI address; empty where the device has none"`
	Node             int     `json:"node" doc:"node of the device; unknown where sysfs says -1 or contradicts itself"`
	Workload         bool    `json:"workload" doc:"the workload uses this device"`
	KernelPath       bool    `json:"kernel_path" doc:"the workload receives through this device's interrupts: not a bypass workload"`
	IRQs             []int   `json:"irqs" doc:"its interrupts"`
	Queues           int     `json:"queues" doc:"its queue interrupts (not async, admin or configuration)"`
	PerS             float64 `json:"per_s" doc:"interrupts a second"`
	MaxQueuePerS     float64 `json:"max_queue_per_s" doc:"interrupts a second of its busiest interrupt"`
	Active           []int   `json:"active_irqs" doc:"interrupts that fired over the run"`
	WorkloadPerS     float64 `json:"workload_per_s" doc:"interrupts a second on data-path CPUs of the workload"`
	WorkloadIRQs     []int   `json:"workload_irqs" doc:"interrupts that fired there"`
	WorkloadCPUs     []int   `json:"workload_cpus" doc:"CPUs of the workload they fired on"`
	WorkloadQueueS   float64 `json:"workload_queue_per_s" doc:"workload_per_s without async, admin and configuration vectors"`
	AllowedWorkload  []int   `json:"allowed_workload_irqs" doc:"queue interrupts whose effective affinity holds a CPU of the workload, fired or not"`
	WorkloadMovable  bool    `json:"workload_movable" doc:"every interrupt in workload_irqs can be moved (not managed)"`
	OwnIO            bool    `json:"own_io" doc:"the workload itself submits to this device from these CPUs (block workload, or kernel sockets over it)"`
	SiblingPerS      float64 `json:"sibling_per_s" doc:"interrupts a second on SMT siblings of data-path CPUs"`
	SiblingIRQs      []int   `json:"sibling_irqs" doc:"interrupts that fired there"`
	SiblingCPUs      []int   `json:"sibling_cpus" doc:"the siblings they fired on"`
	RemoteShare      float64 `json:"remote_share" doc:"share of its interrupts that fired on another node than the device's"`
	RemoteCPUs       []int   `json:"remote_cpus" doc:"the CPUs they fired on"`
	BusiestCPU       int     `json:"busiest_cpu" doc:"CPU with most of its queue interrupts"`
	BusiestShare     float64 `json:"busiest_share" doc:"share of its queue interrupts on that CPU"`
	BusiestPerS      float64 `json:"busiest_per_s" doc:"its queue interrupts a second on that CPU"`
	BusiestBusy      float64 `json:"busiest_busy_share" doc:"busy share of that CPU over the run"`
	BusiestSoftirq   float64 `json:"busiest_softirq_share" doc:"share of that CPU's time in interrupts and softirqs"`
	CPUsHit          int     `json:"cpus_hit" doc:"CPUs that its queue interrupts fired on"`
	ActiveQueues     int     `json:"active_queues" doc:"queue interrupts that fired over the run"`
	AllOnOneCPU      bool    `json:"all_on_one_cpu" doc:"several queues fired, and more than 90 % on one CPU"`
	OneAffinity      bool    `json:"one_affinity" doc:"several queues, and the effective affinity of all of them is one and the same CPU"`
	IsolatedPerS     float64 `json:"isolated_per_s" doc:"interrupts a second on isolated CPUs"`
	IsolatedIRQs     []int   `json:"isolated_irqs" doc:"interrupts that fired there"`
	IsolatedCPUs     []int   `json:"isolated_cpus" doc:"isolated CPUs they fired on"`
	ManagedIRQs      []int   `json:"managed_irqs" doc:"its managed interrupts"`
	ManagedIsolated  []int   `json:"managed_isolated_irqs" doc:"managed interrupts that fired on an isolated CPU"`
	ManagedIsoPerS   float64 `json:"managed_isolated_per_s" doc:"their rate there"`
	HintMismatch     []int   `json:"hint_mismatch_irqs" doc:"interrupts whose effective CPU is not in the driver's affinity hint"`
	EffectiveOutside []int   `json:"effective_outside_irqs" doc:"interrupts whose effective CPUs are not a subset of the ones asked for"`
	Moved            []int   `json:"moved_irqs" doc:"interrupts whose affinity changed between the samples"`
	WriteEIO         []int   `json:"eio_irqs" doc:"interrupts that irqbalance could not move: Input/output error"`
	WriteEACCES      []int   `json:"eacces_irqs" doc:"interrupts that irqbalance could not move: Permission denied"`
	HandlerShare     float64 `json:"handler_share" doc:"time in its handlers on data-path CPUs, share of the workload's wall time; probes"`
	HandlerMaxUS     float64 `json:"handler_max_us" doc:"longest single handler run on a data-path CPU; probes"`
}

// IRQLine is one interrupt that matters.
type IRQLine struct {
	Unknown   Unknown `json:"-"`
	Number    int     `json:"number" doc:"interrupt number"`
	Name      string  `json:"name" doc:"action, such as mlx5_comp3@pci:0000:81:00.0"`
	Device    string  `json:"device" doc:"interface or controller that owns it"`
	Kind      string  `json:"kind" doc:"nic, nvme, other"`
	Role      string  `json:"role" doc:"rx, tx, txrx, async, admin, config; empty: not known from the name"`
	Queue     int     `json:"queue" doc:"queue number"`
	Managed   bool    `json:"managed" doc:"its affinity belongs to the kernel"`
	PerS      float64 `json:"per_s" doc:"interrupts a second over the run"`
	CPUs      []int   `json:"cpus" doc:"CPUs it fired on over the run"`
	OnWL      []int   `json:"workload_cpus" doc:"of these, data-path CPUs of the workload"`
	OnIso     []int   `json:"isolated_cpus" doc:"of these, isolated CPUs"`
	WLPerS    float64 `json:"workload_per_s" doc:"rate on data-path CPUs of the workload"`
	Affinity  []int   `json:"affinity" doc:"CPUs asked for; smp_affinity_list"`
	Effective []int   `json:"effective" doc:"CPUs in force; effective_affinity_list"`
	Moved     bool    `json:"moved" doc:"its affinity changed between the samples"`
	Outside   bool    `json:"effective_outside" doc:"effective is not a subset of affinity"`
}

// Irqbalance is the daemon with its configuration.
type Irqbalance struct {
	Unknown          Unknown  `json:"-"`
	Running          bool     `json:"running" doc:"the daemon runs"`
	Installed        bool     `json:"configured" doc:"a configuration file was found"`
	Version          string   `json:"version" doc:"irqbalance --version"`
	OneShot          bool     `json:"one_shot" doc:"it places once and ends"`
	BannedCPUsSet    bool     `json:"banned_cpus_set" doc:"IRQBALANCE_BANNED_CPUS (mask, deprecated) is set"`
	BannedListSet    bool     `json:"banned_list_set" doc:"IRQBALANCE_BANNED_CPULIST is set"`
	Banned           []int    `json:"banned_cpus" doc:"CPUs banned by hand"`
	BannedText       string   `json:"banned_text" doc:"the CPUs banned by hand, as list and mask"`
	ByHand           bool     `json:"banned_by_hand" doc:"one of the two variables is set, which switches the automatic ban of isolated CPUs off"`
	UnbannedIsolated []int    `json:"unbanned_isolated_cpus" doc:"isolated or tickless CPUs that a ban by hand leaves open"`
	NeedBan          []int    `json:"need_ban_cpus" doc:"what a complete ban by hand has to hold: banned CPUs with all isolated and tickless ones"`
	NeedBanText      string   `json:"need_ban_text" doc:"that set as list and mask"`
	UnbannedWorkload []int    `json:"unbanned_workload_cpus" doc:"data-path CPUs of the workload that neither a ban nor isolation protects"`
	Args             string   `json:"args" doc:"IRQBALANCE_ARGS"`
	LogErrors        []string `json:"log_errors" doc:"what it could not do, from its log"`
	EIO              []int    `json:"eio_irqs" doc:"interrupts it could not move: Input/output error (managed)"`
	EACCES           []int    `json:"eacces_irqs" doc:"interrupts it could not move: Permission denied (sandbox)"`
	MovedIRQs        []int    `json:"moved_irqs" doc:"interrupts whose affinity changed between the samples while it ran"`
	PodIRQsOff       []int    `json:"pod_cpus" doc:"CPUs of running containers with IRQ load balancing disabled"`
	StaleBan         []int    `json:"stale_ban_cpus" doc:"CPUs that the IRQ masks leave out although no running container owns them"`
	MissingBan       []int    `json:"missing_ban_cpus" doc:"CPUs of such containers that default_smp_affinity or the ban list still open"`
	SavedBan         string   `json:"saved_ban" doc:"ban list that the container runtime saved (orig_irq_banned_cpus)"`
	WantDefaultMask  string   `json:"want_default_mask" doc:"mask that default_smp_affinity should have for the containers that run"`
	WantBanMask      string   `json:"want_ban_mask" doc:"mask that the ban list should have for the containers that run"`
}

// Net is the network part of the kernel over the run.
type Net struct {
	Unknown         Unknown  `json:"-"`
	SqueezeShare    float64  `json:"squeeze_share" doc:"time_squeeze as a share of processed packets, on the worst CPU; softnet_stat"`
	SqueezePerS     float64  `json:"squeeze_per_s" doc:"time_squeeze a second on that CPU"`
	SqueezeCPU      int      `json:"squeeze_cpu" doc:"that CPU"`
	BacklogDropPerS float64  `json:"backlog_drop_per_s" doc:"packets dropped from the backlog a second, all CPUs; softnet_stat"`
	BacklogDropCPU  int      `json:"backlog_drop_cpu" doc:"CPU with most of these drops"`
	PacketsPerS     float64  `json:"packets_per_s" doc:"packets a second that NET_RX softirqs processed; softnet_stat"`
	RPSPerS         float64  `json:"rps_per_s" doc:"packets a second steered by RPS; softnet_stat received_rps"`
	SoftirqCPUs     []int    `json:"softirq_cpus" doc:"CPUs with more than 1000 NET_RX softirqs a second"`
	SoftirqBusyMax  float64  `json:"softirq_busy_max_share" doc:"largest share of one CPU's time in interrupts and softirqs over the run"`
	SoftirqBusyCPU  int      `json:"softirq_busiest_cpu" doc:"that CPU"`
	KsoftirqdOnWL   []int    `json:"ksoftirqd_workload_cpus" doc:"data-path CPUs of the workload where ksoftirqd took CPU time over the run"`
	KsoftirqdShare  float64  `json:"ksoftirqd_workload_share" doc:"largest share of one of these CPUs that ksoftirqd took"`
	KsoftirqdMax    float64  `json:"ksoftirqd_max_share" doc:"largest share of any CPU that ksoftirqd took"`
	UDPRcvbufPerS   float64  `json:"udp_rcvbuf_errors_per_s" doc:"UDP datagrams dropped a second because a socket buffer was full; /proc/net/snmp"`
	UDPErrorsPerS   float64  `json:"udp_in_errors_per_s" doc:"UDP datagrams that could not be delivered, a second; /proc/net/snmp"`
	TCPRetransPerS  float64  `json:"tcp_retransmits_per_s" doc:"TCP segments sent again, a second; /proc/net/snmp"`
	TCPQDropPerS    float64  `json:"tcp_receive_queue_drops_per_s" doc:"TCP segments dropped because the receive queue was full, a second; /proc/net/netstat"`
	ListenDropPerS  float64  `json:"listen_drops_per_s" doc:"connections dropped by full listen queues, a second; /proc/net/netstat"`
	Firewalls       []string `json:"firewalls" doc:"firewalls with rules or running: nftables, iptables, firewalld ..."`
	AmbiguousRoutes []string `json:"same_subnet_nics" doc:"interfaces that share a subnet with the local address of the workload"`
}
