package facts

// VMA is libvma and libxlio, the socket accelerators.
type VMA struct {
	Unknown        Unknown `json:"-"`
	Asked          bool    `json:"asked" doc:"LD_PRELOAD names libvma or libxlio"`
	Loaded         bool    `json:"loaded" doc:"the library is in use: banner in the output, mapped by the process, else LD_PRELOAD without an error"`
	Library        string  `json:"library" doc:"vma or xlio; empty: neither"`
	Version        string  `json:"version" doc:"version by the banner"`
	Spec           string  `json:"spec" doc:"VMA_SPEC or XLIO_SPEC; empty: not set"`
	LatencySpec    bool    `json:"latency_spec" doc:"the spec asks for latency: latency, 10, 29west, multi_ring_latency, ultra_latency ..."`
	InternalCPUs   []int   `json:"internal_cpus" doc:"VMA_INTERNAL_THREAD_AFFINITY, or CPU 0 under spec latency; unknown when not pinned"`
	InternalSet    bool    `json:"internal_set" doc:"VMA_INTERNAL_THREAD_AFFINITY is set"`
	InternalShares []int   `json:"internal_shared_cpus" doc:"CPUs that the internal thread shares with data threads"`
	InternalRemote bool    `json:"internal_remote" doc:"the internal thread is not on the interface's node"`
	InternalPin    bool    `json:"internal_pinned" doc:"the internal thread has one CPU"`
	ThreadMode     string  `json:"thread_mode" doc:"VMA_THREAD_MODE; 0 under spec latency; empty: default"`
	MemAlloc       string  `json:"mem_alloc_type" doc:"VMA_MEM_ALLOC_TYPE; empty: default"`
	RXPoll         string  `json:"rx_poll" doc:"VMA_RX_POLL; empty: default"`
	SelectPoll     string  `json:"select_poll" doc:"VMA_SELECT_POLL; empty: default"`
	Stats          bool    `json:"stats" doc:"vma_stats or xlio_stats output with sockets was readable"`
	OffloadedPkts  float64 `json:"offloaded_packets" doc:"packets that bypassed the kernel, between the samples (else of the process's life), sent and received"`
	OSPkts         float64 `json:"os_packets" doc:"packets that went through the kernel, as above"`
	NotOffloaded   bool    `json:"not_offloaded" doc:"packets went through the kernel and none were offloaded"`
	PartlyOff      bool    `json:"partly_offloaded" doc:"both kinds of packets, and the kernel's are more than 1 %"`
	PollHit        float64 `json:"poll_hit_share" doc:"polls that found a packet; vma_stats"`
	RouteNIC       string  `json:"route_nic" doc:"interface of the route to the peer"`
	RouteOther     bool    `json:"route_other_nic" doc:"the route to the peer leaves by another interface than the one with the workload's own address, or by one that cannot be offloaded"`
	Offloadable    string  `json:"offloadable_nics" doc:"interfaces that can be offloaded (mlx5, mlx4), with link"`
	NICCapable     bool    `json:"nic_capable" doc:"an interface of the workload has driver mlx5_core or mlx4_en"`
	DroppedSQ      float64 `json:"tx_dropped_send_requests" doc:"send requests dropped because the send queue was exhausted, over the run (else in total: xlio_stats TX Dropped Send Reqs)"`
	DroppedKnown   bool    `json:"tx_dropped_in_run" doc:"that number grew over the run"`
	Connections    int     `json:"connections" doc:"sockets or connections of the run, by statistics or argv"`
	CQModeration   bool    `json:"cq_moderation" doc:"XLIO_CQ_MODERATION_ENABLE or AIM is on"`
	CQModerationBy string  `json:"cq_moderation_text" doc:"what says so"`
	PacketBytes    float64 `json:"mean_packet_bytes" doc:"mean size of offloaded sent packets, bytes; statistics"`
	SmallPayload   bool    `json:"small_payload" doc:"mean_packet_bytes is below 1000"`
	NoHugepages    bool    `json:"hugepage_warning" doc:"the library said that huge pages are missing"`
	MemlockWarning bool    `json:"memlock_warning" doc:"the library said that locked memory is limited"`
	NoRawQP        bool    `json:"raw_qp_warning" doc:"the library may not use raw queue pairs"`
	BondProblem    bool    `json:"bond_warning" doc:"the library does not offload a bond"`
	TimerMS        string  `json:"timer_msec" doc:"VMA_TIMER_RESOLUTION_MSEC; empty: default"`
}

