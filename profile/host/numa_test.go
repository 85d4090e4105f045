package host

import (
	"maps"
	"testing"

	"github.com/corewise/corewise/profile/cpulist"
)

// Nodes 252 to 255 are GPU memory without CPUs, node 1 has CPUs and no memory, node 8 lacks its distance.
const oddNodes = `-- sys/devices/system/node/online --
0-1,8,252-255
-- sys/devices/system/node/node0/cpulist --
0-3
-- sys/devices/system/node/node0/distance --
10 20 40 80 80 80 80
-- sys/devices/system/node/node0/meminfo --
Node 0 MemTotal:       1024 kB
Node 0 MemFree:         512 kB
broken
-- sys/devices/system/node/node1/cpulist --
4-7
-- sys/devices/system/node/node1/distance --
20 10 40
-- sys/devices/system/node/node1/meminfo --
Node 1 MemTotal:          0 kB
Node 1 MemFree:           0 kB
-- sys/devices/system/node/node8/cpumap --
00000000,00000300
-- sys/devices/system/node/node252/cpulist --

-- sys/devices/system/node/node253/cpulist --

-- sys/devices/system/node/node254/cpulist --

-- sys/devices/system/node/node255/cpulist --

-- sys/devices/system/node/node255/hugepages/hugepages-2048kB/nr_hugepages --
7
-- sys/devices/system/node/node255/hugepages/hugepages-1048576kB/nr_hugepages --
1
-- sys/devices/system/node/has_cpu --
0-1,8
`

func TestOddNodes(t *testing.T) {
	h := readAreas(sourceOf(t, oddNodes), readNUMA)
	byID := map[int]Node{}
	withCPUs := cpulist.Set{}
	for _, n := range h.NUMA.Nodes {
		byID[n.ID] = n
		if len(n.CPUs) > 0 {
			withCPUs = append(withCPUs, n.ID)
		}
	}
	if len(byID) != 7 || withCPUs.String() != "0-1,8" {
		t.Fatalf("%d nodes, with CPUs %v", len(byID), withCPUs)
	}
	if want := map[int]int{0: 10, 1: 20, 8: 40, 252: 80, 253: 80, 254: 80, 255: 80}; !maps.Equal(byID[0].Distance, want) {
		t.Errorf("distances go by online node: %v", byID[0].Distance)
	}
	if byID[1].Distance != nil || byID[8].Distance != nil || len(h.Gaps) != 1 {
		t.Errorf("a distance row of the wrong length is a gap, an absent one is none: %v, %v", byID[1].Distance, h.Gaps)
	}
	if byID[8].CPUs.String() != "8-9" {
		t.Errorf("cpumap in place of cpulist: %v", byID[8].CPUs)
	}
	if v, ok := byID[1].MemTotal.Get(); !ok || v != 0 {
		t.Errorf("a node without memory says 0, which is known: %v", byID[1].MemTotal)
	}
	if byID[0].MemTotal.Or(0) != 1<<20 || byID[8].MemTotal.Ok() {
		t.Errorf("memory: %v %v", byID[0].MemTotal, byID[8].MemTotal)
	}
	pools := byID[255].Hugepages
	if len(pools) != 2 || pools[0].SizeBytes != 2<<20 || pools[0].Total.Or(0) != 7 || pools[1].SizeBytes != 1<<30 || pools[0].Free.Ok() {
		t.Errorf("hugepages: %+v", pools)
	}
}

func FuzzDistances(f *testing.F) {
	f.Add("10 21")
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := parseDistances(text, cpulist.Of(0, 5)); err == nil && len(d) != 2 {
			t.Fatal(d)
		}
	})
}
