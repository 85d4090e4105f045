package host

import (
	"maps"
	"testing"
)

const numaMaps = `00400000 default file=/usr/bin/pktgen mapped=100 N0=60 N1=40 kernelpagesize_kB=4
7f0000000000 bind:1 file=/dev/hugepages/rtemap_0 huge dirty=8 N1=8 kernelpagesize_kB=1048576
7f1000000000 bind:1 file=/anon_hugepage\040(deleted) huge anon=4 dirty=4 N1=3 N0=1 kernelpagesize_kB=2048
7f2000000000 prefer (many):0-1 anon=10 dirty=10 active=0 N1=10 kernelpagesize_kB=4
7f3000000000 weighted interleave:0-1 anon=2 dirty=2 N0=1 N1=1 kernelpagesize_kB=4
7f4000000000 bind=static:1 heap anon=1 dirty=1 N1=1
7ffc00000000 bind:1 stack anon=3 dirty=3 N0=3 kernelpagesize_kB=4
`

func TestParseNUMAMaps(t *testing.T) {
	got := parseNUMAMaps(numaMaps)
	wantPages := map[int]int64{0: 60<<12 + 1<<21 + 1<<12 + 3<<12, 1: 40<<12 + 8<<30 + 3<<21 + 10<<12 + 1<<12 + 1<<12}
	if !maps.Equal(got.pages, wantPages) {
		t.Errorf("bytes %v, want %v", got.pages, wantPages)
	}
	if want := map[int]int64{0: 1 << 21, 1: 8<<30 + 3<<21}; !maps.Equal(got.huge, want) {
		t.Errorf("hugetlb %v, want %v", got.huge, want)
	}
	is(t, "policy", got.policy, "bind:1")
	isMissing(t, "policy of nothing", parseNUMAMaps("").policy, "no mapping")
}

func TestBrokenNUMAMaps(t *testing.T) {
	got := parseNUMAMaps("x default N0=1\n7f default N=1 N-1=5 N0=-5 N0=1x N1 =3 N2=99999999999999999999 kernelpagesize_kB=-1\n7f default\n7f\n")
	if len(got.pages) != 0 || len(got.huge) != 0 {
		t.Errorf("%v", got)
	}
	is(t, "policy", got.policy, "default")
}

func FuzzParseNUMAMaps(f *testing.F) {
	f.Add(numaMaps)
	f.Add("7f N0=1 kernelpagesize_kB=2147483647 N0=1099511627776")
	f.Fuzz(func(t *testing.T, text string) {
		for node := range parseNUMAMaps(text).pages {
			if node < 0 {
				t.Fatalf("node %d", node)
			}
		}
	})
}
