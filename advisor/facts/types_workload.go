package facts

// WL is the workload: what argv says, overruled by what ran.
type WL struct {
	Unknown    Unknown `json:"-"`
	Present    bool    `json:"present" doc:"there is a workload (a command, a transcript or a process); false in an audit"`
	Goal       string  `json:"goal" doc:"latency, throughput or auto: as asked, else the workload's natural one"`
	Kind       string  `json:"kind" doc:"sockperf, pktgen, testpmd, doca_bench, fio, perftest, iperf3, oslat ... or generic"`
	Mode       string  `json:"mode" doc:"ping-pong, under-load, throughput, server; txonly, rxonly, io ..."`
	Program    string  `json:"program" doc:"name of the program without its directory"`
	Command    string  `json:"command" doc:"its command line, wrappers taken off"`
	Typed      string  `json:"typed" doc:"the whole command line, as typed"`
	DataPath   string  `json:"data_path" doc:"kernel, bypass, storage, cpu"`
	Bypass     bool    `json:"bypass" doc:"packets do not go through the kernel: DPDK, VMA, XLIO, SPDK, verbs; for VMA and XLIO it must really be loaded"`
	Kernel     bool    `json:"kernel_sockets" doc:"packets go through kernel sockets"`
	PollMode   bool    `json:"poll_mode" doc:"its data threads poll: 100 % CPU is normal"`
	BusyData   bool    `json:"latency_or_polling" doc:"the goal is latency, or its data threads poll"`
	UsesRDMA   bool    `json:"rdma" doc:"RDMA verbs: perftest, NVMe-oF over RDMA, doca rdma"`
	DPDK       bool    `json:"dpdk" doc:"a DPDK program"`
	Storage    bool    `json:"storage" doc:"a storage workload"`
	Server     bool    `json:"server" doc:"the receiving or serving side"`
	Peer       string  `json:"peer" doc:"address of the other end"`
	Local      string  `json:"local" doc:"own address, by argv or by the route to the peer"`
	RouteNIC   string  `json:"route_nic" doc:"interface of the route to the peer"`
	Loopback   bool    `json:"loopback" doc:"the peer is an address of this host"`
	DurationS  float64 `json:"duration_s" doc:"duration asked for, seconds"`
	SizeBytes  int     `json:"size_bytes" doc:"message, frame or block size asked for"`
	RatePPS    float64 `json:"rate_pps" doc:"messages or packets a second asked for"`
	Flows      int     `json:"flows" doc:"flows asked for"`
	SingleFlow bool    `json:"single_flow" doc:"one flow by argv or by design (sockperf without -f, pktgen with one 5-tuple)"`
	Depth      int     `json:"depth" doc:"outstanding requests asked for"`
	Proto      string  `json:"proto" doc:"udp, tcp, rc, ud ..."`

	Running       bool    `json:"running" doc:"its process was found on the host"`
	PID           int     `json:"pid" doc:"that process"`
	NotRunningWhy string  `json:"not_running_text" doc:"why its threads are not known"`
	CPUSource     string  `json:"cpu_source" doc:"what the CPUs below come from: probes, process, argv, wrapper, none"`
	Threads       int     `json:"threads" doc:"its threads"`
	DataThreads   int     `json:"data_threads" doc:"its threads on the data path"`
	CPUs          []int   `json:"cpus" doc:"CPUs of its data-path threads: where they ran (probes), else may run (pinned masks), else as argv says; empty when it may run anywhere"`
	CPUsKnown     bool    `json:"cpus_known" doc:"the data path is confined to known CPUs"`
	AllCPUs       []int   `json:"all_cpus" doc:"CPUs of all its threads, control threads too"`
	ControlCPUs   []int   `json:"control_cpus" doc:"CPUs of its control threads: main lcore, VMA internal thread, display"`
	ArgvCPUs      []int   `json:"argv_cpus" doc:"CPUs that argv and wrappers ask for"`
	Allowed       []int   `json:"allowed_cpus" doc:"union of the masks of its data-path threads"`
	Offline       []int   `json:"offline_cpus" doc:"CPUs asked for that are not online"`
	Nodes         []int   `json:"nodes" doc:"NUMA nodes of its data-path CPUs"`
	Sockets       []int   `json:"sockets" doc:"packages of its data-path CPUs"`
	SpansNodes    bool    `json:"spans_nodes" doc:"its data path uses CPUs of more than one node, not counting near ones of the same package"`
	NearNodes     bool    `json:"spans_near_nodes" doc:"its data path uses CPUs of several nodes of one package"`
	Cores         int     `json:"cores" doc:"physical cores of its data-path CPUs"`
	L3Domains     int     `json:"l3_domains" doc:"level-3 domains of its data-path CPUs"`
	L3Fits        bool    `json:"fits_one_l3" doc:"all its data threads would fit into one level-3 domain of the node, one to a core"`
	BootCPU       bool    `json:"uses_boot_cpu" doc:"a data-path thread uses the boot CPU"`
	BootSibling   bool    `json:"uses_boot_sibling" doc:"a data-path thread uses an SMT sibling of the boot CPU"`
	Pinned        bool    `json:"pinned" doc:"every data-path thread has one allowed CPU"`
	Unpinned      int     `json:"unpinned_threads" doc:"data-path threads that may run on more than one CPU"`
	UnpinnedText  string  `json:"unpinned_text" doc:"their names, numbers and masks"`
	AnyCPU        bool    `json:"any_cpu" doc:"a data-path thread may run on every online CPU that is not isolated"`
	Shared        []int   `json:"shared_cpus" doc:"CPUs that are the only allowed CPU of more than one data-path thread"`
	SiblingPairs  []int   `json:"smt_shared_cpus" doc:"data-path CPUs whose SMT sibling also runs a data-path thread"`
	OverCPUs      bool    `json:"more_threads_than_cpus" doc:"more data-path threads than CPUs they may use"`
	OverCores     bool    `json:"more_threads_than_cores" doc:"more data-path threads than physical cores they may use"`
	IsoStacked    []int   `json:"stacked_isolated_cpus" doc:"isolated CPUs outside load balancing that are the mask of several unpinned threads of the workload"`
	IsoStackedN   int     `json:"stacked_threads" doc:"number of these threads"`
	IsoStackedOn  []int   `json:"stacked_on_cpus" doc:"the CPUs these threads were on"`
	Policy        string  `json:"policy" doc:"scheduling policy of its data-path threads: other, fifo, rr, batch, deadline; the strongest"`
	RTPrio        int     `json:"rt_priority" doc:"largest real-time priority of its threads"`
	Realtime      bool    `json:"realtime" doc:"a data-path thread is fifo or rr"`
	BusyShare     float64 `json:"busy_share" doc:"CPU time of its busiest thread over the run, share of one CPU"`
	VoluntaryPerS float64 `json:"voluntary_per_s" doc:"voluntary switches a second of its data-path threads; /proc"`
	InvoluntPerS  float64 `json:"involuntary_per_s" doc:"involuntary switches a second of its data-path threads; /proc"`
	MinFaultsPerS float64 `json:"minor_faults_per_s" doc:"minor faults a second of all its threads over the run"`
	MajFaultsPerS float64 `json:"major_faults_per_s" doc:"major faults a second of all its threads over the run"`
	RSSBytes      int     `json:"rss_bytes" doc:"resident memory"`
	MemlockBytes  int     `json:"memlock_bytes" doc:"limit of locked memory; -1: unlimited"`
	MemlockLow    bool    `json:"memlock_low" doc:"the limit is below 64 MiB and below its resident memory"`
	MemPolicy     string  `json:"mem_policy" doc:"memory policy: default, bind:N, prefer:N, interleave:N; of most mappings, else by numactl"`
	MemBound      bool    `json:"mem_bound" doc:"memory is bound or preferred to nodes"`
	MemNodes      []int   `json:"mem_nodes" doc:"nodes that hold more than 1 % of its memory; numa_maps"`
	RemoteMem     float64 `json:"remote_memory_share" doc:"share of its memory on nodes without a data-path CPU of it; numa_maps"`
	RemoteMemB    int     `json:"remote_memory_bytes" doc:"that memory"`
	RemoteHuge    float64 `json:"remote_hugepage_share" doc:"share of its huge page memory on nodes without a data-path CPU of it; numa_maps"`
	LocalFree     int     `json:"local_free_bytes" doc:"free memory of the nodes of its data-path CPUs"`
	LocalFits     bool    `json:"local_memory_fits" doc:"that is more than its resident memory"`
	NeedsHuge     bool    `json:"needs_hugepages" doc:"DPDK, SPDK, OVS-DPDK or VMA with MEM_ALLOC_TYPE 2, not told to do without"`
	NoHuge        bool    `json:"no_huge" doc:"told to do without huge pages"`
	HugeInUse     int     `json:"hugepages_in_use_bytes" doc:"huge page memory that it has mapped"`
	LocalHugeFree int     `json:"local_hugepages_free_bytes" doc:"free bytes in huge pages on the nodes of its data-path CPUs and interfaces"`

	NICs        []string `json:"nics" doc:"interfaces it uses"`
	NICsBy      string   `json:"nics_by" doc:"how they were found"`
	NICNodes    []int    `json:"nic_nodes" doc:"known nodes of these interfaces"`
	NICCount    int      `json:"nic_count" doc:"number of these interfaces"`
	MultiNode   bool     `json:"nics_on_several_nodes" doc:"its interfaces are on several nodes that are not near"`
	Forwarding  bool     `json:"forwarding" doc:"packets go from one interface to another"`
	PerNICPaths bool     `json:"independent_ports" doc:"every port has data threads of its own on the port's node"`
	BlockNodes  []int    `json:"block_nodes" doc:"nodes of the NVMe controllers it uses"`
	ExclusiveC  []int    `json:"exclusive_cpus" doc:"CPUs that the CPU manager or an isolated partition gave it alone"`
	InContainer bool     `json:"in_container" doc:"its control group is that of a container or pod"`
	CgroupPath  string   `json:"cgroup" doc:"its control group"`
	CpusetCPUs  []int    `json:"cpuset_cpus" doc:"effective CPUs of its control group"`
	OutsideSet  []int    `json:"outside_cpuset_cpus" doc:"online CPUs asked for that its control group does not have"`
	QuotaCPUs   float64  `json:"quota_cpus" doc:"CPU quota of its control groups, in CPUs; unknown without one"`
	Quota       bool     `json:"has_quota" doc:"a control group of it has a CPU quota"`
	Throttled   float64  `json:"throttled_share" doc:"throttled periods as a share of all periods over the run, worst of its control groups"`
	ThrottledUS float64  `json:"throttled_us_per_s" doc:"throttled time a second, microseconds"`
	Netns       string   `json:"netns" doc:"network namespace by ip netns exec"`
	EnvRead     bool     `json:"env_read" doc:"its environment is known from the command line or the process"`
	Typographic bool     `json:"typographic" doc:"argv holds a typographic dash or quotation mark"`
	NoteCodes   []string `json:"note_codes" doc:"codes of all notes on it: see the list notes"`
	PCINoNIC    []string `json:"pci_missing" doc:"PCI addresses in argv that this host does not have"`
	DevMissing  []string `json:"devices_missing" doc:"interfaces, RDMA devices and disks in argv that this host does not have"`
	PCIListed   bool     `json:"pci_listed" doc:"argv names the PCI devices to use"`
}

