package facts

import (
	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/maybe"
)

// expectation is what the result is compared with. A sender can fill the smaller of link and PCIe, or what it was told
// to send. A receiver or forwarder can do no more than what arrives: what it received and what it dropped, unless it
// held its peer back with pause frames.
func (v *view) expectation(f *Facts, b *bench.Result) {
	r, u := &f.Result, &f.Result.Unknown
	fields := []string{"expected_gbps", "expected_mpps", "expected_by", "reached_share", "deficit_share", "throughput_missed", "offered_share"}
	if !r.HasRate || r.Failed {
		u.missAll("there is no rate to compare", fields...)
		return
	}
	v.offeredShare(r)
	if v.receives() || f.WL.Forwarding {
		if v.byArrival(f, b) {
			return
		}
	}
	v.byLink(f)
}

// byLink adds up the interfaces that carry the direction. A tool that reports ports gives as many as it used.
func (v *view) byLink(f *Facts) {
	r, u := &f.Result, &f.Result.Unknown
	link, expected, by, why := 0.0, 0.0, "link", ""
	for i := range f.WorkloadNICs {
		n := &f.WorkloadNICs[i]
		if reason, missing := n.Unknown["expected_gbps"]; missing {
			why = reason
			continue
		}
		link += n.SpeedGbps
		expected += n.ExpectedGbps
		if n.ExpectedLimit == "pcie" {
			by = "pcie"
		}
	}
	if len(f.WorkloadNICs) == 0 {
		why = first(f.Unknown["workload_nics"], "the workload uses no interface")
	}
	_, noRate := (*u)["wire_gbps"]
	if why != "" || noRate || expected <= 0 || f.WL.Storage {
		u.missAll(first(why, (*u)["wire_gbps"], "the expectation of this workload is not known"), "expected_gbps", "expected_mpps", "expected_by", "reached_share", "deficit_share", "throughput_missed", "link_share")
		return
	}
	if offered, ok := v.offeredGbps(r).Get(); ok && offered < expected {
		expected, by = offered, "offered"
	}
	r.WireGbps = min(r.WireGbps, link) // an estimate of headers cannot exceed the wire
	r.ExpectedGbps, r.ExpectedBy = expected, by
	r.LinkShare = r.WireGbps / link
	r.AtLineRate = r.LinkShare >= targetShare
	if r.FrameBytes > 0 {
		r.ExpectedMpps = lineMpps(expected, r.FrameBytes)
	} else {
		u.miss("expected_mpps", "the frame size is not known")
	}
	r.reach(r.WireGbps / expected)
}

// reach fills what follows from the share. Where PCIe is the limit, reaching it is no success: the port could do more.
func (r *Result) reach(share float64) {
	r.Reached = share
	if r.ExpectedBy == "pcie" {
		share = r.LinkShare
	}
	r.Deficit = max(0, 1-share)
	r.Missed = share < missedShare
}

// byArrival goes by the packets that arrived. False when neither the tool nor the interfaces count what was dropped, or
// when pause frames of this host bounded what arrived.
func (v *view) byArrival(f *Facts, b *bench.Result) bool {
	r, u := &f.Result, &f.Result.Unknown
	t, _ := b.Throughput.Get()
	received, ok := t.RxMpps.Get()
	lost, known := v.arrivalLoss(f)
	if !ok || received <= 0 || !known {
		return false
	}
	for i := range f.WorkloadNICs {
		n := &f.WorkloadNICs[i]
		if n.TXPause > 0 || n.TXPauseShare > 0.001 {
			return false
		}
	}
	done := received
	if f.WL.Forwarding {
		done = t.TxMpps.Or(received)
	}
	r.ExpectedMpps, r.ExpectedBy = received/(1-lost), "arrived"
	if r.FrameBytes > 0 {
		r.ExpectedGbps = r.ExpectedMpps * float64(r.FrameBytes+20) * 8 / 1e3
	} else {
		u.miss("expected_gbps", "the frame size is not known")
	}
	v.receiverLine(f)
	r.reach(min(1, done/r.ExpectedMpps))
	return true
}

// receiverLine compares with the link all the same: a receiver at line rate has nothing left to gain. Which of several
// ports receive is not known: the fastest one is taken, and all of them when the rate is more than one carries.
func (v *view) receiverLine(f *Facts) {
	r, u := &f.Result, &f.Result.Unknown
	fastest, all, why := 0.0, 0.0, first(f.Unknown["workload_nics"], "the workload uses no interface")
	for i := range f.WorkloadNICs {
		n := &f.WorkloadNICs[i]
		if reason, missing := n.Unknown["speed_gbps"]; missing {
			why = reason
		} else {
			fastest, all = max(fastest, n.SpeedGbps), all+n.SpeedGbps
		}
	}
	if _, noRate := (*u)["wire_gbps"]; noRate || fastest == 0 {
		u.miss("link_share", first((*u)["wire_gbps"], why))
		return
	}
	if r.WireGbps > 1.02*fastest {
		fastest = all
	}
	r.WireGbps = min(r.WireGbps, fastest)
	r.LinkShare = r.WireGbps / fastest
	r.AtLineRate = r.LinkShare >= targetShare
}

// arrivalLoss is the share of arriving packets that this host lost: the tool's own count, else the interfaces' counters.
func (v *view) arrivalLoss(f *Facts) (share float64, known bool) {
	if _, missing := f.Result.Unknown["loss_share"]; !missing && f.Result.LossShare < 1 {
		share, known = f.Result.LossShare, true
	}
	for i := range f.WorkloadNICs {
		n := &f.WorkloadNICs[i]
		if _, missing := n.Unknown["rx_drop_share"]; !missing && n.RXDropShare < 1 {
			share, known = max(share, n.RXDropShare), true
		}
	}
	return share, known
}