// Sockperf is what argv of sockperf says.
type Sockperf struct {
	Unknown      Unknown `json:"-"`
	FullRTT      bool    `json:"full_rtt" doc:"--full-rtt"`
	Nonblocked   bool    `json:"nonblocked" doc:"--nonblocked"`
	LLS          bool    `json:"lls" doc:"--lls: SO_BUSY_POLL"`
	NoRDTSC      bool    `json:"no_rdtsc" doc:"--no-rdtsc"`
	FullLog      bool    `json:"full_log" doc:"--full-log"`
	MPS          string  `json:"mps" doc:"--mps; empty: default"`
	Feed         bool    `json:"feed_file" doc:"-f: several sockets"`
	Threads      int     `json:"threads_num" doc:"--threads-num; 1 by default"`
	SenderCPUs   []int   `json:"sender_cpus" doc:"--sender-affinity"`
	ReceiverCPUs []int   `json:"receiver_cpus" doc:"--receiver-affinity"`
	CoresNeeded  int     `json:"cores_needed" doc:"cores that its threads need: sender, receiver, VMA internal thread"`
	CoresShort   bool    `json:"cores_short" doc:"it may use fewer cores than that"`
}

// DPDK is EAL arguments and what pktgen and testpmd make of them.
type DPDK struct {
	Unknown        Unknown  `json:"-"`
	Lcores         []int    `json:"lcore_cpus" doc:"CPUs of all lcores; empty: EAL takes every CPU"`
	LcoresSet      bool     `json:"lcores_set" doc:"argv names the lcores"`
	MainLcore      int      `json:"main_lcore" doc:"main lcore: --main-lcore, else the lowest id"`
	MainFixed      bool     `json:"main_lcore_fixed" doc:"--main-lcore is given"`
	MainInMap      bool     `json:"main_lcore_in_map" doc:"the main lcore is also a port's lcore"`
	MaxLcore       int      `json:"max_lcore_id" doc:"largest lcore id"`
	Remapped       bool     `json:"lcores_remapped" doc:"--lcores maps ids to other CPUs, or -R is given"`
	SocketMem      []int    `json:"socket_mem_mb" doc:"--socket-mem by node, MB; empty: not given"`
	SocketMemText  string   `json:"socket_mem_text" doc:"--socket-mem as given; empty: not given"`
	SocketMemZero  []int    `json:"socket_mem_zero_nodes" doc:"nodes with an interface or data lcore that get nothing by --socket-mem"`
	SocketMemExtra []int    `json:"socket_mem_unused_nodes" doc:"nodes that get memory by --socket-mem without an interface or data lcore"`
	SocketMemFix   string   `json:"socket_mem_fixed" doc:"--socket-mem with the values on the right nodes"`
	NoHuge         bool     `json:"no_huge" doc:"--no-huge"`
	Allow          []string `json:"allow" doc:"PCI devices of -a"`
	AllowSet       bool     `json:"allow_set" doc:"-a is given"`
	Devargs        []string `json:"devargs" doc:"device arguments behind the addresses"`
	DevargsDefault bool     `json:"devargs_default" doc:"no device has arguments"`
	MPRQ           bool     `json:"mprq" doc:"mprq_en=1"`
	FilePrefix     string   `json:"file_prefix" doc:"--file-prefix"`
	PortsKnown     bool     `json:"ports_known" doc:"which lcore serves which port is known"`
	Ports          int      `json:"ports" doc:"ports used"`
	RxCPUs         []int    `json:"rx_cpus" doc:"CPUs that receive"`
	TxCPUs         []int    `json:"tx_cpus" doc:"CPUs that send"`
	BothCPUs       []int    `json:"rx_tx_cpus" doc:"CPUs that receive and send"`
	TxPerPort      int      `json:"tx_lcores_per_port" doc:"fewest transmit lcores of a port"`
	RxPerPort      int      `json:"rx_lcores_per_port" doc:"fewest receive lcores of a port"`
	RemotePorts    []string `json:"remote_port_cores" doc:"ports with lcores on another node: port 0: 1-4"`
	RxQueues       int      `json:"rx_queues" doc:"receive queues of a port: --rxq, or receive lcores"`
	TxQueues       int      `json:"tx_queues" doc:"transmit queues of a port"`
	QueuesOverRx   bool     `json:"more_rx_queues_than_cores" doc:"more receive queues than cores that receive"`
	NbCores        int      `json:"nb_cores" doc:"testpmd --nb-cores"`
	ForwardMode    string   `json:"forward_mode" doc:"testpmd --forward-mode"`
	RxDesc         int      `json:"rx_descriptors" doc:"receive descriptors by argv"`
	TxDesc         int      `json:"tx_descriptors" doc:"transmit descriptors by argv"`
	Mbufs          int      `json:"mbufs" doc:"mbufs asked for by argv"`
	MbufsNeeded    int      `json:"mbufs_needed" doc:"1.5 x (rx + tx descriptors + cache + burst) x queues x ports"`
	MbufsShort     bool     `json:"mbufs_short" doc:"mbufs is below mbufs_needed"`
	PCAP           bool     `json:"pcap" doc:"pktgen -s: sends a capture file"`
	Promiscuous    bool     `json:"promiscuous" doc:"pktgen -P, testpmd default"`
	NUMAOff        bool     `json:"numa_off" doc:"testpmd --no-numa"`
	UserDriverNICs []string `json:"mlx5_bound_away" doc:"NVIDIA adapters of the workload that are bound to a user-space driver or to none: mlx5 needs mlx5_core"`
	KernelBound    []string `json:"kernel_bound" doc:"other adapters of the workload that are still bound to their kernel driver"`
	StartFailed    bool     `json:"start_failed" doc:"EAL or a port did not start"`
	MempoolFailed  bool     `json:"mempool_failed" doc:"a packet buffer pool could not be made"`
	MempoolNode    int      `json:"mempool_failed_node" doc:"node of that pool"`
}

