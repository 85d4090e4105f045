package facts

// NIC is one network interface (or a network function bound to a user-space driver) with its PCI path. Rates are differences over the run.
type NIC struct {
	Unknown Unknown `json:"-"`

	Name      string   `json:"name" doc:"interface, or the PCI address of a function without one"`
	Type      string   `json:"type" doc:"physical, vf, bond, vlan, bridge, representor, tap, unbound ..."`
	Physical  bool     `json:"physical" doc:"a physical port of this host (also when bound to a user-space driver)"`
	Driver    string   `json:"driver" doc:"kernel driver of the PCI function; empty: not bound"`
	UserIO    bool     `json:"user_driver" doc:"bound to vfio-pci, igb_uio or uio_pci_generic"`
	MLX5      bool     `json:"mlx5" doc:"driver mlx5_core: bifurcated, stays bound under DPDK"`
	NVIDIA    bool     `json:"nvidia" doc:"PCI vendor 15b3"`
	Vendor    string   `json:"vendor" doc:"PCI vendor id"`
	Model     string   `json:"model" doc:"device name from the PCI database"`
	Firmware  string   `json:"firmware" doc:"firmware version"`
	PSID      string   `json:"psid" doc:"board id of a Mellanox adapter"`
	PCI       string   `json:"pci" doc:"PCI address"`
	RDMA      string   `json:"rdma" doc:"RDMA device of the same function; empty: none"`
	VF        bool     `json:"vf" doc:"SR-IOV virtual function"`
	Bond      string   `json:"bond" doc:"bond it belongs to; empty: none"`
	BondMode  string   `json:"bond_mode" doc:"mode of that bond"`
	Addrs     []string `json:"addrs" doc:"addresses with prefix length"`
	Workload  bool     `json:"workload" doc:"the workload uses it"`
	UsedBy    string   `json:"used_by" doc:"how it was found to be the workload's: argv, rdma, route, address, ovs, only one with link"`
	PhysPort  string   `json:"phys_port" doc:"phys_port_name"`
	SwitchDev string   `json:"eswitch_mode" doc:"legacy or switchdev; devlink"`

	Node           int     `json:"node" doc:"NUMA node; unknown when sysfs says -1 on a host of several nodes or contradicts itself"`
	SysfsNode      int     `json:"sysfs_node" doc:"numa_node as the file says, also -1"`
	ParentNode     int     `json:"parent_node" doc:"numa_node of the root port above"`
	LocalCPUsNode  int     `json:"local_cpus_node" doc:"node that holds all of local_cpulist"`
	NodeMissing    bool    `json:"node_missing" doc:"sysfs says -1 on a host of several nodes"`
	NodeConflict   bool    `json:"node_conflict" doc:"numa_node, local_cpulist and the root port do not agree"`
	NodeConflictBy string  `json:"node_conflict_text" doc:"how they differ"`
	NodeCPUs       []int   `json:"node_cpus" doc:"online CPUs of its node"`
	NodeCores      int     `json:"node_cores" doc:"online physical cores of its node"`
	NodeFreeCores  int     `json:"node_free_cores" doc:"of these, without the boot core"`
	SocketCores    int     `json:"socket_cores" doc:"physical cores of all nodes in the same package"`
	NodeTooSmall   bool    `json:"node_too_small" doc:"the workload's data threads and one housekeeping core do not fit on its node"`
	WorkloadCPUs   []int   `json:"workload_cpus" doc:"data-path CPUs of the workload that serve it (all of them where the threads name no port)"`
	LocalCPUs      []int   `json:"local_workload_cpus" doc:"of these, on its node"`
	NearCPUs       []int   `json:"near_cpus" doc:"of these, on another node of the same package at distance 12 or less (NPS, SNC, L3 as NUMA)"`
	RemoteCPUs     []int   `json:"remote_cpus" doc:"of these, on other nodes that are not near"`
	RemoteNodes    []int   `json:"remote_nodes" doc:"nodes of remote_cpus"`
	RemoteNAPI     float64 `json:"remote_napi_share" doc:"share of its NAPI polls on another node; probes"`
	NAPIPerS       float64 `json:"napi_per_s" doc:"NAPI polls a second; probes"`
	NAPIRemoteCPUs []int   `json:"remote_napi_cpus" doc:"CPUs of polls on another node; probes"`
	IRQPerS        float64 `json:"irq_per_s" doc:"interrupts a second"`
	IRQQueuePerS   float64 `json:"irq_queue_per_s" doc:"interrupts a second of its busiest queue"`
	RemoteIRQShare float64 `json:"remote_irq_share" doc:"share of its interrupts on another node"`

	LinkUp          bool    `json:"link_up" doc:"carrier"`
	SpeedGbps       float64 `json:"speed_gbps" doc:"link speed"`
	MaxSpeedGbps    float64 `json:"max_speed_gbps" doc:"largest supported speed"`
	SpeedLow        bool    `json:"speed_low" doc:"link speed is below the largest supported one"`
	Duplex          string  `json:"duplex" doc:"full or half"`
	FEC             string  `json:"fec" doc:"forward error correction in force"`
	MTU             int     `json:"mtu" doc:"MTU, bytes"`
	LineMpps        float64 `json:"line_mpps" doc:"line rate at the workload's frame size, million packets a second"`
	ExpectedGbps    float64 `json:"expected_gbps" doc:"what can be expected of it: the smaller of link speed and usable PCIe"`
	ExpectedLimit   string  `json:"expected_limit" doc:"link or pcie: which of the two that is"`
	InfiniBand      bool    `json:"infiniband" doc:"link layer InfiniBand"`
	CarrierFlapping float64 `json:"carrier_changes" doc:"carrier changes over the run"`

	RingRX        int      `json:"ring_rx" doc:"receive descriptors"`
	RingRXMax     int      `json:"ring_rx_max" doc:"most receive descriptors"`
	RingTX        int      `json:"ring_tx" doc:"transmit descriptors"`
	RingTXMax     int      `json:"ring_tx_max" doc:"most transmit descriptors"`
	RingRXSmall   bool     `json:"ring_rx_below_max" doc:"ring_rx is below ring_rx_max"`
	Queues        int      `json:"queues" doc:"combined channels, else rx channels, else receive queues in sysfs"`
	QueuesMax     int      `json:"queues_max" doc:"most combined channels"`
	AdaptiveRX    bool     `json:"adaptive_rx" doc:"adaptive receive coalescing is on (ixgbevf: rx-usecs 1)"`
	RXUsecs       int      `json:"rx_usecs" doc:"receive coalescing, microseconds; unknown where the driver ignores it"`
	RXFrames      int      `json:"rx_frames" doc:"receive coalescing, frames"`
	TXUsecs       int      `json:"tx_usecs" doc:"transmit coalescing, microseconds"`
	PauseRX       bool     `json:"pause_rx" doc:"honours pause frames"`
	PauseTX       bool     `json:"pause_tx" doc:"sends pause frames"`
	PFC           []int    `json:"pfc_priorities" doc:"priorities with flow control; mlnx_qos"`
	PFCOn         bool     `json:"pfc_on" doc:"priority flow control is on for some priority"`
	Trust         string   `json:"trust" doc:"pcp or dscp"`
	Lossless      bool     `json:"lossless" doc:"pause or PFC is meant here: an RDMA workload with PFC or pause on"`
	GPUDirect     bool     `json:"gpu_direct" doc:"the workload moves GPU memory through it: perftest --use_cuda, --use_rocm; nccl"`
	GRO           bool     `json:"gro" doc:"generic receive offload"`
	LRO           bool     `json:"lro" doc:"large receive offload"`
	TSO           bool     `json:"tso" doc:"TCP segmentation offload"`
	Ntuple        bool     `json:"ntuple" doc:"ntuple filters"`
	HWTCOffload   bool     `json:"hw_tc_offload" doc:"hw-tc-offload"`
	TXNocacheCopy bool     `json:"tx_nocache_copy" doc:"tx-nocache-copy"`
	CQECompress   bool     `json:"rx_cqe_compress" doc:"private flag rx_cqe_compress"`
	CQEModer      bool     `json:"rx_cqe_moder" doc:"private flag rx_cqe_moder"`
	StridingRQ    bool     `json:"rx_striding_rq" doc:"private flag rx_striding_rq"`
	CQECompressFW string   `json:"fw_cqe_compression" doc:"firmware setting CQE_COMPRESSION; mlxconfig"`
	FWSettings    []string `json:"fw_settings" doc:"firmware settings, NAME=VALUE, as at the next boot of the adapter; mlxconfig"`
	Qdisc         string   `json:"qdisc" doc:"root queueing discipline"`
	TxQueueLen    int      `json:"tx_queue_len" doc:"length of the transmit queue"`
	RSSQueues     int      `json:"rss_queues" doc:"queues in the RSS indirection table"`
	RPSCPUs       []int    `json:"rps_cpus" doc:"CPUs in the RPS masks of its queues"`
	RPSWorkload   []int    `json:"rps_workload_cpus" doc:"of these, data-path CPUs of the workload"`
	RPSIsolated   []int    `json:"rps_isolated_cpus" doc:"of these, isolated CPUs"`
	RPSRemote     []int    `json:"rps_remote_cpus" doc:"of these, CPUs of other nodes"`
	RPSRedundant  bool     `json:"rps_redundant" doc:"RPS is on although it has a queue for each CPU in the mask or each core of its node"`
	RFSFlows      int      `json:"rfs_flows" doc:"flows of RFS over all queues"`
	XPSEmpty      bool     `json:"xps_empty" doc:"no transmit queue has an XPS mask"`
	XPSRemote     []int    `json:"xps_remote_cpus" doc:"CPUs of other nodes in XPS masks where no local one is"`
	ThreadedNAPI  bool     `json:"threaded_napi" doc:"NAPI threads are on"`
	DeferHardIRQs int      `json:"napi_defer_hard_irqs" doc:"napi_defer_hard_irqs"`
	GROFlushNS    int      `json:"gro_flush_timeout_ns" doc:"gro_flush_timeout"`
	NumVFs        int      `json:"num_vfs" doc:"virtual functions in use"`
	SpreadHints   bool     `json:"hints_spread" doc:"the driver's affinity hints differ between its queues"`

	RXMpps          float64 `json:"rx_mpps" doc:"received packets by the port's counters, million a second"`
	TXMpps          float64 `json:"tx_mpps" doc:"sent packets by the port's counters, million a second"`
	RXGbps          float64 `json:"rx_gbps" doc:"received bits by the port's counters"`
	TXGbps          float64 `json:"tx_gbps" doc:"sent bits by the port's counters"`
	RXOutOfBuffer   float64 `json:"rx_out_of_buffer_per_s" doc:"packets dropped a second because the host gave no descriptors: mlx5 rx_out_of_buffer, ixgbe/i40e/ice rx_missed and no-DMA counters, virtio and vmxnet3 queue drops"`
	RXOutOfBufferBy string  `json:"rx_out_of_buffer_counter" doc:"the counters behind rx_out_of_buffer_per_s"`
	RXDiscardsPhy   float64 `json:"rx_discards_phy_per_s" doc:"packets dropped a second in the adapter: mlx5 rx_discards_phy, i40e/ice port.rx_dropped"`
	RXDropShare     float64 `json:"rx_drop_share" doc:"both kinds of drops as a share of what arrived"`
	RXNoBuf         float64 `json:"rx_alloc_errors_per_s" doc:"receive buffers that could not be allocated a second: rx_buff_alloc_err, alloc_rx_page_failed"`
	RXOversize      float64 `json:"rx_oversize_per_s" doc:"frames above the MTU a second: rx_oversize_pkts_phy"`
	SteerMissed     float64 `json:"rx_steer_missed_per_s" doc:"packets a second without a receive rule: rx_steer_missed_packets"`
	RXPause         float64 `json:"rx_pause_per_s" doc:"pause frames received a second: the peer asks this host to stop (global and priority)"`
	TXPause         float64 `json:"tx_pause_per_s" doc:"pause frames sent a second: this host cannot keep up"`
	RXPauseShare    float64 `json:"rx_pause_share" doc:"share of the time this host was stopped by the peer: rx_global_pause_duration and the largest priority"`
	TXPauseShare    float64 `json:"tx_pause_share" doc:"share of the time this host stopped its peer"`
	PausePFC        bool    `json:"pause_is_pfc" doc:"only priority flow control counters moved, not global pause"`
	PhyErrors       float64 `json:"phy_errors_per_s" doc:"symbol, PCS, CRC errors a second (corrected FEC bits left out)"`
	PhyErrorsBy     string  `json:"phy_error_counters" doc:"the counters that moved"`
	LinkDown        float64 `json:"link_down_events" doc:"link_down_events_phy over the run"`
	PCIStalledWR    float64 `json:"pci_stalled_wr" doc:"outbound_pci_stalled_wr over the run: percent of a second in which posted writes stalled; largest step"`
	PCIStalledRD    float64 `json:"pci_stalled_rd" doc:"outbound_pci_stalled_rd, as above, for reads"`
	PCIStalled      bool    `json:"pci_stalled" doc:"a stall counter of PCIe moved over the run by 10 or its events counter at all"`
	PCIOverflow     float64 `json:"pci_buffer_overflow_per_s" doc:"outbound_pci_buffer_overflow a second"`
	PCISignal       float64 `json:"pci_signal_integrity" doc:"rx_pci_signal_integrity and tx_ over the run"`
	AllowancePPS    float64 `json:"pps_allowance_exceeded_per_s" doc:"ENA: packets a second beyond the instance's packet rate"`
	AllowanceBW     float64 `json:"bw_allowance_exceeded_per_s" doc:"ENA: packets a second beyond the instance's bandwidth, in and out"`
	AllowanceCT     float64 `json:"conntrack_allowance_exceeded_per_s" doc:"ENA: packets a second beyond the tracked connections, and link-local"`
	TopQueueShare   float64 `json:"top_queue_share" doc:"share of received packets of the busiest receive queue"`
	QueueImbalance  float64 `json:"queue_imbalance" doc:"packets of the busiest queue over the mean of all queues that are configured"`
	ActiveRXQueues  int     `json:"active_rx_queues" doc:"receive queues that took packets over the run"`
	RDMARetransmits float64 `json:"rdma_retransmits_per_s" doc:"out_of_sequence, packet_seq_err, local_ack_timeout_err a second of its RDMA device"`
	RDMARetransBy   string  `json:"rdma_retransmit_counters" doc:"the counters that moved"`

	PCIeSpeed       float64  `json:"pcie_speed_gts" doc:"current PCIe speed, GT/s a lane"`
	PCIeWidth       int      `json:"pcie_width" doc:"current PCIe width, lanes"`
	PCIeMaxSpeed    float64  `json:"pcie_max_speed_gts" doc:"fastest speed of the card"`
	PCIeMaxWidth    int      `json:"pcie_max_width" doc:"widest link of the card"`
	SlotMaxSpeed    float64  `json:"slot_max_speed_gts" doc:"fastest speed of the port above the card"`
	SlotMaxWidth    int      `json:"slot_max_width" doc:"widest link of the port above the card"`
	PCIeGbps        float64  `json:"pcie_gbps" doc:"capacity of the narrowest link between card and root, Gb/s, after line code"`
	PCIeUsable      float64  `json:"pcie_usable_gbps" doc:"85 % of it: what remains after packet overhead"`
	PCIeBestGbps    float64  `json:"pcie_best_gbps" doc:"capacity if card and slot trained at their best"`
	PCIeCardGbps    float64  `json:"pcie_card_gbps" doc:"capacity of the card alone"`
	SpeedDegraded   bool     `json:"pcie_speed_degraded" doc:"trained slower than card and slot both allow"`
	WidthDegraded   bool     `json:"pcie_width_degraded" doc:"trained narrower than card and slot both allow"`
	CardPorts       int      `json:"card_ports" doc:"ports with link on the same card"`
	CardGbps        float64  `json:"card_gbps" doc:"sum of the link speeds of these ports"`
	UsedGbps        float64  `json:"card_used_gbps" doc:"sum of the link speeds of the ports that the workload uses"`
	PCIeShort       bool     `json:"pcie_short" doc:"usable PCIe is below the speed of the ports that the workload uses (all with link where none is known)"`
	SlotShort       bool     `json:"slot_short" doc:"pcie_short, although the link trained at the best that card and slot allow together"`
	KernelPCIeGbps  float64  `json:"log_pcie_gbps" doc:"PCIe bandwidth that the kernel found when the driver bound, where it said that it is limited"`
	KernelPCIeBy    string   `json:"log_pcie_limited_by" doc:"the bridge that limits it, by the same message"`
	SharedSwitch    []string `json:"shared_switch_devices" doc:"other busy devices below the same upstream port whose demand together exceeds it"`
	MPS             int      `json:"pcie_mps_bytes" doc:"payload size in force"`
	MPSPath         int      `json:"pcie_mps_path_bytes" doc:"smallest payload size on the way to the root"`
	MRRS            int      `json:"pcie_mrrs_bytes" doc:"read request size in force; unknown when implausible"`
	RelaxedOrdering bool     `json:"relaxed_ordering" doc:"DevCtl relaxed ordering of the physical function"`
	TenBitTag       bool     `json:"ten_bit_tag" doc:"10-bit tag requester is on"`
	ASPM            string   `json:"aspm" doc:"ASPM states in force on card or port above; disabled otherwise"`
	ASPMOn          bool     `json:"aspm_on" doc:"L0s or L1 is on at card or port above"`
	ACSRedirect     bool     `json:"acs_redirect" doc:"a bridge above redirects peer-to-peer requests (ACSCtl ReqRedir or CmpltRedir)"`
	AERPerS         float64  `json:"aer_correctable_per_s" doc:"correctable PCIe errors a second, card and bridges above"`
	AERFatal        float64  `json:"aer_uncorrectable" doc:"uncorrectable PCIe errors over the run"`
	IOMMUType       string   `json:"iommu_type" doc:"identity, DMA, DMA-FQ or none"`
	IOMMUTranslated bool     `json:"iommu_translated" doc:"its DMA goes through translation (DMA or DMA-FQ) in a kernel driver"`
	IOMMUStrict     bool     `json:"iommu_strict" doc:"translation with strict invalidation (DMA)"`
	WCMissing       bool     `json:"wc_missing" doc:"a large prefetchable BAR under a user-space driver is mapped uncached, not write-combining; debugfs pat_memtype_list"`
	RootPort        string   `json:"root_port" doc:"PCI address of the root port"`
	RootBus         string   `json:"root_bus" doc:"root bus, such as pci0000:80"`
	BusNumber       string   `json:"bus_hex" doc:"bus number of the card in hex, as Preferred IO wants it"`
}