// Thread is one thread of the workload.
type Thread struct {
	Unknown     Unknown `json:"-"`
	PID         int     `json:"pid" doc:"process"`
	TID         int     `json:"tid" doc:"thread"`
	Comm        string  `json:"comm" doc:"name"`
	Role        string  `json:"role" doc:"role by name and CPU: rx, tx, worker, main, internal ...; empty: not known"`
	Data        bool    `json:"data" doc:"on the data path"`
	Allowed     []int   `json:"allowed_cpus" doc:"CPUs it may run on, online ones; Cpus_allowed_list"`
	Pinned      bool    `json:"pinned" doc:"it has one allowed CPU"`
	CPU         int     `json:"cpu" doc:"CPU it ran on most (probes), else last ran on"`
	CPUs        []int   `json:"cpus" doc:"CPUs it ran on (probes), else the last ones of both samples"`
	Node        int     `json:"node" doc:"node of cpu"`
	Policy      string  `json:"policy" doc:"other, fifo, rr, batch, idle, deadline"`
	RTPrio      int     `json:"rt_priority" doc:"real-time priority"`
	Busy        float64 `json:"busy_share" doc:"CPU time over the run, share of one CPU"`
	System      float64 `json:"system_share" doc:"of this, time in the kernel, share of one CPU"`
	Voluntary   float64 `json:"voluntary_per_s" doc:"voluntary switches a second"`
	Involuntary float64 `json:"involuntary_per_s" doc:"involuntary switches a second"`
	Migrations  int     `json:"migrations" doc:"moves to another CPU; probes"`
	CrossNode   int     `json:"cross_node_migrations" doc:"moves to another node; probes"`
	RunQP99US   float64 `json:"runq_p99_us" doc:"99th percentile of its wait for a CPU, microseconds, upper bound of the bucket; probes"`
	RunQMaxUS   float64 `json:"runq_max_us" doc:"longest wait for a CPU, microseconds; probes"`
	WaitShare   float64 `json:"wait_share" doc:"time it waited for a CPU, share of the capture; probes"`
}