// Doca is what argv of doca_bench says.
type Doca struct {
	Unknown       Unknown  `json:"-"`
	Device        string   `json:"device" doc:"--device"`
	DeviceKnown   bool     `json:"device_found" doc:"this host has that device"`
	Mode          string   `json:"mode" doc:"throughput, bulk-latency or precision-latency"`
	CoreSet       bool     `json:"cores_set" doc:"--core-mask, --core-list or --core-count is given"`
	CoreMask      string   `json:"core_mask" doc:"--core-mask; empty: not given"`
	MaskOver31    bool     `json:"mask_beyond_31" doc:"--core-mask is given and the CPUs wanted (or those of the device's node) lie above 31"`
	CoreCount     int      `json:"core_count" doc:"cores used"`
	UsesCPU0      bool     `json:"uses_cpu0" doc:"CPU 0 is in the core set"`
	ThreadsPer    int      `json:"threads_per_core" doc:"--threads-per-core; 1 by default"`
	JobBytes      int      `json:"job_bytes" doc:"job or buffer size; unknown when the default is used"`
	JobSizeSet    bool     `json:"job_size_set" doc:"a job or buffer size is given"`
	WarmupJobs    int      `json:"warm_up_jobs" doc:"--warm-up-jobs; unknown when the default is used"`
	WarmupZero    bool     `json:"warm_up_off" doc:"--warm-up-jobs 0"`
	Steps         []string `json:"steps" doc:"--pipeline-steps"`
	StepCount     int      `json:"step_count" doc:"number of steps"`
	Remote        bool     `json:"remote" doc:"it needs a companion: rdma, eth or remote buffers"`
	Companion     bool     `json:"companion" doc:"--companion-connection-string is given"`
	Unsupported   []string `json:"unsupported_steps" doc:"steps that the device does not have, by the support matrix"`
	DeviceModel   string   `json:"device_model" doc:"bf2, bf3, cx7, cx8 ... by PCI device id"`
	CoresScaled   bool     `json:"scaling_known" doc:"results for several core counts exist"`
	SaturatedAt   int      `json:"saturated_at_cores" doc:"fewest cores with 95 % of the best rate"`
	OverSaturated bool     `json:"beyond_saturation" doc:"it uses more cores than that"`
	Default       bool     `json:"default_core" doc:"no core option: it runs on one default core"`
}

