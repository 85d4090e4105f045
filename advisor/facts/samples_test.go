package facts

import (
	"testing"

	"github.com/corewise/corewise/advisor/plan"
	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

func derive(p profile.Profile) Facts { return Derive(p, plan.Plan{Node: -1}) }

// Lifetime totals never become facts: with one sample every rate is unknown, for that reason.
func TestOneSampleHasNoRates(t *testing.T) {
	h := makeHost(twoNodes)
	nic := addNIC(&h, "eth0", "0000:81:00.0", 1, 40)
	nic.Stats = maybe.Some(map[string]uint64{"rx_out_of_buffer": 5e9, "rx_discards_phy": 7e9, "tx_pause_ctrl_phy": 132e6})
	h.IRQ.IRQs[0].Counts[5] = 1e9
	h.Kernel.VMStat = map[string]int64{"numa_hint_faults": 1e9}
	addProc(&h, 100, "sockperf", []string{"sockperf", "pp", "-i", "192.0.2.2"}, cpulist.Set{5})
	f := derive(profileOf(h, "sockperf", "pp", "-i", "192.0.2.2"))
	const one = unknown("one sample")
	check(t, f, map[string]any{
		"nics[eth0].rx_out_of_buffer_per_s": one, "nics[eth0].rx_discards_phy_per_s": one, "nics[eth0].tx_pause_per_s": one, "nics[eth0].irq_per_s": one, "nics[eth0].pci_stalled": one, "nics[eth0].aer_correctable_per_s": one,
		"irq_devices[eth0].workload_queue_per_s": one, "irq_devices[eth0].all_on_one_cpu": one, "irq.workload_per_s": one, "numa.hint_faults_per_s": one, "workload_cpus[5].busy_share": one, "workload_cpus[5].tick_per_s": one,
		"workload_cpus[5].irq_per_s": one, "iso.housekeeping_busy_share": one, "net.squeeze_share": one, "wl.busy_share": one, "wl.minor_faults_per_s": one, "workload_threads[100].busy_share": one,
		"host.two_samples": false, "host.span_s": one, "wl.cpus": []int{5},
	})
}

func TestSamplesWithoutTimeHaveNoRates(t *testing.T) {
	h := makeHost(twoNodes)
	p := twoSamples(profileOf(h), func(a *host.Host) { a.TimeS = h.TimeS })
	check(t, derive(p), map[string]any{"host.two_samples": false, "iso.housekeeping_busy_share": unknown("no time")})
}

// A CPU that is in one sample only has no rates; the others keep theirs.
func TestHotplugBetweenSamples(t *testing.T) {
	h := makeHost(twoNodes)
	addNIC(&h, "eth0", "0000:81:00.0", 1, 40)
	h.IRQ.Local = map[string]map[int]int64{"timer.local": {4: 100, 7: 100}}
	h.IRQ.IRQs[0].Counts = map[int]int64{4: 10, 7: 10}
	addProc(&h, 100, "app", []string{"app"}, cpulist.Set{4}, cpulist.Set{7})
	p := twoSamples(profileOf(h, "app"), func(a *host.Host) {
		a.CPU.Online = maybe.Some(cpulist.Range(0, 6))
		a.IRQ.CPUs = cpulist.Range(0, 6)
		a.IRQ.Local = map[string]map[int]int64{"timer.local": {4: 200}}
		a.IRQ.IRQs[0].Counts = map[int]int64{4: 60}
		delete(a.CPU.Stat, 7)
		a.CPU.Stat[4] = host.CPUTimes{User: 1000, Idle: 1100}
	})
	check(t, derive(p), map[string]any{
		"host.hotplugged_cpus": []int{7}, "workload_cpus[4].tick_per_s": 10.0, "workload_cpus[7].tick_per_s": unknown("CPU 7"), "workload_cpus[4].busy_share": 0.9, "workload_cpus[7].busy_share": unknown("CPU 7"),
		"irq_devices[eth0].per_s": 5.0,
	})
}

// Between the samples the driver was loaded again: numbers moved on by one, and one counter began anew.
func TestIRQsAreMatchedByName(t *testing.T) {
	h := makeHost(twoNodes)
	addNIC(&h, "eth0", "0000:81:00.0", 1, 40)
	addNIC(&h, "eth1", "0000:18:00.0", 0, 50)
	h.IRQ.IRQs[0].Counts, h.IRQ.IRQs[1].Counts = map[int]int64{4: 1000}, map[int]int64{5: 1000}
	h.IRQ.IRQs[2].Counts = map[int]int64{0: 1000}
	p := twoSamples(profileOf(h), func(a *host.Host) {
		a.IRQ.IRQs[0].Number, a.IRQ.IRQs[1].Number = 41, 42
		a.IRQ.IRQs[0].Counts = map[int]int64{4: 1100}
		a.IRQ.IRQs[1].Counts = map[int]int64{5: 1050}
		a.IRQ.IRQs[2].Counts = map[int]int64{0: 3}
	})
	check(t, derive(p), map[string]any{
		"irq_devices[eth0].per_s": 15.0, "irq_devices[eth0].irqs": []int{41, 42}, "irq_devices[eth0].busiest_cpu": 4, "irq_devices[eth1].per_s": unknown("backwards"),
	})
}

func TestCountersThatGoBackwardsAreNotKnown(t *testing.T) {
	h := makeHost(twoNodes)
	nic := addNIC(&h, "eth0", "0000:81:00.0", 1, 40)
	nic.Stats = maybe.Some(map[string]uint64{"rx_out_of_buffer": 500, "rx_discards_phy": 500})
	p := twoSamples(profileOf(h), func(a *host.Host) {
		a.NICs[0].Stats = maybe.Some(map[string]uint64{"rx_out_of_buffer": 3, "rx_discards_phy": 600})
	})
	check(t, derive(p), map[string]any{"nics[eth0].rx_out_of_buffer_per_s": unknown("backwards"), "nics[eth0].rx_discards_phy_per_s": 10.0})
}

// An interface that was renamed is found again by its PCI address; one that vanished is not guessed.
func TestInterfacesAreMatchedByDevice(t *testing.T) {
	h := makeHost(twoNodes)
	for i, name := range []string{"eth0", "eth1"} {
		addNIC(&h, name, []string{"0000:81:00.0", "0000:18:00.0"}[i], 1, 40+10*i).Stats = maybe.Some(map[string]uint64{"rx_out_of_buffer": 0})
	}
	p := twoSamples(profileOf(h), func(a *host.Host) {
		a.NICs[0].Name = "ens5f0"
		a.NICs[0].Stats = maybe.Some(map[string]uint64{"rx_out_of_buffer": 50})
		a.NICs = a.NICs[:1]
	})
	check(t, derive(p), map[string]any{"nics[eth0].rx_out_of_buffer_per_s": 5.0, "nics[eth1].rx_out_of_buffer_per_s": unknown("one sample only")})
}

func TestMovedInterrupts(t *testing.T) {
	h := makeHost(twoNodes)
	addNIC(&h, "eth0", "0000:81:00.0", 1, 40)
	h.IRQ.IRQs[0].Affinity, h.IRQ.IRQs[0].Effective = maybe.Some(cpulist.Of(4)), maybe.Some(cpulist.Of(4))
	h.Services.Irqbalance.Running = maybe.Some(true)
	p := twoSamples(profileOf(h), func(a *host.Host) {
		a.IRQ.IRQs[0].Affinity = maybe.Some(cpulist.Of(6))
		a.IRQ.IRQs[0].Counts = map[int]int64{4: 20}
	})
	f := derive(p)
	check(t, f, map[string]any{"irq.moved": []int{40}, "irqbalance.moved_irqs": []int{40}, "irq_devices[eth0].moved_irqs": []int{40}, "irqs[40].moved": true, "irqs[40].effective_outside": true, "irq.effective_outside": []int{40}})
}

// A process keeps its pid only while it is the same: a reused number has another start time.
func TestReusedPIDIsNotTheSameProcess(t *testing.T) {
	h := makeHost(twoNodes)
	addProc(&h, 100, "app", []string{"app"}, cpulist.Set{1})
	h.Procs[0].StartTicks = 10
	p := twoSamples(profileOf(h, "app"), func(a *host.Host) {
		a.Procs[0].StartTicks = 500
		a.Procs[0].Threads = []host.Thread{{TID: 100, Comm: "app", Allowed: cpulist.Set{1}, AllowedKnown: true, UTicks: 5}}
	})
	check(t, derive(p), map[string]any{"wl.minor_faults_per_s": unknown("both samples"), "workload_threads[100].busy_share": unknown("one sample")})
}

// A run of ours reads its processes at other moments than the host.
func TestProcessesWithTheirOwnTimes(t *testing.T) {
	h := makeHost(twoNodes)
	addProc(&h, 100, "app", []string{"app"}, cpulist.Set{1})
	h.Procs[0].ReadS = 1002
	p := twoSamples(profileOf(h, "app"), func(a *host.Host) {
		a.Procs[0].ReadS = 1006
		th := a.Procs[0].Threads[0]
		th.UTicks, th.STicks, th.MinFaults = 300, 80, 40
		a.Procs[0].Threads = []host.Thread{th}
	})
	check(t, derive(p), map[string]any{"workload_threads[100].busy_share": 0.95, "workload_threads[100].system_share": 0.2, "wl.minor_faults_per_s": 10.0})
}
