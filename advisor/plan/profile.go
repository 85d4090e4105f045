package plan

import (
	"slices"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// FromProfile takes the planner's input from a recorded run: topology and isolation of the host, roles and devices of the
// workload, the processes as they really ran, and what the kernel did.
func FromProfile(p profile.Profile) Input {
	in := FromHost(p.Before)
	w, ok := p.Workload.Get()
	if !ok {
		in.Goal = p.Goal
		in.Devices = auditDevices(p.Before)
		return in
	}
	in.Workload = &w
	in.Goal, in.Datapath = goal(p.Goal, w.Goal), w.DataPath
	if in.Goal == bench.GoalThroughput {
		in.SMT = "both"
	}
	in.Devices = devices(p.Before, w)
	in.Roles = splitNodes(roles(w), in)
	b, a, span, two := p.Samples()
	if proc, ok := target(p, w); ok {
		in.Allowed = allowed(p, proc)
		in.Foreign = foreign(p.Before, proc)
		in.Roles = asItRan(in.Roles, proc, busyThreads(b, a, proc, span), w)
	} else {
		in.Foreign = foreign(p.Before, host.Proc{})
		guess(in.Roles, w)
	}
	if two {
		in.ManagedIRQ = managedHot(b, a, span, in.Devices)
	}
	if c, ok := p.Capture.Get(); ok && in.Datapath == "kernel" {
		in.SoftirqBusy = softirqBusy(c)
	}
	return in
}

func goal(asked, natural bench.Goal) bench.Goal {
	if asked != "" && asked != bench.GoalAuto {
		return asked
	}
	return natural
}

// FromHost takes the topology, the isolation in force and the kernel's options; no workload.
func FromHost(h host.Host) Input {
	in := Input{
		Online: h.CPU.Online.Or(nil), Possible: h.CPU.Possible.Or(nil), Boot: h.CPU.BootCPU,
		Distance: map[int]map[int]int{}, Kind: h.Identity.Kind.Or("bare"), Datapath: "cpu",
		Isolated: h.CPU.Isolated.Or(nil), NohzFull: h.CPU.NohzFull.Or(nil), Cmdline: h.Kernel.Cmdline.Or(""),
		NoHZFullBuilt: built(h, "CONFIG_NO_HZ_FULL"), IsolationBuilt: built(h, "CONFIG_CPU_ISOLATION"),
		Reserved: h.K8s.ReservedCPUs.Or(nil),
	}
	if len(in.Online) == 0 {
		for _, c := range h.CPU.CPUs {
			in.Online = append(in.Online, c.ID)
		}
	}
	speed := speeds(h.CPU.CPUs)
	for i, c := range h.CPU.CPUs {
		in.CPUs = append(in.CPUs, CPU{ID: c.ID, Siblings: c.Siblings, L3: domain(c), Node: max(c.Node, 0), Package: c.Package.Or(0), Capacity: speed[i]})
	}
	for _, n := range h.NUMA.Nodes {
		in.Distance[n.ID] = n.Distance
		in.NodeCount = max(in.NodeCount, n.ID+1)
	}
	return in
}

// domain numbers level-3 domains by their lowest CPU; where there is no cache the node stands for it.
func domain(c host.LogicalCPU) int {
	if len(c.L3) > 0 {
		return c.L3[0]
	}
	return cpulist.MaxCPU + 1 + max(c.Node, 0)
}

// speeds compares CPUs by the first measure that is known for all of them: core kind, capacity, highest frequency.
func speeds(cpus []host.LogicalCPU) []int {
	kinds := map[string]int{"core": 1000, "atom": 600}
	for _, measure := range []func(host.LogicalCPU) int{
		func(c host.LogicalCPU) int { return kinds[c.Hybrid.Or("")] },
		func(c host.LogicalCPU) int { return c.Capacity.Or(0) },
		func(c host.LogicalCPU) int { return c.MaxFreqKHz.Or(0) },
	} {
		speed := make([]int, len(cpus))
		for i, c := range cpus {
			speed[i] = measure(c)
		}
		if !slices.Contains(speed, 0) {
			return speed
		}
	}
	return make([]int, len(cpus))
}

func built(h host.Host, option string) maybe.Value[bool] {
	switch h.Kernel.Config[option] {
	case "y":
		return maybe.Some(true)
	case "n":
		return maybe.Some(false)
	}
	return maybe.Nonef[bool]("%s is not in the kernel configuration that was read", option)
}

// roles takes the roles of argv. CPUs that an earlier data role has already are the same threads.
func roles(w bench.Workload) []Role {
	var out []Role
	taskset, pinned := w.Command.Taskset.Get()
	for _, r := range w.Roles {
		n := Role{Name: r.Name, Data: r.Data, Count: r.Count, Port: r.Port}
		cpus := r.CPUs
		if len(cpus) == 0 && pinned && r.Data {
			cpus = taskset
		}
		if n.Count == 0 {
			n.Count = len(cpus)
		}
		if len(cpus) == n.Count && (r.Fixed || len(cpus) == 1 || len(r.CPUs) > 0) {
			n.Now = slices.Clone(cpus)
		} else {
			n.Mask = cpus
		}
		out = append(out, share(out, n))
	}
	return out
}

// share links a data role to an earlier one with exactly the same CPUs, and otherwise takes from it only what is its own.
func share(earlier []Role, n Role) Role {
	if !n.Data || len(n.Now) == 0 {
		return n
	}
	for i, e := range earlier {
		if e.Data && e.Shares == 0 && cpulist.Of(e.Now...).Equal(cpulist.Of(n.Now...)) {
			n.Shares = i + 1
			return n
		}
	}
	for _, e := range earlier {
		if e.Data {
			n.Now = cpulist.Set(n.Now).Minus(cpulist.Of(e.Now...))
		}
	}
	n.Count = len(n.Now)
	return n
}

// splitNodes maps ports to devices, and spreads roles that serve all devices over the nodes of those.
func splitNodes(list []Role, in Input) []Role {
	t := newTopo(in)
	nodes := map[int]int{} // node -> first device on it
	var order []int
	for i, d := range in.Devices {
		at := t.locate(d)
		if _, ok := nodes[at.node]; !ok && at.known {
			nodes[at.node] = i
			order = append(order, at.node)
		}
	}
	var out []Role
	for _, r := range list {
		switch {
		case r.Data && len(order) > 1 && r.Count > 1 && slices.Contains([]string{"worker", "pmd", "reactor"}, r.Name):
			out = append(out, spread(r, t, nodes, order)...)
		default:
			if r.Port > 0 && r.Port < len(in.Devices) {
				r.Device = r.Port
			}
			out = append(out, r)
		}
	}
	return out
}

// spread divides a role among nodes. Present CPUs go with the device of their own node where that is one of them.
func spread(r Role, t *topo, nodes map[int]int, order []int) []Role {
	parts := make([]Role, len(order))
	for k, n := range order {
		parts[k] = r
		parts[k].Device, parts[k].Now, parts[k].Count = nodes[n], nil, r.Count/len(order)
		if k < r.Count%len(order) {
			parts[k].Count++
		}
	}
	for _, c := range r.Now {
		k := max(0, slices.Index(order, t.cpu[c].Node))
		for tries := 0; len(parts[k].Now) >= parts[k].Count && tries < len(parts); tries++ {
			k = (k + 1) % len(parts)
		}
		parts[k].Now = append(parts[k].Now, c)
	}
	return parts
}

// guess marks roles of a program that nothing here knows and nobody saw running: one thread is only an assumption.
func guess(list []Role, w bench.Workload) {
	for i := range list {
		list[i].Guess = list[i].Data && w.Kind == (bench.Generic{}).Name() && len(list[i].Now) == 0
	}
}

// softirqBusy is how many cores' worth of network softirq work the capture saw.
func softirqBusy(c bpf.Capture) maybe.Value[float64] {
	span := float64(c.EndNS - c.StartNS)
	if span <= 0 || c.Mode != "ebpf" {
		return maybe.None[float64]("no probe timed softirqs")
	}
	busy := 0.0
	for _, t := range c.CPUTime {
		if t.Cause == bpf.CauseSoftirq && (t.Actor.Name == "NET_RX" || t.Actor.Name == "NET_TX") {
			busy += float64(t.NS)
		}
	}
	return maybe.Some(busy / span)
}