// Storage is NVMe, NVMe-oF, SPDK and fio.
type Storage struct {
	Unknown       Unknown `json:"-"`
	Engine        string  `json:"engine" doc:"fio ioengine, or spdk"`
	SPDK          bool    `json:"spdk" doc:"an SPDK program"`
	ReactorCPUs   []int   `json:"reactor_cpus" doc:"CPUs of SPDK reactors (-m)"`
	ReactorCPU0   bool    `json:"reactor_cpu0" doc:"CPU 0 is among them"`
	ReactorRemote []int   `json:"reactor_remote_cpus" doc:"reactors on neither an interface's nor a drive's node"`
	NICNodes      []int   `json:"nic_nodes" doc:"nodes of the interfaces used"`
	NVMeNodes     []int   `json:"nvme_nodes" doc:"nodes of the drives used"`
	NodesDiffer   bool    `json:"nic_nvme_differ" doc:"interfaces and drives are on different nodes"`
	BlockBytes    int     `json:"block_bytes" doc:"block size by argv"`
	Depth         int     `json:"depth" doc:"queue depth by argv"`
	Jobs          int     `json:"jobs" doc:"fio numjobs"`
	Direction     string  `json:"direction" doc:"read, write, randread, randrw ..."`
	Hipri         bool    `json:"polled_io" doc:"io_uring hipri or iopoll asked for"`
	PollQueues    int     `json:"poll_queues" doc:"nvme poll queues of the controllers used"`
	Fabrics       string  `json:"fabrics" doc:"transport of the controllers used: pcie, tcp, rdma"`
	KernelTarget  bool    `json:"kernel_nvmet" doc:"module nvmet is loaded"`
	KernelTCP     bool    `json:"kernel_nvme_tcp" doc:"module nvme_tcp or nvmet_tcp is loaded and in use"`
	Multipath     string  `json:"iopolicy" doc:"native multipath policy"`
	InterruptMode bool    `json:"spdk_interrupt_mode" doc:"SPDK --interrupt-mode or a dynamic scheduler"`
	CPUBound      bool    `json:"fio_cpu_bound" doc:"a fio job uses 95 % of a CPU without polling"`
}

// NVMe is one controller. Rates are over the run.
type NVMe struct {
	Unknown       Unknown  `json:"-"`
	Name          string   `json:"name" doc:"nvme0"`
	Transport     string   `json:"transport" doc:"pcie, tcp, rdma, loop"`
	Model         string   `json:"model" doc:"model"`
	Firmware      string   `json:"firmware" doc:"firmware revision"`
	PCI           string   `json:"pci" doc:"PCI address"`
	Node          int      `json:"node" doc:"NUMA node"`
	Workload      bool     `json:"workload" doc:"the workload uses it"`
	Queues        int      `json:"queues" doc:"I/O queues"`
	PollQueues    int      `json:"poll_queues" doc:"poll queues"`
	Disks         []string `json:"disks" doc:"its block devices"`
	Scheduler     string   `json:"scheduler" doc:"I/O scheduler of its first disk"`
	RQAffinity    int      `json:"rq_affinity" doc:"rq_affinity of its first disk"`
	IRQPerS       float64  `json:"irq_per_s" doc:"interrupts a second"`
	RemoteCPUs    []int    `json:"remote_cpus" doc:"data-path CPUs of the workload on other nodes"`
	PCIeGbps      float64  `json:"pcie_gbps" doc:"capacity of its link, Gb/s"`
	SpeedDegraded bool     `json:"pcie_speed_degraded" doc:"trained slower than card and slot both allow"`
	WidthDegraded bool     `json:"pcie_width_degraded" doc:"trained narrower than card and slot both allow"`
	AERPerS       float64  `json:"aer_correctable_per_s" doc:"correctable PCIe errors a second"`
	IOMMUType     string   `json:"iommu_type" doc:"identity, DMA, DMA-FQ or none"`
}

