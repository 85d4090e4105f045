package facts

// Result is what the benchmark measured and what was to be expected. Latencies are microseconds of the kind in latency_kind.
type Result struct {
	Unknown      Unknown  `json:"-"`
	Present      bool     `json:"present" doc:"the benchmark's output was read"`
	Valid        bool     `json:"valid" doc:"it holds a result: the benchmark did not fail"`
	Failed       bool     `json:"failed" doc:"the benchmark failed"`
	FailedText   string   `json:"failed_text" doc:"its own words"`
	Tool         string   `json:"tool" doc:"tool that printed it"`
	Version      string   `json:"version" doc:"its version"`
	Mode         string   `json:"mode" doc:"mode as printed"`
	LatencyKind  string   `json:"latency_kind" doc:"rtt, half_rtt, one_way or service"`
	HasLatency   bool     `json:"has_latency" doc:"it has latencies"`
	HasRate      bool     `json:"has_throughput" doc:"it has a rate"`
	AvgUS        float64  `json:"avg_us" doc:"mean"`
	MinUS        float64  `json:"min_us" doc:"smallest"`
	P50US        float64  `json:"p50_us" doc:"median"`
	P90US        float64  `json:"p90_us" doc:"90th percentile"`
	P99US        float64  `json:"p99_us" doc:"99th percentile"`
	P999US       float64  `json:"p99_9_us" doc:"99.9th percentile"`
	P9999US      float64  `json:"p99_99_us" doc:"99.99th percentile"`
	P99999US     float64  `json:"p99_999_us" doc:"99.999th percentile"`
	MaxUS        float64  `json:"max_us" doc:"largest"`
	Samples      int      `json:"samples" doc:"measured messages"`
	TailRatio    float64  `json:"tail_ratio" doc:"p99.9 over the median (p99 where there is no reliable p99.9)"`
	MaxRatio     float64  `json:"max_ratio" doc:"largest over the median"`
	Unreliable   []string `json:"unreliable_percentiles" doc:"printed percentiles with less than ten samples above"`
	RxMpps       float64  `json:"rx_mpps" doc:"received, million packets a second"`
	TxMpps       float64  `json:"tx_mpps" doc:"sent, million packets a second"`
	RxGbps       float64  `json:"rx_gbps" doc:"received, Gb/s, as the tool counts"`
	TxGbps       float64  `json:"tx_gbps" doc:"sent, Gb/s, as the tool counts"`
	Gbps         float64  `json:"gbps" doc:"rate that counts for this workload, Gb/s as the tool counts, per direction, sum of its ports"`
	WireGbps     float64  `json:"wire_gbps" doc:"what that rate needs on the wire: with headers, checksum, preamble and gap; never more than the links carry"`
	Mpps         float64  `json:"mpps" doc:"rate that counts for this workload, million packets a second, per direction, sum of its ports"`
	MsgPerS      float64  `json:"msg_per_s" doc:"messages a second"`
	IOPS         float64  `json:"iops" doc:"I/O operations a second"`
	OpsPerS      float64  `json:"ops_per_s" doc:"operations a second"`
	FrameBytes   int      `json:"frame_bytes" doc:"frame size with checksum"`
	ExpectedGbps float64  `json:"expected_gbps" doc:"what could be expected: the smallest of link speed, usable PCIe, offered load; of a receiver what arrived; per direction, sum of the ports used"`
	ExpectedMpps float64  `json:"expected_mpps" doc:"packets a second at that rate and frame size"`
	ExpectedBy   string   `json:"expected_by" doc:"what limits the expectation: link, pcie, offered (the load asked for) or arrived (what reached a receiver)"`
	Reached      float64  `json:"reached_share" doc:"share of the expectation that was reached"`
	LinkShare    float64  `json:"link_share" doc:"wire_gbps as a share of the link speed of the ports used"`
	Deficit      float64  `json:"deficit_share" doc:"share that is missing of the expectation, of the link speed where PCIe limits the expectation; 0 when reached"`
	AtLineRate   bool     `json:"at_line_rate" doc:"98 % or more of the link speed"`
	AtTarget     bool     `json:"at_target" doc:"the declared targets are met; without one: throughput 98 % or more of the expectation (of the link where PCIe is the limit) and nothing lost, latency a tail ratio below 3"`
	BelowTarget  bool     `json:"below_target" doc:"the contrary: known to be missed"`
	Missed       bool     `json:"throughput_missed" doc:"less than 95 % of the expectation, of the link where PCIe limits the expectation"`
	TailBad      bool     `json:"tail_bad" doc:"tail ratio above 3"`
	OfferedShare float64  `json:"offered_share" doc:"rate reached as a share of the rate asked for"`
	LossShare    float64  `json:"loss_share" doc:"lost messages or packets as a share of the sent ones"`
	Dropped      float64  `json:"dropped" doc:"lost messages or packets"`
	Duplicated   float64  `json:"duplicated" doc:"duplicated messages"`
	OutOfOrder   float64  `json:"out_of_order" doc:"messages out of order"`
	Retransmits  float64  `json:"retransmits" doc:"retransmitted segments"`
	RxMissed     float64  `json:"rx_missed" doc:"packets that the ports missed: imissed, RX-missed"`
	RxNombuf     float64  `json:"rx_nombuf" doc:"packets that found no buffer: rx_nombuf"`
	RxErrors     float64  `json:"rx_errors" doc:"receive errors of the ports"`
	TxErrors     float64  `json:"tx_errors" doc:"transmit errors of the ports"`
	NothingSent  bool     `json:"nothing_sent" doc:"the transmit rate is zero"`
	NothingRecvd bool     `json:"nothing_received" doc:"the receive rate is zero although a rate was sent"`
	DurationS    float64  `json:"duration_s" doc:"valid part, seconds"`
	WarmupS      float64  `json:"warmup_s" doc:"warm-up, seconds"`
	Intervals    int      `json:"intervals" doc:"periodic values"`
	Spread       float64  `json:"spread_share" doc:"spread of the periodic main rate between its 10th and 90th percentile, share of the median"`
	RepeatSpread float64  `json:"repeat_spread_share" doc:"spread of repeated results, share of the smallest"`
	Repeats      int      `json:"repeats" doc:"earlier results of the same command"`
	ParseWarn    int      `json:"parse_warnings" doc:"rows that were not understood"`
	SentShare    float64  `json:"rate_met_share" doc:"messages sent as a share of the rate asked for times the duration"`
	BusyCPU      bool     `json:"cpu_saturated" doc:"a data-path thread that does not poll used 90 % of a CPU or more"`
	IdleCPU      bool     `json:"cpu_idle" doc:"the CPUs of the workload and of its interrupts were below 50 % busy"`
	Single       bool     `json:"one_core_limit" doc:"one data-path CPU is 95 % busy, all others are below 50 %"`
	TargetsMet   bool     `json:"targets_met" doc:"every declared target is met; unknown without a target"`
	ToolLimit    bool     `json:"tool_limit" doc:"the load generator is the limit: its only thread is saturated while the host has room"`
}

