package host

import (
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// NIC is one network interface with its device. Stacked devices (bond, VLAN, bridge port, macvlan) resolve through Lower.
type NIC struct {
	Name           string                         `json:"name"`
	Type           string                         `json:"type"` // physical, vf, virtual, bond, vlan, bridge, veth, representor, loopback, tap ...
	Driver         maybe.Value[string]            `json:"driver,omitzero"`
	DriverVer      maybe.Value[string]            `json:"driver_version,omitzero"`
	Firmware       maybe.Value[string]            `json:"firmware,omitzero"`
	PSID           maybe.Value[string]            `json:"psid,omitzero"`
	PCI            string                         `json:"pci,omitempty"` // BDF of the PCI function (parent of a virtio device)
	Lower          []string                       `json:"lower,omitempty"`
	Master         string                         `json:"master,omitempty"`
	BondMode       maybe.Value[string]            `json:"bond_mode,omitzero"`
	PhysFn         string                         `json:"physfn,omitempty"` // BDF of the PF when this is a VF
	NumVFs         maybe.Value[int]               `json:"num_vfs,omitzero"`
	PhysPort       maybe.Value[string]            `json:"phys_port_name,omitzero"`
	MAC            maybe.Value[string]            `json:"mac,omitzero"`
	Addrs          []string                       `json:"addrs,omitempty"` // CIDR
	Node           maybe.Value[int]               `json:"node,omitzero"`   // numa_node of the PCI device; -1 as the file says
	LocalCPUs      maybe.Value[cpulist.Set]       `json:"local_cpus,omitzero"`
	ParentNode     maybe.Value[int]               `json:"parent_node,omitzero"` // numa_node of the root port above it
	OperState      maybe.Value[string]            `json:"oper_state,omitzero"`
	Carrier        maybe.Value[bool]              `json:"carrier,omitzero"`
	CarrierChanges maybe.Value[int64]             `json:"carrier_changes,omitzero"`
	SpeedMbps      maybe.Value[int]               `json:"speed_mbps,omitzero"` // unknown speed is missing
	MaxSpeedMbps   maybe.Value[int]               `json:"max_speed_mbps,omitzero"`
	Duplex         maybe.Value[string]            `json:"duplex,omitzero"`
	Autoneg        maybe.Value[bool]              `json:"autoneg,omitzero"`
	Port           maybe.Value[string]            `json:"port,omitzero"`
	FEC            maybe.Value[string]            `json:"fec,omitzero"`
	MTU            maybe.Value[int]               `json:"mtu,omitzero"`
	Rings          Rings                          `json:"rings"`
	Channels       Channels                       `json:"channels"`
	Coalesce       Coalesce                       `json:"coalesce"`
	Pause          Pause                          `json:"pause"`
	PFCPrios       maybe.Value[[]int]             `json:"pfc_prios,omitzero"`  // priorities with flow control (mlnx_qos, dcb)
	Trust          maybe.Value[string]            `json:"trust,omitzero"`      // pcp or dscp
	Features       maybe.Value[map[string]bool]   `json:"features,omitzero"`   // ethtool's words in snake_case
	PrivFlags      maybe.Value[map[string]bool]   `json:"priv_flags,omitzero"` // the driver's own names
	RSS            RSS                            `json:"rss"`
	Stats          maybe.Value[map[string]uint64] `json:"stats,omitzero"`      // ethtool -S, the driver's names; totals
	NetStats       map[string]int64               `json:"net_stats,omitempty"` // /sys/class/net/X/statistics; totals
	RPS            map[string]cpulist.Set         `json:"rps,omitempty"`       // rx-0 -> CPUs
	RFSFlows       map[string]int64               `json:"rfs_flows,omitempty"` // rx-0 -> rps_flow_cnt
	XPS            map[string]cpulist.Set         `json:"xps,omitempty"`       // tx-0 -> CPUs
	RxQueues       int                            `json:"rx_queues"`
	TxQueues       int                            `json:"tx_queues"`
	Threaded       maybe.Value[bool]              `json:"threaded_napi,omitzero"`
	GroFlushNS     maybe.Value[int64]             `json:"gro_flush_timeout_ns,omitzero"`
	DeferHardIRQs  maybe.Value[int64]             `json:"napi_defer_hard_irqs,omitzero"`
	EswitchMode    maybe.Value[string]            `json:"eswitch_mode,omitzero"` // legacy or switchdev (devlink)
	IRQs           []int                          `json:"irqs,omitempty"`        // through msi_irqs, else by name
	TxQueueLen     maybe.Value[int]               `json:"tx_queue_len,omitzero"`
	Qdisc          maybe.Value[string]            `json:"qdisc,omitzero"` // root queueing discipline: mq, noqueue, fq ...
}

// Rings is ethtool -g, in descriptors.
type Rings struct {
	RX, RXMax, TX, TXMax maybe.Value[int] `json:",omitzero"`
}

// Channels is ethtool -l. Combined with RX = TX = 0 is normal.
type Channels struct {
	Combined, CombinedMax, RX, TX, Other maybe.Value[int] `json:",omitzero"`
}

// Coalesce is ethtool -c; times in microseconds, rates in packets per second. Keys differ by driver.
type Coalesce struct {
	AdaptiveRX  maybe.Value[bool] `json:"adaptive_rx,omitzero"`
	AdaptiveTX  maybe.Value[bool] `json:"adaptive_tx,omitzero"`
	RXUsecs     maybe.Value[int]  `json:"rx_usecs,omitzero"`
	RXFrames    maybe.Value[int]  `json:"rx_frames,omitzero"`
	TXUsecs     maybe.Value[int]  `json:"tx_usecs,omitzero"`
	TXFrames    maybe.Value[int]  `json:"tx_frames,omitzero"`
	RXUsecsLow  maybe.Value[int]  `json:"rx_usecs_low,omitzero"`
	RXUsecsHigh maybe.Value[int]  `json:"rx_usecs_high,omitzero"`
	CQEModeRX   maybe.Value[bool] `json:"cqe_mode_rx,omitzero"`
}

// Pause is ethtool -a: global pause.
type Pause struct {
	Autoneg maybe.Value[bool] `json:"autoneg,omitzero"`
	RX      maybe.Value[bool] `json:"rx,omitzero"`
	TX      maybe.Value[bool] `json:"tx,omitzero"`
}

// RSS is ethtool -x.
type RSS struct {
	Rings       maybe.Value[int]    `json:"rings,omitzero"`
	Indirection maybe.Value[[]int]  `json:"indirection,omitzero"` // queue of each slot; may be shortened
	HashFunc    maybe.Value[string] `json:"hash_function,omitzero"`
}

// RDMA is one InfiniBand/RoCE device. Source: /sys/class/infiniband.
type RDMA struct {
	Name       string               `json:"name"`
	PCI        string               `json:"pci,omitempty"`
	Netdevs    []string             `json:"netdevs,omitempty"`
	Node       maybe.Value[int]     `json:"node,omitzero"`
	Firmware   maybe.Value[string]  `json:"firmware,omitzero"`
	BoardID    maybe.Value[string]  `json:"board_id,omitzero"`   // the PSID
	LinkLayer  maybe.Value[string]  `json:"link_layer,omitzero"` // Ethernet or InfiniBand
	State      maybe.Value[string]  `json:"state,omitzero"`
	RateGbps   maybe.Value[float64] `json:"rate_gbps,omitzero"`
	Counters   map[string]int64     `json:"counters,omitempty"`    // ports/1/counters; totals
	HWCounters map[string]int64     `json:"hw_counters,omitempty"` // ports/1/hw_counters; totals
}

// PCI is one PCI function that matters: NICs, NVMe, RDMA, DPUs and every bridge above them.
type PCI struct {
	BDF             string                   `json:"bdf"`
	Vendor          string                   `json:"vendor"` // 0x15b3
	Device          string                   `json:"device"`
	Class           string                   `json:"class"`           // 0x020000
	Name            maybe.Value[string]      `json:"name,omitzero"`   // from the PCI id database
	Driver          maybe.Value[string]      `json:"driver,omitzero"` // "" when unbound (no driver link: known)
	Node            maybe.Value[int]         `json:"node,omitzero"`
	LocalCPUs       maybe.Value[cpulist.Set] `json:"local_cpus,omitzero"`
	Parent          string                   `json:"parent,omitempty"`   // BDF of the bridge above, "" at the root
	RootBus         string                   `json:"root_bus,omitempty"` // pci0000:80
	SpeedGTs        maybe.Value[float64]     `json:"speed_gts,omitzero"`
	MaxSpeedGTs     maybe.Value[float64]     `json:"max_speed_gts,omitzero"`
	Width           maybe.Value[int]         `json:"width,omitzero"`
	MaxWidth        maybe.Value[int]         `json:"max_width,omitzero"`
	PayloadBytes    maybe.Value[int]         `json:"max_payload_bytes,omitzero"`      // DevCtl MPS, in force
	ReadReqBytes    maybe.Value[int]         `json:"max_read_request_bytes,omitzero"` // DevCtl MRRS
	RelaxedOrdering maybe.Value[bool]        `json:"relaxed_ordering,omitzero"`
	ExtTag          maybe.Value[bool]        `json:"ext_tag,omitzero"`
	TenBitTag       maybe.Value[bool]        `json:"ten_bit_tag,omitzero"`
	ASPM            maybe.Value[string]      `json:"aspm,omitzero"`             // disabled, L0s, L1, L0s L1
	ACS             maybe.Value[string]      `json:"acs,omitzero"`              // ACSCtl bits that are set, such as "SrcValid ReqRedir"
	AERCorrectable  map[string]int64         `json:"aer_correctable,omitempty"` // totals
	AERFatal        map[string]int64         `json:"aer_fatal,omitempty"`
	AERNonFatal     map[string]int64         `json:"aer_nonfatal,omitempty"`
	IOMMUGroup      maybe.Value[int]         `json:"iommu_group,omitzero"`
	IOMMUType       maybe.Value[string]      `json:"iommu_type,omitzero"` // identity, DMA, DMA-FQ; "none" without a group
	PhysFn          string                   `json:"physfn,omitempty"`
	NumVFs          maybe.Value[int]         `json:"num_vfs,omitzero"`
	BARs            []BAR                    `json:"bars,omitempty"`
	MSI             []int                    `json:"msi_irqs,omitempty"`
	PowerControl    maybe.Value[string]      `json:"power_control,omitzero"` // on or auto (runtime power management)
	DevlinkParams   map[string]string        `json:"devlink_params,omitempty"`
	// PayloadCapBytes is the largest payload that the function supports (DevCap); the smallest of a path bounds PayloadBytes.
	PayloadCapBytes maybe.Value[int]    `json:"max_payload_supported_bytes,omitzero"`
	TenBitCompleter maybe.Value[bool]   `json:"ten_bit_tag_completer,omitzero"` // DevCap2: answers 10-bit tags
	PortType        maybe.Value[string] `json:"port_type,omitzero"`             // endpoint, root-port, upstream-port, downstream-port ...
	AERStatus       maybe.Value[string] `json:"aer_status,omitzero"`            // set bits of the AER status registers, by lspci's names; sticky
	// FirmwareParams is mlxconfig's query: CQE_COMPRESSION -> BALANCED(0), as it will be at the next boot.
	FirmwareParams map[string]string `json:"firmware_params,omitempty"`
}

// BAR is one memory region of a PCI function with its page-attribute type, where debugfs told.
type BAR struct {
	Index        int                 `json:"index"`
	Start        uint64              `json:"start"`
	End          uint64              `json:"end"` // inclusive
	Prefetchable bool                `json:"prefetchable"`
	CacheType    maybe.Value[string] `json:"cache_type,omitzero"` // write-combining, uncached-minus, ...
}

// Storage is the block side: NVMe controllers and their queues.
type Storage struct {
	NVMe []NVMe `json:"nvme"`
}

// NVMe is one controller, local or over fabrics.
type NVMe struct {
	Name       string              `json:"name"`               // nvme0
	Transport  maybe.Value[string] `json:"transport,omitzero"` // pcie, tcp, rdma, loop
	Address    maybe.Value[string] `json:"address,omitzero"`
	Model      maybe.Value[string] `json:"model,omitzero"`
	Firmware   maybe.Value[string] `json:"firmware,omitzero"`
	PCI        string              `json:"pci,omitempty"`
	Node       maybe.Value[int]    `json:"node,omitzero"`
	Queues     maybe.Value[int]    `json:"queues,omitzero"`
	PollQueues maybe.Value[int]    `json:"poll_queues,omitzero"`
	IRQs       []int               `json:"irqs,omitempty"`
	Disks      []Disk              `json:"disks,omitempty"`
	Subsystem  string              `json:"subsystem,omitempty"` // nvme-subsys0
	IOPolicy   maybe.Value[string] `json:"iopolicy,omitzero"`   // of the subsystem: numa, round-robin, queue-depth
	State      maybe.Value[string] `json:"state,omitzero"`      // live, connecting ...
}

// Disk is one block device of a controller.
type Disk struct {
	Name       string              `json:"name"` // nvme0n1
	Scheduler  maybe.Value[string] `json:"scheduler,omitzero"`
	NrRequests maybe.Value[int]    `json:"nr_requests,omitzero"`
	RQAffinity maybe.Value[int]    `json:"rq_affinity,omitzero"`
	IOPoll     maybe.Value[int]    `json:"io_poll,omitzero"`
	NoMerges   maybe.Value[int]    `json:"nomerges,omitzero"`
}