// Plan is the recommended placement, as texts that can be pasted. An element that the plan does not give is unknown.
type Plan struct {
	Unknown          Unknown `json:"-"`
	Housekeeping     []int   `json:"housekeeping_cpus" doc:"CPUs for everything else"`
	HousekeepingList string  `json:"housekeeping_list" doc:"the same as list"`
	IRQ              []int   `json:"irq_cpus" doc:"CPUs for interrupts"`
	IRQList          string  `json:"irq_list" doc:"the same as list"`
	Isolated         []int   `json:"isolated_cpus" doc:"CPUs to isolate"`
	IsolatedList     string  `json:"isolated_list" doc:"the same as list"`
	Workload         []int   `json:"workload_cpus" doc:"CPUs for the workload's data threads"`
	WorkloadList     string  `json:"workload_list" doc:"the same as list"`
	WorkloadCommas   string  `json:"workload_commas" doc:"the same with every CPU by itself"`
	ControlList      string  `json:"control_list" doc:"CPUs for its control threads"`
	Node             int     `json:"node" doc:"node of the interface that the plan is for"`
	NodeText         string  `json:"node_text" doc:"how that node was found"`
	IRQQueues        int     `json:"irq_queues" doc:"physical cores in irq_cpus: how many queues the interface needs"`
	Current          string  `json:"current" doc:"how the present placement differs; empty: it is right already"`
	Optional         bool    `json:"optional" doc:"no finding asks for it"`
	Limited          string  `json:"limited" doc:"why no command line or IRQ plan is given; empty: it is"`
	Steps            string  `json:"steps" doc:"compromises that it had to make"`
	Taskset          string  `json:"taskset" doc:"taskset prefix"`
	Numactl          string  `json:"numactl" doc:"numactl and taskset prefix"`
	Command          string  `json:"command" doc:"the workload's own command line with the planned cores"`
	EAL              string  `json:"eal" doc:"EAL arguments"`
	SocketMem        string  `json:"socket_mem" doc:"value of --socket-mem"`
	PktgenMap        string  `json:"pktgen_map" doc:"pktgen -m"`
	Pktgen           string  `json:"pktgen" doc:"pktgen arguments"`
	Testpmd          string  `json:"testpmd" doc:"testpmd arguments"`
	DocaBench        string  `json:"doca_bench" doc:"doca_bench with its prefix"`
	VMA              string  `json:"vma" doc:"VMA_INTERNAL_THREAD_AFFINITY=..."`
	XLIO             string  `json:"xlio" doc:"XLIO_INTERNAL_THREAD_AFFINITY=..."`
	Sockperf         string  `json:"sockperf" doc:"sockperf with its prefix and environment"`
	OVS              string  `json:"ovs" doc:"ovs-vsctl masks"`
	SPDK             string  `json:"spdk" doc:"SPDK -m"`
	Fio              string  `json:"fio" doc:"fio cpus_allowed"`
	Cmdline          string  `json:"cmdline" doc:"kernel command line arguments to set"`
	CmdlineMerged    string  `json:"cmdline_merged" doc:"the whole kernel command line with them"`
	Tuned            string  `json:"tuned" doc:"tuned variables"`
	Systemd          string  `json:"systemd" doc:"systemd's own CPUAffinity="`
	SystemdUnit      string  `json:"systemd_unit" doc:"unit of the workload: CPUAffinity= and NUMAPolicy="`
	Cpuset           string  `json:"cpuset" doc:"steps that make a cgroup v2 isolated partition"`
	IrqbalanceBan    string  `json:"irqbalance" doc:"IRQBALANCE_BANNED_CPULIST"`
	IRQAffinity      string  `json:"irq_affinity" doc:"command that places an interrupt (N is its number)"`
	IRQDefault       string  `json:"irq_default" doc:"command that sets default_smp_affinity"`
	NICQueues        string  `json:"nic_queues" doc:"ethtool -L"`
	Workqueue        string  `json:"workqueue" doc:"command that sets the workqueue mask"`
	Watchdog         string  `json:"watchdog" doc:"command that sets the watchdog mask"`
	Kubelet          string  `json:"kubelet" doc:"kubelet reserved CPUs"`
	PerfProfile      string  `json:"performance_profile" doc:"OpenShift PerformanceProfile"`
}
