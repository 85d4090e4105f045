package host

import (
	"fmt"
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/maybe"
)

func TestCmdlineAsTheKernelReadsIt(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"isolcpus=managed_irq,domain,4-31 nohz_full=4-31 quiet\n", "isolcpus=managed_irq,domain,4-31|nohz_full=4-31|quiet"},
		{`dyndbg="file a.c +p" "key=two words" ro`, "dyndbg=file a.c +p|key=two words|ro"},
		{"ro -- isolcpus=2 quiet", "ro"},
		{"  a=  b==c\t--x=1 -- y", "a=|b==c|--x=1"},
		{"default_hugepagesz=1G hugepagesz=1G hugepages=16 hugepagesz=2M hugepages=0:8,1:8", "default_hugepagesz=1G|hugepagesz=1G|hugepages=16|hugepagesz=2M|hugepages=0:8,1:8"},
		{`open="never closed x=1`, "open=never closed x=1"},
		{"", ""},
	} {
		var got []string
		for _, a := range parseCmdline(c.text) {
			text := a.Key
			if a.HasValue {
				text += "=" + a.Value
			}
			got = append(got, text)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestArgLastWinsAndDashesAreEqual(t *testing.T) {
	k := Kernel{Args: parseCmdline("intel-idle.max_cstate=1 irqaffinity=0-3 intel_idle.max-cstate=0")}
	if a, ok := k.Arg("intel_idle.max_cstate"); !ok || a.Value != "0" {
		t.Errorf("%+v, %v", a, ok)
	}
	if _, ok := k.Arg("nohz_full"); ok {
		t.Error("nohz_full is not there")
	}
}

func TestKernelFacts(t *testing.T) {
	s := sourceOf(t, `-- proc/version --
Linux version 6.12.12-rt-amd64 (builder@build) (gcc 13.2.0) #1 SMP PREEMPT_RT Mon Sep  2 10:00:00 UTC 2024
-- boot/config-6.12.12-rt-amd64 --
CONFIG_HZ=250
CONFIG_PREEMPT_RT=y
# CONFIG_NO_HZ_FULL is not set
CONFIG_SND_HDA_INTEL=m
CONFIG_CMDLINE="quiet"
-- proc/uptime --
86400.50 1728000.00
-- proc/loadavg --
1.25 1.10 0.90 2/512 4242
-- proc/vmstat --
numa_hit 91
odd line
pswpin x
-- proc/modules --
mlx5_core 16384 0 - Live 0x0000000000000000
-- sys/devices/virtual/workqueue/cpumask --
00000000,00000000,00000000,00000000,00000c03
-- proc/sys/kernel/watchdog_cpumask --
0-1,10
-- proc/sys/kernel/tainted --
x
-- proc/sys/net/ipv4/tcp_rmem --
4096	131072	6291456
-- sys/devices/system/machinecheck/machinecheck0/check_interval --
300
-- sys/kernel/debug/tracing/current_tracer --
function
-- sys/module/nvme/parameters/poll_queues --
4
-- sys/kernel/debug/sched/preempt --
none voluntary (full) lazy
-- sys/kernel/debug/sched/fair_server/cpu3/runtime --
50000000
-- sys/devices/system/clocksource/clocksource0/current_clocksource --
hpet
-- sys/devices/system/clocksource/clocksource0/available_clocksource --
tsc hpet acpi_pm 
`)
	k := readAreas(s, readKernel).Kernel
	got := fmt.Sprintln(k.Release.Or(""), k.Version, k.RT.Or(false), k.HZ.Or(0), k.Preempt.Or(""), k.UptimeS.Or(0), k.Loadavg.Or(0), k.VMStat, k.Modules,
		k.WorkqueueMask.Or(nil), k.WatchdogMask.Or(nil), k.Sysctl["net.ipv4.tcp_rmem"].Or(""), k.ModuleParams, k.SchedDebug["fair_server/cpu3/runtime"],
		k.Clocksource.Or(""), k.Clocksources.Or(nil), k.MCECheckS.Or(0), k.Tracer.Or(""))
	want := "6.12.12-rt-amd64 [6 12 12] true 250 full 86400.5 1.25 map[numa_hit:91] map[mlx5_core:true] 0-1,10-11 0-1,10 4096 131072 6291456 " +
		"map[nvme.poll_queues:4] 50000000 hpet [tsc hpet acpi_pm] 300 function"
	if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if k.Config["CONFIG_NO_HZ_FULL"] != "n" || k.Config["CONFIG_CMDLINE"] != "quiet" || k.Config["CONFIG_SND_HDA_INTEL"] != "" {
		t.Errorf("config %v", k.Config)
	}
	if k.Tainted.Ok() || k.Sysctl["vm.swappiness"].Ok() || !strings.Contains(k.Sysctl["vm.swappiness"].Why(), "/proc/sys/vm/swappiness") {
		t.Errorf("tainted %v, swappiness %v: missing with the path", k.Tainted, k.Sysctl["vm.swappiness"])
	}
}

func TestKernelWithoutAnything(t *testing.T) {
	k := readAreas(sourceOf(t, ""), readKernel).Kernel
	if k.Release.Ok() || k.RT.Ok() || k.HZ.Ok() || k.Preempt.Ok() || k.Loadavg.Ok() || k.Version != [3]int{} || k.ConfigWhy == "" || k.VMStat != nil || k.Modules != nil {
		t.Errorf("%+v", k)
	}
}

func TestRelease(t *testing.T) {
	for text, want := range map[string][3]int{
		"6.1.0-26-amd64": {6, 1, 0}, "5.14.0-427.el9.x86_64": {5, 14, 0}, "6.18.44-fc-v669": {6, 18, 44}, "4.18": {4, 18, 0}, "": {}, "abc": {}, "99999999.1": {999999, 0, 0},
	} {
		if got := parseRelease(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestPreemption(t *testing.T) {
	dynamic := map[string]string{"CONFIG_PREEMPT_DYNAMIC": "y", "CONFIG_PREEMPT_VOLUNTARY": "y"}
	for _, c := range []struct {
		k    Kernel
		want string
	}{
		{Kernel{Config: dynamic}, "voluntary"},
		{Kernel{Config: dynamic, Args: parseCmdline("preempt=full")}, "full"},
		{Kernel{Config: map[string]string{"CONFIG_PREEMPT_NONE": "y"}, Args: parseCmdline("preempt=full")}, "none"},
		{Kernel{RT: maybe.Some(true)}, "full"},
		{Kernel{}, "?"},
	} {
		if got := preemption(&c.k).Or("?"); got != c.want {
			t.Errorf("%+v: %s", c.k, got)
		}
	}
}

func FuzzCmdline(f *testing.F) {
	f.Add(`isolcpus=managed_irq,domain,4-31 dyndbg="file a.c +p" -- init`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, a := range parseCmdline(text) {
			if !a.HasValue && a.Value != "" {
				t.Fatalf("%+v", a)
			}
		}
	})
}

func FuzzKernelConfig(f *testing.F) {
	f.Add([]byte("CONFIG_HZ=250\n# CONFIG_NO_HZ_FULL is not set\n"))
	f.Fuzz(func(t *testing.T, b []byte) { parseKernelConfig(b) })
}

func FuzzRelease(f *testing.F) {
	f.Add("6.1.0-26-amd64")
	f.Fuzz(func(t *testing.T, text string) {
		for _, n := range parseRelease(text) {
			if n < 0 {
				t.Fatal(n)
			}
		}
	})
}
