package facts

// Engineering defaults behind facts that are named with a word ("deep", "near", "short"). None of them comes from a
// source with a number, unless it says so; they stand together so that they can be tuned together.
const (
	nearDistance   = 12   // node distance up to which another node of the same package counts as near (NPS, SNC, L3 as NUMA)
	deepLatencyUS  = 10   // exit latency above which an idle state is deep
	busyHigh       = 0.9  // a CPU that is busy for this share is saturated
	busyLow        = 0.5  // a CPU below this share is idle enough to call the host idle
	pcieUsable     = 0.85 // share of a PCIe link's capacity that is left after packet headers
	targetShare    = 0.98 // share of the expectation from which the result counts as reached
	missedShare    = 0.95 // share of the expectation below which it counts as missed
	lossTolerance  = 1e-5 // share of arriving packets that may be lost before a throughput result no longer counts as reached
	tailLimit      = 3    // p99.9 over the median from which the tail counts as bad
	hotIRQPerS     = 10   // rate from which an interrupt on a sibling is named
	idleRatio      = 0.2  // a thread below this share of the busiest thread's time is not on the data path
	busyThread     = 0.05 // ... when that busiest thread takes at least this share of a CPU
	onCPUShare     = 0.01 // share of a thread's run time from which a CPU counts as used (probes)
	memNodeShare   = 0.01 // share of a process's memory from which a node counts as used
	freqToleranceM = 100  // MHz below the base frequency from which a busy CPU counts as slow
	memlockLow     = 64 << 20
	busyPortPPS    = 1000 // packets a second from which a port or CPU carries traffic
)