// RDMA is one RDMA device.
type RDMA struct {
	Unknown     Unknown  `json:"-"`
	Name        string   `json:"name" doc:"mlx5_0 ..."`
	PCI         string   `json:"pci" doc:"PCI address"`
	Netdevs     []string `json:"netdevs" doc:"its interfaces"`
	Node        int      `json:"node" doc:"NUMA node"`
	Firmware    string   `json:"firmware" doc:"firmware version"`
	BoardID     string   `json:"board_id" doc:"PSID"`
	InfiniBand  bool     `json:"infiniband" doc:"link layer InfiniBand, else Ethernet (RoCE)"`
	Active      bool     `json:"active" doc:"port is active"`
	RateGbps    float64  `json:"rate_gbps" doc:"port rate"`
	Workload    bool     `json:"workload" doc:"the workload uses it"`
	Retransmits float64  `json:"retransmits_per_s" doc:"out_of_sequence, packet_seq_err, local_ack_timeout_err a second"`
	RetransBy   string   `json:"retransmit_counters" doc:"the counters that moved"`
	OutOfSeq    float64  `json:"out_of_sequence_per_s" doc:"out_of_sequence a second"`
	AckTimeout  float64  `json:"local_ack_timeout_per_s" doc:"local_ack_timeout_err a second"`
	RNRNak      float64  `json:"rnr_nak_per_s" doc:"rnr_nak_retry_err a second"`
	CNPPerS     float64  `json:"cnp_per_s" doc:"congestion notifications handled or sent a second"`
	RXGbps      float64  `json:"rx_gbps" doc:"received by port_rcv_data"`
	TXGbps      float64  `json:"tx_gbps" doc:"sent by port_xmit_data"`
}
