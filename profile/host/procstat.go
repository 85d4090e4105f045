package host

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// taskStat is the part of /proc/PID/stat that is used (fs/proc/array.c do_task_stat). Times in clock ticks.
//
// Note: prometheus/procfs reads the same files, but only below a path of this machine, following links; a host tree may
// be an archive in memory or somebody else's directory.
type taskStat struct {
	pid, ppid         int
	comm, state       string
	flags             uint64
	minFaults, majors int64
	uTicks, sTicks    float64
	nice, threads     int
	start             int64
	rssPages          int64
	processor, rtPrio maybe.Value[int]
	policy            maybe.Value[string]
}

// flagKThread is PF_KTHREAD of include/linux/sched.h.
const flagKThread = 0x00200000

var errStat = errors.New("not a line of /proc/PID/stat")

// parseTaskStat reads one stat line. The name may hold blanks and parentheses: it ends at the last one.
func parseTaskStat(text string) (taskStat, error) {
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 1 || end < open {
		return taskStat{}, errStat
	}
	pid, err := strconv.Atoi(strings.TrimSpace(text[:open]))
	if err != nil || pid < 0 {
		return taskStat{}, errStat
	}
	f := strings.Fields(text[end+1:])
	if len(f) < 20 {
		return taskStat{}, fmt.Errorf("%w: %d fields after the name", errStat, len(f))
	}
	t := taskStat{pid: pid, comm: text[open+1 : end], state: f[0]}
	n, err := numbers(f[1:])
	if err != nil {
		return taskStat{}, err
	}
	field := func(no int) int64 { return n[no-4] } // numbering of proc_pid_stat(5)
	t.ppid, t.flags = int(field(4)), uint64(field(9))
	t.minFaults, t.majors = field(10), field(12)
	t.uTicks, t.sTicks = float64(field(14)), float64(field(15))
	t.nice, t.threads, t.start = int(field(19)), int(field(20)), field(22)
	t.late(n)
	return t, nil
}

// late takes the fields that short or very old lines lack.
func (t *taskStat) late(n []int64) {
	at := func(no int) maybe.Value[int] {
		if no-4 >= len(n) || n[no-4] < 0 {
			return maybe.Nonef[int]("the stat line has no field %d", no)
		}
		return maybe.Some(int(n[no-4]))
	}
	t.rssPages = int64(at(24).Or(0))
	t.processor, t.rtPrio = at(39), at(40)
	t.policy = maybe.Map(at(41), policyName)
}

func numbers(fields []string) ([]int64, error) {
	n := make([]int64, len(fields))
	for i, f := range fields {
		v, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			u, uerr := strconv.ParseUint(f, 10, 64) // rsslim and addresses reach 2^64-1
			if uerr != nil {
				return nil, fmt.Errorf("%w: field %d is %.20q", errStat, i+4, f)
			}
			v = int64(u)
		}
		n[i] = v
	}
	return n, nil
}

// policyName names the scheduling policies of include/uapi/linux/sched.h.
func policyName(p int) string {
	names := map[int]string{0: "other", 1: "fifo", 2: "rr", 3: "batch", 5: "idle", 6: "deadline", 7: "ext"}
	if name, ok := names[p]; ok {
		return name
	}
	return fmt.Sprintf("policy-%d", p)
}

// taskStatus is the part of /proc/PID/status that is used.
type taskStatus struct {
	allowed, mems          maybe.Value[cpulist.Set]
	voluntary, involuntary maybe.Value[int64]
	rssBytes               maybe.Value[int64]
}

// parseStatus reads /proc/PID/status: "Key:\tvalue" lines in any order.
func parseStatus(text string) taskStatus {
	const absent = "/proc/PID/status has no such line"
	t := taskStatus{allowed: maybe.None[cpulist.Set](absent), mems: maybe.None[cpulist.Set](absent),
		voluntary: maybe.None[int64](absent), involuntary: maybe.None[int64](absent), rssBytes: maybe.None[int64](absent)}
	for _, line := range strings.Split(text, "\n") {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "Cpus_allowed_list":
			t.allowed = maybe.From(cpulist.Parse(value))
		case "Mems_allowed_list":
			t.mems = maybe.From(cpulist.Parse(value))
		case "voluntary_ctxt_switches":
			t.voluntary = maybe.From(strconv.ParseInt(value, 10, 64))
		case "nonvoluntary_ctxt_switches":
			t.involuntary = maybe.From(strconv.ParseInt(value, 10, 64))
		case "VmRSS":
			kb, err := strconv.ParseInt(strings.TrimSuffix(value, " kB"), 10, 64)
			t.rssBytes = maybe.From(kb<<10, err)
		}
	}
	return t
}

// parseMemlock finds the soft limit of locked memory in /proc/PID/limits, in bytes; -1 is unlimited.
func parseMemlock(text string) maybe.Value[int64] {
	for _, line := range strings.Split(text, "\n") {
		rest, ok := strings.CutPrefix(line, "Max locked memory")
		f := strings.Fields(rest)
		if !ok || len(f) == 0 {
			continue
		}
		if f[0] == "unlimited" {
			return maybe.Some(int64(-1))
		}
		return maybe.From(strconv.ParseInt(f[0], 10, 64))
	}
	return maybe.None[int64]("limits has no line for locked memory")
}

// parseProcCgroup reads /proc/PID/cgroup into controller -> path; version 2 has the key "".
func parseProcCgroup(text string) map[string]string {
	groups := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 || !strings.HasPrefix(f[2], "/") {
			continue
		}
		for _, controller := range strings.Split(f[1], ",") {
			groups[controller] = f[2]
		}
	}
	return groups
}
