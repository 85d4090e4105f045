package facts

// K8s is kubelet and the container runtime.
type K8s struct {
	Unknown        Unknown `json:"-"`
	Present        bool    `json:"present" doc:"kubelet runs here, or its state was found, or the workload is in a pod"`
	CPUManager     string  `json:"cpu_manager" doc:"none or static"`
	Static         bool    `json:"static" doc:"the CPU manager is static"`
	DefaultCPUs    []int   `json:"default_cpus" doc:"shared pool"`
	ReservedCPUs   []int   `json:"reserved_cpus" doc:"reservedSystemCPUs"`
	TopologyPolicy string  `json:"topology_manager" doc:"none, best-effort, restricted, single-numa-node"`
	CFSQuota       bool    `json:"cpu_cfs_quota" doc:"cpuCFSQuota"`
	WLInPod        bool    `json:"workload_in_pod" doc:"the workload runs in a pod"`
	WLExclusive    bool    `json:"workload_exclusive" doc:"the workload's container has exclusive CPUs"`
	WLInPool       bool    `json:"workload_in_pool" doc:"the workload's CPUs are those of the shared pool"`
	QoS            string  `json:"workload_qos" doc:"guaranteed, burstable or besteffort, by the control group path"`
	IRQOff         bool    `json:"workload_irq_off" doc:"irq-load-balancing is disabled for the workload's container"`
	IRQOffPods     int     `json:"irq_off_containers" doc:"running containers with irq-load-balancing disabled"`
	NodesDiffer    bool    `json:"cpus_nic_differ" doc:"the workload's CPUs and its interfaces are on different nodes"`
	NodeOperator   bool    `json:"node_tuning_operator" doc:"the OpenShift node tuning operator owns the settings"`
	SRIOVOperator  bool    `json:"sriov_device_plugin" doc:"the SR-IOV device plugin is configured"`
	CRIO           bool    `json:"crio" doc:"CRI-O runs, or its state was found"`
	Overlap        []int   `json:"overlap_cpus" doc:"CPUs given exclusively to more than one container"`
	SplitCores     []int   `json:"split_core_cpus" doc:"exclusive CPUs whose SMT sibling belongs to somebody else"`
}

// OVS is Open vSwitch as a whole.
type OVS struct {
	Unknown        Unknown  `json:"-"`
	Running        bool     `json:"running" doc:"ovs-vswitchd runs, or its commands answered"`
	Version        string   `json:"version" doc:"version"`
	InPath         bool     `json:"in_path" doc:"an interface of the workload, or any physical one, is a port of a bridge"`
	HWOffload      bool     `json:"hw_offload" doc:"other_config:hw-offload=true"`
	HWOffloadKnown bool     `json:"config_read" doc:"other_config was readable"`
	DPDKInit       bool     `json:"dpdk_init" doc:"other_config:dpdk-init=true"`
	Netdev         bool     `json:"userspace_datapath" doc:"a bridge has datapath_type=netdev"`
	PMDMask        string   `json:"pmd_mask" doc:"other_config:pmd-cpu-mask; empty: not set"`
	PMDCPUs        []int    `json:"pmd_cpus" doc:"CPUs of that mask"`
	LcoreMask      string   `json:"lcore_mask" doc:"other_config:dpdk-lcore-mask; empty: not set"`
	LcoreCPUs      []int    `json:"lcore_cpus" doc:"CPUs of that mask"`
	MasksOverlap   []int    `json:"mask_overlap_cpus" doc:"CPUs in both masks"`
	PMDOnBoot      []int    `json:"pmd_boot_cpus" doc:"PMD CPUs that are the boot core"`
	PMDRemote      []int    `json:"pmd_remote_cpus" doc:"PMD CPUs on a node without a DPDK port"`
	PMDNodesMiss   []int    `json:"nodes_without_pmd" doc:"nodes with a DPDK port and no PMD CPU"`
	PMDIRQPerS     float64  `json:"pmd_irq_per_s" doc:"device interrupts a second on PMD CPUs"`
	PMDCount       int      `json:"pmds" doc:"PMD threads"`
	PMDMaxUsage    float64  `json:"pmd_max_usage_pct" doc:"usage of the busiest PMD, percent; pmd-rxq-show"`
	PMDMinUsage    float64  `json:"pmd_min_usage_pct" doc:"usage of the idlest PMD, percent"`
	PMDImbalance   float64  `json:"pmd_usage_spread_pct" doc:"difference of the two"`
	RxQueues       int      `json:"rxqs" doc:"receive queues polled by PMDs"`
	UnpolledPorts  []string `json:"unpolled_ports" doc:"DPDK ports whose queues no PMD polls"`
	SocketMem      string   `json:"socket_mem" doc:"other_config:dpdk-socket-mem; empty: not set"`
	SocketMemMiss  []int    `json:"socket_mem_zero_nodes" doc:"nodes of DPDK ports that get no memory by it"`
	SleepMaxUS     int      `json:"pmd_sleep_max_us" doc:"other_config:pmd-sleep-max (or pmd-maxsleep); 0: not set"`
	KernelPorts    []string `json:"kernel_ports_in_netdev" doc:"tap, system and internal ports with traffic in user-space bridges"`
	MainBusy       float64  `json:"main_thread_busy_share" doc:"CPU time of ovs-vswitchd's main thread over the run, share of one CPU"`
	MainWakeups    bool     `json:"main_thread_wakeups" doc:"its log says that the main thread wakes for AF_PACKET or tap traffic"`
	Offloaded      float64  `json:"offloaded_share" doc:"packets of flows that are offloaded, share of all; dump-flows"`
	NonOffloaded   int      `json:"hot_non_offloaded" doc:"flows that are not offloaded and carry traffic"`
	OffloadErrors  []string `json:"offload_errors" doc:"reasons in its log why flows were not offloaded"`
	NoLocalPMD     bool     `json:"no_local_pmd_warning" doc:"its log says that a queue has no PMD on its node"`
	MempoolError   bool     `json:"mempool_error" doc:"its log says that a memory pool could not be made"`
	EMCSingle      bool     `json:"single_flow" doc:"nearly all packets hit one exact-match entry"`
	SwitchdevPorts []string `json:"switchdev_nics" doc:"interfaces in switchdev mode"`
	LegacyPorts    []string `json:"legacy_mlx5_nics" doc:"mlx5 ports of bridges in legacy mode"`
}

