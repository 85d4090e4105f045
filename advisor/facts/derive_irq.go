package facts

import (
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

func deriveIRQ(v *view, f *Facts) {
	q, u := &f.IRQ, &f.IRQ.Unknown
	q.WorkloadCPUs, q.Moved, q.EffectiveOutside, q.Unwritable = []int{}, []int{}, []int{}, []int{}
	for i := range v.irqs {
		d := &v.irqs[i]
		if d.managed() {
			q.Unwritable = append(q.Unwritable, d.Number)
		}
		if d.moved {
			q.Moved = append(q.Moved, d.Number)
		}
		if d.outside && d.total > 0 {
			q.EffectiveOutside = append(q.EffectiveOutside, d.Number)
		}
	}
	if set, ok := v.b.IRQ.DefaultAffinity.Get(); ok {
		q.DefaultAll = v.online.Within(set)
	} else {
		u.miss("default_affinity_all", v.b.IRQ.DefaultAffinity.Why())
	}
	if !v.two {
		u.missAll(v.noRate, "total_per_s", "workload_per_s", "workload_nic_per_s", "workload_other_per_s", "workload_cpus", "moved", "effective_outside", "busiest_cpu", "busiest_cpu_share")
		return
	}
	v.irqTotals(q)
	if !v.wl.known && v.wl.present {
		u.missAll(v.wl.noWhy, "workload_per_s", "workload_nic_per_s", "workload_other_per_s", "workload_cpus")
	}
}

func (v *view) irqTotals(q *IRQ) {
	most := 0.0
	for _, c := range v.online {
		s := v.irqSum[c]
		q.TotalPerS += s.total
		if s.total > most {
			most, q.MostCPU = s.total, c
		}
		if v.wl.data.Has(c) && s.total > 0 {
			q.WorkloadPerS += s.total
			q.WorkloadNICPerS += s.nic
			q.WorkloadCPUs = append(q.WorkloadCPUs, c)
		}
	}
	q.WorkloadOther = q.WorkloadPerS - q.WorkloadNICPerS
	if q.TotalPerS == 0 {
		q.Unknown.missAll("no device interrupt fired over the run", "busiest_cpu", "busiest_cpu_share")
		return
	}
	q.MostShare = most / q.TotalPerS
}

func deriveIRQDevices(v *view, f *Facts) {
	f.IRQDevices, f.IRQs = []IRQDevice{}, []IRQLine{}
	if len(v.irqs) == 0 {
		f.Unknown.missAll("/proc/interrupts was not readable", "irq_devices", "irqs")
		return
	}
	byKey, order := map[string][]*irqDelta{}, []string{}
	for i := range v.irqs {
		d := &v.irqs[i]
		if localTimer(d.IRQ) || d.PCI == "" && d.Netdev == "" && d.NVMe == "" && len(d.Actions) == 0 {
			continue
		}
		key := first(d.PCI, d.Netdev, d.NVMe, strings.Join(d.Actions, ","))
		if byKey[key] == nil {
			order = append(order, key)
		}
		byKey[key] = append(byKey[key], d)
	}
	names := v.deviceNames(f)
	for _, key := range order {
		dev := v.irqDevice(f, names, key, byKey[key])
		f.IRQDevices = append(f.IRQDevices, dev)
		for _, d := range byKey[key] {
			if v.interesting(d) {
				f.IRQs = append(f.IRQs, v.irqLine(d, &dev))
			}
		}
	}
}

// interesting leaves out the hundreds of interrupts of a large host that did nothing wrong.
func (v *view) interesting(d *irqDelta) bool {
	return d.on(v.dataMask) > 0 || d.on(v.isoMask) > 0 || d.moved || d.outside
}

func (v *view) irqLine(d *irqDelta, dev *IRQDevice) IRQLine {
	l := IRQLine{Number: d.Number, Name: strings.Join(d.Actions, ","), Device: dev.Name, Kind: dev.Kind, Role: d.Role, PerS: d.total,
		CPUs: ints(d.cpus), OnWL: ints(d.cpus.And(v.wl.data)), OnIso: ints(d.cpus.And(v.iso.cpus())), WLPerS: d.on(v.dataMask), Moved: d.moved, Outside: d.outside}
	u := &l.Unknown
	take(u, "queue", &l.Queue, d.Queue)
	take(u, "managed", &l.Managed, d.Managed)
	takeSet(u, "affinity", &l.Affinity, d.Affinity)
	takeSet(u, "effective", &l.Effective, d.Effective)
	if !d.known {
		u.missAll(v.irqWhy(d), "per_s", "cpus", "workload_cpus", "isolated_cpus", "workload_per_s")
	}
	return l
}

func (v *view) irqWhy(d *irqDelta) string {
	switch {
	case !v.two:
		return v.noRate
	case d.before == nil:
		return "the interrupt is in one sample only, or was given to another device in between"
	}
	return "its counter went backwards between the samples"
}

// deviceName is what an interrupt's owner is called.
type deviceName struct {
	name, kind, driver string
	node               maybe.Value[int]
	workload, ownIO    bool
}

// deviceNames knows interfaces and NVMe controllers by PCI address and by name.
func (v *view) deviceNames(f *Facts) map[string]deviceName {
	m := map[string]deviceName{}
	for i := range f.NICs {
		n := &f.NICs[i]
		d := deviceName{name: n.Name, kind: "nic", driver: n.Driver, node: factNode(n.Unknown, n.Node), workload: n.Workload}
		if _, twice := m[n.PCI]; n.PCI != "" && !twice {
			m[n.PCI] = d
		}
		m[n.Name] = d
	}
	for i := range f.NVMe {
		n := &f.NVMe[i]
		d := deviceName{name: n.Name, kind: "nvme", driver: "nvme", node: factNode(n.Unknown, n.Node), workload: n.Workload, ownIO: n.Workload}
		if n.PCI != "" {
			m[n.PCI] = d
		}
		m[n.Name] = d
	}
	return m
}

func factNode(u Unknown, node int) maybe.Value[int] {
	if why, missing := u["node"]; missing {
		return maybe.None[int](why)
	}
	return maybe.Some(node)
}

func (v *view) nameDevice(f *Facts, names map[string]deviceName, key string, list []*irqDelta) deviceName {
	if d, ok := names[key]; ok {
		return d
	}
	d := deviceName{name: key, kind: "other", node: maybe.None[int]("the node of the device is not known")}
	for _, q := range list {
		if q.NVMe != "" {
			d.name, d.kind = q.NVMe, "nvme"
		}
		if q.Netdev != "" {
			d.name, d.kind = q.Netdev, "nic"
		}
	}
	if p := v.pci[key]; p != nil {
		d.driver = p.Driver.Or("")
		if n, ok := p.Node.Get(); ok && slices.Contains(v.nodes, n) {
			d.node = maybe.Some(n)
		}
	}
	return d
}

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
	rates := []string{"per_s", "max_queue_per_s", "active_irqs", "workload_per_s", "workload_irqs", "workload_cpus", "workload_queue_per_s", "workload_movable", "sibling_per_s", "sibling_irqs",
		"sibling_cpus", "remote_share", "remote_cpus", "busiest_cpu", "busiest_share", "busiest_per_s", "busiest_busy_share", "busiest_softirq_share", "cpus_hit", "active_queues", "all_on_one_cpu",
		"isolated_per_s", "isolated_irqs", "isolated_cpus", "managed_isolated_irqs", "managed_isolated_per_s"}
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
