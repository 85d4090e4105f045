package facts

import (
	"slices"

	"github.com/corewise/corewise/profile/cpulist"
)

func (v *view) irqDevice(f *Facts, names map[string]deviceName, key string, list []*irqDelta) IRQDevice {
	n := v.nameDevice(f, names, key, list)
	d := IRQDevice{Name: n.name, Kind: n.kind, Driver: n.driver, PCI: list[0].PCI, Workload: n.workload}
	d.OwnIO = n.ownIO || n.workload && f.WL.Kernel
	d.KernelPath = n.workload && (f.WL.Kernel || n.kind == "nvme" && !f.Storage.SPDK)
	take(&d.Unknown, "node", &d.Node, n.node)
	d.lists()
	for _, q := range list {
		v.addIRQ(&d, q)
	}
	v.irqWhere(&d, list)
	v.irqBusiest(&d, list)
	v.irqUnknown(f, &d, list)
	v.irqHandlers(&d)
	return d
}

func (d *IRQDevice) lists() {
	for _, l := range []*[]int{&d.IRQs, &d.Active, &d.WorkloadIRQs, &d.WorkloadCPUs, &d.AllowedWorkload, &d.SiblingIRQs, &d.SiblingCPUs, &d.RemoteCPUs,
		&d.IsolatedIRQs, &d.IsolatedCPUs, &d.ManagedIRQs, &d.ManagedIsolated, &d.HintMismatch, &d.EffectiveOutside, &d.Moved, &d.WriteEIO, &d.WriteEACCES} {
		*l = []int{}
	}
	d.WorkloadMovable = true
}

func (v *view) addIRQ(d *IRQDevice, q *irqDelta) {
	n := q.Number
	d.IRQs = append(d.IRQs, n)
	d.PerS += q.total
	if q.queue() {
		d.Queues++
		d.MaxQueuePerS = max(d.MaxQueuePerS, q.total)
		if set, ok := q.force(); ok && len(set) < len(v.online) && v.dataMask.any(set) {
			d.AllowedWorkload = append(d.AllowedWorkload, n)
		}
	}
	if q.total > 0 {
		d.Active = append(d.Active, n)
	}
	if r := q.on(v.dataMask); r > 0 {
		d.WorkloadPerS += r
		d.WorkloadIRQs = append(d.WorkloadIRQs, n)
		d.WorkloadMovable = d.WorkloadMovable && !q.managed()
		if q.queue() {
			d.WorkloadQueueS += r
		}
	}
	if r := q.on(v.isoMask); r > 0 {
		d.IsolatedPerS += r
		d.IsolatedIRQs = append(d.IsolatedIRQs, n)
		if q.managed() {
			d.ManagedIsoPerS += r
			d.ManagedIsolated = append(d.ManagedIsolated, n)
		}
	}
	v.addIRQSigns(d, q)
}

func (v *view) addIRQSigns(d *IRQDevice, q *irqDelta) {
	n := q.Number
	if q.managed() {
		d.ManagedIRQs = append(d.ManagedIRQs, n)
	}
	if q.moved {
		d.Moved = append(d.Moved, n)
	}
	if q.outside {
		d.EffectiveOutside = append(d.EffectiveOutside, n)
	}
	hint, ok := q.Hint.Get()
	if set, ok2 := q.force(); ok && ok2 && len(hint) > 0 && !set.Within(hint) {
		d.HintMismatch = append(d.HintMismatch, n)
	}
	for _, e := range v.b.Services.Irqbalance.IRQErrors {
		switch {
		case e.IRQ != n:
		case e.Reason == "managed":
			d.WriteEIO = append(d.WriteEIO, n)
		case e.Reason == "sandboxed":
			d.WriteEACCES = append(d.WriteEACCES, n)
		}
	}
}

// irqWhere sorts the CPUs that were hit.
func (v *view) irqWhere(d *IRQDevice, list []*irqDelta) {
	var all []int
	for _, q := range list {
		all = append(all, q.cpus...)
	}
	hit, siblings := cpulist.Of(all...), v.wlSiblings
	d.WorkloadCPUs, d.IsolatedCPUs = ints(hit.And(v.wl.data)), ints(hit.And(v.iso.cpus()))
	d.SiblingCPUs = ints(hit.And(siblings))
	for _, q := range list {
		if r := q.on(v.sibMask); r > 0 {
			d.SiblingPerS += r
			d.SiblingIRQs = append(d.SiblingIRQs, q.Number)
		}
	}
	if _, missing := d.Unknown["node"]; missing || d.PerS == 0 {
		return
	}
	remote := hit.Minus(v.nodeCPU[d.Node])
	d.RemoteCPUs = ints(remote)
	away, far := 0.0, maskOf(remote)
	for _, q := range list {
		away += q.on(far)
	}
	d.RemoteShare = away / d.PerS
}

