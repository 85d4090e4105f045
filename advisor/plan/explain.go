package plan

import (
	"fmt"

	"github.com/corewise/corewise/profile/cpulist"
)

// explain gives the reason for every core of the plan, in the order of the sets.
func (b *builder) explain() {
	b.explainHouse()
	b.explainIRQ()
	for i, r := range b.in.Roles {
		if r.Data && r.Shares == 0 {
			b.explainData(r, b.roles[i])
		} else if cpus := cpulist.Of(b.roles[i]...); len(cpus) > 0 && !r.Data {
			b.reason(cpus, "%s: control thread on %s", r.Name, b.auxWhy(cpus))
		}
	}
	b.explainIsolated()
}

func (b *builder) explainHouse() {
	house := b.p.Sets.Housekeeping
	if b.reuse {
		b.reason(house, "housekeeping: everything that is not isolated already")
		return
	}
	boot := house.And(b.bootCore())
	b.reason(boot, "housekeeping: boot CPU %d and its siblings; timekeeping and the kernel's own work stay here", b.t.boot)
	rest := house.Minus(boot)
	small := where(rest, func(c int) bool { return b.t.little[c] })
	b.reason(small, "housekeeping: the small cores of this hybrid processor")
	for _, n := range b.t.nodes {
		cpus := b.t.on(rest.Minus(small), n)
		b.reason(cpus, "housekeeping of node %d: per-node kernel threads, memory reclaim and interrupts need a CPU there", n)
	}
}

func (b *builder) explainIRQ() {
	if len(b.p.Sets.IRQ) == 0 {
		return
	}
	how := "on housekeeping cores of the device's node"
	if b.in.Datapath == "kernel" {
		how = "softirq work of the sockets; " + how
		if busy, ok := b.in.SoftirqBusy.Get(); ok {
			how = fmt.Sprintf("%.1f cores of softirq work were measured, at most %.0f %% a core; %s", busy, 100*busyPerIRQCore, how)
		}
	}
	b.reason(b.p.Sets.IRQ, "interrupts: %s", how)
}

func (b *builder) explainData(r Role, cpus []int) {
	for _, n := range b.t.nodesOf(cpulist.Of(cpus...)) {
		here := b.t.on(cpulist.Of(cpus...), n)
		b.reason(here, "%s: %s%s, %s", r.Name, b.nodeText(r, n), b.domainText(here), b.coreText(here))
	}
}

func (b *builder) nodeText(r Role, n int) string {
	at := b.placeOf(r)
	switch {
	case len(b.in.Devices) == 0:
		return fmt.Sprintf("node %d", n)
	case n == at.node && at.known:
		return fmt.Sprintf("node %d, the node of %s", n, b.in.Devices[max(0, min(r.Device, len(b.in.Devices)-1))].Name)
	case n == at.node:
		return fmt.Sprintf("node %d, assumed", n)
	}
	return fmt.Sprintf("node %d, distance %d from node %d", n, b.t.distance(at.node, n), at.node)
}

func (b *builder) domainText(cpus cpulist.Set) string {
	domain := b.t.cpu[cpus[0]].L3
	for _, c := range cpus {
		if b.t.cpu[c].L3 != domain {
			return ", over several level-3 caches"
		}
	}
	return ", one level-3 cache"
}

func (b *builder) coreText(cpus cpulist.Set) string {
	idle := b.t.whole(cpus).Minus(b.data())
	switch {
	case len(b.t.cores(cpus)) < len(cpus):
		return "SMT siblings work as a pair"
	case len(b.t.whole(cpus)) == len(cpus):
		return "a physical core each"
	case len(idle.And(b.avail)) == 0:
		return "siblings are in use as well"
	}
	return fmt.Sprintf("a physical core each, siblings %s stay idle", idle)
}

func (b *builder) auxWhy(cpus cpulist.Set) string {
	switch {
	case len(cpus.And(b.data())) > 0:
		return "a data CPU, no other is left"
	case cpus.Within(b.house):
		return fmt.Sprintf("housekeeping, node %s", b.t.nodesOf(cpus))
	}
	return fmt.Sprintf("a spare worker core, node %s", b.t.nodesOf(cpus))
}

func (b *builder) explainIsolated() {
	spare := b.p.Sets.Isolated.Minus(b.t.whole(b.data()))
	for i, r := range b.in.Roles {
		if !r.Data {
			spare = spare.Minus(cpulist.Of(b.roles[i]...))
		}
	}
	switch {
	case b.reuse:
		b.reason(spare, "isolated already: the present isolation is enough, no reboot")
	default:
		b.reason(spare, "isolated with the workers, so that the workload can grow without another reboot")
	}
	if x := b.in.Isolated; len(x) > 0 && !b.reuse && b.p.Limited == "" && len(b.p.Sets.Isolated) > 0 {
		b.step("the isolation in force (%s) does not fit: planned %s", x, b.p.Sets.Isolated)
	}
}
