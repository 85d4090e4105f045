package lab

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// report is what a scenario reads of corewise's JSON.
type report struct {
	CaptureMode string    `json:"capture_mode"`
	Findings    []finding `json:"findings"`
	AlsoSeen    []finding `json:"also_seen"`
	Plan        struct {
		Sets map[string]string `json:"sets"`
		Node int               `json:"node"`
	} `json:"plan"`
	Result struct {
		Tool   string `json:"tool"`
		Failed string `json:"failed"`
	} `json:"result"`
	LostEvents []any `json:"lost_events"`
}

type finding struct {
	Rule       string `json:"rule"`
	Subject    string `json:"subject"`
	Severity   string `json:"severity"`
	Confidence string `json:"confidence"`
	Text       string `json:"text"`
}

func (r report) has(rule string) (finding, bool) {
	all := append(slices.Clone(r.Findings), r.AlsoSeen...)
	i := slices.IndexFunc(all, func(f finding) bool { return f.Rule == rule })
	if i < 0 {
		return finding{}, false
	}
	return all[i], true
}

// binary builds corewise once for a test: static, because the guest's root is this machine's.
func binary(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(VisibleDir(t), "corewise")
	cmd := exec.Command("go", "build", "-o", bin, "github.com/corewise/corewise/cmd/corewise")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bin
}

// peer moves the second NIC, which is wired to the first, into a network namespace with a sockperf server.
const peer = `ip netns add b; ip link set eth1 netns b
ip addr add 10.9.0.1/24 dev eth0; ip link set eth0 up
ip -n b addr add 10.9.0.2/24 dev eth1; ip -n b link set eth1 up
ip netns exec b taskset -c 6 sockperf sr -i 10.9.0.2 -p 5000 >/tmp/server.log 2>&1 &
for i in $(seq 100); do grep -q 'to block on socket' /tmp/server.log && break; sleep 0.1; done
`

func load(t *testing.T, o Outcome, name string) report {
	t.Helper()
	var r report
	text := read(t, o, name)
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%s: %v\n%.2000s\n%s", name, err, text, read(t, o, "stderr"))
	}
	return r
}

// TestTwoNodes runs sockperf between the two NICs under the probes, once on the far node and once on the near one: the
// probes must load on Debian's kernel, and the placement must be found wrong and right.
func TestTwoNodes(t *testing.T) {
	bin := binary(t)
	script := "set -e\n" + peer + `
` + bin + ` probes >/out/probes.txt
` + bin + ` audit --format json >/out/audit.json
run() { ` + bin + ` run -q --format json -o /tmp/$1 -- taskset -c $2 sockperf pp -i 10.9.0.2 -p 5000 -t 4 >/out/$1.json; }
run far 2
run near 5
` + bin + ` analyze /tmp/far --format json >/out/again.json
cmp /out/far.json /out/again.json
` + bin + ` run -q --no-probes --format json -o /tmp/blind -- taskset -c 2 sockperf pp -i 10.9.0.2 -p 5000 -t 3 >/out/blind.json
su nobody -s /bin/bash -c '` + bin + ` run -q --format json -o /tmp/nobody -- sleep 1' >/out/nobody.json
`
	o := boot(t, VM{Topology: TwoSockets(), Kernel: Debian(t), Program: []string{"/bin/bash", "-c", script}, Timeout: 240e9, Tries: 3})
	if code := strings.TrimSpace(read(t, o, "exit")); code != "0" {
		t.Fatalf("the scenario ended with %s\n%s", code, read(t, o, "stderr"))
	}
	far, near := load(t, o, "far.json"), load(t, o, "near.json")
	for name, r := range map[string]report{"far": far, "near": near} {
		if r.CaptureMode != "ebpf" || r.Result.Tool != "sockperf" || r.Result.Failed != "" || len(r.LostEvents) > 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if f, ok := far.has("numa-nic-core-mismatch"); !ok || !strings.Contains(f.Text, "2") {
		t.Errorf("the far run is not found wrong: %+v", far.Findings)
	}
	if f, ok := near.has("numa-nic-core-mismatch"); ok {
		t.Errorf("the near run is blamed: %+v", f)
	}
	if far.Plan.Node != 1 || far.Plan.Sets["workload"] == "" || strings.ContainsAny(far.Plan.Sets["workload"], "0123") {
		t.Errorf("the plan does not go to node 1: %+v", far.Plan)
	}
	if blind := load(t, o, "blind.json"); blind.CaptureMode == "ebpf" {
		t.Errorf("--no-probes has a capture: %+v", blind)
	}
	if nobody := load(t, o, "nobody.json"); nobody.CaptureMode == "ebpf" {
		t.Errorf("an ordinary user has a capture: %+v", nobody)
	}
	load(t, o, "audit.json")
	t.Log(read(t, o, "probes.txt"))
}
