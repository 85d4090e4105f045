package host

import (
	"maps"
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/cpulist"
)

func TestSoftirqsByHeader(t *testing.T) {
	counts, bad := parseSoftirqs([]byte("                    CPU0       CPU1       CPU8\n          HI:          1          0          3\n      NET_RX:          4          5          6\n"))
	if bad != 0 || !maps.Equal(counts["NET_RX"], map[int]int64{0: 4, 1: 5, 8: 6}) || len(counts) != 2 {
		t.Errorf("%v, %d bad", counts, bad)
	}
	if _, ok := counts["NET_TX"]; ok {
		t.Error("a vector that is not there counts as 0")
	}
	counts, bad = parseSoftirqs([]byte("CPU0\nHI: 1\nbroken\nTIMER: 2 3\n"))
	if bad != 2 || counts["HI"][0] != 1 || counts["TIMER"][0] != 2 {
		t.Errorf("%v, %d bad: one broken row must not lose the others", counts, bad)
	}
}

func TestSoftnetRowsNameTheirCPU(t *testing.T) {
	row := "00003840 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000007 00000008 00000000 "
	rows, err := parseSoftnet([]byte(row+"00000000 0 0\n"+row+"00000014 0 0\n"), cpulist.Of(0, 20))
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	if want := (Softnet{CPU: 20, Processed: 0x3840, Dropped: 1, TimeSqueeze: 2, ReceivedRPS: 7, FlowLimit: 8}); rows[1] != want {
		t.Errorf("%+v, want %+v", rows[1], want)
	}
}

// Before Linux 5.10 rows are the online CPUs in order; that is believed only when their number agrees.
func TestSoftnetWithoutCPUColumn(t *testing.T) {
	old := strings.Repeat("0000000a 00000000 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n", 2)
	rows, err := parseSoftnet([]byte(old), cpulist.Of(3, 9))
	if err != nil || rows[0].CPU != 3 || rows[1].CPU != 9 {
		t.Errorf("%v, %v", rows, err)
	}
	if rows, err := parseSoftnet([]byte(old), cpulist.Of(3)); err == nil {
		t.Errorf("two rows for one CPU: %v", rows)
	}
	if rows, err := parseSoftnet([]byte(old+"zz\n"), cpulist.Of(3, 9)); err == nil {
		t.Errorf("a lost row shifts the others: %v", rows)
	}
}

func TestStatByName(t *testing.T) {
	byCPU, total, bad := parseStat([]byte("cpu  10 1 2 30 4 5 6 7 8 0\ncpu0 1 0 0 9 0 0 0 0 0 0\ncpu8 2 0 3 9\ncpu9 x 0 0 0\ncpuidle 1 2 3 4\nintr 5\n"))
	if len(byCPU) != 2 || byCPU[8].System != 3 || bad != 2 {
		t.Errorf("%v, %d bad", byCPU, bad)
	}
	if want := (CPUTimes{User: 10, Nice: 1, System: 2, Idle: 30, IOWait: 4, IRQ: 5, Softirq: 6, Steal: 7, Guest: 8}); total != want {
		t.Errorf("total %+v", total)
	}
}

func FuzzSoftirqs(f *testing.F) {
	f.Add([]byte("  CPU0 CPU8\nHI: 1 2\n"))
	f.Fuzz(func(t *testing.T, b []byte) { parseSoftirqs(b) })
}

func FuzzSoftnet(f *testing.F) {
	f.Add([]byte("00003840 00000001 00000002 0 0 0 0 0 0 0 0 0 5\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, err := parseSoftnet(b, cpulist.Range(0, 3))
		for _, r := range rows {
			if r.CPU < 0 || r.Processed < 0 {
				t.Fatal(r, err)
			}
		}
	})
}

func FuzzStat(f *testing.F) {
	f.Add([]byte("cpu  1 2 3 4\ncpu0 1 2 3 4\n"))
	f.Fuzz(func(t *testing.T, b []byte) { parseStat(b) })
}
