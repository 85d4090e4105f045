package bpf

import (
	"fmt"
	"maps"
	"slices"
)

// decoder turns tables into the parts of a Capture.
type decoder struct {
	tables
	nodes   map[int]int
	symbols map[uint64]string
	comms   map[int]string // last name of each watched thread, by its id
	endNS   int64
	faults  map[int]faultCount

	run     map[uint32]map[int]uint64 // on-CPU ns by slot and CPU
	migrate map[Migration]uint64      // keys with Count 0
	wake    map[Wakeup]uint64
	pages   map[PageAlloc]uint64
	napi    map[NAPI]probeSum
	cpu     map[CPUCause]probeSum    // keys without sums
	hits    map[ThreadCause]probeSum // keys without sums
}

func newDecoder(t tables, nodes map[int]int) *decoder {
	comms := map[int]string{}
	for _, th := range t.threads {
		if th.Start != 0 {
			comms[int(th.Tid)] = lastComm(th)
		}
	}
	return &decoder{
		tables: t, nodes: nodes, comms: comms, run: map[uint32]map[int]uint64{}, migrate: map[Migration]uint64{},
		wake: map[Wakeup]uint64{}, pages: map[PageAlloc]uint64{}, napi: map[NAPI]probeSum{},
		cpu: map[CPUCause]probeSum{}, hits: map[ThreadCause]probeSum{},
	}
}

func (k probeKey) slot() uint32      { return uint32(k.A) }
func (k probeKey) cpu() int          { return int(k.A >> 32 & 0xffff) }
func (k probeKey) cause() probeCause { return probeCause(k.A >> 48 & 0x7fff) }
func (k probeKey) waited() bool      { return k.A>>63 == 1 } // WAITED in src/state.h

// decode sorts every sum into its part.
func (d *decoder) decode() {
	for k, s := range d.sums {
		switch k.cause() {
		case probeCauseCAUSE_RUN:
			d.addRun(k, s)
		case probeCauseCAUSE_MIGRATE:
			d.migrate[Migration{TID: d.tid(k.slot()), From: int(k.Id >> 32), To: int(uint32(k.Id))}] += s.Count
		case probeCauseCAUSE_WAKE:
			d.wake[Wakeup{TID: d.tid(k.slot()), FromCPU: int(k.Id >> 32), ToCPU: int(uint32(k.Id))}] += s.Count
		case probeCauseCAUSE_PAGES:
			d.pages[PageAlloc{TID: d.tid(k.slot()), CPUNode: d.nodes[k.cpu()], PageNode: int(k.Id)}] += s.Count
		case probeCauseCAUSE_NAPI:
			n := NAPI{Netdev: netdevName(k.Id, d.names[k.Id]), CPU: k.cpu()}
			d.napi[n] = merge(d.napi[n], s)
		default:
			d.addCause(k, s)
		}
	}
}

func (d *decoder) addRun(k probeKey, s probeSum) {
	if d.run[k.slot()] == nil {
		d.run[k.slot()] = map[int]uint64{}
	}
	d.run[k.slot()][k.cpu()] += s.Ns
}

func (d *decoder) addCause(k probeKey, s probeSum) {
	cause, actor := d.actor(k)
	if k.slot() == 0 || interrupts(k.cause()) && !k.waited() {
		key := CPUCause{CPU: k.cpu(), Cause: cause, Actor: actor}
		d.cpu[key] = merge(d.cpu[key], s)
	}
	if k.slot() == 0 {
		return
	}
	key := ThreadCause{TID: d.tid(k.slot()), CPU: k.cpu(), Cause: cause, Actor: actor}
	d.hits[key] = merge(d.hits[key], s)
}

// interrupts are the causes whose time is the CPU's as well as the thread's that they hit. What the other causes take from a
// thread is other threads' time.
func interrupts(c probeCause) bool {
	switch c {
	case probeCauseCAUSE_IRQ, probeCauseCAUSE_SOFTIRQ, probeCauseCAUSE_TIMER, probeCauseCAUSE_IPI, probeCauseCAUSE_NMI:
		return true
	}
	return false
}

// netdevName is the device of a poll; the backlog of loopback and of RPS has none (net/core/dev.c, process_backlog).
func netdevName(id uint64, name string) string {
	switch {
	case id == 0:
		return "(backlog)"
	case name == "":
		return fmt.Sprintf("interface %d", uint32(id))
	}
	return name
}

// tid is the thread id of a slot, 0 for slot 0.
func (d *decoder) tid(slot uint32) int {
	if int(slot) < len(d.threads) {
		return int(d.threads[slot].Tid)
	}
	return 0
}

// threadList is every thread that counted, in order of its start.
func (d *decoder) threadList() []Thread {
	var out []Thread
	for slot, t := range d.threads {
		if t.Start == 0 {
			continue
		}
		out = append(out, d.thread(uint32(slot), t))
		d.addFaults(t)
	}
	slices.SortStableFunc(out, func(a, b Thread) int { return int(a.StartNS - b.StartNS) })
	return out
}

func (d *decoder) thread(slot uint32, t probeThread) Thread {
	th := Thread{
		PID: int(t.Tgid), TID: int(t.Tid), Comm: lastComm(t), StartNS: int64(t.Start), EndNS: int64(t.End),
		RunQ:      Histogram{Counts: trim(t.Waits[:]), Max: t.WaitMax},
		Voluntary: t.Voluntary, Involuntary: t.Involuntary, Migrations: t.Migrations, WaitNS: t.WaitNs,
	}
	for _, cpu := range slices.Sorted(maps.Keys(d.run[slot])) {
		th.OnCPU = append(th.OnCPU, OnCPU{CPU: cpu, NS: d.run[slot][cpu]})
	}
	if t.WaitCpu != 0 && t.End == 0 && d.endNS > int64(t.WaitStart) {
		d.openWait(&th, slot, t)
	}
	return th
}

// openWait adds a wait that the end of the capture cut short.
func (d *decoder) openWait(th *Thread, slot uint32, t probeThread) {
	wait := uint64(d.endNS) - t.WaitStart
	th.WaitNS += wait
	th.RunQ.Max = max(th.RunQ.Max, wait)
	if wait > t.Taken {
		rest := wait - t.Taken
		k := probeKey{A: uint64(probeCauseCAUSE_RUNQUEUE)<<48 | uint64(t.WaitCpu-1)<<32 | uint64(slot)}
		d.addCause(k, probeSum{Count: 1, Ns: rest, Max: rest})
	}
}

// trim cuts empty buckets off the end.
func trim(counts []uint64) []uint64 {
	n := len(counts)
	for n > 0 && counts[n-1] == 0 {
		n--
	}
	return slices.Clone(counts[:n])
}

// lastComm is the name of a thread: a living one may have given itself another than at its start.
func lastComm(t probeThread) string {
	if t.End == 0 {
		if c, ok := readComm(fmt.Sprintf("/proc/%d/task/%d/comm", t.Tgid, t.Tid)); ok {
			return c
		}
	}
	return text(t.Comm[:])
}
