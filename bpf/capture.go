package bpf

// CaptureSchema is the version of the Capture JSON.
const CaptureSchema = 1

// Cause says what kind of activity took time from a CPU or a thread.
type Cause string

// The causes. Time is exclusive: an interrupt inside a softirq inside a preemption is charged once, to the innermost.
const (
	CauseIRQ      Cause = "irq"       // device interrupt handler; Actor.ID is the IRQ number
	CauseSoftirq  Cause = "softirq"   // softirq on interrupt return or in ksoftirqd; Actor.Name is the vector
	CauseTimer    Cause = "timer"     // local timer interrupt (x86 irq_vectors) ; Actor.Name "local_timer", or the timer function where known
	CauseIPI      Cause = "ipi"       // reschedule, call_function, tlb ...; Actor.Name the kind, Sender* who sent it where known
	CauseNMI      Cause = "nmi"       //
	CauseThread   Cause = "thread"    // another thread ran while the watched thread was runnable (preempted or waiting)
	CauseRunqueue Cause = "runqueue"  // runnable but not running; the part not charged to a known thread
	CauseThrottle Cause = "throttle"  // cgroup quota or RT throttling
	CauseFault    Cause = "fault"     // page fault
	CauseIdleExit Cause = "idle_exit" // leaving a deep idle state just before the thread ran
	CauseSteal    Cause = "steal"     // the hypervisor took the CPU
	CauseMigrate  Cause = "migration" // moved to another CPU (count only)
)

// Capture is what the kernel did between StartNS and EndNS. All times are CLOCK_MONOTONIC nanoseconds, as of bpf_ktime_get_ns.
type Capture struct {
	Schema  int    `json:"schema"`
	Mode    string `json:"mode"` // ebpf, or proc: without any eBPF privilege, from /proc deltas only
	StartNS int64  `json:"start_ns"`
	EndNS   int64  `json:"end_ns"`
	CPUs    []int  `json:"cpus"` // online CPUs at the start

	Probes  []ProbeState `json:"probes"`  // every probe, attached or not, with its own cost
	Lost    []Lost       `json:"lost"`    // events that are missing from the numbers below; empty: none
	Cost    Cost         `json:"cost"`    // what the tool itself took
	Notices []string     `json:"notices"` // clock steps, hot-unplug, suspend, ... during the capture

	CPUTime   []CPUCause    `json:"cpu_time"`   // by CPU, cause and actor: everything that ran there beside the watched threads' own code
	Threads   []Thread      `json:"threads"`    // the watched threads
	Hits      []ThreadCause `json:"hits"`       // by watched thread, CPU, cause and actor: what was taken from it
	Migrate   []Migration   `json:"migrations"` // moves of watched threads, and the count of all others by CPU pair
	Wakeups   []Wakeup      `json:"wakeups"`    // who woke watched threads, by CPU pair
	NAPI      []NAPI        `json:"napi"`
	PageAlloc []PageAlloc   `json:"page_alloc"` // pages allocated by watched threads, by node of the CPU and of the page
	Events    EventLog      `json:"-"`          // the timeline, saved apart from the JSON
}

// ProbeState says whether one probe was attached, and why not.
type ProbeState struct {
	Name      string `json:"name"` // the tracepoint: irq_handler_entry, sched_switch ...
	Attached  bool   `json:"attached"`
	How       string `json:"how,omitempty"`   // tp_btf, raw_tp, tracepoint, perf_event
	Why       string `json:"why,omitempty"`   // why it is not attached, and what would be needed
	Loses     string `json:"loses,omitempty"` // what the report cannot say without it
	Runs      uint64 `json:"runs"`
	RunNS     uint64 `json:"run_ns"` // kernel time in the program (kernel.bpf_stats_enabled semantics)
	CostKnown bool   `json:"cost_known"`
}

// Lost counts events that a full map or ring buffer did not take.
type Lost struct {
	What  string `json:"what"` // map or ring buffer
	Count uint64 `json:"count"`
}

// Cost is what the tool itself took while it captured.
type Cost struct {
	UserNS   int64 `json:"user_ns"`   // CPU time of corewise's own threads
	KernelNS int64 `json:"kernel_ns"` // sum of RunNS of all programs
	OwnCPUs  []int `json:"own_cpus"`  // CPUs that corewise's threads were allowed on
	MapBytes int64 `json:"map_bytes"`
}

