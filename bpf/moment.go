package bpf

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// moment is one reading of what is compared between the start and the end of a capture.
type moment struct {
	mono, real, boot int64 // ns
	online           []int
	stealNS          map[int]uint64 // by CPU
	ownCPUNS         int64
}

func readMoment() moment {
	m := moment{
		mono: clock(unix.CLOCK_MONOTONIC), real: clock(unix.CLOCK_REALTIME), boot: clock(unix.CLOCK_BOOTTIME),
		ownCPUNS: clock(unix.CLOCK_PROCESS_CPUTIME_ID),
	}
	m.online, _ = onlineCPUs()
	if b, err := os.ReadFile("/proc/stat"); err == nil {
		m.stealNS = parseSteal(string(b))
	}
	return m
}

func clock(id int32) int64 {
	var ts unix.Timespec
	if unix.ClockGettime(id, &ts) != nil {
		return 0
	}
	return ts.Nano()
}

// userHZ is USER_HZ, the unit of /proc/stat on all architectures that Go runs on.
const userHZ = 100

// parseSteal reads the steal column of /proc/stat, in ns by CPU (Documentation/filesystems/proc.rst, 1.7).
func parseSteal(stat string) map[int]uint64 {
	steal := map[int]uint64{}
	for line := range strings.Lines(stat) {
		f := strings.Fields(line)
		if len(f) < 9 || !strings.HasPrefix(f[0], "cpu") {
			continue
		}
		cpu, err := strconv.Atoi(f[0][3:])
		if err != nil {
			continue
		}
		if ticks, err := strconv.ParseUint(f[8], 10, 64); err == nil {
			steal[cpu] = ticks * uint64(time.Second/userHZ)
		}
	}
	return steal
}

// clockTolerance is how far two clocks may move against each other in a capture before that is worth a notice.
const clockTolerance = 5 * time.Millisecond

// changes tells what happened to the clocks and CPUs between two moments.
func changes(a, b moment) []string {
	var out []string
	if asleep := (b.boot - b.mono) - (a.boot - a.mono); asleep > int64(clockTolerance) {
		out = append(out, fmt.Sprintf("the host was suspended for %v during the capture", time.Duration(asleep)))
	}
	if step := (b.real - b.boot) - (a.real - a.boot); step > int64(clockTolerance) || step < -int64(clockTolerance) {
		out = append(out, fmt.Sprintf("the wall clock was set by %v during the capture", time.Duration(step)))
	}
	if fmt.Sprint(a.online) != fmt.Sprint(b.online) {
		out = append(out, fmt.Sprintf("CPUs changed during the capture: online were %v, then %v; what ran on CPUs that came was not counted", a.online, b.online))
	}
	return out
}