// Cgroup is one control group.
type Cgroup struct {
	Unknown       Unknown `json:"-"`
	Path          string  `json:"path" doc:"path below /sys/fs/cgroup"`
	Version       int     `json:"version" doc:"1 or 2"`
	Workload      bool    `json:"workload" doc:"the workload is in it, or below it"`
	CPUs          []int   `json:"cpus" doc:"CPUs asked for; cpuset.cpus"`
	Effective     []int   `json:"effective_cpus" doc:"CPUs in force; cpuset.cpus.effective"`
	Mems          []int   `json:"effective_mems" doc:"memory nodes in force; cpuset.mems.effective"`
	Partition     string  `json:"partition" doc:"member, root, isolated or why it is invalid"`
	PartitionBad  bool    `json:"partition_invalid" doc:"the partition asked for is not in force"`
	Limited       bool    `json:"limited" doc:"it has a CPU quota"`
	QuotaCPUs     float64 `json:"quota_cpus" doc:"quota in CPUs"`
	PeriodUS      int     `json:"period_us" doc:"quota period, microseconds"`
	Periods       int     `json:"periods" doc:"periods over the run"`
	ThrottledN    int     `json:"throttled_periods" doc:"throttled periods over the run"`
	Throttled     float64 `json:"throttled_share" doc:"throttled periods as a share of the periods"`
	ThrottledUS   float64 `json:"throttled_us_per_s" doc:"throttled time a second, microseconds, all CPUs together"`
	OutsideOnline bool    `json:"whole_host" doc:"effective_cpus holds every online CPU"`
}

