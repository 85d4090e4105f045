package plan

import "slices"

// own are the syntaxes that belong to a workload, by the adapter's name.
var own = map[string][]string{
	"sockperf":   {"sockperf", "vma", "xlio", "numactl", "taskset"},
	"pktgen":     {"pktgen", "pktgen-map", "eal", "numactl"},
	"testpmd":    {"testpmd", "eal", "numactl"},
	"doca_bench": {"doca_bench", "numactl"},
	"ovs":        {"ovs"},
	"fio":        {"fio", "numactl", "taskset"},
	"spdk":       {"spdk", "spdk-mask"},
	"oslat":      {"oslat", "taskset"},
	"cyclictest": {"cyclictest", "taskset"},
}

// around are the settings of the host that go with any placement.
var around = []string{"taskset", "numactl", "cmdline", "cgroup", "irqbalance"}

// general is the order of everything else.
var general = []string{
	"cmdline-merged", "irq-affinity", "irq-mask", "irq-default", "nic-queues", "workqueue", "watchdog", "tuned", "systemd-unit", "systemd-system", "kubelet", "openshift",
}

// order lists the names of the syntaxes, those of the workload first, the rest of the other tools last; mine counts those
// of the workload with the host's.
func order(kind string, syntaxes map[string]string) (names []string, mine int) {
	add := func(list []string) {
		for _, n := range list {
			if _, ok := syntaxes[n]; ok && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	add(own[kind])
	add(around)
	mine = len(names)
	add(general)
	var rest []string
	for n := range syntaxes {
		rest = append(rest, n)
	}
	slices.Sort(rest)
	add(rest)
	return names, mine
}
