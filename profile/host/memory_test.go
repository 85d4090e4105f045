package host

import (
	"slices"
	"testing"
)

func TestMemory(t *testing.T) {
	m := readAreas(sourceOf(t, `-- proc/meminfo --
MemTotal:       134217728 kB
MemAvailable:   102760448 kB
SwapTotal:           100 kB
SwapFree:             40 kB
HugePages_Total:      16
HugePages_Free:       12
HugePages_Rsvd:        0
HugePages_Surp:        0
Hugepagesize:    1048576 kB
-- proc/mounts --
/dev/sda2 / ext4 rw,relatime 0 0
hugetlbfs /mnt/huge\0401G hugetlbfs rw,relatime,pagesize=1024M 0 0
broken
-- sys/kernel/mm/transparent_hugepage/enabled --
always [madvise] never
-- sys/kernel/mm/transparent_hugepage/defrag --
nonsense
-- sys/kernel/mm/ksm/run --
1
`), readMemory).Memory
	if m.TotalBytes.Or(0) != 128<<30 || m.SwapUsedBytes.Or(0) != 60<<10 || m.DefaultHugepageBytes.Or(0) != 1<<30 {
		t.Errorf("%+v", m)
	}
	if len(m.Hugepages) != 1 || m.Hugepages[0].Free.Or(0) != 12 || m.Hugepages[0].SizeBytes != 1<<30 {
		t.Errorf("without sysfs, meminfo tells the default size: %+v", m.Hugepages)
	}
	if want := []Mount{{Path: "/mnt/huge 1G", Type: "hugetlbfs", Options: "rw,relatime,pagesize=1024M"}}; !slices.Equal(m.HugetlbfsMounts, want) || !m.MountsKnown {
		t.Errorf("mounts %+v", m.HugetlbfsMounts)
	}
	if m.THP.Or("") != "madvise" || m.THPDefrag.Ok() || m.KSMRun.Or(0) != 1 || m.KSMPagesSharing.Ok() {
		t.Errorf("THP %v %v, KSM %v %v", m.THP, m.THPDefrag, m.KSMRun, m.KSMPagesSharing)
	}
}

// Swap in use is the sum of the devices, in KiB.
func TestSwapDevices(t *testing.T) {
	m := readAreas(sourceOf(t, `-- proc/meminfo --
MemTotal:       1024 kB
-- proc/swaps --
Filename				Type		Size		Used		Priority
/dev/dm-0                               partition	1000		10		-2
/swapfile                               file		1000		5		-3
`), readMemory).Memory
	if m.SwapUsedBytes.Or(0) != 15<<10 || m.SwapTotalBytes.Ok() {
		t.Errorf("used %v, total %v", m.SwapUsedBytes, m.SwapTotalBytes)
	}
}

func TestMemoryMissing(t *testing.T) {
	h := readAreas(sourceOf(t, ""), readMemory)
	if h.Memory.TotalBytes.Ok() || h.Memory.MountsKnown || h.Memory.THP.Ok() || len(h.Memory.Hugepages) != 0 || len(h.Gaps) != 1 {
		t.Errorf("%+v", h.Memory)
	}
	broken := readAreas(sourceOf(t, "-- proc/meminfo --\nMemTotal: lots kB\n"), readMemory)
	if broken.Memory.TotalBytes.Ok() || len(broken.Gaps) != 1 {
		t.Errorf("%+v, %v", broken.Memory, broken.Gaps)
	}
}

func FuzzMounts(f *testing.F) {
	f.Add([]byte("hugetlbfs /mnt/huge\\0401G hugetlbfs rw 0 0\n"))
	f.Fuzz(func(t *testing.T, b []byte) { parseMounts(b) })
}
