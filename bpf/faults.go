package bpf

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
)

// faultCount is how many page faults a thread has had since it exists.
type faultCount struct{ minor, major uint64 }

// faultsOf reads fields 10 and 12 of /proc/PID/task/TID/stat; false when the thread is gone.
func faultsOf(pid, tid int) (faultCount, bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/stat", pid, tid))
	if err != nil {
		return faultCount{}, false
	}
	return parseFaults(b)
}

func parseFaults(stat []byte) (faultCount, bool) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return faultCount{}, false
	}
	f := strings.Fields(string(stat[end+1:])) // f[0] is field 3
	if len(f) < 10 {
		return faultCount{}, false
	}
	minor, err1 := strconv.ParseUint(f[7], 10, 64)
	major, err2 := strconv.ParseUint(f[9], 10, 64)
	return faultCount{minor, major}, err1 == nil && err2 == nil
}

// addFaults turns the kernel's own count of a thread's faults into hits. The kernel does not count them by CPU.
func (d *decoder) addFaults(t probeThread) {
	now := faultCount{t.Minor, t.Major}
	if t.End == 0 {
		var ok bool
		if now, ok = faultsOf(int(t.Tgid), int(t.Tid)); !ok {
			return
		}
	}
	first, ok := d.faults[int(t.Tid)]
	if !ok {
		first = faultCount{t.Minor0, t.Major0}
	}
	for name, n := range map[string]uint64{"minor": since(first.minor, now.minor), "major": since(first.major, now.major)} {
		if n > 0 {
			key := ThreadCause{TID: int(t.Tid), CPU: UnknownCPU, Cause: CauseFault, Actor: Actor{Name: name}}
			d.hits[key] = merge(d.hits[key], probeSum{Count: n})
		}
	}
}

func since(a, b uint64) uint64 {
	if b < a {
		return 0
	}
	return b - a
}

// faultsBefore is a copy of what the threads had before they were watched.
func (s *Session) faultsBefore() map[int]faultCount {
	s.faultsMu.Lock()
	defer s.faultsMu.Unlock()
	return maps.Clone(s.faults)
}