// irqBusiest looks at queue interrupts alone: a device's asynchronous vector always sits on one CPU.
func (v *view) irqBusiest(d *IRQDevice, list []*irqDelta) {
	by, total := map[int]float64{}, 0.0
	only, single := -1, d.Queues > 1
	for _, q := range list {
		if !q.queue() {
			continue
		}
		set, ok := q.force()
		single = single && ok && len(set) == 1 && (only < 0 || set[0] == only)
		if single {
			only = set[0]
		}
		if q.total > 0 {
			d.ActiveQueues++
		}
		for i, c := range q.cpus {
			by[c] += q.rates[i]
			total += q.rates[i]
		}
	}
	d.OneAffinity = single
	d.CPUsHit = len(by)
	for _, c := range v.online {
		if by[c] > d.BusiestPerS {
			d.BusiestPerS, d.BusiestCPU = by[c], c
		}
	}
	if total > 0 {
		d.BusiestShare = d.BusiestPerS / total
		d.AllOnOneCPU = d.ActiveQueues > 1 && d.BusiestShare > 0.9
		take(&d.Unknown, "busiest_busy_share", &d.BusiestBusy, v.busy(d.BusiestCPU))
		take(&d.Unknown, "busiest_softirq_share", &d.BusiestSoftirq, v.statShare(d.BusiestCPU, func(c cpuDelta) float64 { return c.irq }))
		return
	}
	d.Unknown.missAll("no queue interrupt of it fired over the run", "busiest_cpu", "busiest_share", "busiest_busy_share", "busiest_softirq_share")
}

// irqUnknown marks what one sample, or interrupts that could not be matched, leave open.
func (v *view) irqUnknown(f *Facts, d *IRQDevice, list []*irqDelta) {
	u := &d.Unknown
	rates := []string{"per_s", "max_queue_per_s", "active_irqs", "remote_share", "remote_cpus", "busiest_cpu", "busiest_share", "busiest_per_s", "busiest_busy_share", "busiest_softirq_share", "cpus_hit",
		"active_queues", "all_on_one_cpu"}
	// What cannot be hit was not hit: no workload, no isolated CPUs, no siblings.
	if len(v.wl.data) > 0 {
		rates = append(rates, "workload_per_s", "workload_irqs", "workload_cpus", "workload_queue_per_s", "workload_movable")
	}
	if len(v.wlSiblings) > 0 {
		rates = append(rates, "sibling_per_s", "sibling_irqs", "sibling_cpus")
	}
	if len(v.iso.cpus()) > 0 {
		rates = append(rates, "isolated_per_s", "isolated_irqs", "isolated_cpus", "managed_isolated_irqs", "managed_isolated_per_s")
	}
	for _, q := range list {
		if !q.known {
			u.missAll(v.irqWhy(q), rates...)
			break
		}
	}
	if !v.two {
		u.miss("moved_irqs", v.noRate)
	}
	if why, missing := (*u)["node"]; missing {
		u.missAll(why, "remote_share", "remote_cpus")
	}
	if !v.wl.known && v.wl.present {
		u.missAll(v.wl.noWhy, "workload_per_s", "workload_irqs", "workload_cpus", "workload_queue_per_s", "workload_movable", "allowed_workload_irqs", "sibling_per_s", "sibling_irqs", "sibling_cpus")
	}
	if !v.iso.known {
		u.missAll(v.iso.domain.Why(), "isolated_per_s", "isolated_irqs", "isolated_cpus", "managed_isolated_irqs", "managed_isolated_per_s")
	}
	if !slices.ContainsFunc(list, (*irqDelta).managedKnown) {
		const why = "whether its interrupts are managed is not known: debugfs irq/irqs was not readable"
		u.miss("managed_irqs", why)
		if d.IsolatedPerS > 0 {
			u.missAll(why, "managed_isolated_irqs", "managed_isolated_per_s")
		}
		if len(d.WorkloadIRQs) > 0 {
			u.miss("workload_movable", why)
		}
	}
	if why, missing := f.Unknown["workload_nics"]; missing && d.Kind == "nic" {
		u.missAll(why, "workload", "kernel_path", "own_io")
	}
}
