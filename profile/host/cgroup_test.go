package host

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/maybe"
)

const cgroupV2 = `
-- proc/mounts --
cgroup2 /sys/fs/cgroup cgroup2 rw 0 0
-- sys/fs/cgroup/cgroup.controllers --
cpuset cpu
-- sys/fs/cgroup/cpuset.cpus.effective --
0-15
-- sys/fs/cgroup/cpuset.mems.effective --
0-1
-- sys/fs/cgroup/system.slice/cpuset.cpus --

-- sys/fs/cgroup/system.slice/cpuset.cpus.effective --
0-3
-- sys/fs/cgroup/system.slice/cpu.max --
max 100000
-- sys/fs/cgroup/system.slice/app.service/cgroup.procs --
41
42
-- sys/fs/cgroup/pods/p1/cpu.max --
50000 100000
-- sys/fs/cgroup/pods/p1/cpu.stat --
usage_usec 9
nr_periods 100
nr_throttled 7
throttled_usec 5000000
-- sys/fs/cgroup/iso/cpuset.cpus --
8-11
-- sys/fs/cgroup/iso/cpuset.cpus.effective --

-- sys/fs/cgroup/iso/cpuset.cpus.partition --
isolated invalid (Cpu list in cpuset.cpus not exclusive)
-- sys/fs/cgroup/iso/cgroup.procs --
77
`

func groupOf(t *testing.T, h *Host, path string) *Cgroup {
	t.Helper()
	for i := range h.Cgroups {
		if h.Cgroups[i].Path == path {
			return &h.Cgroups[i]
		}
	}
	t.Fatalf("no group %s in %+v", path, h.Cgroups)
	return nil
}

func TestCgroupV2(t *testing.T) {
	s := sourceOf(t, cgroupV2)
	h := Host{Procs: []Proc{{PID: 41, Cgroup: map[string]string{"": "/system.slice/app.service"}}}}
	readCgroups(s, &h)
	app := groupOf(t, &h, "/system.slice/app.service")
	if set, ok := app.EffectiveCPUs.Get(); !ok || set.String() != "0-3" {
		t.Errorf("without the controller a group lives by its parent's CPUs: %v", app.EffectiveCPUs)
	}
	if set, ok := app.EffectiveMems.Get(); !ok || set.String() != "0-1" {
		t.Errorf("and its parent's nodes: %v", app.EffectiveMems)
	}
	if !slices.Equal(app.PIDs, []int{41, 42}) {
		t.Errorf("pids %v", app.PIDs)
	}
	pod := groupOf(t, &h, "/pods/p1")
	is(t, "quota", pod.QuotaUS, 50000)
	is(t, "period", pod.PeriodUS, 100000)
	is(t, "throttled", pod.ThrottledUS, 5_000_000)
	is(t, "periods", pod.NrPeriods, 100)
	iso := groupOf(t, &h, "/iso")
	is(t, "partition", iso.Partition, "isolated invalid (Cpu list in cpuset.cpus not exclusive)")
	if set, ok := iso.EffectiveCPUs.Get(); !ok || len(set) != 0 {
		t.Errorf("an empty effective list is known to be empty: %v", iso.EffectiveCPUs)
	}
	if slices.ContainsFunc(h.Cgroups, func(g Cgroup) bool { return g.Path == "/system.slice" }) {
		t.Error("a group that limits nothing and holds no process of interest is not kept")
	}
	if g := h.CgroupOf(h.Procs[0]); g == nil || g.Path != "/system.slice/app.service" {
		t.Errorf("CgroupOf = %+v", g)
	}
	if g := h.CgroupOf(Proc{Cgroup: map[string]string{"": "/pods/p1/deeper/still"}}); g == nil || g.Path != "/pods/p1" {
		t.Errorf("CgroupOf a group that was not read = %+v, want the nearest above", g)
	}
	if h.CgroupOf(Proc{}) != nil {
		t.Error("a process without cgroup has none")
	}
}

const cgroupV1 = `
-- proc/mounts --
tmpfs /sys/fs/cgroup tmpfs ro 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
-- sys/fs/cgroup/unified/cgroup.controllers --
-- sys/fs/cgroup/cpuset/cpuset.cpus --
0-17
-- sys/fs/cgroup/cpuset/cpuset.mems --
0
-- sys/fs/cgroup/cpuset/kubepods/pod1/c1/cpuset.cpus --
2-5
-- sys/fs/cgroup/cpuset/kubepods/pod1/c1/cpuset.cpu_exclusive --
0
-- sys/fs/cgroup/cpuset/kubepods/pod2/cpuset.cpus --

-- sys/fs/cgroup/cpu,cpuacct/kubepods/pod2/cpu.cfs_quota_us --
-1
-- sys/fs/cgroup/cpu,cpuacct/kubepods/pod1/c1/cpu.cfs_quota_us --
400000
-- sys/fs/cgroup/cpu,cpuacct/kubepods/pod1/c1/cpu.cfs_period_us --
100000
-- sys/fs/cgroup/cpu,cpuacct/kubepods/pod1/c1/cpu.stat --
nr_periods 20
nr_throttled 10
throttled_time 5000000000
`

func TestCgroupV1(t *testing.T) {
	h := readAreas(sourceOf(t, cgroupV1), readCgroups)
	c1 := groupOf(t, &h, "/kubepods/pod1/c1")
	is(t, "throttled ns -> us", c1.ThrottledUS, 5_000_000)
	is(t, "quota", c1.QuotaUS, 400_000)
	is(t, "exclusive", c1.Exclusive, false)
	if set, ok := c1.EffectiveCPUs.Get(); !ok || set.String() != "2-5" || c1.Version != 1 {
		t.Errorf("%+v", c1)
	}
	if set, ok := c1.EffectiveMems.Get(); !ok || set.String() != "0" {
		t.Errorf("nodes %v", c1.EffectiveMems)
	}
	for _, g := range h.Cgroups {
		if g.Version == 2 {
			t.Errorf("the empty unified hierarchy beside version 1 says nothing: %+v", g)
		}
	}
}

func TestCPUMax(t *testing.T) {
	for text, want := range map[string][2]int64{"max 100000": {-1, 100000}, "50000 100000": {50000, 100000}} {
		q, p := parseCPUMax(maybe.Some(text))
		is(t, text, q, want[0])
		is(t, text, p, want[1])
	}
	q, p := parseCPUMax(maybe.Some("many"))
	isMissing(t, "quota", q, "many")
	isMissing(t, "period", p, "invalid")
}

func TestManyCgroupsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("-- sys/fs/cgroup/cgroup.controllers --\ncpu\n")
	for i := range maxCgroupDirs + 10 {
		fmt.Fprintf(&b, "-- sys/fs/cgroup/g%d/cgroup.procs --\n", i)
	}
	h := readAreas(sourceOf(t, b.String()), readCgroups)
	if len(h.Gaps) != 1 || !strings.Contains(h.Gaps[0].Reason, "more than 4000 groups") {
		t.Errorf("gaps %v", h.Gaps)
	}
}

func FuzzCgroupFiles(f *testing.F) {
	f.Add("max 100000", "nr_periods 1\nthrottled_usec 2\n")
	f.Fuzz(func(_ *testing.T, limit, stat string) {
		parseCPUMax(maybe.Some(limit))
		var g Cgroup
		throttlingV1(maybe.Some(stat), &g)
		parseCounterLines(stat)
	})
}
