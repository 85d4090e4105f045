package host

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// Bounds of the walk through the hierarchy: Kubernetes nodes have thousands of groups.
const (
	maxCgroupDirs = 4000
	maxCgroupPIDs = 4096
)

const cgroupTop = "/sys/fs/cgroup"

// hierarchy says where controllers are mounted. Version 1 mounts each controller, or a few together, by themselves.
type hierarchy struct {
	unified string            // mount point of version 2, "" when there is none
	v1      map[string]string // cpu, cpuset, cpuacct -> mount point
}

// readCgroups reads the groups that limit CPUs, memory nodes or CPU time, and those of the processes that were read.
func readCgroups(s *Source, h *Host) {
	at := findHierarchy(s)
	kept := map[string]bool{}
	for _, p := range h.Procs {
		for controller, group := range p.Cgroup {
			if controller == "" || controller == "cpu" || controller == "cpuset" {
				kept[path.Clean(group)] = true
			}
		}
	}
	if len(at.v1) > 0 && at.v1["cpuset"]+at.v1["cpu"] != "" {
		walkCgroups(s, h, at.v1["cpuset"], at.v1["cpu"], kept, readCgroupV1)
	}
	// Beside version 1 the unified hierarchy has no controllers, and nothing to say.
	if at.unified != "" && (len(at.v1) == 0 || s.Word(at.unified+"/cgroup.controllers").Ok()) {
		walkCgroups(s, h, at.unified, at.unified, kept, readCgroupV2)
	}
	slices.SortFunc(h.Cgroups, func(a, b Cgroup) int {
		if a.Version != b.Version {
			return b.Version - a.Version
		}
		return strings.Compare(a.Path, b.Path)
	})
}

// findHierarchy reads the mounts; without them (a tree of only a few files) the usual places are tried.
func findHierarchy(s *Source) hierarchy {
	at := hierarchy{v1: map[string]string{}}
	for _, line := range strings.Split(s.Text("/proc/mounts").Or(""), "\n") {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[1], cgroupTop) {
			continue
		}
		switch f[2] {
		case "cgroup2":
			at.unified = f[1]
		case "cgroup":
			for _, option := range strings.Split(f[3], ",") {
				if option == "cpu" || option == "cpuset" {
					at.v1[option] = f[1]
				}
			}
		}
	}
	if at.unified == "" && s.Exists(cgroupTop+"/cgroup.controllers") {
		at.unified = cgroupTop
	}
	if at.unified == "" && len(at.v1) == 0 {
		for _, controller := range []string{"cpu", "cpuset"} {
			if s.Exists(path.Join(cgroupTop, controller)) {
				at.v1[controller] = path.Join(cgroupTop, controller)
			}
		}
	}
	return at
}

// cgroupReader reads one group; cpuset and cpu are its directories in the two hierarchies (the same one in version 2).
type cgroupReader func(s *Source, cpuset, cpu string) Cgroup

// walkCgroups goes through the union of both hierarchies, parents first.
func walkCgroups(s *Source, h *Host, cpusetTop, cpuTop string, kept map[string]bool, read cgroupReader) {
	parents := map[string]Cgroup{}
	for queue := []string{"/"}; len(queue) > 0; {
		group := queue[0]
		queue = queue[1:]
		if len(parents) == maxCgroupDirs {
			h.Gaps = append(h.Gaps, Gap{Path: cgroupTop, Reason: fmt.Sprintf("more than %d groups", maxCgroupDirs)})
			return
		}
		cpuset, cpu := below(cpusetTop, group), below(cpuTop, group)
		g := read(s, cpuset, cpu)
		g.Path = group
		if parent, ok := parents[path.Dir(group)]; ok && group != "/" {
			inherit(&g, parent)
		}
		parents[group] = g
		keep := kept[group] || limits(g)
		if keep && group != "/" { // the root's would be most of the host's
			g.PIDs = readPIDs(s, cmp.Or(cpuset, cpu))
		}
		if keep || group == "/" {
			h.Cgroups = append(h.Cgroups, g)
		}
		queue = append(queue, children(s, group, cpuset, cpu)...)
	}
}

func below(top, group string) string {
	if top == "" {
		return ""
	}
	return path.Join(top, group)
}

// children lists the sub-groups: names without a dot-suffixed file prefix that hold cgroup.procs or a knob.
func children(s *Source, group string, dirs ...string) []string {
	var found []string
	for _, dir := range slices.Compact(dirs) {
		if dir == "" {
			continue
		}
		names, err := s.Dir(dir)
		if err != nil {
			continue
		}
		for _, name := range names {
			sub := path.Join(group, name)
			if !isKnob(name) && !slices.Contains(found, sub) {
				found = append(found, sub)
			}
		}
	}
	return found
}

// isKnob recognises the files of a group by the prefix of the kernel's controllers; directories have other names.
func isKnob(name string) bool {
	switch name {
	case "tasks", "notify_on_release", "release_agent":
		return true
	}
	for _, prefix := range []string{"cgroup.", "cpu.", "cpuset.", "cpuacct.", "memory.", "io.", "pids.", "rdma.", "hugetlb.",
		"misc.", "dmem.", "irq.", "blkio.", "devices.", "freezer.", "net_cls.", "net_prio.", "perf_event."} {
		if strings.HasPrefix(name, prefix) && !strings.HasSuffix(name, ".slice") && !strings.HasSuffix(name, ".scope") &&
			!strings.HasSuffix(name, ".service") {
			return true
		}
	}
	return false
}

// limits reports whether a group restricts anything by itself.
func limits(g Cgroup) bool {
	set, _ := g.CPUs.Get()
	return len(set) > 0 || g.Partition.Or("member") != "member" || g.QuotaUS.Or(-1) >= 0 || g.Exclusive.Or(false)
}

