package facts

import (
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
)

func deriveK8s(v *view, f *Facts) {
	k, u, b := &f.K8s, &f.K8s.Unknown, &v.b.K8s
	k.Overlap, k.SplitCores = []int{}, []int{}
	take(u, "cpu_manager", &k.CPUManager, b.CPUManagerPolicy)
	k.Static = k.CPUManager == "static"
	missIf(u, b.CPUManagerPolicy.Why(), "static")
	takeSet(u, "default_cpus", &k.DefaultCPUs, b.DefaultCPUSet)
	takeSet(u, "reserved_cpus", &k.ReservedCPUs, b.ReservedCPUs)
	take(u, "topology_manager", &k.TopologyPolicy, b.TopologyPolicy)
	take(u, "cpu_cfs_quota", &k.CFSQuota, b.CPUCFSQuota)
	k.WLInPod = strings.Contains(f.WL.CgroupPath, "kubepods")
	k.Present = b.Kubelet.Or(false) || b.CPUManagerPolicy.Ok() || k.WLInPod || len(b.Exclusive) > 0
	k.QoS = qosOf(f.WL.CgroupPath)
	k.CRIO = v.runs("crio") || b.OrigIRQBanned.Ok() || len(b.IRQLBDisabled) > 0
	k.IRQOffPods = len(b.IRQLBDisabled)
	k.NodeOperator = f.Tuned.NodeOperator
	if why, missing := f.Tuned.Unknown["node_operator"]; missing {
		u.miss("node_tuning_operator", why)
	}
	k.SRIOVOperator = v.runs("sriovdp") || v.runs("sriov-network-c")
	v.k8sWorkload(f)
	v.containers(f)
	u.reword("no state of a kubelet was found")
	if why, missing := f.WL.Unknown["cgroup"]; missing && v.wl.present {
		u.missAll(why, "workload_in_pod", "workload_exclusive", "workload_in_pool", "workload_qos", "workload_irq_off", "cpus_nic_differ")
	}
}

func qosOf(path string) string {
	switch {
	case !strings.Contains(path, "kubepods"):
		return ""
	case strings.Contains(path, "burstable"):
		return "burstable"
	case strings.Contains(path, "besteffort"):
		return "besteffort"
	}
	return "guaranteed"
}

func (v *view) k8sWorkload(f *Facts) {
	k, u := &f.K8s, &f.K8s.Unknown
	own := cpulist.Of(f.WL.CpusetCPUs...)
	k.WLExclusive = len(f.WL.ExclusiveC) > 0 && k.WLInPod
	if pool, ok := v.b.K8s.DefaultCPUSet.Get(); ok {
		k.WLInPool = k.WLInPod && len(own) > 0 && own.Equal(pool)
	} else if k.WLInPod {
		u.miss("workload_in_pool", v.b.K8s.DefaultCPUSet.Why())
	}
	for _, cpus := range v.b.K8s.IRQLBDisabled {
		k.IRQOff = k.IRQOff || k.WLInPod && len(own) > 0 && own.Equal(cpus)
	}
	if why, missing := f.WL.Unknown["nic_nodes"]; missing {
		u.miss("cpus_nic_differ", why)
	}
	nodes := v.nodesOf(own)
	k.NodesDiffer = k.WLInPod && len(f.WL.NICNodes) > 0 && len(own) > 0 && !nodes.Within(cpulist.Of(f.WL.NICNodes...))
}

// containers joins what the CPU manager gave with what the runtime was told.
func (v *view) containers(f *Facts) {
	f.Containers = []Container{}
	b := &v.b.K8s
	for _, name := range sortedKeys(b.Exclusive) {
		c := v.container(f, name, b.Exclusive[name])
		c.Exclusive = true
		for _, other := range sortedKeys(b.Exclusive) {
			if both := b.Exclusive[name].And(b.Exclusive[other]); other != name && len(both) > 0 {
				c.Overlap, c.OverlapWith = ints(both), other
				f.K8s.Overlap = ints(cpulist.Of(f.K8s.Overlap...).Or(both))
			}
		}
		if pool, ok := b.DefaultCPUSet.Get(); ok {
			c.InDefault = ints(b.Exclusive[name].And(pool))
		}
		c.SplitCores = ints(v.splitCores(b.Exclusive[name]))
		f.K8s.SplitCores = ints(cpulist.Of(f.K8s.SplitCores...).Or(cpulist.Of(c.SplitCores...)))
		f.Containers = append(f.Containers, c)
	}
	for _, name := range sortedKeys(b.IRQLBDisabled) {
		cpus := b.IRQLBDisabled[name]
		i := slices.IndexFunc(f.Containers, func(c Container) bool { return slices.Equal(c.CPUs, cpus) })
		if i < 0 {
			f.Containers = append(f.Containers, v.container(f, name, cpus))
			i = len(f.Containers) - 1
		}
		c := &f.Containers[i]
		c.IRQOff = true
		now, ok := v.b.IRQ.DefaultAffinity.Get()
		c.InDefaultMask = ints(cpus.And(now))
		if !ok {
			c.Unknown.miss("in_default_irq_cpus", v.b.IRQ.DefaultAffinity.Why())
		}
		c.NotBanned = ints(v.unbanned(cpus, f))
	}
}

func (v *view) container(f *Facts, name string, cpus cpulist.Set) Container {
	c := Container{Name: name, CPUs: ints(cpus), Nodes: ints(v.nodesOf(cpus)), Overlap: []int{}, InDefault: []int{}, SplitCores: []int{}, InDefaultMask: []int{}, NotBanned: []int{}}
	c.Workload = len(f.WL.CpusetCPUs) > 0 && slices.Equal(f.WL.CpusetCPUs, c.CPUs)
	for _, cpu := range cpus {
		c.IRQPerS += v.irqSum[cpu].total
	}
	missIf(&c.Unknown, v.noRate, "irq_per_s")
	return c
}

// splitCores are CPUs whose sibling is not in the set.
func (v *view) splitCores(cpus cpulist.Set) cpulist.Set {
	out := cpulist.Set{}
	for _, c := range cpus {
		if len(v.siblings(c).Minus(cpus)) > 0 {
			out = append(out, c)
		}
	}
	return out
}
