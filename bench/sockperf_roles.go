package bench

import (
	"fmt"
	"strconv"

	"github.com/corewise/corewise/profile/cpulist"
)

// sockperfRoles names the threads of each mode. An affinity option beats the mask that wrappers set.
func (w *Workload) sockperfRoles(opts parsedOptions) {
	role := func(name, option string, count int) Role {
		r := Role{Name: name, Data: true, Count: count}
		if cpus, ok := w.Command.Taskset.Get(); ok {
			r.CPUs, r.Fixed = cpus, true
		}
		if list, ok := opts.get(option); ok {
			cpus, err := cpulist.Parse(list)
			if err != nil {
				w.warn("sockperf-affinity-failed", fmt.Sprintf("--%s %s: %v", option, clip(list), err), "option", "--"+option, "cpus", clip(list))
				return r
			}
			r.CPUs, r.Fixed = cpus, true
		}
		return r
	}
	switch w.Mode {
	case modeServer:
		w.Roles = []Role{role("server", "cpu-affinity", intOr(opts, "threads-num", 1).Or(1))}
	case modePingPong:
		w.Roles = []Role{role("client", "sender-affinity", 1)}
	case modeThroughput:
		w.Roles = []Role{role("sender", "sender-affinity", 1)}
	default:
		w.Roles = []Role{role("sender", "sender-affinity", 1), role("receiver", "receiver-affinity", 1)}
	}
	if w.DataPath == "bypass" {
		w.Roles = append(w.Roles, internalThread(w.Command.Env))
	}
}

// sockperfChecks notes what argv alone shows to be wrong.
func (w *Workload) sockperfChecks(opts parsedOptions) {
	for _, u := range opts.Unknown {
		w.warn("sockperf-bad-option", "no version of sockperf knows "+u+"; it then prints its help and ends with status 0", "option", u)
	}
	for _, b := range opts.Bare {
		w.warn("sockperf-bad-option", "option "+b+" lacks its value", "option", b)
	}
	if size, ok := w.Offered.SizeBytes.Get(); ok && (size < sockperfMinMsg || size > sockperfMaxUDP && w.Offered.Proto == "udp") {
		w.warn("sockperf-bad-option", fmt.Sprintf("message size %d is outside %d to %d bytes", size, sockperfMinMsg, sockperfMaxUDP), "option", "--msg-size", "value", strconv.Itoa(size))
	}
	seconds, ok := w.DurationS.Get()
	if !ok {
		return
	}
	if opts.has("no-rdtsc") && seconds < 3 && w.Mode != modeThroughput {
		w.warn("sockperf-too-short", fmt.Sprintf("with --no-rdtsc sockperf cuts 0.45 s for each GHz of the time stamp counter from the run: of %g s little or nothing is left; use -t 3 or more", seconds), "seconds", fmt.Sprint(seconds))
	}
	if bytes := w.sockperfMemory(seconds); bytes > 1<<30 {
		w.remark("sockperf-memory", fmt.Sprintf("sockperf allocates and touches %.1f GiB for its samples before it starts; --mps or a shorter -t makes that less", bytes/(1<<30)), "bytes", fmt.Sprintf("%.0f", bytes))
	}
}

// sockperfMemory is the size of the table of samples that the client fills in before the run.
func (w *Workload) sockperfMemory(seconds float64) float64 {
	rate, ok := w.Offered.RatePPS.Get()
	switch {
	case w.Mode == modePingPong && !ok:
		rate = sockperfMaxRate
	case w.Mode == modeUnderLoad && ok:
		every, given := finite(w.Options["reply-every"])
		if !given || every < 1 {
			every = sockperfReplyEvery
		}
		rate /= every
	case !ok:
		return 0
	}
	return rate * (seconds + 1) * sockperfSampleBytes
}
