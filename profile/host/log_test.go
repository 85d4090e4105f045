package host

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/maybe"
)

// Lines of the field, with every prefix that they come with.
const kernelLog = `[    0.000000] Linux version 6.1.0
[    0.100000] Housekeeping: nohz unsupported. Build with CONFIG_NO_HZ_FULL
[    0.110000] Unknown kernel command line parameters "BOOT_IMAGE=/boot/vmlinuz rcu_nocbs=2-7 quiett", will be passed to user space.
<6>[    0.500000] AMD-Vi: Unknown option - 'pt'
<4>[    1.500000][    T1] sched: RT throttling activated
[   12.345678] hrtimer: interrupt took 2143 ns
[Mon Dec  1 12:00:00 2026] clocksource: timekeeping watchdog on CPU5: Marking clocksource 'tsc' as unstable because the skew is too large:
2026-12-01T12:00:00+00:00 host1 kernel: BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 35s!
Dec  1 12:00:01 host1 kernel: NOHZ tick-stop error: Non-RCU local softirq work is pending, handler #08!!!
4,1234,7500000,-;mlx5_core 0000:31:00.0: 31.504 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x4 link at 0000:30:00.0 (capable of 63.012 Gb/s with 16.0 GT/s PCIe x4 link)
[   13.000000] pcieport 0000:30:00.0: AER: Corrected error received: 0000:31:00.0
[   14.000000] pcieport 0000:30:00.0: AER: Corrected error received: 0000:31:00.0
[   15.000000] pcieport 0000:30:00.0: AER: Uncorrected (Fatal) error received: 0000:31:00.0
[   16.000000] perf: interrupt took too long (2513 > 2500), lowering kernel.perf_event_max_sample_rate to 79500
[   17.000000] mlx5_core 0000:31:00.0: mlx5_pcie_event:301:(pid 9): Detected insufficient power on the PCIe slot (27W).
[   18.000000] CPU0: Package temperature above threshold, cpu clock throttled (total events = 1)
[   19.000000] NOHZ: local_softirq_pending 08
[   20.000000] mlx5_core 0000:32:00.0: 126.028 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x4 link)
[   21.000000] tsc: Marking TSC unstable due to clocksource watchdog
[   21.500000] kworker/0:1: page allocation failure: order:4, mode:0x40cc0(GFP_KERNEL|__GFP_COMP), nodemask=(null)
[   22.000000] sched: DL replenish lagged too much
[   22.500000] sched: DL replenish lagged too much: 3 callbacks suppressed
`

func TestParseLog(t *testing.T) {
	counts := map[string]int{}
	hits := parseLog(kernelLog)
	for _, h := range hits {
		counts[h.Code] = h.Count
	}
	for code, want := range map[string]int{"nohz-full-unsupported": 1, "unknown-parameters": 1, "iommu-invalid-param": 1, "rt-throttling": 1,
		"hrtimer-stall": 1, "clocksource-unstable": 2, "workqueue-lockup": 1, "nohz-softirq": 2, "pcie-bandwidth": 1, "pcie-aer-corrected": 2,
		"pcie-aer-fatal": 1, "perf-throttled": 1, "pcie-power": 1, "thermal-throttle": 1, "dl-overload": 2, "page-allocation-failure": 1, "pcie-aer-nonfatal": 0} {
		if counts[code] != want {
			t.Errorf("%s: %d, want %d", code, counts[code], want)
		}
	}
	for _, h := range hits {
		switch h.Code {
		case "pcie-aer-corrected":
			is(t, "first", h.FirstS, 13)
			is(t, "last", h.LastS, 14)
		case "rt-throttling":
			is(t, "with level and caller", h.FirstS, 1.5)
			if h.First != "sched: RT throttling activated" {
				t.Errorf("first line %q", h.First)
			}
		case "pcie-bandwidth":
			is(t, "of a /dev/kmsg record", h.FirstS, 7.5)
		case "workqueue-lockup":
			isMissing(t, "of a journal", h.FirstS, "no time since boot")
			if !strings.HasPrefix(h.First, "BUG: workqueue lockup") {
				t.Errorf("first line %q", h.First)
			}
		case "clocksource-unstable":
			isMissing(t, "of dmesg -T", h.FirstS, "no time since boot")
			is(t, "the later one", h.LastS, 21)
		}
	}
}