// OVSBridge is one bridge.
type OVSBridge struct {
	Unknown Unknown  `json:"-"`
	Name    string   `json:"name" doc:"bridge"`
	Netdev  bool     `json:"userspace" doc:"datapath_type netdev"`
	Ports   []string `json:"ports" doc:"its ports"`
	DPDK    []string `json:"dpdk_ports" doc:"ports of type dpdk"`
	Kernel  []string `json:"kernel_ports" doc:"ports that are kernel interfaces (tap, system), without the bridge's own"`
}

// OVSPort is one port.
type OVSPort struct {
	Unknown   Unknown `json:"-"`
	Name      string  `json:"name" doc:"port"`
	Bridge    string  `json:"bridge" doc:"its bridge"`
	Type      string  `json:"type" doc:"dpdk, dpdkvhostuserclient, internal, tap, system, vxlan ..."`
	Userspace bool    `json:"userspace_bridge" doc:"its bridge has the user-space datapath"`
	Kernel    bool    `json:"kernel_port" doc:"a kernel interface (tap, system) in a user-space bridge: the main thread polls it"`
	RxQ       int     `json:"n_rxq" doc:"receive queues: options:n_rxq, else queues seen"`
	RxQSet    bool    `json:"n_rxq_set" doc:"options:n_rxq is given"`
	Affinity  string  `json:"rxq_affinity" doc:"other_config:pmd-rxq-affinity; empty: none"`
	PCI       string  `json:"pci" doc:"options:dpdk-devargs"`
	Node      int     `json:"node" doc:"node of its device"`
	Packets   float64 `json:"packets_per_s" doc:"packets a second through it over the run"`
	Busy      bool    `json:"busy" doc:"more than 1000 packets a second"`
	MaxUsage  float64 `json:"max_queue_usage_pct" doc:"usage of its busiest queue, percent of the PMD"`
}

// OVSPMD is one poll-mode thread.
type OVSPMD struct {
	Unknown  Unknown  `json:"-"`
	Core     int      `json:"core" doc:"CPU"`
	Node     int      `json:"node" doc:"numa_id"`
	Isolated bool     `json:"isolated" doc:"isolated: only queues assigned by hand"`
	Usage    float64  `json:"usage_pct" doc:"sum of its queues' usage, percent"`
	Overhead float64  `json:"overhead_pct" doc:"overhead, percent"`
	RxQs     int      `json:"rxqs" doc:"queues that it polls"`
	Ports    []string `json:"ports" doc:"ports that it polls"`
	TopPort  string   `json:"top_port" doc:"port of its busiest queue"`
	TopUsage float64  `json:"top_usage_pct" doc:"usage of that queue, percent"`
	IRQPerS  float64  `json:"irq_per_s" doc:"device interrupts a second on its CPU"`
	Others   []string `json:"preemptors" doc:"other tasks that ran there; probes"`
}