// Capture is what the probes saw in total. All of it is unknown without a capture, with the reason. Shares are of the wall time of the watched threads.
type Capture struct {
	Unknown       Unknown  `json:"-"`
	Present       bool     `json:"present" doc:"there is a capture with probes (not only /proc differences)"`
	Mode          string   `json:"mode" doc:"ebpf or proc"`
	SpanS         float64  `json:"span_s" doc:"seconds captured"`
	Threads       int      `json:"threads" doc:"watched threads"`
	Lost          int      `json:"lost_events" doc:"events missing from the numbers"`
	Migrations    int      `json:"migrations" doc:"moves of watched threads to another CPU"`
	MigrPerS      float64  `json:"migrations_per_s" doc:"the same a second"`
	CrossNode     int      `json:"cross_node_migrations" doc:"moves of watched threads to another node"`
	CrossPerS     float64  `json:"cross_node_migrations_per_s" doc:"the same a second"`
	RemoteAlloc   float64  `json:"remote_alloc_share" doc:"pages that watched threads got from another node than the CPU's"`
	RemotePages   int      `json:"remote_alloc_pages" doc:"the number of these pages"`
	AllocPages    int      `json:"alloc_pages" doc:"pages that watched threads got in all"`
	AllocPerS     float64  `json:"alloc_per_s" doc:"the same a second"`
	RemoteNAPI    float64  `json:"remote_napi_share" doc:"NAPI polls of the workload's interfaces on another node than theirs"`
	NAPIPerS      float64  `json:"napi_per_s" doc:"NAPI polls of the workload's interfaces a second"`
	NAPIOnWL      float64  `json:"workload_napi_per_s" doc:"NAPI polls on data-path CPUs a second"`
	RunQP99US     float64  `json:"runq_p99_us" doc:"largest 99th percentile of a data thread's wait for a CPU, microseconds"`
	RunQMaxUS     float64  `json:"runq_max_us" doc:"longest wait of a data thread for a CPU, microseconds"`
	WaitShare     float64  `json:"wait_share" doc:"time that data threads waited for a CPU"`
	Preemptions   int      `json:"preemptions" doc:"times that another task ran in place of a data thread"`
	PreemptShare  float64  `json:"preempt_share" doc:"time taken by other tasks"`
	PreemptMaxUS  float64  `json:"preempt_max_us" doc:"longest of these"`
	Preemptors    []string `json:"preemptors" doc:"names of these tasks, longest time first, corewise itself left out"`
	Kthreads      []string `json:"movable_kthreads" doc:"of these, kernel threads that can be moved: unbound kworkers, rcuo, kswapd, khugepaged ..."`
	KthreadShare  float64  `json:"movable_kthread_share" doc:"time they took"`
	KthreadMaxUS  float64  `json:"movable_kthread_max_us" doc:"longest of these"`
	BoundKthreads []string `json:"bound_kthreads" doc:"per-CPU kernel threads among them: ksoftirqd, migration, per-CPU kworkers"`
	Services      []string `json:"service_preemptors" doc:"of these, ordinary processes that are not the workload"`
	WorkFuncs     []string `json:"work_functions" doc:"work functions of kworkers that took time from the workload"`
	VmstatPerS    float64  `json:"vmstat_update_per_s" doc:"vmstat_update runs a second on data-path CPUs"`
	VmstatMaxUS   float64  `json:"vmstat_update_max_us" doc:"longest of these"`
	KsoftirqdUS   float64  `json:"ksoftirqd_us_per_s" doc:"time of ksoftirqd on data-path CPUs, microseconds a second"`
	TimerFuncs    []string `json:"timer_functions" doc:"timer functions that ran on data-path CPUs"`
	CSWatchdog    bool     `json:"clocksource_watchdog_seen" doc:"clocksource_watchdog ran on a data-path CPU"`
	MCETimer      bool     `json:"mce_timer_seen" doc:"mce_timer_fn ran on a data-path CPU"`
	FootprintOwn  float64  `json:"own_share" doc:"time that corewise itself took from the workload"`
	WokenRemote   float64  `json:"remote_wakeup_share" doc:"wake-ups of watched threads from another node"`
	WokenIdleUS   float64  `json:"idle_exit_us_per_s" doc:"time of idle exits before watched threads ran, microseconds a second"`
	TLBPerS       float64  `json:"tlb_ipi_per_s" doc:"TLB shootdowns on data-path CPUs a second"`
	CallPerS      float64  `json:"call_ipi_per_s" doc:"function-call IPIs on data-path CPUs a second"`
	IPISenders    []string `json:"ipi_senders" doc:"who sent function-call and TLB IPIs to data-path CPUs"`
	FaultsPerS    float64  `json:"faults_per_s" doc:"page faults of data threads a second"`
	SpikeEveryMS  float64  `json:"spike_period_ms" doc:"period of single disturbances longer than 10 us on data threads, milliseconds, where they come regularly; timeline of the probes"`
	Windows       []string `json:"blind_spots" doc:"what could not be seen because a probe was not attached"`
}

