package facts

// Facts is everything a rule may read. The json tag is the name in CEL; a group reads as host.kind, a list is named by
// a rule's each. The doc tag of every field is its documentation: see Vocabulary.
type Facts struct {
	Unknown Unknown `json:"-"` // lists that could not be read, by name, with the reason

	// Goal is what the run is judged for: latency, throughput, or auto when nothing tells. Rules have it as wl.goal.
	Goal string `json:"-"`

	Host       Host       `json:"host" doc:"the machine: kind, vendor, size"`
	CPU        CPU        `json:"cpu" doc:"processor topology"`
	NUMA       NUMA       `json:"numa" doc:"memory nodes and what crosses them"`
	Kernel     Kernel     `json:"kernel" doc:"version, build options, clock, log"`
	Cmdline    Cmdline    `json:"cmdline" doc:"the kernel command line, taken apart and compared with what the kernel made of it"`
	Sysctl     Sysctl     `json:"sysctl" doc:"values of /proc/sys"`
	Iso        Iso        `json:"iso" doc:"isolated CPUs, housekeeping CPUs, and what reaches them"`
	Mem        Mem        `json:"mem" doc:"memory as a whole: huge pages, THP, KSM, swap"`
	Power      Power      `json:"power" doc:"frequency, idle states, throttling, over the workload's CPUs"`
	IRQ        IRQ        `json:"irq" doc:"interrupts of the whole host and of the workload's CPUs"`
	Irqbalance Irqbalance `json:"irqbalance" doc:"the irqbalance daemon"`
	Net        Net        `json:"net" doc:"network softirqs, backlog, steering"`
	Tuned      Tuned      `json:"tuned" doc:"the tuned daemon and its profile"`
	Services   Services   `json:"services" doc:"daemons that disturb or own settings"`
	K8s        K8s        `json:"k8s" doc:"kubelet, CPU manager, container runtime"`
	OVS        OVS        `json:"ovs" doc:"Open vSwitch"`
	WL         WL         `json:"wl" doc:"the workload: what it is, where it runs, what it uses"`
	Result     Result     `json:"result" doc:"what the benchmark measured, against what was to be expected"`
	Capture    Capture    `json:"capture" doc:"what the probes saw in total"`
	Tail       Tail       `json:"tail" doc:"time taken from the workload, by cause, from the probes"`
	VMA        VMA        `json:"vma" doc:"libvma and libxlio"`
	Sockperf   Sockperf   `json:"sockperf" doc:"sockperf's own options"`
	DPDK       DPDK       `json:"dpdk" doc:"EAL arguments, pktgen and testpmd"`
	Doca       Doca       `json:"doca" doc:"doca_bench"`
	Storage    Storage    `json:"storage" doc:"NVMe, NVMe-oF, SPDK, fio"`
	Bios       Bios       `json:"bios" doc:"firmware settings by vendor-neutral name, where they were readable"`
	Plan       Plan       `json:"plan" doc:"the recommended core lists, in every syntax"`

	NICs            []NIC       `json:"nics" doc:"every network interface with a device, also its PCI function"`
	WorkloadNICs    []NIC       `json:"workload_nics" doc:"the interfaces that the workload uses"`
	RDMA            []RDMA      `json:"rdma" doc:"every RDMA device; uses are marked"`
	NVMe            []NVMe      `json:"nvme" doc:"every NVMe controller"`
	Nodes           []Node      `json:"nodes" doc:"every NUMA node"`
	WorkloadCPUs    []CPUState  `json:"workload_cpus" doc:"one element for each CPU that the workload's threads use"`
	IsolatedCPUs    []CPUState  `json:"isolated_cpus" doc:"one element for each isolated CPU"`
	WorkloadThreads []Thread    `json:"workload_threads" doc:"the threads of the workload"`
	IRQDevices      []IRQDevice `json:"irq_devices" doc:"one element for each device that owns interrupts"`
	IRQs            []IRQLine   `json:"irqs" doc:"interrupts that fired on a workload or isolated CPU, moved, or cannot be placed as asked"`
	Cgroups         []Cgroup    `json:"cgroups" doc:"control groups that limit CPUs; the workload's own ones first"`
	Containers      []Container `json:"containers" doc:"containers with CPUs of their own, from the CPU manager or the runtime"`
	Notes           []Note      `json:"notes" doc:"warnings and errors of the benchmark and remarks on its command line"`
	LogHits         []LogHit    `json:"log_hits" doc:"kernel log lines that match a known pattern"`
	Disturbers      []Disturber `json:"disturbers" doc:"who took time from the workload, by cause and actor, from the probes"`
	Migrations      []Migration `json:"migrations" doc:"moves of the workload's threads by pair of nodes, from the probes"`
	OVSBridges      []OVSBridge `json:"ovs_bridges" doc:"Open vSwitch bridges"`
	OVSPorts        []OVSPort   `json:"ovs_ports" doc:"ports of Open vSwitch bridges"`
	OVSPMDs         []OVSPMD    `json:"ovs_pmds" doc:"poll-mode threads of Open vSwitch"`
	TailCauses      []TailCause `json:"tail_causes" doc:"what explains the outliers, sample by sample: a run with samples and a timeline; largest share first"`
}
