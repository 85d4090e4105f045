package facts

import (
	"slices"
	"strings"

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
	workload := []string{"workload_per_s", "workload_nic_per_s", "workload_other_per_s", "workload_cpus"}
	if !v.two {
		u.missAll(v.noRate, "total_per_s", "moved", "effective_outside", "busiest_cpu", "busiest_cpu_share")
		if v.wl.present {
			u.missAll(v.noRate, workload...)
		}
		return
	}
	v.irqTotals(q)
	if !v.wl.known && v.wl.present {
		u.missAll(v.wl.noWhy, workload...)
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