// Actor is who did it. Which fields are set depends on the cause.
type Actor struct {
	ID         int    `json:"id,omitempty"`         // IRQ number, softirq vector, pid of a thread
	Name       string `json:"name"`                 // IRQ action, vector, comm, timer function, IPI kind
	Func       string `json:"func,omitempty"`       // work function of a kworker, function of a timer
	SenderCPU  int    `json:"sender_cpu,omitempty"` // of an IPI; valid when SenderComm is set
	SenderPID  int    `json:"sender_pid,omitempty"`
	SenderComm string `json:"sender_comm,omitempty"`
}

// CPUCause is exclusive time on one CPU by cause and actor.
type CPUCause struct {
	CPU   int    `json:"cpu"`
	Cause Cause  `json:"cause"`
	Actor Actor  `json:"actor"`
	Count uint64 `json:"count"`
	NS    uint64 `json:"ns"`
	MaxNS uint64 `json:"max_ns"`
}

// UnknownCPU stands for the CPU of a count that the kernel keeps by thread only.
const UnknownCPU = -1

// ThreadCause is time taken from one watched thread by cause and actor, while it ran or wanted to run on CPU. Page faults
// have a count but no time, and UnknownCPU.
type ThreadCause struct {
	TID   int    `json:"tid"`
	CPU   int    `json:"cpu"`
	Cause Cause  `json:"cause"`
	Actor Actor  `json:"actor"`
	Count uint64 `json:"count"`
	NS    uint64 `json:"ns"`
	MaxNS uint64 `json:"max_ns"`
}

// Thread is one watched thread.
type Thread struct {
	PID         int       `json:"pid"` // thread group
	TID         int       `json:"tid"`
	Comm        string    `json:"comm"`
	StartNS     int64     `json:"start_ns"`
	EndNS       int64     `json:"end_ns"`      // 0: still there at the end of the capture
	OnCPU       []OnCPU   `json:"on_cpu"`      // where it ran
	RunQ        Histogram `json:"runq"`        // wait from wake-up or preemption to running, ns
	Voluntary   uint64    `json:"voluntary"`   // switches away by itself
	Involuntary uint64    `json:"involuntary"` // preempted
	Migrations  uint64    `json:"migrations"`
	WaitNS      uint64    `json:"wait_ns"` // sum of RunQ
}

// OnCPU is time one thread ran on one CPU.
type OnCPU struct {
	CPU int    `json:"cpu"`
	NS  uint64 `json:"ns"`
}

// Histogram has power-of-two buckets: Counts[i] counts values v with 2^i <= v < 2^(i+1) (Counts[0] also 0). Max is exact.
type Histogram struct {
	Counts []uint64 `json:"counts"`
	Max    uint64   `json:"max"`
}

// Migration counts moves from one CPU to another. TID 0: all unwatched threads together.
type Migration struct {
	TID   int    `json:"tid"`
	From  int    `json:"from"`
	To    int    `json:"to"`
	Count uint64 `json:"count"`
}

// Wakeup counts wake-ups of one watched thread by the CPU that woke it and the CPU it woke on.
type Wakeup struct {
	TID     int    `json:"tid"`
	FromCPU int    `json:"from_cpu"`
	ToCPU   int    `json:"to_cpu"`
	Count   uint64 `json:"count"`
}

// NAPI counts polls of one device on one CPU.
type NAPI struct {
	Netdev  string `json:"netdev"`
	CPU     int    `json:"cpu"`
	Polls   uint64 `json:"polls"`
	Packets uint64 `json:"packets"`
}

// PageAlloc counts pages by the node of the allocating CPU and the node of the page.
type PageAlloc struct {
	TID      int    `json:"tid"`
	CPUNode  int    `json:"cpu_node"`
	PageNode int    `json:"page_node"`
	Pages    uint64 `json:"pages"`
}

// EventLog is the timeline of what hit watched threads, in time order.
type EventLog struct {
	Events  []Event
	Dropped uint64
	MinNS   int64 // shorter events are among the dropped ones; 0: none was dropped for its length
}

// Event is one disturbance: from StartNS for NS nanoseconds, exclusive of what nested in it.
type Event struct {
	StartNS int64
	NS      int64
	TID     int // the watched thread it hit; 0: it hit a watched CPU
	CPU     int
	Cause   Cause
	Actor   Actor
}
