package bench

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVMAStatsGolden(t *testing.T) {
	type got struct {
		Stats   AccelStats `json:"stats"`
		Offload Offload    `json:"offload"`
		Error   string     `json:"error,omitempty"`
	}
	files, err := filepath.Glob(filepath.Join("testdata", "vma", "*.txt"))
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var g got
		g.Stats, err = ParseVMAStats(text)
		if err != nil {
			g.Error = err.Error()
			if !errors.Is(err, ErrNoAccelStats) {
				t.Errorf("%s: %v", file, err)
			}
		} else {
			g.Offload = g.Stats.Offload()
		}
		b, err := json.MarshalIndent(g, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		checkGolden(t, strings.TrimSuffix(file, ".txt")+".golden", append(b, '\n'))
	}
}

func TestVMAStatsForms(t *testing.T) {
	for _, c := range []struct {
		text string
		want Offload
	}{
		{" fd:  pkt   Kbyte  eagain  error  poll%     |  pkt     Kbyte  eagain  error\n 17 Rx: 0    0      0      0      0.0          819432   11203   0       0\n", OffloadNone},
		{" 17 Rx: 10 0 0 0 99.0 | 819432 11203 0 0\n", OffloadPart},
		{" 17 Rx: 10 0 0 0 99.0 0 0 0 0\n    Tx: 11 0 0 0 0 0 0 0\n", OffloadAll},
		{" 17 Rx: 0 0 0 0 0.0 0 0 0 0\n", OffloadIdle},
		{"\tFd=[16]\nTx Offload: 108400 / 1000041 / 0 / 0 [kilobytes/packets/eagains/errors]\n", OffloadAll},
		// A later cycle replaces an earlier one: the counters are totals.
		{"\tFd=[16]\nTx OS info: 1 / 5 / 0 / 0 [kilobytes]\n\tFd=[16]\nTx Offload: 1 / 7 / 0 / 0 [kilobytes]\n", OffloadAll},
	} {
		s, err := ParseVMAStats([]byte(c.text))
		if err != nil || s.Offload() != c.want {
			t.Errorf("%q: %v %+v, %v; want %s", c.text, s.Offload(), s, err, c.want)
		}
	}
	for _, text := range []string{"", "no sockets here\n", "vmastat: VMA statistics data for process id 1 not found\n", " 17 Rx: 1 2\n99999999999999999999 Rx: 0 0 0 0 0.0 0 0 0 0\n"} {
		if s, err := ParseVMAStats([]byte(text)); !errors.Is(err, ErrNoAccelStats) && len(s.Sockets) != 1 {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
}

func TestVMAStatsFileJudged(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "vma", "vma_stats_file.txt"))
	if err != nil {
		t.Fatal(err)
	}
	argv := []string{"LD_PRELOAD=libvma.so", "VMA_STATS_FILE=/tmp/s", "sockperf", "pp"}
	w, r := Ingest(argv, &Output{Files: map[string][]byte{"/tmp/s": text}})
	if !hasCode(r.Notes, "vma-not-offloaded") || len((Sockperf{}).SideFiles(w)) != 1 {
		t.Errorf("notes %v", r.Notes)
	}
	_, r = Ingest(argv, &Output{Files: map[string][]byte{"/tmp/s": []byte("junk")}})
	if !hasCode(r.Notes, "vma-stats-absent") || hasCode(r.Notes, "vma-not-offloaded") {
		t.Errorf("junk: notes %v", r.Notes)
	}
}

func TestAccelWarnings(t *testing.T) {
	for line, code := range map[string]string{
		" VMA WARNING: Interface bond0 will not be offloaded due to problem with it's slaves.":        "vma-bond-not-offloadable",
		" VMA WARNING: Interface eth0 will not be offloaded.":                                         "vma-interface-not-offloaded",
		" VMA WARNING: * Not enough hugepage resources for VMA memory allocation.":                    "vma-no-hugepages",
		" XLIO WARNING: set disable_raw_qp_enforcement":                                               "vma-no-raw-qp",
		" VMA WARNING: Your current max locked memory is: 65536. Please change it":                    "vma-memlock-low",
		" VMA ERROR: rfs: Create of QP flow ID failed: create_ibv_flow() errno=22":                    "vma-flow-rule-invalid",
		" VMA DEBUG: create_ibv_flow failed (errno=17 File exists)":                                   "vma-flow-rule-exists",
		" VMA DEBUG: Failed in rdma_bind_addr (src=1.2.3.4:0) (errno=19 No such device)":              "vma-no-verbs-device-for-interface",
		" VMA DEBUG: No verbs context in cma_id on interface 1.2.3.4":                                 "vma-no-verbs-device-for-interface",
		" VMA DEBUG: CPU cores are running at different speeds: min= 1000.403 MHz, max= 3542.267 MHz": "bench-clock-suspect",
		" XLIO INFO: TX Dropped Send Reqs 17":                                                         "xlio-sq-exhausted",
		" VMA WARNING: Failed to start event handler thread with thread affinity - trying without":    "vma-internal-thread-unpinned",
	} {
		_, r := Ingest([]string{"sockperf", "pp"}, &Output{Stderr: []byte(line + "\n")})
		if !hasCode(r.Notes, code) {
			t.Errorf("%q: %v, want %s", line, r.Notes, code)
		}
	}
}

