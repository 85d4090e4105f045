package action

import (
	"fmt"
	"strconv"

	"github.com/corewise/corewise/profile/cpulist"
)

// Write is one file and the value that it gets by a single write(2).
type Write struct {
	Path  string
	Value string
	// Peer and Is narrow a Path with a '*': of the files that match, those count whose neighbour Peer reads Is.
	Peer, Is string
	// Effective is the file that tells what really happened; "" is Path itself.
	Effective string
	// Optional: a file that is not there is no failure (a CPU without that idle state).
	Optional bool
}

// Writes lowers an action to the files that it writes; nil for kinds that are not file writes.
func Writes(a Action) []Write {
	switch a.Kind {
	case IRQAffinity:
		dir := "/proc/irq/" + strconv.Itoa(a.IRQ) + "/"
		return []Write{{Path: dir + "smp_affinity_list", Value: a.CPUs.String(), Effective: dir + "effective_affinity_list"}}
	case WriteFile:
		return []Write{{Path: a.Path, Value: a.Value}}
	case Sysctl:
		return []Write{{Path: sysctlPath(a.Key), Value: a.Value}}
	case Hugepages:
		return []Write{{Path: hugepageDir(a) + "nr_hugepages", Value: strconv.FormatInt(a.Count, 10)}}
	case Governor:
		return perCPU(a.CPUs, func(cpu string) Write {
			return Write{Path: cpu + "cpufreq/scaling_governor", Value: a.Value}
		})
	case IdleState:
		return perCPU(a.CPUs, func(cpu string) Write {
			return Write{Path: cpu + "cpuidle/state*/disable", Value: a.Value, Peer: "name", Is: a.Key, Optional: true}
		})
	case PMQoS:
		if len(a.CPUs) == 0 {
			return nil
		}
		return perCPU(a.CPUs, func(cpu string) Write {
			return Write{Path: cpu + "power/pm_qos_resume_latency_us", Value: a.Value}
		})
	}
	return nil
}

// perCPU makes one write a CPU; without CPUs one for all of them.
func perCPU(cpus cpulist.Set, f func(dir string) Write) []Write {
	if len(cpus) == 0 {
		w := f("/sys/devices/system/cpu/cpu*/")
		w.Optional = true
		return []Write{w}
	}
	out := make([]Write, len(cpus))
	for i, c := range cpus {
		out[i] = f(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/", c))
	}
	return out
}

// CgroupRoot is where version 2 of control groups is mounted.
const CgroupRoot = "/sys/fs/cgroup"

// PartitionWrites are the steps of an isolated partition, in order. The group itself must exist (mkdir) before the third.
func PartitionWrites(a Action) []Write {
	dir := CgroupRoot + "/" + a.Name + "/"
	return []Write{
		{Path: CgroupRoot + "/cgroup.subtree_control", Value: "+cpuset"},
		{Path: dir + "cpuset.cpus", Value: a.CPUs.String()},
		{Path: dir + "cpuset.cpus.exclusive", Value: a.CPUs.String(), Optional: true},
		{Path: dir + "cpuset.cpus.partition", Value: "isolated"},
	}
}

// Automatic reports whether corewise carries an action out itself; all others are printed for people.
func Automatic(a Action) bool {
	switch a.Kind {
	case Ethtool, Service, IrqbalanceBan, CpusetPartition, Tuned:
		return true
	}
	return Writes(a) != nil
}
