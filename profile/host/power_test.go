package host

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/maybe"
)

// idleTree has CPUs with the states of an Ice Lake server: C6 has index 3 and takes 170 us to leave.
func idleTree(cpus int, rest string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- sys/devices/system/cpu/online --\n0-%d\n", cpus-1)
	for c := range cpus {
		for i, st := range []struct {
			name    string
			latency int
		}{{"POLL", 0}, {"C1", 1}, {"C1E", 4}, {"C6", 170}} {
			d := fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpuidle/state%d", c, i)
			fmt.Fprintf(&b, "-- %s/name --\n%s\n-- %s/latency --\n%d\n-- %s/usage --\n%d\n-- %s/time --\n5\n", d, st.name, d, st.latency, d, c*10+i, d)
		}
	}
	return b.String() + rest
}

// States go by name and latency, not by index; switches, counters and limits belong to each CPU.
func TestIdleStates(t *testing.T) {
	h := readAreas(sourceOf(t, idleTree(2, `-- dev/cpu_dma_latency.hex --
04000000
-- sys/devices/system/cpu/cpu1/cpuidle/state3/disable --
1
-- sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us --
n/a
-- sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us --
0
`)), readCPU, readPower)
	p := h.Power
	want := []IdleState{
		{Index: 0, Name: "POLL", Usage: 10, TimeUS: 5, Counted: true}, {Index: 1, Name: "C1", LatencyUS: 1, Usage: 11, TimeUS: 5, Counted: true},
		{Index: 2, Name: "C1E", LatencyUS: 4, Usage: 12, TimeUS: 5, Counted: true}, {Index: 3, Name: "C6", LatencyUS: 170, Usage: 13, TimeUS: 5, Counted: true, Disabled: true},
	}
	if !slices.Equal(p.Idle[1], want) {
		t.Errorf("CPU 1: %+v", p.Idle[1])
	}
	if c6 := p.Idle[0][3]; c6.Disabled || c6.Usage != 3 {
		t.Errorf("CPU 0: %+v", c6)
	}
	if p.DMALatencyUS != maybe.Some(4) || !maps.Equal(p.ResumeLatencyUS, map[int]int{0: 0}) {
		t.Errorf("limits %v %v: n/a is 0 us, 0 is none", p.DMALatencyUS, p.ResumeLatencyUS)
	}
}

func TestUncountedIdleStates(t *testing.T) {
	text := strings.ReplaceAll(idleTree(1, ""), "/usage --", "/usage.gone --")
	if st := readAreas(sourceOf(t, text), readCPU, readPower).Power.Idle[0][3]; st.Counted || st.Name != "C6" {
		t.Errorf("%+v", st)
	}
}

func TestNoIdleStates(t *testing.T) {
	h := readAreas(sourceOf(t, "-- sys/devices/system/cpu/online --\n0\n-- sys/devices/system/cpu/cpuidle/current_driver --\nnone\n"), readCPU, readPower)
	if len(h.Power.Idle) != 0 || !strings.Contains(h.Power.Why, "none") || !strings.Contains(h.Power.Why, "cpufreq") {
		t.Errorf("idle %v, why %q", h.Power.Idle, h.Power.Why)
	}
}

func TestDMALatency(t *testing.T) {
	held := readAreas(sourceOf(t, "-- dev/cpu_dma_latency.hex --\n0000 0000\n-- proc/7100/fd/4 -> ../../../dev/cpu_dma_latency --\n-- proc/7200/fd/4 -> ../../../dev/null --\n"), readPower).Power
	if held.DMALatencyUS != maybe.Some(0) || fmt.Sprint(held.DMALatencyHolders) != "[7100]" {
		t.Errorf("%v held by %v", held.DMALatencyUS, held.DMALatencyHolders)
	}
	for _, bad := range []string{"-- dev/cpu_dma_latency.hex --\n0000\n", "-- dev/cpu_dma_latency.hex --\nffffffff\n", "-- dev/cpu_dma_latency --\n0x00000000\n", ""} {
		if p := readAreas(sourceOf(t, bad), readPower).Power; p.DMALatencyUS.Ok() {
			t.Errorf("%q: %v", bad, p.DMALatencyUS)
		}
	}
}

func TestPolicies(t *testing.T) {
	h := readAreas(sourceOf(t, `-- sys/devices/system/cpu/online --
0-3
-- sys/devices/system/cpu/cpufreq/policy0/related_cpus --
0 1
-- sys/devices/system/cpu/cpufreq/policy0/scaling_driver --
amd-pstate-epp
-- sys/devices/system/cpu/cpufreq/policy0/scaling_governor --
powersave
-- sys/devices/system/cpu/cpufreq/policy0/energy_performance_preference --
performance
-- sys/devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq --
3700000
-- sys/devices/system/cpu/cpufreq/policy2/related_cpus --
2 3 7
-- sys/devices/system/cpu/cpufreq/policy2/scaling_governor --

-- sys/devices/system/cpu/cpufreq/policy2/scaling_max_freq --
<unsupported>
-- sys/devices/system/cpu/amd_pstate/status --
active
-- sys/devices/system/cpu/cpufreq/boost --
1
-- sys/devices/system/cpu/cpu1/power/energy_perf_bias --
6
-- sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count --
7
`), readCPU, readPower)
	p := h.Power
	if !maps.Equal(p.Governors, map[int]string{0: "powersave", 1: "powersave"}) || !maps.Equal(p.EPP, map[int]string{0: "performance", 1: "performance"}) {
		t.Errorf("an empty governor is missing, related_cpus has blanks: %v %v", p.Governors, p.EPP)
	}
	if len(p.MaxFreqKHz) != 0 || p.HWMaxFreqKHz[1] != 3700000 || h.CPU.CPUs[1].MaxFreqKHz.Or(0) != 3700000 || h.CPU.CPUs[2].MaxFreqKHz.Ok() {
		t.Errorf("frequencies %v %v", p.MaxFreqKHz, p.HWMaxFreqKHz)
	}
	if p.Driver.Or("") != "amd-pstate-epp" || p.PstateStatus.Or("") != "active" || !p.Boost.Or(false) || p.NoTurbo.Ok() || !maps.Equal(p.EPB, map[int]int{1: 6}) {
		t.Errorf("%+v", p)
	}
	if p.CoreThrottles[0] != 7 || p.PackageThrottles != nil {
		t.Errorf("throttles %v %v", p.CoreThrottles, p.PackageThrottles)
	}
}

// Reading the EPP or EPB of a CPU interrupts it: on the live host isolated CPUs are left alone.
func TestIsolatedCPUsAreLeftAlone(t *testing.T) {
	text := "-- sys/devices/system/cpu/online --\n0-1\n-- sys/devices/system/cpu/isolated --\n1\n"
	for _, c := range []string{"0", "1"} {
		text += "-- sys/devices/system/cpu/cpufreq/policy" + c + "/energy_performance_preference --\nperformance\n-- sys/devices/system/cpu/cpu" + c + "/power/energy_perf_bias --\n0\n" +
			"-- sys/devices/system/cpu/cpufreq/policy" + c + "/scaling_governor --\nperformance\n"
	}
	s := sourceOf(t, text)
	s.Live = true
	p := readAreas(s, readCPU, readPower).Power
	if len(p.Governors) != 2 || !maps.Equal(p.EPP, map[int]string{0: "performance"}) || !maps.Equal(p.EPB, map[int]int{0: 0}) {
		t.Errorf("governors %v, EPP %v, EPB %v", p.Governors, p.EPP, p.EPB)
	}
}
