package bpf

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/cilium/ebpf"
)

// tables is what the programs have counted, as it lies in the kernel.
type tables struct {
	sums    map[probeKey]probeSum
	threads []probeThread // by slot; slot 0 is not used
	refused uint64        // threads that got no slot
	names   map[uint64]string
	other   map[probeCause]probeSum // by cause: what found no place in sums
	dropped uint64                  // events
}

// readTables copies the tables. While programs run, single values may be a moment apart from each other.
func (s *Session) readTables() (tables, error) {
	t := tables{sums: map[probeKey]probeSum{}, names: map[uint64]string{}, other: map[probeCause]probeSum{}}
	err := errors.Join(t.readSums(s.ob.maps[probeMapSums]), t.readCPUs(s.ob.maps[probeMapCpus]),
		t.readThreads(s.ob), t.readNames(s.ob.maps[probeMapNames]))
	return t, err
}

func (t *tables) readSums(m *ebpf.Map) error {
	var key probeKey
	var sum probeSum
	it := m.Iterate()
	for it.Next(&key, &sum) {
		t.add(key, sum)
	}
	if err := it.Err(); err != nil {
		return fmt.Errorf("read sums: %w", err)
	}
	return nil
}

func (t *tables) add(k probeKey, s probeSum) {
	if k.A == 0 {
		return
	}
	t.sums[k] = merge(t.sums[k], s)
}

func merge(a, b probeSum) probeSum {
	a.Count += b.Count
	a.Ns += b.Ns
	a.Max = max(a.Max, b.Max)
	return a
}

// readCPUs adds the lines of each CPU's cache, which are newer than the table.
func (t *tables) readCPUs(m *ebpf.Map) error {
	mem, err := m.Memory()
	if err != nil {
		return fmt.Errorf("map CPU state: %w", err)
	}
	var c probeCpu
	raw := unsafe.Slice((*byte)(unsafe.Pointer(&c)), unsafe.Sizeof(c))
	for i := range m.MaxEntries() {
		if _, err := mem.ReadAt(raw, int64(i)*int64(unsafe.Sizeof(c))); err != nil {
			return fmt.Errorf("read CPU state: %w", err)
		}
		t.dropped += uint64(c.Dropped)
		t.readLines(&c)
	}
	return nil
}

func (t *tables) readLines(c *probeCpu) {
	for i := range c.Hard {
		t.add(c.Hard[i].Key, c.Hard[i].Sum)
	}
	for i := range c.Soft {
		t.add(c.Soft[i].Key, c.Soft[i].Sum)
	}
	for i := range c.Task {
		t.add(c.Task[i].Key, c.Task[i].Sum)
	}
	for cause, sum := range c.Other {
		if sum.Count > 0 {
			t.other[probeCause(cause)] = merge(t.other[probeCause(cause)], sum)
		}
	}
}

func (t *tables) readThreads(ob *object) error {
	m, next := ob.maps[probeMapThreads], uint32(0)
	if err := ob.nextSlot(&next); err != nil {
		return err
	}
	n := min(next, m.MaxEntries())
	t.refused = uint64(next - n)
	t.threads = make([]probeThread, n)
	for slot := uint32(1); slot < n; slot++ {
		if err := m.Lookup(slot, &t.threads[slot]); err != nil {
			return fmt.Errorf("read thread %d: %w", slot, err)
		}
		th := &t.threads[slot]
		t.addThread(th, slot, probeCauseCAUSE_RUN, th.Run)
		t.addThread(th, slot, probeCauseCAUSE_RUNQUEUE, th.Rest)
	}
	return nil
}

// addThread adds a sum that a thread still holds itself.
func (t *tables) addThread(th *probeThread, slot uint32, cause probeCause, s probeSum) {
	if s.Count > 0 {
		t.add(probeKey{A: uint64(cause)<<48 | uint64(th.SumCpu)<<32 | uint64(slot)}, s)
	}
}

// nextSlot reads the variable next_slot; it lies alone in .data.
func (ob *object) nextSlot(out *uint32) error {
	v := ob.spec.Variables[probeVarNextSlot]
	raw, err := ob.maps[v.SectionName].LookupBytes(uint32(0))
	if err != nil {
		return fmt.Errorf("read %s: %w", v.Name, err)
	}
	*out = *(*uint32)(unsafe.Pointer(&raw[v.Offset]))
	return nil
}

func (t *tables) readNames(m *ebpf.Map) error {
	var id uint64
	var name probeName
	it := m.Iterate()
	for it.Next(&id, &name) {
		t.names[id] = text(name.Text[:])
	}
	if err := it.Err(); err != nil {
		return fmt.Errorf("read names: %w", err)
	}
	return nil
}

// text is a C string.
func text(b []int8) string {
	var out []byte
	for _, c := range b {
		if c == 0 {
			break
		}
		out = append(out, byte(c))
	}
	return string(out)
}
