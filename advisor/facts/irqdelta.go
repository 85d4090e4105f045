package facts

import (
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
)

// irqDelta is one interrupt with what it counted over the run.
type irqDelta struct {
	*host.IRQ             // as in the second sample (the only one, where there is one)
	before    *host.IRQ   // the same interrupt in the first sample
	known     bool        // the rates are known
	total     float64     // interrupts a second
	cpus      cpulist.Set // CPUs that had any
	rates     []float64   // interrupts a second of each of cpus
	moved     bool        // somebody wrote another affinity between the samples
	outside   bool        // the CPUs in force are not among the ones asked for
}

// irqDeltas matches interrupts by number and action: a number that was given to another device in between is matched by
// its action alone, and not at all when that is ambiguous.
func (v *view) irqDeltas() []irqDelta {
	out := make([]irqDelta, 0, len(v.a.IRQ.IRQs))
	if !v.two {
		for i := range v.b.IRQ.IRQs {
			q := &v.b.IRQ.IRQs[i]
			out = append(out, irqDelta{IRQ: q, before: q, outside: outside(q)})
		}
		return out
	}
	byNumber := make(map[int]*host.IRQ, len(v.b.IRQ.IRQs))
	for i := range v.b.IRQ.IRQs {
		byNumber[v.b.IRQ.IRQs[i].Number] = &v.b.IRQ.IRQs[i]
	}
	var byName map[string]*host.IRQ
	both := maskOf(v.a.IRQ.CPUs.And(v.b.IRQ.CPUs))
	for i := range v.a.IRQ.IRQs {
		d := irqDelta{IRQ: &v.a.IRQ.IRQs[i], before: byNumber[v.a.IRQ.IRQs[i].Number]}
		if d.before == nil || !sameIRQ(d.before, d.IRQ) {
			if byName == nil {
				byName = uniqueNames(v.b.IRQ.IRQs)
			}
			d.before = byName[irqName(d.IRQ)]
		}
		d.outside = outside(d.IRQ)
		if d.before != nil {
			d.moved = moved(d.before, d.IRQ)
			v.countIRQ(&d, both)
		}
		out = append(out, d)
	}
	return out
}

func sameIRQ(a, b *host.IRQ) bool { return a.PCI == b.PCI && slices.Equal(a.Actions, b.Actions) }

func irqName(q *host.IRQ) string { return strings.Join(q.Actions, ",") + "\x00" + q.PCI }

func uniqueNames(list []host.IRQ) map[string]*host.IRQ {
	m := make(map[string]*host.IRQ, len(list))
	for i := range list {
		name := irqName(&list[i])
		if _, twice := m[name]; twice {
			m[name] = nil
			continue
		}
		m[name] = &list[i]
	}
	return m
}

// countIRQ takes the differences. Readers leave zeros out, so a CPU that is a column of both tables and has no count had none.
func (v *view) countIRQ(d *irqDelta, both mask) {
	d.known = true
	for cpu, after := range d.Counts {
		n := after - d.before.Counts[cpu]
		if n == 0 || len(both) > 0 && !both.has(cpu) {
			continue
		}
		if n < 0 {
			d.known, d.cpus = false, nil
			return
		}
		d.cpus = append(d.cpus, cpu)
	}
	slices.Sort(d.cpus)
	d.rates = make([]float64, len(d.cpus))
	for i, cpu := range d.cpus {
		d.rates[i] = float64(d.Counts[cpu]-d.before.Counts[cpu]) / v.spanS
		d.total += d.rates[i]
	}
}

// mask is a set of CPUs for many look-ups.
type mask []bool

func maskOf(set cpulist.Set) mask {
	if len(set) == 0 {
		return nil
	}
	m := make(mask, set[len(set)-1]+1)
	for _, c := range set {
		m[c] = true
	}
	return m
}

func (m mask) any(set cpulist.Set) bool { return slices.ContainsFunc(set, m.has) }

func (m mask) has(cpu int) bool { return cpu >= 0 && cpu < len(m) && m[cpu] }

// on is the rate on some CPUs.
func (d *irqDelta) on(m mask) float64 {
	total := 0.0
	for i, c := range d.cpus {
		if m.has(c) {
			total += d.rates[i]
		}
	}
	return total
}

// queue reports whether the interrupt belongs to a queue, as far as its name tells.
func (d *irqDelta) queue() bool {
	switch d.Role {
	case "async", "admin", "config", "other", "ctrl":
		return false
	}
	return true
}

// managed reports that the kernel keeps the affinity to itself.
func (d *irqDelta) managed() bool { return d.Managed.Or(false) }

// managedKnown: only message-signalled interrupts can be managed (kernel/irq/affinity.c), so others need no look.
func (d *irqDelta) managedKnown() bool {
	return d.Managed.Ok() || strings.Contains(d.Chip, "IO-APIC") || strings.Contains(d.Chip, "GIC")
}

func moved(before, after *host.IRQ) bool {
	x, ok := before.Affinity.Get()
	y, ok2 := after.Affinity.Get()
	return ok && ok2 && !x.Equal(y)
}

func outside(q *host.IRQ) bool {
	asked, ok := q.Affinity.Get()
	force, ok2 := q.Effective.Get()
	return ok && ok2 && len(force) > 0 && len(asked) > 0 && !force.Within(asked)
}

// force is the affinity in force, else the one asked for.
func (d *irqDelta) force() (cpulist.Set, bool) {
	if s, ok := d.Effective.Get(); ok && len(s) > 0 {
		return s, true
	}
	return d.Affinity.Get()
}

// irqSum is device interrupts of one CPU, a second.
type irqSum struct {
	total, nic float64
	by         []irqRate
}

type irqRate struct {
	number int
	perS   float64
}

// sumIRQs adds up by CPU. The timers and performance counters of Arm are numbered too, and are no device's.
func sumIRQs(irqs []irqDelta) map[int]irqSum {
	m := map[int]irqSum{}
	for i := range irqs {
		d := &irqs[i]
		if !d.known || len(d.cpus) == 0 || localTimer(d.IRQ) {
			continue
		}
		for i, cpu := range d.cpus {
			s := m[cpu]
			s.total += d.rates[i]
			if d.Netdev != "" {
				s.nic += d.rates[i]
			}
			s.by = append(s.by, irqRate{d.Number, d.rates[i]})
			m[cpu] = s
		}
	}
	return m
}

// numbers are the interrupts that fired more often than a limit.
func (s *irqSum) numbers(limit float64) []int {
	out := []int{}
	for _, r := range s.by {
		if r.perS > limit {
			out = append(out, r.number)
		}
	}
	return out
}

// localTimer reports a per-CPU interrupt that has a number: the timer and the performance unit of Arm, the x86 timer.
func localTimer(q *host.IRQ) bool {
	for _, a := range q.Actions {
		switch a {
		case "arch_timer", "timer", "arm-pmu", "kvm guest vtimer", "kvm guest ptimer", "rtc0":
			return true
		}
	}
	return false
}
