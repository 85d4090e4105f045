package bpf

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Modes of the program sync_cpu (enum sync_mode in src/proc.h).
const (
	syncStart = iota
	syncWatch
	syncStop
)

const pendingFlag = 0x8000 // PENDING in src/state.h

// testRunOnCPU is BPF_F_TEST_RUN_ON_CPU of include/uapi/linux/bpf.h.
const testRunOnCPU = 1

// syncAll runs sync_cpu on every online CPU: one interrupt each. A CPU that went offline on the way is not an error.
func (s *Session) syncAll(mode uint64) error {
	cpus, err := onlineCPUs()
	if err != nil {
		return err
	}
	var errs []error
	for _, cpu := range cpus {
		if err := s.syncOne(cpu, mode); err != nil && !errors.Is(err, unix.ENXIO) {
			errs = append(errs, fmt.Errorf("count on CPU %d: %w", cpu, err))
		}
	}
	return errors.Join(errs...)
}

func (s *Session) syncOne(cpu int, mode uint64) error {
	_, err := s.ob.progs[syncProgram].Run(&ebpf.RunOptions{Context: [1]uint64{mode}, Flags: testRunOnCPU, CPU: uint32(cpu)})
	return err
}

// addThread gives one thread a slot; false: it has one, or none is left.
func (s *Session) addThread(tid, tgid int, flag uint64) (bool, error) {
	before, known := faultsOf(tgid, tid)
	ret, err := s.ob.progs[watchProgram].Run(&ebpf.RunOptions{Context: [3]uint64{uint64(tid), uint64(tgid), flag}})
	if err != nil {
		return false, fmt.Errorf("watch thread %d: %w", tid, err)
	}
	if ret == 1 && known && flag == 0 {
		s.noteFaults(tid, before)
	}
	return ret == 1, nil
}

// noteFaults keeps what a thread had before; the reader of the tables may run at the same time.
func (s *Session) noteFaults(tid int, n faultCount) {
	s.faultsMu.Lock()
	defer s.faultsMu.Unlock()
	s.faults[tid] = n
}

// watchCPUs marks CPUs on which everybody is counted.
func (s *Session) watchCPUs(cpus []int) error {
	for _, cpu := range cpus {
		var c probeCpu
		m, key := s.ob.maps[probeMapCpus], uint32(cpu)
		if err := m.Lookup(key, &c); err != nil {
			return fmt.Errorf("watch CPU %d: no such CPU: %w", cpu, err)
		}
		c.Watch = 1
		if err := m.Put(key, &c); err != nil {
			return fmt.Errorf("watch CPU %d: %w", cpu, err)
		}
	}
	return nil
}