func TestUnknownParameters(t *testing.T) {
	got := unknownParams(kernelLog + "[ 0.1] Malformed early option 'isolcpus'\n[ 0.1] Unknown command line parameters: foo bar=1\n")
	if want := []string{"rcu_nocbs=2-7", "quiett", "amd_iommu=pt", "isolcpus", "foo", "bar=1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestReadLog(t *testing.T) {
	h := readAreas(treeOf(t, "-- cmd/dmesg --\n"+kernelLog), readCommands, readLog)
	is(t, "known", h.Log.Known, true)
	if !slices.Contains(h.Kernel.Unknown, "rcu_nocbs=2-7") {
		t.Errorf("unknown parameters %v", h.Kernel.Unknown)
	}
	quiet := readAreas(treeOf(t, "-- cmd/dmesg --\n[    0.0] nothing\n"), readCommands, readLog)
	is(t, "a log without hits is known", quiet.Log.Known, true)
	isMissing(t, "no log", readAreas(treeOf(t, ""), readCommands, readLog).Log.Known, "no kernel log")
	refused := readAreas(treeOf(t, "-- cmd/dmesg --\ndmesg: read kernel buffer failed: Operation not permitted\n-- cmd/dmesg.exit --\n1\n"), readCommands, readLog)
	isMissing(t, "dmesg was refused", refused.Log.Known, "no kernel log")
}

func TestRingBuffer(t *testing.T) {
	if os.Geteuid() != 0 {
		skip(t, "reading the kernel log needs CAP_SYSLOG")
	}
	text, err := ringBuffer()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "\n") || !strings.HasPrefix(text, "<") {
		t.Errorf("%.100q", text)
	}
}

func BenchmarkParseLog(b *testing.B) {
	var long strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&long, "[%12.6f] usb 1-1: new high-speed USB device number %d using xhci_hcd\n", float64(i), i)
	}
	for b.Loop() {
		parseLog(long.String())
	}
}

func FuzzParseLog(f *testing.F) {
	f.Add(kernelLog)
	f.Add("<4>[x] AMD-Vi: Unknown option - '")
	f.Fuzz(func(t *testing.T, text string) {
		for _, h := range parseLog(text) {
			if h.Count < 1 || len(h.First) > 300 {
				t.Fatalf("%+v", h)
			}
		}
		unknownParams(text)
		parsePCIeLimits(text)
	})
}

func TestPCIeLimits(t *testing.T) {
	limits := parsePCIeLimits(kernelLog + "[ 1.0] ixgbe 0000:04:00.0: PCI Express bandwidth of 32GT/s available\n" +
		"[ 30.0] mlx5_core 0000:31:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:30:00.0 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)\n" +
		"[ 31.0] x 0000:05:00.0: 1e999 Gb/s available PCIe bandwidth\n")
	want := []PCIeLimit{
		{BDF: "0000:31:00.0", AvailableGbps: 63.008, LimitedBy: "0000:30:00.0", CapableGbps: maybe.Some(252.048)},
		{BDF: "0000:32:00.0", AvailableGbps: 126.028, CapableGbps: maybe.None[float64]("the message does not tell")},
		{BDF: "0000:04:00.0", AvailableGbps: 32, CapableGbps: maybe.None[float64]("the message does not tell")},
	}
	if !slices.Equal(limits, want) {
		t.Errorf("%+v\nwant %+v", limits, want)
	}
	first, ok := pcieLimit("mlx5_core 0000:31:00.0: 31.504 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x4 link at 0000:30:00.0 (capable of 63.012 Gb/s with 16.0 GT/s PCIe x4 link)")
	if !ok || first.AvailableGbps != 31.504 {
		t.Errorf("8 GT/s x4: %+v", first)
	}
}
