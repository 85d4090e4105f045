package plan

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/cpulist"
)

func TestVectorSyntax(t *testing.T) {
	for _, v := range loadVectors(t) {
		p := Make(v.input())
		got := map[string]string{
			"pktgen": "pktgen " + p.Syntaxes["pktgen"], "doca": p.Syntaxes["doca_bench"], "taskset": p.Syntaxes["taskset"],
			"sockperf": p.Syntaxes["sockperf"], "sockperf ul": p.Syntaxes["sockperf-ul"],
			"ovs": strings.TrimPrefix(p.Syntaxes["ovs"], "ovs-vsctl --no-wait set Open_vSwitch . "),
		}[strings.TrimSpace(v.Render.Tool+" "+v.Render.Mode)]
		if got != v.Command {
			t.Errorf("%s:\n got %s\nwant %s", v.Name, got, v.Command)
		}
	}
}

// seed is the machine of most examples: two sockets of 32 cores with SMT, the NIC on node 1.
func seed() Input {
	in := shape{Sockets: 2, Cores: 32, SMT: 2}.input()
	in.Devices = []Device{{Name: "ens1f0", PCI: "0000:81:00.0", Node: 1}}
	in.Roles = []Role{{Name: "rx", Data: true, Count: 1}, {Name: "tx", Data: true, Count: 4}, {Name: "main", Count: 1}}
	in.Cmdline = "BOOT_IMAGE=/vmlinuz root=UUID=1 ro isolcpus=1-31 quiet"
	return in
}

func TestSyntaxGolden(t *testing.T) {
	p := Make(seed())
	var b strings.Builder
	for _, name := range p.Order {
		b.WriteString("## " + name + "\n" + strings.TrimRight(p.Syntaxes[name], "\n") + "\n")
	}
	for _, r := range p.Reasons {
		b.WriteString(r.CPUs.String() + "  " + r.Text + "\n")
	}
	golden(t, "testdata/seed.golden", b.String())
	if len(p.Order) != len(p.Syntaxes) {
		t.Errorf("%d names for %d syntaxes", len(p.Order), len(p.Syntaxes))
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; UPDATE_GOLDEN=1 writes it anew. Got:\n%s", path, got)
	}
}

func TestYAMLSyntaxes(t *testing.T) {
	p := Make(seed())
	var profile struct {
		APIVersion string `yaml:"apiVersion"`
		Spec       struct {
			CPU struct{ Isolated, Reserved string }
			Net struct {
				UserLevelNetworking bool `yaml:"userLevelNetworking"`
			}
		}
	}
	if err := yaml.Unmarshal([]byte(p.Syntaxes["openshift"]), &profile); err != nil {
		t.Fatal(err)
	}
	isolated, reserved := parse(t, profile.Spec.CPU.Isolated), parse(t, profile.Spec.CPU.Reserved)
	if !isolated.Or(reserved).Equal(cpulist.Range(0, 127)) || len(isolated.And(reserved)) > 0 || !isolated.Equal(p.Sets.Isolated) {
		t.Errorf("isolated %s and reserved %s must be all CPUs without overlap", isolated, reserved)
	}
	var kubelet struct {
		ReservedSystemCPUs string `yaml:"reservedSystemCPUs"`
		CPUManagerPolicy   string `yaml:"cpuManagerPolicy"`
	}
	if err := yaml.Unmarshal([]byte(p.Syntaxes["kubelet"]), &kubelet); err != nil || kubelet.CPUManagerPolicy != "static" || !parse(t, kubelet.ReservedSystemCPUs).Equal(reserved) {
		t.Errorf("kubelet %+v, %v", kubelet, err)
	}
}