// offeredGbps is the load asked for, on the wire.
func (v *view) offeredGbps(r *Result) maybe.Value[float64] {
	rate, ok := v.wl.Offered.RatePPS.Get()
	size, ok2 := v.wl.Offered.SizeBytes.Get()
	if !ok || !ok2 || !v.packets() {
		return maybe.None[float64]("the load asked for is not known")
	}
	return maybe.Some(rate * float64(size+20) * 8 / 1e9)
}

func (v *view) offeredShare(r *Result) {
	rate, ok := v.wl.Offered.RatePPS.Get()
	done := r.MsgPerS
	if r.Mpps > 0 {
		done = r.Mpps * 1e6
	}
	if !ok || rate <= 0 || done <= 0 {
		r.Unknown.miss("offered_share", first(v.wl.Offered.RatePPS.Why(), "no rate in messages or packets was printed"))
		return
	}
	r.OfferedShare = done / rate
}

// targetFacts says whether the result is good: by the declared targets, else by the expectation or the tail.
func (v *view) targetFacts(f *Facts) {
	r, u := &f.Result, &f.Result.Unknown
	met, known := v.targets(f)
	if len(v.p.Targets) == 0 {
		u.miss("targets_met", "no target was declared")
	} else if !known {
		u.miss("targets_met", "the benchmark did not print what a target is about")
	}
	r.TargetsMet = met && known
	switch {
	case r.Failed || r.NothingSent:
		r.BelowTarget = true
	case len(v.p.Targets) > 0 && known:
		r.AtTarget, r.BelowTarget = met, !met
	case v.goalIs(bench.GoalLatency) && r.HasLatency:
		if why, missing := (*u)["tail_ratio"]; missing {
			u.missAll(why, "at_target", "below_target")
		}
		r.AtTarget, r.BelowTarget = r.TailRatio > 0 && r.TailRatio < tailLimit, r.TailBad
	default:
		if why, missing := (*u)["reached_share"]; missing {
			u.missAll(why, "at_target", "below_target")
		}
		lost, _ := v.arrivalLoss(f)
		r.AtTarget, r.BelowTarget = (r.Reached >= targetShare && r.ExpectedBy != "pcie" || r.AtLineRate) && lost <= lossTolerance, r.Missed && !r.AtLineRate
	}
}

// targets compares every declared target that the result has a number for.
func (v *view) targets(f *Facts) (met, known bool) {
	r, u := &f.Result, f.Result.Unknown
	met = true
	for _, t := range v.p.Targets {
		field := map[string]string{"p50_us": "p50_us", "p90_us": "p90_us", "p99_us": "p99_us", "p99.9_us": "p99_9_us", "p99.99_us": "p99_99_us", "p99.999_us": "p99_999_us", "max_us": "max_us", "gbps": "gbps", "mpps": "mpps", "loss": "loss_share"}[t.Metric]
		value := map[string]float64{"p50_us": r.P50US, "p90_us": r.P90US, "p99_us": r.P99US, "p99_9_us": r.P999US, "p99_99_us": r.P9999US, "p99_999_us": r.P99999US, "max_us": r.MaxUS, "gbps": r.Gbps, "mpps": r.Mpps, "loss_share": r.LossShare}[field]
		if _, missing := u[field]; missing || field == "" {
			continue
		}
		want, least := t.Value, t.Metric == "gbps" || t.Metric == "mpps"
		if t.Unit == "%" && least {
			value = map[string]float64{"gbps": r.WireGbps, "mpps": r.Mpps}[t.Metric]
			line := 0.0
			for i := range f.WorkloadNICs {
				line += f.WorkloadNICs[i].SpeedGbps
			}
			if line == 0 {
				continue
			}
			if want = line * t.Value / 100; t.Metric == "mpps" && r.FrameBytes > 0 {
				want = lineMpps(want, r.FrameBytes)
			}
		}
		if t.Metric == "loss" && t.Unit == "%" {
			want = t.Value / 100
		}
		known = true
		met = met && (least && value >= want || !least && value <= want)
	}
	return met, known
}

// limitFacts says what was busy while the rate was reached.
func (v *view) limitFacts(f *Facts) {
	r, u := &f.Result, &f.Result.Unknown
	fields := []string{"cpu_saturated", "cpu_idle", "one_core_limit", "tool_limit"}
	if !v.two {
		u.missAll(v.noRate, fields...)
		return
	}
	cpus := v.wl.data.Or(v.workloadIRQCPUs())
	if len(cpus) == 0 {
		cpus = v.online
	}
	busiest, second, n := 0.0, 0.0, 0
	for _, c := range cpus {
		share, ok := v.busy(c).Get()
		if !ok {
			continue
		}
		n++
		if share > busiest {
			busiest, second = share, busiest
		} else {
			second = max(second, share)
		}
	}
	if n == 0 {
		u.missAll("/proc/stat has no usable difference", fields...)
		return
	}
	for _, field := range fields[:3] {
		delete(*u, field)
	}
	r.IdleCPU = busiest < busyLow
	r.Single = n > 1 && busiest > 0.95 && second < busyLow && !v.wl.PollMode
	if !v.wl.PollMode {
		r.BusyCPU = f.WL.BusyShare >= busyHigh
		if why, missing := f.WL.Unknown["busy_share"]; missing {
			u.miss("cpu_saturated", why)
		}
	}
	r.ToolLimit = r.BusyCPU && f.WL.DataThreads == 1 && f.Result.Missed
	missIf(u, first((*u)["cpu_saturated"], (*u)["throughput_missed"]), "tool_limit")
}
