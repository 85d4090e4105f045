package bpf

// Options says what a Session captures.
type Options struct {
	Watch Watch
	// NodeOfCPU is the NUMA node of each CPU; nil: read from /sys/devices/system/node.
	NodeOfCPU map[int]int
	// KeepOff are the CPUs that corewise's own threads avoid as far as others are left (see KeepOff).
	KeepOff []int
	// Events keeps the timeline.
	Events bool
	// SkipCost leaves the programs' own run time unmeasured (ProbeState.CostKnown is false). The kernel's measurement reads
	// the clock twice for each event, which costs about as much as the cheaper programs themselves.
	SkipCost bool
	// MaxEvents bounds the timeline; 0: 2 million. Beyond it the shortest events are dropped and counted.
	MaxEvents int
	// MaxThreads bounds the threads that are told apart; 0: 16384, at most 32767. More are counted in Capture.Lost.
	MaxThreads int
}

// Watch says whose disturbances are captured. Threads started by a watched thread are watched from their first instruction.
type Watch struct {
	PIDs     []int  // process trees to follow
	CPUs     []int  // whoever runs on these CPUs, with or without a workload
	CgroupID uint64 // all processes in this cgroup (v2) and those that enter it; 0: none
}

const (
	defaultMaxThreads = 16384
	maxMaxThreads     = 0x7fff // one bit of a slot says that the thread waits for its execve
	defaultMaxEvents  = 2 << 20
)

func (o Options) maxThreads() int {
	switch {
	case o.MaxThreads <= 0:
		return defaultMaxThreads
	case o.MaxThreads > maxMaxThreads:
		return maxMaxThreads
	}
	return o.MaxThreads
}

func (o Options) maxEvents() int {
	if o.MaxEvents > 0 {
		return o.MaxEvents
	}
	return defaultMaxEvents
}