func parse(t *testing.T, list string) cpulist.Set {
	t.Helper()
	s, err := cpulist.Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Masks in the syntaxes must name the same CPUs as the sets.
func TestMaskSyntaxes(t *testing.T) {
	p := Make(seed())
	for _, c := range []struct {
		name, after string
		want        cpulist.Set
	}{
		{"ovs", "pmd-cpu-mask=", p.Sets.Workload}, {"ovs", "dpdk-lcore-mask=", cpulist.Of(32)}, {"spdk-mask", "-m ", p.Sets.Workload},
		{"irq-mask", "echo ", p.Sets.IRQ}, {"workqueue", "echo ", cpulist.Range(0, 127).Minus(p.Sets.Isolated)},
	} {
		_, text, ok := strings.Cut(p.Syntaxes[c.name], c.after)
		if !ok {
			t.Fatalf("%s: %q has no %q", c.name, p.Syntaxes[c.name], c.after)
		}
		mask, _, _ := strings.Cut(text, " ")
		if got, err := cpulist.ParseMask(mask); err != nil || !got.Equal(c.want) {
			t.Errorf("%s %s%s = %v, %v; want %s", c.name, c.after, mask, got, err, c.want)
		}
	}
}

// The real tools must take what is printed. The plan is made for this machine's own CPUs, so that they can.
func TestRealTools(t *testing.T) {
	in := shape{Sockets: 1, Cores: 2}.input()
	in.Devices = []Device{{Name: "eth0", Node: 0}}
	in.Roles = []Role{{Name: "client", Data: true, Count: 1}, {Name: "internal", Count: 1}}
	p := Make(in)
	for _, tool := range []string{"taskset", "numactl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
		out, err := exec.Command("sh", "-c", p.Syntaxes[tool]+" grep Cpus_allowed_list /proc/self/status").CombinedOutput()
		if err != nil || strings.TrimSpace(strings.TrimPrefix(string(out), "Cpus_allowed_list:")) != p.Sets.Workload.String() {
			t.Errorf("%s: %v, %s; want CPUs %s", p.Syntaxes[tool], err, out, p.Sets.Workload)
		}
	}
}

func TestSystemdVerify(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	dir := t.TempDir()
	unit := filepath.Join(dir, "corewise-test.service")
	text := "[Unit]\nDescription=Test of a generated drop-in\n" + Make(seed()).Syntaxes["systemd-unit"] + "ExecStart=/bin/true\n"
	if err := os.WriteFile(unit, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("systemd-analyze", "verify", "--man=no", unit).CombinedOutput()
	for _, line := range strings.Split(string(out), "\n") {
		if strings.Contains(line, "corewise-test") {
			t.Errorf("systemd-analyze: %s (%v)", line, err)
		}
	}
}

func TestRewrite(t *testing.T) {
	for _, c := range []struct{ argv, want string }{
		{`pktgen -l 0-4 -n 4 -a 0000:81:00.0 -- -P -T -m "[1:2-4].0"`,
			`numactl -N 1 -m 1 pktgen -l 32,33-36 --socket-mem 0,1024 -n 4 -a 0000:81:00.0 -- -P -T -m [33:34-36].0`},
		{`dpdk-testpmd -l 13,14 -a 0000:81:00.0 -- --nb-cores=1 --forward-mode=io`,
			`numactl -N 1 -m 1 dpdk-testpmd -l 32,33 --socket-mem 0,1024 -a 0000:81:00.0 -- --nb-cores=1 --forward-mode=io`},
		{`taskset -c 3 ./mybench --fast`, `numactl -N 0 -m 0 taskset -c 1 ./mybench --fast`},
	} {
		argv, err := bench.SplitShell(c.argv)
		if err != nil {
			t.Fatal(err)
		}
		w, _ := bench.Ingest(argv, nil)
		in := seed()
		in.Workload, in.Datapath = &w, w.DataPath
		if w.DataPath == "cpu" {
			in.Devices = nil
			in.Foreign = cpulist.Of(3) // else CPU 3 is right and stays
		}
		in.Roles = splitNodes(roles(w), in)
		if got := strings.Join(Make(in).Command, " "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.argv, got, c.want)
		}
	}
}

// A workload without a control thread still gets a main lcore of its own in the syntax of DPDK.
func TestMainLcoreIsNotInTheMap(t *testing.T) {
	in := seed()
	in.Roles = []Role{{Name: "worker", Data: true, Count: 4}}
	p := Make(in)
	if want := `-l 32,33-36 -n 4 --socket-mem 0,1024 -a 0000:81:00.0 -- -T -P -m "[33:34-36].0"`; p.Syntaxes["pktgen"] != want {
		t.Errorf("pktgen %s, want %s", p.Syntaxes["pktgen"], want)
	}
}

func TestPlanJSON(t *testing.T) {
	text, err := json.Marshal(Make(seed()))
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Sets map[string]string `json:"sets"`
	}
	if err := json.Unmarshal(text, &back); err != nil || back.Sets["workload"] != "33-37" || back.Sets["housekeeping"] != "0,32,64,96" {
		t.Errorf("%v: sets %v", err, back.Sets)
	}
}
