package facts

import (
	"testing"

	"github.com/corewise/corewise/advisor/plan"
)

// The budget is 5 ms for a host of 256 CPUs and 2,000 interrupts.
func BenchmarkDerive256(b *testing.B) {
	p := bigProfile()
	b.ReportAllocs()
	for b.Loop() {
		Derive(p, plan.Plan{Node: -1})
	}
}

func TestBigHost(t *testing.T) {
	f := Derive(bigProfile(), plan.Plan{Node: -1})
	checkNames(t, f)
	check(t, f, map[string]any{"host.cpus": 256, "host.nodes": 8, "host.sockets": 2, "numa.nodes_per_socket": 4, "irq_devices": 8, "wl.data_threads": 64, "workload_nics[ens0].near_cpus": cpuRange(16, 63),
		"workload_nics[ens0].remote_cpus": cpuRange(64, 79), "workload_cpus": 65})
}

func cpuRange(a, b int) []int {
	var out []int
	for c := a; c <= b; c++ {
		out = append(out, c)
	}
	return out
}
