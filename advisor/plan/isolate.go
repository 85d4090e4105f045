package plan

import (
	"fmt"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/cpulist"
)

// isolate chooses the isolated set and says why there is none where there is none.
func (b *builder) isolate() {
	b.p.Sets.Isolated = cpulist.Set{}
	data := b.data()
	switch {
	case b.limited:
		b.p.Limited = fmt.Sprintf("the workload may use CPUs %s only: kernel command line and interrupts belong to the owner of the host", b.avail)
	case b.in.Kind == "container":
		b.p.Limited = "inside a container: kernel command line and interrupts belong to the owner of the host"
	case b.reuse:
		b.p.Sets.Isolated = b.in.Isolated.And(b.t.online)
	case len(data) == 0 || len(data.And(b.house)) > 0:
	case b.in.Datapath == "kernel" && b.in.Goal == bench.GoalThroughput:
		b.step("no isolation is planned: throughput over kernel sockets gains nothing from it, and isolated CPUs are not load-balanced")
	default:
		b.p.Sets.Isolated = b.scope(data)
	}
}

// scope is the isolated set: the cores in use, all workers' cores of their nodes, or all.
func (b *builder) scope(data cpulist.Set) cpulist.Set {
	base := b.t.whole(data)
	nodes := b.t.nodesOf(data)
	switch b.in.Scope {
	case "minimal":
	case "all":
		base = base.Or(b.pool)
	default:
		base = base.Or(where(b.pool, func(c int) bool { return nodes.Has(b.t.cpu[c].Node) }))
	}
	isolated := b.t.whole(base).Minus(b.house).And(b.pool)
	if isolated.Has(b.t.boot) {
		b.step("data threads are on boot CPU %d, which the kernel cannot isolate: no isolation is planned", b.t.boot)
		return cpulist.Set{}
	}
	return isolated
}

// interrupts chooses the CPUs for device interrupts, and how many queues they can serve.
func (b *builder) interrupts() {
	b.p.Sets.IRQ = cpulist.Set{}
	if b.p.Limited != "" {
		return
	}
	for _, g := range b.groups {
		local := b.t.on(b.house, g.node)
		if len(local) == 0 {
			local = b.nearestHouse(g.node)
			b.step("node %d has no housekeeping core: its interrupts go to CPUs %s", g.node, local)
		}
		b.p.Sets.IRQ = b.p.Sets.IRQ.Or(local)
	}
	b.p.Sets.IRQ = b.p.Sets.IRQ.Minus(b.data())
	if len(b.p.Sets.IRQ) == 0 {
		b.p.Sets.IRQ = b.house
	}
	b.p.Queues = len(b.t.cores(b.p.Sets.IRQ))
}

func (b *builder) nearestHouse(node int) cpulist.Set {
	for _, n := range b.t.nodeOrder(node) {
		if cpus := b.t.on(b.house, n); len(cpus) > 0 {
			return cpus
		}
	}
	return cpulist.Set{}
}

// kernelArgs are the arguments of a boot-time isolation, where one is called for.
func (b *builder) kernelArgs() {
	isolated := b.p.Sets.Isolated
	if b.p.Limited != "" || b.reuse || len(isolated) == 0 {
		return
	}
	for _, g := range b.groups {
		if !g.known {
			b.p.Limited = "the NIC's node is not known: no kernel command line before it has been measured (" + g.why + ")"
			b.step("%s; no kernel command line is proposed", g.why)
			return
		}
	}
	if b.in.Kind == "vm" {
		b.p.Limited = "in a virtual machine isolation starts on the host: pinned vCPUs first, no kernel command line"
		return
	}
	b.p.Args = b.isolationArgs(isolated)
}

func (b *builder) isolationArgs(isolated cpulist.Set) []string {
	if ok, known := b.in.IsolationBuilt.Get(); known && !ok {
		b.step("this kernel is built without CONFIG_CPU_ISOLATION: isolcpus and nohz_full do nothing; use a cpuset partition")
		return nil
	}
	args := []string{"isolcpus=managed_irq,domain," + isolated.String()}
	full, known := b.in.NoHZFullBuilt.Get()
	switch {
	case known && !full:
		b.step("this kernel is built without CONFIG_NO_HZ_FULL: the tick stays on isolated CPUs")
	default:
		args = append(args, "nohz_full="+isolated.String(), "rcu_nocbs="+isolated.String())
	}
	return append(args, "irqaffinity="+b.t.online.Minus(isolated).String())
}