// Container is one container with CPUs of its own.
type Container struct {
	Unknown       Unknown `json:"-"`
	Name          string  `json:"name" doc:"container or pod/container"`
	CPUs          []int   `json:"cpus" doc:"its CPUs"`
	Exclusive     bool    `json:"exclusive" doc:"given exclusively by the CPU manager"`
	IRQOff        bool    `json:"irq_off" doc:"irq-load-balancing is disabled for it"`
	Workload      bool    `json:"workload" doc:"the workload runs in it"`
	Overlap       []int   `json:"overlap_cpus" doc:"its exclusive CPUs that another exclusive container also has"`
	OverlapWith   string  `json:"overlap_with" doc:"that container"`
	InDefault     []int   `json:"in_default_cpus" doc:"its exclusive CPUs that are also in the shared pool"`
	IRQPerS       float64 `json:"irq_per_s" doc:"device interrupts a second on its CPUs"`
	Nodes         []int   `json:"nodes" doc:"nodes of its CPUs"`
	SplitCores    []int   `json:"split_core_cpus" doc:"its exclusive CPUs whose SMT sibling belongs to somebody else"`
	InDefaultMask []int   `json:"in_default_irq_cpus" doc:"its CPUs that default_smp_affinity still names"`
	NotBanned     []int   `json:"not_banned_cpus" doc:"its CPUs that the irqbalance ban list leaves open"`
}

// Note is one warning, error or remark of the benchmark, of its adapter or about its command line. Args that the note does not have are empty or unknown.
type Note struct {
	Unknown Unknown `json:"-"`
	Code    string  `json:"code" doc:"kebab-case code: eal-no-hugepages, sockperf-no-server ..."`
	Level   string  `json:"level" doc:"info, warning, error"`
	Text    string  `json:"text" doc:"the words of the tool, or ours"`
	Origin  string  `json:"origin" doc:"output, argv or command"`
	Line    int     `json:"line" doc:"line of the transcript"`
	Node    int     `json:"node" doc:"node that the note names"`
	Core    int     `json:"core" doc:"core that the note names"`
	Device  string  `json:"device" doc:"device or interface that the note names"`
	PCI     string  `json:"pci" doc:"PCI address that the note names"`
	Option  string  `json:"option" doc:"option that the note is about"`
	Value   string  `json:"value" doc:"value that the note is about"`
	Correct string  `json:"correct" doc:"what would be right, where the note knows"`
	Port    int     `json:"port" doc:"port that the note names"`
}

// LogHit is one known pattern of the kernel log.
type LogHit struct {
	Unknown Unknown `json:"-"`
	Code    string  `json:"code" doc:"rt-throttling, clocksource-unstable, nohz-full-unsupported, iommu-invalid-param, pcie-bandwidth, workqueue-lockup ..."`
	Count   int     `json:"count" doc:"lines with this pattern"`
	First   string  `json:"first" doc:"the first of them"`
	InRun   bool    `json:"during_run" doc:"the last one was logged between the two samples"`
	Fresh   int     `json:"new" doc:"lines that the second sample has beyond the first"`
	FirstS  float64 `json:"first_s" doc:"seconds since boot of the first line"`
	LastS   float64 `json:"last_s" doc:"seconds since boot of the last line"`
	CPU     int     `json:"cpu" doc:"CPU that the line names"`
	OnWL    bool    `json:"on_workload" doc:"that CPU is a data-path CPU of the workload"`
	PCI     string  `json:"pci" doc:"PCI address that the line names"`
}
