package plan

import (
	"strings"

	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// cpusetPath is the control group that limits the process' CPUs: version 1's cpuset controller, else version 2.
func cpusetPath(proc host.Proc) string {
	if path, ok := proc.Cgroup["cpuset"]; ok {
		return path
	}
	return proc.Cgroup[""]
}

// allowed is cpuset.cpus.effective of the process' control group or, where that one has none, of the nearest above it.
func allowed(p profile.Profile, proc host.Proc) maybe.Value[cpulist.Set] {
	path := cpusetPath(proc)
	if path == "" {
		return maybe.None[cpulist.Set]("the workload's control group is not known")
	}
	after, _ := p.After.Get()
	for {
		for _, h := range []host.Host{after, p.Before} {
			for _, g := range h.Cgroups {
				if cpus, ok := g.EffectiveCPUs.Get(); ok && strings.Trim(g.Path, "/") == strings.Trim(path, "/") {
					return maybe.Some(cpus)
				}
			}
		}
		up := strings.LastIndex(strings.TrimRight(path, "/"), "/")
		if up < 0 {
			return maybe.None[cpulist.Set]("no control group above the workload tells its CPUs")
		}
		path = path[:up]
	}
}

// foreign are the CPUs that belong to others alone: valid partitions and exclusive containers that the process is not in.
func foreign(h host.Host, proc host.Proc) cpulist.Set {
	own := "/" + strings.Trim(cpusetPath(proc), "/") + "/"
	var taken cpulist.Set
	for _, g := range h.Cgroups {
		path := "/" + strings.Trim(g.Path, "/") + "/"
		kind := g.Partition.Or("")
		if path == "//" || strings.HasPrefix(own, path) || kind != "root" && kind != "isolated" {
			continue
		}
		taken = taken.Or(g.EffectiveCPUs.Or(nil))
	}
	for container, cpus := range h.K8s.Exclusive {
		if !strings.Contains(own, container) {
			taken = taken.Or(cpus)
		}
	}
	return taken
}
