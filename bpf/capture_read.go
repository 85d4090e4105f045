package bpf

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// read makes the Capture from the tables, after all programs are detached.
func (s *Session) read(end moment) (Capture, error) {
	c := Capture{
		Schema: CaptureSchema, Mode: "ebpf", StartNS: s.begin.mono, EndNS: end.mono, CPUs: s.begin.online, Probes: s.states,
		Cost: s.cost(end),
	}
	t, err := s.readTables()
	d := newDecoder(t, s.nodes)
	d.faults = s.faultsBefore()
	d.endNS = end.mono
	d.symbols = symbolsOf(t.functions())
	d.decode()
	d.fill(&c)
	c.CPUTime = append(c.CPUTime, steal(s.begin, end)...)
	if s.log != nil {
		c.Events = s.log.finish(d)
	}
	c.Lost = append(s.lost(), d.lost()...)
	if c.Events.Dropped > 0 {
		c.Lost = append(c.Lost, Lost{What: "events of the timeline", Count: c.Events.Dropped})
	}
	c.Notices = append(s.notices, changes(s.begin, end)...)
	return c, err
}

// fill puts the decoded parts into the capture, sorted so that equal tables give equal captures.
func (d *decoder) fill(c *Capture) {
	c.Threads = d.threadList()
	for k, s := range d.cpu {
		k.Count, k.NS, k.MaxNS = s.Count, s.Ns, s.Max
		c.CPUTime = append(c.CPUTime, k)
	}
	for k, s := range d.hits {
		k.Count, k.NS, k.MaxNS = s.Count, s.Ns, s.Max
		c.Hits = append(c.Hits, k)
	}
	slices.SortFunc(c.CPUTime, func(a, b CPUCause) int {
		return cmp.Or(cmp.Compare(a.CPU, b.CPU), cmp.Compare(b.NS, a.NS), cmp.Compare(a.Cause, b.Cause), compareActor(a.Actor, b.Actor))
	})
	slices.SortFunc(c.Hits, func(a, b ThreadCause) int {
		return cmp.Or(cmp.Compare(a.TID, b.TID), cmp.Compare(b.NS, a.NS), cmp.Compare(a.CPU, b.CPU), cmp.Compare(a.Cause, b.Cause), compareActor(a.Actor, b.Actor))
	})
	for _, m := range slices.SortedFunc(maps.Keys(d.migrate), compareMigration) {
		m.Count = d.migrate[m]
		c.Migrate = append(c.Migrate, m)
	}
	for _, w := range slices.SortedFunc(maps.Keys(d.wake), compareWakeup) {
		w.Count = d.wake[w]
		c.Wakeups = append(c.Wakeups, w)
	}
	for _, p := range slices.SortedFunc(maps.Keys(d.pages), comparePages) {
		p.Pages = d.pages[p]
		c.PageAlloc = append(c.PageAlloc, p)
	}
	for _, n := range slices.SortedFunc(maps.Keys(d.napi), compareNAPI) {
		n.Polls, n.Packets = d.napi[n].Count, d.napi[n].Ns
		c.NAPI = append(c.NAPI, n)
	}
}

func compareActor(a, b Actor) int {
	return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Func, b.Func), cmp.Compare(a.SenderPID, b.SenderPID), cmp.Compare(a.SenderCPU, b.SenderCPU))
}

func compareMigration(a, b Migration) int {
	return cmp.Or(cmp.Compare(a.TID, b.TID), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
}

func compareWakeup(a, b Wakeup) int {
	return cmp.Or(cmp.Compare(a.TID, b.TID), cmp.Compare(a.FromCPU, b.FromCPU), cmp.Compare(a.ToCPU, b.ToCPU))
}

func comparePages(a, b PageAlloc) int {
	return cmp.Or(cmp.Compare(a.TID, b.TID), cmp.Compare(a.CPUNode, b.CPUNode), cmp.Compare(a.PageNode, b.PageNode))
}

func compareNAPI(a, b NAPI) int {
	return cmp.Or(cmp.Compare(a.Netdev, b.Netdev), cmp.Compare(a.CPU, b.CPU))
}

// steal is what the hypervisor took, by CPU; only CPUs where it took something.
func steal(a, b moment) []CPUCause {
	var out []CPUCause
	for _, cpu := range slices.Sorted(maps.Keys(b.stealNS)) {
		if ns := b.stealNS[cpu] - a.stealNS[cpu]; b.stealNS[cpu] > a.stealNS[cpu] {
			out = append(out, CPUCause{CPU: cpu, Cause: CauseSteal, Actor: Actor{Name: "hypervisor"}, Count: 1, NS: ns, MaxNS: ns})
		}
	}
	return out
}

// lost is what the tables could not hold.
func (d *decoder) lost() []Lost {
	var out []Lost
	if d.refused > 0 {
		out = append(out, Lost{What: fmt.Sprintf("watched threads beyond the first %d", len(d.threads)-1), Count: d.refused})
	}
	for _, cause := range slices.Sorted(maps.Keys(d.other)) {
		out = append(out, Lost{What: fmt.Sprintf("%s events without a place in the table of sums", causeName(cause)), Count: d.other[cause].Count})
	}
	return out
}
