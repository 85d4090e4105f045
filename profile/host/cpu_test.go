package host

import (
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/maybe"
)

const x86Info = `processor	: 0
vendor_id	: GenuineIntel
cpu family	: 6
model		: 106
model name	: Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz
stepping	: 6
microcode	: 0xd0003a5
physical id	: 0
core id		: 0
clflush size	: 64
flags		: fpu tsc lm constant_tsc nonstop_tsc

processor	: 20
vendor_id	: GenuineIntel
model name	: Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz
physical id	: 1
core id		: 4
`

const armInfo = `processor	: 0
BogoMIPS	: 2000.00
Features	: fp asimd evtstrm aes sve
CPU implementer	: 0x41
CPU architecture: 8
CPU variant	: 0x0
CPU part	: 0xd85
CPU revision	: 1

processor	: 1
CPU implementer	: 0x41
CPU part	: 0xd87
`

func TestCPUInfoOfBothArchitectures(t *testing.T) {
	x86, arm := parseCPUInfo([]byte(x86Info)), parseCPUInfo([]byte(armInfo))
	if x86.arch() != "x86_64" || x86.vendor().Or("") != "intel" || x86.number("model").Or(0) != 106 || x86.cpus.String() != "0,20" || len(x86.models) != 1 {
		t.Errorf("x86: %+v", x86)
	}
	if arm.arch() != "aarch64" || arm.vendor().Or("") != "arm" || arm.model().Or("") != "Cortex-X925 + Cortex-A725" || len(arm.flags()) != 5 {
		t.Errorf("arm: %+v", arm)
	}
	if arm.number("cpu family").Ok() || arm.text("microcode").Ok() {
		t.Error("Arm has neither family nor microcode")
	}
	odd := parseCPUInfo([]byte("processor : 0\nCPU implementer : 0x99\nCPU part : 0x001\n"))
	if odd.vendor().Or("") != "arm implementer 0x99" || odd.model().Or("") != "implementer 0x99 part 0x001" {
		t.Errorf("unknown implementer: %v %v", odd.vendor(), odd.model())
	}
	if empty := parseCPUInfo(nil); empty.vendor().Ok() || empty.model().Ok() || empty.arch() != "" {
		t.Errorf("empty: %+v", empty)
	}
}

// A host with offline siblings and even/odd numbering: nodes interleave, the second threads are off.
func TestTopologyWithHoles(t *testing.T) {
	text := "-- proc/cpuinfo --\n" + x86Info + `-- sys/devices/system/cpu/online --
0-3,8
-- sys/devices/system/cpu/present --
0-8
-- sys/devices/system/cpu/possible --
0-15
-- sys/devices/system/node/node0/cpulist --
0,2,8
-- sys/devices/system/node/node3/cpulist --
1,3
-- sys/devices/system/cpu/cpu0/topology/thread_siblings_list --
0,4
-- sys/devices/system/cpu/cpu0/topology/physical_package_id --
0
-- sys/devices/system/cpu/cpu1/topology/thread_siblings_list --
1,5
-- sys/devices/system/cpu/cpu1/topology/physical_package_id --
-1
-- sys/devices/system/cpu/cpu2/topology/thread_siblings_list --
2,8
-- sys/devices/system/cpu/cpu0/cache/index3/level --
3
-- sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list --
0,2,4,6,8
`
	h := readAreas(sourceOf(t, text), readNUMA, readCPU)
	c := h.CPU
	if c.Offline.Or(nil).String() != "4-7" {
		t.Errorf("offline %v: what is present and not online", c.Offline)
	}
	byID := map[int]LogicalCPU{}
	for _, l := range c.CPUs {
		byID[l.ID] = l
	}
	if len(byID) != 5 || byID[0].Siblings.String() != "0" || byID[2].Siblings.String() != "2,8" || byID[8].Siblings.String() != "2,8" {
		t.Errorf("siblings: %+v", c.CPUs)
	}
	if byID[8].L3.String() != "0,2,8" || !byID[8].L3Known || byID[1].L3Known || byID[1].L3.String() != "1,3" {
		t.Errorf("level 3: %+v", c.CPUs)
	}
	if byID[3].Node != 3 || byID[0].Node != 0 || byID[0].Package.Or(-1) != 0 {
		t.Errorf("node and package: %+v", c.CPUs)
	}
	if byID[1].Package.Ok() || !strings.Contains(byID[1].Package.Why(), "-1") {
		t.Errorf("package -1 is not a package: %v", byID[1].Package)
	}
	if c.SMTActive != maybe.Some(true) || c.Isolated.Ok() || c.NohzFull.Ok() {
		t.Errorf("SMT %v, isolated %v, nohz_full %v", c.SMTActive, c.Isolated, c.NohzFull)
	}
}

// Half of the cores belong to no node, a VM has no topology at all, cpuinfo still tells the package.
func TestCPUsWithoutNodeAndTopology(t *testing.T) {
	h := readAreas(sourceOf(t, "-- proc/cpuinfo --\n"+x86Info+"-- sys/devices/system/node/node0/cpulist --\n0\n"), readNUMA, readCPU)
	if h.CPU.Online.Or(nil).String() != "0,20" || h.CPU.CPUs[0].Node != 0 || h.CPU.CPUs[1].Node != -1 {
		t.Errorf("%+v", h.CPU)
	}
	last := h.CPU.CPUs[1]
	if last.Package.Or(-1) != 1 || last.Core.Or(-1) != 4 || last.Die.Ok() || last.Siblings.String() != "20" || last.L3.String() != "0,20" || last.L3Known {
		t.Errorf("%+v", last)
	}
	if h.CPU.SMTActive.Ok() {
		t.Error("SMT is not known without topology")
	}
	none := readAreas(sourceOf(t, ""), readNUMA, readCPU)
	if len(none.CPU.CPUs) != 0 || none.CPU.Online.Ok() || len(none.Gaps) != 2 || none.NUMA.Why == "" {
		t.Errorf("an empty tree: %+v", none)
	}
}

func TestNohzFullOfKernelWithoutIt(t *testing.T) {
	s := sourceOf(t, "-- proc/cpuinfo --\n"+x86Info+"-- proc/sys/kernel/osrelease --\n6.1.0-x\n-- boot/config-6.1.0-x --\n# CONFIG_NO_HZ_FULL is not set\n")
	if h := readAreas(s, readKernel, readCPU); !h.CPU.NohzFull.Ok() || len(h.CPU.NohzFull.Or(nil)) != 0 {
		t.Errorf("%v", h.CPU.NohzFull)
	}
	if h := readAreas(sourceOf(t, "-- sys/devices/system/cpu/nohz_full --\n(null)\n"), readCPU); !h.CPU.NohzFull.Ok() {
		t.Errorf("(null) is the empty set: %v", h.CPU.NohzFull)
	}
}

func TestBootCPU(t *testing.T) {
	arm := "-- proc/cpuinfo --\n" + armInfo + "-- sys/devices/system/cpu/online --\n4-6\n-- sys/devices/system/cpu/cpu4/online --\n1\n"
	if h := readAreas(sourceOf(t, arm), readCPU); h.CPU.BootCPU != 5 {
		t.Errorf("Arm boot CPU %d: CPU 4 can be unplugged, CPU 5 cannot", h.CPU.BootCPU)
	}
}

func FuzzCPUInfo(f *testing.F) {
	f.Add([]byte(x86Info))
	f.Add([]byte(armInfo))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := parseCPUInfo(b)
		c.vendor()
		c.model()
		c.arch()
		c.flags()
	})
}
