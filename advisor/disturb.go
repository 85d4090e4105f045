package advisor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/corewise/corewise/bpf"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
)

// disturbances adds up what was taken from the watched threads by cause and actor, the longest first. Without watched
// threads (or when nothing could be charged to them) it is what ran on the CPUs that were watched.
func disturbances(c bpf.Capture, h host.Host) []Disturbance {
	d := &disturber{host: h, names: threadNames(c.Threads), lines: map[string]*Disturbance{}, cpus: map[string]map[int]bool{}, seconds: float64(c.EndNS-c.StartNS) / 1e9}
	for _, t := range c.Threads {
		d.wallUS += float64(lifeNS(t, c)) / 1e3
	}
	if len(c.Hits) > 0 {
		for _, h := range c.Hits {
			d.add(h.Cause, h.Actor, h.CPU, h.TID, h.Count, h.NS, h.MaxNS)
		}
		return d.result()
	}
	watched := watchedCPUs(c)
	if d.wallUS == 0 {
		d.wallUS = d.seconds * 1e6 * float64(max(len(watched), len(c.CPUs)))
	}
	for _, t := range c.CPUTime {
		if len(watched) == 0 || watched[t.CPU] {
			d.add(t.Cause, t.Actor, t.CPU, 0, t.Count, t.NS, t.MaxNS)
		}
	}
	return d.result()
}

type disturber struct {
	host    host.Host
	names   map[int]string
	lines   map[string]*Disturbance
	cpus    map[string]map[int]bool
	seconds float64
	wallUS  float64
}

func (d *disturber) add(cause bpf.Cause, a bpf.Actor, cpu, tid int, count, ns, maxNS uint64) {
	actor := actorText(cause, a, d.host)
	key := string(cause) + trailSep + actor
	line := d.lines[key]
	if line == nil {
		line = &Disturbance{Cause: cause, Actor: actor, Own: strings.HasPrefix(a.Name, "corewise"), Threads: []string{}}
		d.lines[key], d.cpus[key] = line, map[int]bool{}
	}
	line.Count += count
	line.TotalUS += float64(ns) / 1e3
	line.MaxUS = max(line.MaxUS, float64(maxNS)/1e3)
	d.cpus[key][cpu] = true
	if name := d.names[tid]; name != "" && !slices.Contains(line.Threads, name) {
		line.Threads = append(line.Threads, name)
	}
}

func (d *disturber) result() []Disturbance {
	out := []Disturbance{}
	for key, line := range d.lines {
		line.CPUs = cpulist.Of(slices.Collect(maps.Keys(d.cpus[key]))...).String()
		slices.Sort(line.Threads)
		if d.seconds > 0 {
			line.PerS = float64(line.Count) / d.seconds
		}
		if d.wallUS > 0 {
			line.Share = line.TotalUS / d.wallUS
		}
		out = append(out, *line)
	}
	slices.SortFunc(out, func(a, b Disturbance) int {
		return cmp.Or(cmp.Compare(b.TotalUS, a.TotalUS), cmp.Compare(b.Count, a.Count), strings.Compare(string(a.Cause)+a.Actor, string(b.Cause)+b.Actor))
	})
	return out
}

func threadNames(threads []bpf.Thread) map[int]string {
	names := map[int]string{}
	for _, t := range threads {
		names[t.TID] = fmt.Sprintf("%s/%d", t.Comm, t.TID)
	}
	return names
}

// lifeNS is the part of the capture in which the thread lived.
func lifeNS(t bpf.Thread, c bpf.Capture) int64 {
	end := t.EndNS
	if end == 0 || end > c.EndNS {
		end = c.EndNS
	}
	return max(end-max(t.StartNS, c.StartNS), 0)
}

func watchedCPUs(c bpf.Capture) map[int]bool {
	cpus := map[int]bool{}
	for _, t := range c.Threads {
		for _, on := range t.OnCPU {
			cpus[on.CPU] = true
		}
	}
	return cpus
}

// actorText names who did it in the words of the host: the interrupt with its device and queue, the thread, the sender.
func actorText(cause bpf.Cause, a bpf.Actor, h host.Host) string {
	switch cause {
	case bpf.CauseIRQ:
		return irqText(a, h)
	case bpf.CauseSoftirq:
		return "softirq " + a.Name
	case bpf.CauseThread:
		s := a.Name
		if a.Func != "" {
			s += " running " + a.Func
		}
		return s
	case bpf.CauseTimer:
		return "timer " + orElse(a.Func, a.Name)
	case bpf.CauseIPI:
		s := a.Name + " IPI"
		if a.SenderComm != "" {
			s += fmt.Sprintf(" from %s on CPU %d", a.SenderComm, a.SenderCPU)
		}
		return s
	}
	return orElse(a.Name, string(cause))
}

func irqText(a bpf.Actor, h host.Host) string {
	s := fmt.Sprintf("IRQ %d %s", a.ID, a.Name)
	at := slices.IndexFunc(h.IRQ.IRQs, func(i host.IRQ) bool { return i.Number == a.ID })
	if at < 0 {
		return s
	}
	irq := h.IRQ.IRQs[at]
	device := orElse(irq.Netdev, orElse(irq.NVMe, irq.PCI))
	if device == "" {
		return s
	}
	if q, ok := irq.Queue.Get(); ok {
		return fmt.Sprintf("%s (%s queue %d)", s, device, q)
	}
	return fmt.Sprintf("%s (%s)", s, device)
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}