// Tail is time taken from the data threads by cause, as a share of their wall time, with the longest single event. Unknown without a capture.
type Tail struct {
	Unknown        Unknown `json:"-"`
	IRQShare       float64 `json:"irq_share" doc:"device interrupt handlers"`
	IRQMaxUS       float64 `json:"irq_max_us" doc:"longest"`
	IRQCount       int     `json:"irq_count" doc:"number"`
	SoftirqShare   float64 `json:"softirq_share" doc:"softirqs"`
	SoftirqMaxUS   float64 `json:"softirq_max_us" doc:"longest"`
	SoftirqCount   int     `json:"softirq_count" doc:"number"`
	TimerShare     float64 `json:"timer_share" doc:"local timer interrupts"`
	TimerMaxUS     float64 `json:"timer_max_us" doc:"longest"`
	TimerCount     int     `json:"timer_count" doc:"number"`
	IPIShare       float64 `json:"ipi_share" doc:"interrupts between CPUs"`
	IPIMaxUS       float64 `json:"ipi_max_us" doc:"longest"`
	IPICount       int     `json:"ipi_count" doc:"number"`
	NMIShare       float64 `json:"nmi_share" doc:"non-maskable interrupts"`
	NMICount       int     `json:"nmi_count" doc:"number"`
	ThreadShare    float64 `json:"thread_share" doc:"other threads in place of data threads"`
	ThreadMaxUS    float64 `json:"thread_max_us" doc:"longest"`
	ThreadCount    int     `json:"thread_count" doc:"number"`
	RunqueueShare  float64 `json:"runqueue_share" doc:"waiting for a CPU, not charged to a thread"`
	ThrottleShare  float64 `json:"throttle_share" doc:"quota or real-time throttling"`
	ThrottleMaxUS  float64 `json:"throttle_max_us" doc:"longest"`
	FaultShare     float64 `json:"fault_share" doc:"page faults"`
	FaultMaxUS     float64 `json:"fault_max_us" doc:"longest"`
	FaultCount     int     `json:"fault_count" doc:"number"`
	IdleExitShare  float64 `json:"idle_exit_share" doc:"leaving deep idle states"`
	IdleExitMaxUS  float64 `json:"idle_exit_max_us" doc:"longest"`
	IdleExitCount  int     `json:"idle_exit_count" doc:"number"`
	StealShare     float64 `json:"steal_share" doc:"taken by the hypervisor"`
	Total          float64 `json:"total_share" doc:"all causes together"`
	UnseenSuspects bool    `json:"nothing_seen" doc:"all causes together took less than 0.01 % and no single event was longer than 10 us"`
}