func TestCheckAccelEnv(t *testing.T) {
	for _, c := range []struct {
		env   map[string]string
		codes string
	}{
		{map[string]string{"LD_PRELOAD": "/usr/lib64/libvma.so", "VMA_SPEC": "latency", "VMA_RX_POLL": "-1", "HOME": "/"}, ""},
		{map[string]string{"LD_PRELOAD": "libvma.so.9", "VMA_SPEC": "15"}, ""},
		{map[string]string{"LD_PRELOAD": "$VMA_LOAD", "VMA_LOAD": "/usr/lib64/libvma.so", "VMA_SPEC": "latency"}, ""},
		{map[string]string{"LD_PRELOAD": "libvma.so", "VMA_SPEC": "low-latency"}, "vma-unknown-spec"},
		{map[string]string{"LD_PRELOAD": "libvma.so", "VMA_RX_POL": "-1"}, "vma-unknown-variable"},
		{map[string]string{"LD_PRELOAD": "libvma.so", "VMA_FANCY_NEW_KNOB": "1"}, "vma-unknown-variable"},
		{map[string]string{"LD_PRELOAD": "libxlio.so", "XLIO_SPEC": "latency", "XLIO_FANCY_NEW_KNOB": "1"}, ""},
		{map[string]string{"LD_PRELOAD": "libxlio.so", "XLIO_RX_POL": "1"}, "vma-unknown-variable"},
		{map[string]string{"VMA_SPEC": "latency"}, "vma-not-loaded"},
		{map[string]string{"LD_PRELOAD": "/opt/libother.so", "VMA_SPEC": "latency"}, "vma-not-loaded"},
		{map[string]string{}, ""},
	} {
		if got := strings.Join(codes(CheckAccelEnv(c.env, false)), " "); got != c.codes {
			t.Errorf("%v: %q, want %q", c.env, got, c.codes)
		}
	}
	notes := CheckAccelEnv(map[string]string{"LD_PRELOAD": "libvma.so", "VMA_RX_POL": "-1"}, false)
	if notes[0].Args["nearest"] != "VMA_RX_POLL" {
		t.Errorf("nearest: %v", notes[0].Args)
	}
	if got := CheckAccelEnv(map[string]string{"VMA_SPEC": "latency"}, true); len(got) != 0 {
		t.Errorf("loaded by an option: %v", got)
	}
}

func TestAccelEffective(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		name string
		want string
	}{
		{nil, "VMA_RX_POLL", "100000"},
		{map[string]string{"VMA_SPEC": "latency"}, "VMA_RX_POLL", "-1"},
		{map[string]string{"VMA_SPEC": "latency", "VMA_RX_POLL": "5"}, "VMA_RX_POLL", "5"},
		{map[string]string{"VMA_SPEC": "15"}, "VMA_INTERNAL_THREAD_AFFINITY", "0"},
	} {
		if got := AccelEffective(c.env, c.name).Or("?"); got != c.want {
			t.Errorf("%v %s: %s, want %s", c.env, c.name, got, c.want)
		}
	}
	if AccelEffective(nil, "VMA_NO_SUCH").Ok() {
		t.Error("an unknown variable has a value")
	}
}

func TestInternalThread(t *testing.T) {
	for _, c := range []struct{ env, want string }{
		{"VMA_SPEC=latency", "0"}, {"VMA_INTERNAL_THREAD_AFFINITY=0x7", "0-2"}, {"VMA_INTERNAL_THREAD_AFFINITY=2,4-6", "2,4-6"},
		{"VMA_INTERNAL_THREAD_AFFINITY=-1", ""}, {"VMA_INTERNAL_THREAD_AFFINITY=junk", ""}, {"XLIO_INTERNAL_THREAD_AFFINITY=3", "3"}, {"A=1", ""},
	} {
		w, _ := Ingest([]string{"LD_PRELOAD=libvma.so", c.env, "sockperf", "pp"}, nil)
		r := w.Roles[len(w.Roles)-1]
		if r.Name != "internal" || r.CPUs.String() != c.want || r.Fixed != (c.want != "") {
			t.Errorf("%s: %+v", c.env, r)
		}
	}
}

// Every program of the chain prints a banner; the one of the benchmark counts.
func TestAccelBannerOfTheWorkload(t *testing.T) {
	banner := func(cmd, poll string) string {
		return "\x1b[0m VMA INFO: VMA_VERSION: 9.8.84-0 Release built on X\n\x1b[0m VMA INFO: Cmd Line: " + cmd + "\n\x1b[0m VMA INFO: Rx Poll Loops                  " + poll + "                         [VMA_RX_POLL]\n"
	}
	text := banner("taskset -c 1 sockperf pp -i 1.2.3.4", "1") + banner("sockperf pp -i 1.2.3.4", "2") + banner("sockperf --version", "3")
	_, r := Ingest([]string{"LD_PRELOAD=libvma.so", "taskset", "-c", "1", "sockperf", "pp", "-i", "1.2.3.4"}, &Output{Stderr: []byte(text)})
	if r.Accel == nil || r.Accel.Param("VMA_RX_POLL").Or("") != "2" || r.Accel.Banners != 3 || r.Accel.Build != "Release" {
		t.Errorf("%+v", r.Accel)
	}
	if r.Accel.Param("VMA_TX_WRE").Ok() {
		t.Error("a parameter that is not listed has a value")
	}
}

func FuzzVMAStats(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join("testdata", "vma", "*.txt"))
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseVMAStats(text)
		if err == nil && (len(s.Sockets) == 0 || len(s.Sockets) > maxAccelSockets) {
			t.Errorf("%d sockets", len(s.Sockets))
		}
	})
}

func FuzzAccelBanner(f *testing.F) {
	f.Add(" VMA INFO: VMA_VERSION: 9\n VMA INFO: Cmd Line: x\n VMA INFO: Rx Poll Loops   -1  [VMA_RX_POLL]\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := newResult("x", "")
		r.readAccel(Workload{}, splitLines([]byte(text)))
		if r.Accel != nil && len(r.Accel.Params) > 512 {
			t.Errorf("%d parameters", len(r.Accel.Params))
		}
	})
}
