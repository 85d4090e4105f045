package facts

import (
	"strings"

	"github.com/corewise/corewise/advisor/plan"
	"github.com/corewise/corewise/profile/cpulist"
)

// derivePlan copies the plan; what it does not give is unknown, so that no command with a hole is printed.
func derivePlan(pl plan.Plan, f *Facts) {
	p, u := &f.Plan, &f.Plan.Unknown
	why := first(pl.Limited, "the plan does not give it")
	for _, e := range []struct {
		set           cpulist.Set
		cpus          *[]int
		list          *string
		field, field2 string
	}{
		{pl.Sets.Housekeeping, &p.Housekeeping, &p.HousekeepingList, "housekeeping_cpus", "housekeeping_list"},
		{pl.Sets.IRQ, &p.IRQ, &p.IRQList, "irq_cpus", "irq_list"},
		{pl.Sets.Isolated, &p.Isolated, &p.IsolatedList, "isolated_cpus", "isolated_list"},
		{pl.Sets.Workload, &p.Workload, &p.WorkloadList, "workload_cpus", "workload_list"},
	} {
		*e.cpus, *e.list = ints(e.set), e.set.String()
		if len(e.set) == 0 {
			u.missAll(why, e.field, e.field2)
		}
	}
	if p.WorkloadCommas = pl.Sets.Workload.Commas(); p.WorkloadCommas == "" {
		u.miss("workload_commas", why)
	}
	control := cpulist.Set{}
	for _, r := range pl.Roles {
		if !r.Data {
			control = control.Or(cpulist.Of(r.CPUs...))
		}
	}
	if p.ControlList = control.String(); p.ControlList == "" {
		u.miss("control_list", "the plan has no control thread")
	}
	if p.Node = pl.Node; p.Node < 0 {
		p.Node = 0
		u.miss("node", first(pl.NodeWhy, why))
	}
	if p.IRQQueues = pl.Queues; p.IRQQueues == 0 {
		u.miss("irq_queues", why)
	}
	p.NodeText, p.Current, p.Optional, p.Limited, p.Steps = pl.NodeWhy, pl.Current, pl.Optional, pl.Limited, strings.Join(pl.Steps, "; ")
	planSyntaxes(pl, p, why)
}

func planSyntaxes(pl plan.Plan, p *Plan, why string) {
	u := &p.Unknown
	for _, e := range []struct {
		field, name string
		dst         *string
	}{
		{"taskset", "taskset", &p.Taskset}, {"numactl", "numactl", &p.Numactl}, {"eal", "eal", &p.EAL}, {"pktgen_map", "pktgen-map", &p.PktgenMap}, {"pktgen", "pktgen", &p.Pktgen},
		{"testpmd", "testpmd", &p.Testpmd}, {"doca_bench", "doca_bench", &p.DocaBench}, {"vma", "vma", &p.VMA}, {"xlio", "xlio", &p.XLIO}, {"sockperf", "sockperf", &p.Sockperf}, {"ovs", "ovs", &p.OVS},
		{"spdk", "spdk", &p.SPDK}, {"fio", "fio", &p.Fio}, {"cmdline", "cmdline", &p.Cmdline}, {"cmdline_merged", "cmdline-merged", &p.CmdlineMerged}, {"tuned", "tuned", &p.Tuned},
		{"systemd", "systemd-system", &p.Systemd}, {"systemd_unit", "systemd-unit", &p.SystemdUnit}, {"cpuset", "cgroup", &p.Cpuset}, {"irqbalance", "irqbalance", &p.IrqbalanceBan}, {"kubelet", "kubelet", &p.Kubelet},
		{"performance_profile", "openshift", &p.PerfProfile}, {"irq_affinity", "irq-affinity", &p.IRQAffinity}, {"irq_default", "irq-default", &p.IRQDefault}, {"nic_queues", "nic-queues", &p.NICQueues},
		{"workqueue", "workqueue", &p.Workqueue}, {"watchdog", "watchdog", &p.Watchdog},
	} {
		text, ok := pl.Syntaxes[e.name]
		if *e.dst = text; !ok {
			u.miss(e.field, why)
		}
	}
	if p.SocketMem = socketMemOf(p.EAL); p.SocketMem == "" {
		u.miss("socket_mem", why)
	}
	if p.Command = strings.Join(pl.Command, " "); p.Command == "" {
		u.miss("command", why)
	}
}

// socketMemOf picks the value of --socket-mem out of the EAL arguments.
func socketMemOf(eal string) string {
	_, rest, ok := strings.Cut(eal, "--socket-mem ")
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(rest, " ")
	return value
}
