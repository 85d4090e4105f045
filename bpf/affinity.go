package bpf

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/corewise/corewise/profile/cpulist"
)

// ErrNoCPULeft says that the process is allowed on no CPU beside those it should avoid; its affinity is unchanged.
var ErrNoCPULeft = errors.New("no other CPU is allowed")

// KeepOff moves all threads of this process off the CPUs, within what its affinity allows now. Threads and children that are
// started later inherit that; a workload must be given back the affinity that unix.SchedGetaffinity returned before.
func KeepOff(cpus []int) error {
	if len(cpus) == 0 {
		return nil
	}
	allowed, err := ownCPUs()
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(allowed), func(c int) bool { return slices.Contains(cpus, c) })
	if len(left) == 0 {
		return fmt.Errorf("keep off CPUs %s: %w", cpulist.Of(cpus...), ErrNoCPULeft)
	}
	var set unix.CPUSet
	for _, c := range left {
		set.Set(c)
	}
	return setAffinity(&set)
}

// setAffinity repeats until no thread is new, because the Go runtime may start one at any time.
func setAffinity(set *unix.CPUSet) error {
	done := map[int]bool{}
	for {
		before := len(done)
		for _, tid := range threadsOf(os.Getpid()) {
			if done[tid] {
				continue
			}
			if err := unix.SchedSetaffinity(tid, set); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("set affinity of own thread %d: %w", tid, err)
			}
			done[tid] = true
		}
		if len(done) == before {
			return nil
		}
	}
}

// ownCPUs are the CPUs that the calling thread is allowed on.
func ownCPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("read own affinity: %w", err)
	}
	var cpus []int
	for c := 0; c < len(set)*64; c++ {
		if set.IsSet(c) {
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}