// Disturber is one cause and actor that took time from the workload. Unknown list without a capture.
type Disturber struct {
	Unknown    Unknown `json:"-"`
	Cause      string  `json:"cause" doc:"irq, softirq, timer, ipi, nmi, thread, runqueue, throttle, fault, idle_exit, steal"`
	Actor      string  `json:"actor" doc:"IRQ action, softirq vector, thread name, IPI kind, timer function"`
	ID         int     `json:"id" doc:"IRQ number, or pid"`
	Func       string  `json:"func" doc:"work function of a kworker, function of a timer"`
	Sender     string  `json:"sender" doc:"who sent the IPI"`
	SenderCPU  int     `json:"sender_cpu" doc:"CPU it was sent from"`
	Kind       string  `json:"kind" doc:"device-irq, softirq, tick, ipi, nmi, kthread-bound, kthread-movable, process, workload, kernel"`
	Device     string  `json:"device" doc:"device of an interrupt"`
	Count      int     `json:"count" doc:"times"`
	PerS       float64 `json:"per_s" doc:"times a second"`
	Share      float64 `json:"share" doc:"time taken, share of the wall time of the data threads"`
	TotalUS    float64 `json:"total_us" doc:"time taken, microseconds"`
	MaxUS      float64 `json:"max_us" doc:"longest, microseconds"`
	MeanUS     float64 `json:"mean_us" doc:"mean, microseconds"`
	CPUs       []int   `json:"cpus" doc:"CPUs it happened on"`
	Threads    int     `json:"threads" doc:"watched threads it hit"`
	OnWorkload bool    `json:"on_workload" doc:"it hit a data thread (else only another CPU that is watched)"`
	OtherNode  bool    `json:"other_node" doc:"a device interrupt on another node than the device's"`
	Own        bool    `json:"own" doc:"corewise itself"`
	Workload   bool    `json:"workload" doc:"a thread of the workload itself"`
}

// Migration is moves of the workload's threads between two nodes.
type Migration struct {
	Unknown  Unknown `json:"-"`
	FromNode int     `json:"from_node" doc:"node left"`
	ToNode   int     `json:"to_node" doc:"node reached"`
	Count    int     `json:"count" doc:"moves"`
	PerS     float64 `json:"per_s" doc:"moves a second"`
	Cross    bool    `json:"cross_node" doc:"the nodes differ"`
	Threads  int     `json:"threads" doc:"threads that moved"`
}
