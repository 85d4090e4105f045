package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const smallTree = `a comment
-- host/times.json --
{"t0": 100.5, "t1": 110.5}
-- host/root/proc/stat --
cpu  1 2 3
-- host/root/sys/class/net/eth0 -> ../../devices/pci0000:00/0000:00:01.0/net/eth0 --
-- host/root/sys/devices/pci0000:00/0000:00:01.0/net/eth0/statistics/rx_packets --
1
-- host/root/dev/cpu_dma_latency.hex --
0094
3577
-- host/root/proc/41/cmdline.nul --
sockperf
pp
-- host/ethtool/eth0.json --
{}
-- host/t1/proc/stat --
cpu  4 5 6
-- host/t1/sys/class/net/eth0/statistics/rx_packets --
2
-- host/t1/ethtool/eth0.json --
{"link": {}}
-- stdout.txt --
text
`

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func openTree(t *testing.T, name string) *Tree {
	t.Helper()
	tree, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree
}

func wantFile(t *testing.T, s *Source, p, want string) {
	t.Helper()
	if b, err := s.Read(p); err != nil || string(b) != want {
		t.Errorf("%s: %q, %v; want %q", p, b, err, want)
	}
}

func TestTxtarConventions(t *testing.T) {
	for name, text := range map[string]string{"with host/": smallTree, "without": strings.ReplaceAll(smallTree, "-- host/", "-- ")} {
		t.Run(name, func(t *testing.T) {
			tree := openTree(t, writeFile(t, "x.txtar", text))
			s := tree.First()
			wantFile(t, s, "/proc/stat", "cpu  1 2 3\n")
			wantFile(t, s, "/dev/cpu_dma_latency", "\x00\x94\x35\x77")
			wantFile(t, s, "/proc/41/cmdline", "sockperf\x00pp\x00")
			wantFile(t, s, "/sys/class/net/eth0/statistics/rx_packets", "1\n")
			if b, err := s.ReadExtra("ethtool/eth0.json"); err != nil || string(b) != "{}\n" {
				t.Errorf("ethtool: %q, %v", b, err)
			}
			if r, err := s.Real("/sys/class/net/eth0"); err != nil || r != "/sys/devices/pci0000:00/0000:00:01.0/net/eth0" {
				t.Errorf("Real = %s, %v", r, err)
			}
			later, ok := tree.Second()
			if !ok || later.TimeS != 110.5 || s.TimeS != 100.5 {
				t.Fatalf("second = %v, times %v %v", ok, s.TimeS, later.TimeS)
			}
			wantFile(t, later, "/proc/stat", "cpu  4 5 6\n")
			wantFile(t, later, "/sys/devices/pci0000:00/0000:00:01.0/net/eth0/statistics/rx_packets", "2\n")
			wantFile(t, s, "/sys/class/net/eth0/statistics/rx_packets", "1\n")
			wantFile(t, later, "/proc/41/cmdline", "sockperf\x00pp\x00")
			if b, _ := later.ReadExtra("ethtool/eth0.json"); string(b) != "{\"link\": {}}\n" {
				t.Errorf("later ethtool: %q", b)
			}
		})
	}
}

func TestNoSecondSample(t *testing.T) {
	for name, cut := range map[string]string{"no times": "{\"t0\": 100.5, \"t1\": 110.5}", "no t1": "/t1/"} {
		tree := openTree(t, writeFile(t, "x.txtar", strings.ReplaceAll(smallTree, cut, "/x/")))
		if _, ok := tree.Second(); ok {
			t.Errorf("%s: there is a second sample", name)
		}
	}
}