// inherit: a group whose controller is not enabled has no files of it, and lives by its parent's.
func inherit(g *Cgroup, parent Cgroup) {
	g.EffectiveCPUs = prefer(g.EffectiveCPUs, parent.EffectiveCPUs)
	g.EffectiveMems = prefer(g.EffectiveMems, parent.EffectiveMems)
}

// readCgroupV2 reads one group of the unified hierarchy (Documentation/admin-guide/cgroup-v2.rst).
func readCgroupV2(s *Source, dir, _ string) Cgroup {
	g := Cgroup{Version: 2, CPUs: s.List(dir + "/cpuset.cpus"), EffectiveCPUs: s.List(dir + "/cpuset.cpus.effective"),
		EffectiveMems: s.List(dir + "/cpuset.mems.effective"), Partition: s.Word(dir + "/cpuset.cpus.partition"),
		Weight: s.Int64(dir + "/cpu.weight")}
	g.QuotaUS, g.PeriodUS = parseCPUMax(s.Text(dir + "/cpu.max"))
	stat := s.Text(dir + "/cpu.stat")
	text, ok := stat.Get()
	if !ok {
		g.NrPeriods, g.NrThrottled, g.ThrottledUS = maybe.None[int64](stat.Why()), maybe.None[int64](stat.Why()), maybe.None[int64](stat.Why())
		return g
	}
	c := parseCounterLines(text)
	g.NrPeriods, g.NrThrottled, g.ThrottledUS = counter(c, "nr_periods"), counter(c, "nr_throttled"), counter(c, "throttled_usec")
	return g
}

// counter looks a line of cpu.stat up; the root group and groups without the controller lack some.
func counter(c map[string]int64, name string) maybe.Value[int64] {
	if v, ok := c[name]; ok {
		return maybe.Some(v)
	}
	return maybe.None[int64]("cpu.stat has no " + name)
}

// parseCPUMax reads "50000 100000" or "max 100000": quota (-1: none) and period in microseconds.
func parseCPUMax(v maybe.Value[string]) (quota, period maybe.Value[int64]) {
	text, ok := v.Get()
	if !ok {
		return maybe.None[int64](v.Why()), maybe.None[int64](v.Why())
	}
	limit, rest, _ := strings.Cut(text, " ")
	quota = maybe.Some(int64(-1))
	if limit != "max" {
		quota = maybe.From(strconv.ParseInt(limit, 10, 64))
	}
	return quota, maybe.From(strconv.ParseInt(strings.TrimSpace(rest), 10, 64))
}

// readCgroupV1 reads one group of the version 1 hierarchies and converts it to version 2 units.
func readCgroupV1(s *Source, cpuset, cpu string) Cgroup {
	const noCPU, noSet = "the cpu controller is not mounted", "the cpuset controller is not mounted"
	g := Cgroup{Version: 1, Partition: maybe.None[string]("version 1 has no partitions"),
		CPUs: maybe.None[cpulist.Set](noSet), EffectiveCPUs: maybe.None[cpulist.Set](noSet), EffectiveMems: maybe.None[cpulist.Set](noSet),
		QuotaUS: maybe.None[int64](noCPU), PeriodUS: maybe.None[int64](noCPU)}
	if cpuset != "" {
		g.CPUs = s.List(cpuset + "/cpuset.cpus")
		g.EffectiveCPUs = prefer(s.List(cpuset+"/cpuset.effective_cpus"), g.CPUs)
		g.EffectiveMems = prefer(s.List(cpuset+"/cpuset.effective_mems"), s.List(cpuset+"/cpuset.mems"))
		g.Exclusive = nonzero(s, cpuset+"/cpuset.cpu_exclusive")
	}
	if cpu != "" {
		g.QuotaUS, g.PeriodUS = s.Int64(cpu+"/cpu.cfs_quota_us"), s.Int64(cpu+"/cpu.cfs_period_us")
		throttlingV1(s.Text(cpu+"/cpu.stat"), &g)
	}
	return g
}

// throttlingV1: version 1 counts throttled_time in nanoseconds.
func throttlingV1(v maybe.Value[string], g *Cgroup) {
	text, ok := v.Get()
	if !ok {
		g.NrPeriods, g.NrThrottled, g.ThrottledUS = maybe.None[int64](v.Why()), maybe.None[int64](v.Why()), maybe.None[int64](v.Why())
		return
	}
	c := parseCounterLines(text)
	g.NrPeriods, g.NrThrottled = counter(c, "nr_periods"), counter(c, "nr_throttled")
	g.ThrottledUS = maybe.Map(counter(c, "throttled_time"), func(ns int64) int64 { return ns / 1000 })
}

func readPIDs(s *Source, dir string) []int {
	var pids []int
	for _, f := range strings.Fields(s.Text(dir + "/cgroup.procs").Or("")) {
		if pid, err := strconv.Atoi(f); err == nil && len(pids) < maxCgroupPIDs {
			pids = append(pids, pid)
		}
	}
	return pids
}

// CgroupOf returns the group that limits the process's CPUs: its own, or the nearest one above that was read. Nil when
// nothing is known of any.
func (h *Host) CgroupOf(p Proc) *Cgroup {
	group, ok := p.Cgroup["cpuset"]
	if !ok {
		group, ok = p.Cgroup[""]
	}
	if !ok {
		return nil
	}
	for dir := path.Clean(group); ; dir = path.Dir(dir) {
		for i := range h.Cgroups {
			if h.Cgroups[i].Path == dir {
				return &h.Cgroups[i]
			}
		}
		if dir == "/" || dir == "." {
			return nil
		}
	}
}
