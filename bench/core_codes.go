package bench

// coreNoteMeanings is every code of the core: command lines, running, sockperf, VMA and XLIO, the built-in ping-pong and
// the generic adapter. Codes are stable: rules and reports refer to them.
var coreNoteMeanings = map[string]string{
	// command lines
	"pg-typographic-chars":     "argv has a typographic dash, quote or blank where the program expects an ASCII one; Args word, fixed",
	"wrapper-placement-unread": "a wrapper places the command, but its CPUs or nodes can be resolved on the host only, or not at all; Args wrapper, value",
	"wrapper-unknown-option":   "an option of a wrapper is not known, so what follows it may be misread; Args option",

	// running a command
	"run-deadline":         "the context's deadline ended the run",
	"run-forced-end":       "the command did not end when it was asked to, and got a harder signal",
	"run-leftovers-ended":  "processes that the command had left behind were ended with it",
	"run-output-bounded":   "the command printed more than is kept; beginning and end are",
	"run-output-held-open": "a process that the command left behind still held its output after its end",
	"run-output-not-saved": "the output could not be saved to its file, wholly or in part",
	"run-output-not-shown": "the output could not be shown live to its end",
	"run-was-stopped":      "the command was stopped from the keyboard for a while; its times include that",

	// any tool
	"bench-failed":                "there is no valid result; the text says why in the tool's own words where it has any",
	"bench-interrupted":           "the run was ended from outside before its time; the result is that of the time it had",
	"bench-metric-absent":         "nothing in the output matches the pattern of a metric; Args metric",
	"bench-metric-unparsable":     "what the pattern of a metric matched is no number; Args metric, value",
	"bench-percentile-unreliable": "fewer than ten samples lie above these percentiles; Args percentiles, samples",
	"bench-several-results":       "the output holds more than one result; the last is shown",
	"bench-too-few-samples":       "fewer than 100 samples; Args samples",

	// sockperf
	"sockperf-addr-in-use":       "the server's address and port are taken; Args addr",
	"sockperf-addr-not-local":    "the server's address is not one of this host; Args addr",
	"sockperf-affinity-failed":   "a thread could not be pinned, and the run ended there; Args cpu, tid, or from argv option, cpus",
	"sockperf-bad-option":        "an option or its value is wrong, so sockperf printed its help and ended with status 0; Args option",
	"sockperf-bandwidth-label":   "the version prints GBps on a value in MBps; corrected",
	"sockperf-burst":             "the latency is that of a burst; Args messages",
	"sockperf-dropped":           "messages did not come back, or did not arrive; Args count",
	"sockperf-duplicated":        "replies came twice; Args count",
	"sockperf-file-missing":      "the feed or playback file cannot be opened; Args file",
	"sockperf-log-clock-unclear": "the times of the full log fit neither clock, or both",
	"sockperf-log-tsc":           "the full log is in time stamp counter time and has to be mapped",
	"sockperf-memory":            "the client allocates more than 1 GiB for its samples before it starts; Args bytes",
	"sockperf-no-observations":   "no message lies in the part that is measured",
	"sockperf-no-server":         "nobody answered, or the connection was refused; Args errno",
	"sockperf-nothing-sent":      "no message was sent",
	"sockperf-one-way":           "UDP throughput mode prints the rate of sending, with or without a server",
	"sockperf-out-of-order":      "replies came out of order; Args count",
	"sockperf-peer-closed":       "the peer closed the connection during the run",
	"sockperf-rate-not-met":      "the rate of messages is more than 10 % off what was asked for; Args asked, sent, cause: sender or no-rdtsc",
	"sockperf-send-failed":       "sending failed; Args errno, peer",
	"sockperf-server-idle":       "the server received nothing",
	"sockperf-several-servers":   "several servers answered (multicast); the last one's percentiles are shown",
	"sockperf-socket-failed":     "no socket could be opened: VMA or XLIO could not start; Args errno",
	"sockperf-stalled":           "a UDP ping-pong stood still after a lost datagram, which its counters do not show; Args still_s",
	"sockperf-too-short":         "with --no-rdtsc little or nothing of so short a run is measured; Args seconds",
	"sockperf-unanswered":        "messages of the whole run, warm-up included, were not answered; Args count",

	// VMA and XLIO
	"vma-bond-not-offloadable":          "a bond is not offloaded because of its slaves",
	"vma-failed-to-start":               "the library could not start; sockets fail",
	"vma-flow-rule-exists":              "a steering rule exists already: another process uses the same flow",
	"vma-flow-rule-invalid":             "a steering rule was refused: no flow steering, or the wrong port type",
	"vma-flow-steering-off":             "the device or driver has flow steering switched off",
	"vma-interface-not-offloaded":       "an interface is not offloaded; Args netdev",
	"vma-internal-thread-unpinned":      "the library's own thread could not be pinned and runs anywhere",
	"vma-log-level-high":                "the library logs so much that latency suffers; Args level",
	"vma-memlock-low":                   "the limit on locked memory is not unlimited; Args bytes",
	"vma-no-device":                     "the library found no RDMA device: nothing is offloaded",
	"vma-no-hugepages":                  "the library wanted huge pages and got none; slower, not broken",
	"vma-no-net-raw":                    "CAP_NET_RAW is missing",
	"vma-no-raw-qp":                     "raw packet queue pairs are not allowed to this user",
	"vma-no-verbs-device-for-interface": "the interface of an address has no RDMA device",
	"vma-not-loaded":                    "variables of the library are set, but nothing loads it; Args name",
	"vma-not-offloaded":                 "the library's counters show that every packet went through the kernel",
	"vma-offloaded":                     "the library's counters show that every packet bypassed the kernel",
	"vma-partially-offloaded":           "the library's counters show packets on both ways",
	"vma-stats-absent":                  "the library's counters could not be read; that does not mean that nothing was offloaded; Args file",
	"vma-unknown-spec":                  "VMA_SPEC names no spec and is ignored; Args spec",
	"vma-unknown-variable":              "a variable that the library does not know, and ignores; Args name, value, nearest",
	"xlio-sq-exhausted":                 "the send queue was full",

	// the built-in ping-pong
	"pingpong-bad-option": "an argument of the built-in workload is wrong",
	"pingpong-lost":       "messages were not answered; Args count",
	"pingpong-no-server":  "nobody answered; Args peer",
	"pingpong-warning":    "a warning of the built-in workload itself",
}
