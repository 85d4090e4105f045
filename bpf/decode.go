package bpf

import (
	"maps"
	"slices"
	"strconv"
)

// decoder turns tables into the parts of a Capture.
type decoder struct {
	tables
	nodes   map[int]int
	symbols map[uint64]string
	slots   map[int]int // by thread id: the last one that had it
	endNS   int64

	run     map[uint32]map[int]uint64 // on-CPU ns by slot and CPU
	migrate map[Migration]uint64      // keys with Count 0
	wake    map[Wakeup]uint64
	pages   map[PageAlloc]uint64
	napi    map[NAPI]probeSum
	cpu     []CPUCause
	hits    []ThreadCause
}

func newDecoder(t tables, nodes map[int]int) *decoder {
	slots := map[int]int{}
	for slot, th := range t.threads {
		if th.Start != 0 {
			slots[int(th.Tid)] = slot
		}
	}
	return &decoder{
		tables: t, nodes: nodes, slots: slots, run: map[uint32]map[int]uint64{}, migrate: map[Migration]uint64{},
		wake: map[Wakeup]uint64{}, pages: map[PageAlloc]uint64{}, napi: map[NAPI]probeSum{},
	}
}

func (k probeKey) slot() uint32      { return uint32(k.A) }
func (k probeKey) cpu() int          { return int(k.A >> 32 & 0xffff) }
func (k probeKey) cause() probeCause { return probeCause(k.A >> 48) }

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
			n := NAPI{Netdev: d.names[k.Func], CPU: k.cpu()}
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
	if k.slot() == 0 {
		d.cpu = append(d.cpu, CPUCause{CPU: k.cpu(), Cause: cause, Actor: actor, Count: s.Count, NS: s.Ns, MaxNS: s.Max})
		return
	}
	d.hits = append(d.hits, ThreadCause{TID: d.tid(k.slot()), CPU: k.cpu(), Cause: cause, Actor: actor, Count: s.Count, NS: s.Ns, MaxNS: s.Max})
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
	}
	slices.SortStableFunc(out, func(a, b Thread) int { return int(a.StartNS - b.StartNS) })
	return out
}

func (d *decoder) thread(slot uint32, t probeThread) Thread {
	th := Thread{
		PID: int(t.Tgid), TID: int(t.Tid), Comm: text(t.Comm[:]), StartNS: int64(t.Start), EndNS: int64(t.End),
		RunQ:      Histogram{Counts: trim(t.Waits[:]), Max: t.WaitMax},
		Voluntary: t.Voluntary, Involuntary: t.Involuntary, Migrations: t.Migrations, WaitNS: t.WaitNs,
	}
	for _, cpu := range slices.Sorted(maps.Keys(d.run[slot])) {
		th.OnCPU = append(th.OnCPU, OnCPU{CPU: cpu, NS: d.run[slot][cpu]})
	}
	if t.End == 0 {
		th.Comm = commNow(th, th.Comm)
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
		d.hits = append(d.hits, ThreadCause{
			TID: d.tid(slot), CPU: int(t.WaitCpu) - 1, Cause: CauseRunqueue, Actor: Actor{Name: string(CauseRunqueue)},
			Count: 1, NS: rest, MaxNS: rest,
		})
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

// commNow is the name that a living thread has given itself since it was started.
func commNow(th Thread, old string) string {
	if c, ok := readComm("/proc/" + strconv.Itoa(th.PID) + "/task/" + strconv.Itoa(th.TID) + "/comm"); ok {
		return c
	}
	return old
}
