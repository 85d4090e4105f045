package bios

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// The table is data: every row must be readable, and every attribute a plain name.
func TestTable(t *testing.T) {
	attribute := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	for _, token := range Tokens() {
		s, ok := Find(strings.ReplaceAll(token, "_", "-"))
		if !ok || s.Title == "" || s.Check == "" || len(s.Names) == 0 {
			t.Errorf("%s: incomplete row %+v", token, s)
		}
		for vendor := range s.Names {
			if !slices.Contains([]string{"dell", "hpe", "lenovo", "supermicro", "cisco"}, vendor) {
				t.Errorf("%s: vendor %s", token, vendor)
			}
			found := false
			for _, cpu := range []string{"intel", "amd", ""} {
				a, ok := s.Attribute(vendor, cpu)
				found = found || ok
				if ok && !a.Menu && !attribute.MatchString(a.Name) {
					t.Errorf("%s of %s: attribute %q", token, vendor, a.Name)
				}
				for neutral, own := range a.Values {
					if neutral == "" || own == "" {
						t.Errorf("%s of %s: value %q=%q", token, vendor, neutral, own)
					}
				}
			}
			if !found {
				t.Errorf("%s of %s cannot be read", token, vendor)
			}
		}
	}
}

func TestVendor(t *testing.T) {
	for dmi, want := range map[string]string{"Dell Inc.": "dell", "HPE": "hpe", "Hewlett Packard Enterprise": "hpe", "Lenovo": "lenovo", "Supermicro": "supermicro", "QEMU": ""} {
		if got := Vendor(dmi); got != want {
			t.Errorf("Vendor(%q) = %q, want %q", dmi, got, want)
		}
	}
}

func TestRedfish(t *testing.T) {
	wants := []Want{{"c_states", "off"}, {"profile", "performance"}, {"c1e", "off"}, {"smt", "off"}, {"preferred_io", "on"}}
	for _, c := range []struct {
		vendor, cpu string
		present     map[string]string
		body        string
		manual      int
	}{
		{"dell", "intel", nil, `{"LogicalProc":"Disabled","ProcC1E":"Disabled","ProcCStates":"Disabled","SysProfile":"PerfOptimized"}`, 1},
		{"hpe", "amd", nil, `{"MinProcIdlePower":"NoCStates","PreferredIOBusEnable":"Enabled","ProcSMT":"Disabled","WorkloadProfile":"LowLatency"}`, 1},
		{"lenovo", "amd", nil, `{"OperatingModes_ChooseOperatingMode":"MaximumPerformance","Processors_GlobalC_stateControl":"Disable"}`, 3},
		{"supermicro", "intel", nil, ``, 5},
		{"", "intel", nil, ``, 5},
		{"dell", "intel", map[string]string{"ProcCStates": "Disabled", "SysProfile": "Custom", "LogicalProc": "Enabled"}, `{"LogicalProc":"Disabled","SysProfile":"PerfOptimized"}`, 2},
	} {
		d := Redfish(c.vendor, c.cpu, wants, c.present)
		got := ""
		if d.Body != nil {
			var doc struct{ Attributes map[string]string }
			if err := json.Unmarshal(d.Body, &doc); err != nil {
				t.Fatal(err)
			}
			text, _ := json.Marshal(doc.Attributes)
			got = string(text)
		}
		if got != c.body || len(d.Manual) != c.manual {
			t.Errorf("%s %s: %s and manual %q, want %s and %d", c.vendor, c.cpu, got, d.Manual, c.body, c.manual)
		}
	}
}

func TestRead(t *testing.T) {
	got := Read("dell", map[string]string{"SysProfile": "PerfPerWattOptimizedDapc", "ProcCStates": "Enabled", "NumaNodesPerSocket": "4"})
	want := map[string]string{"profile": "PerfPerWattOptimizedDapc", "c_states": "on", "nps": "4"}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("Read: %s = %q, want %q", k, got[k], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("Read = %v", got)
	}
}

// epyc is a two-socket AMD host with nodes per socket and level-3 domains per node.
func epyc(nps, l3PerNode int) host.Host {
	h := host.Host{CPU: host.CPU{Vendor: maybe.Some("amd")}, Firmware: host.Firmware{SysVendor: maybe.Some("Dell Inc.")}}
	h.Identity.Kind = maybe.Some("bare")
	id := 0
	for node := range 2 * nps {
		n := host.Node{ID: node}
		for range l3PerNode {
			domain := cpulist.Range(id, id+1)
			for _, c := range domain {
				h.CPU.CPUs = append(h.CPU.CPUs, host.LogicalCPU{ID: c, Package: maybe.Some(node / nps), Node: node, L3: domain, L3Known: true, Siblings: cpulist.Of(c)})
				n.CPUs = append(n.CPUs, c)
			}
			id += 2
		}
		h.NUMA.Nodes = append(h.NUMA.Nodes, n)
	}
	return h
}

func TestSee(t *testing.T) {
	deep := epyc(1, 4)
	deep.Power.Idle = map[int][]host.IdleState{0: {{Name: "POLL"}, {Name: "C1", LatencyUS: 1}, {Name: "C2", LatencyUS: 400}}}
	shallow := epyc(1, 4)
	shallow.Power.Idle = map[int][]host.IdleState{0: {{Name: "POLL"}, {Name: "C1", LatencyUS: 1}}}
	limited := shallow
	limited.Kernel.Args = []host.Arg{{Key: "processor.max_cstate", Value: "1", HasValue: true}}
	dump := epyc(1, 4)
	dump.Firmware.Tokens = map[string]string{"ProcCStates": "Disabled"}
	guest := epyc(1, 4)
	guest.Identity.Kind = maybe.Some("vm")
	for _, c := range []struct {
		name  string
		h     host.Host
		token string
		want  string // "" missing
	}{
		{"NPS1", epyc(1, 4), "nps", "1"}, {"NPS4", epyc(4, 2), "nps", "4"}, {"no SNC on AMD", epyc(1, 4), "snc", ""},
		{"L3 as node hides NPS", epyc(8, 1), "nps", ""}, {"L3 as node", epyc(8, 1), "l3_as_numa", "on"}, {"not L3 as node", epyc(1, 4), "l3_as_numa", "off"},
		{"NPS4 with one L3 each could be either", epyc(4, 1), "l3_as_numa", ""},
		{"deep states", deep, "c_states", "on"}, {"no deep states", shallow, "c_states", "off"}, {"the kernel limits them", limited, "c_states", ""},
		{"dump beats all", dump, "c_states", "off"}, {"guest", guest, "nps", ""}, {"invisible", deep, "patrol_scrub", ""}, {"no such thing", deep, "colour", ""},
	} {
		got := See(c.h, c.token)
		if v := got.Or(Seen{}).Value; v != c.want || !got.Ok() && got.Why() == "" || got.Ok() && got.Or(Seen{}).Evidence == "" {
			t.Errorf("%s: See(%s) = %+v (%s), want %q", c.name, c.token, got.Or(Seen{}), got.Why(), c.want)
		}
	}
}

func TestAdvise(t *testing.T) {
	h := epyc(8, 1)
	h.Power.Idle = map[int][]host.IdleState{0: {{Name: "C1", LatencyUS: 1}}}
	state := map[string]string{}
	for _, a := range Advise(h, bench.GoalLatency) {
		state[a.Token] = a.State
		if a.Why == "" || a.Check == "" || a.Evidence == "" {
			t.Errorf("incomplete %+v", a)
		}
	}
	for token, want := range map[string]string{"l3_as_numa": "wrong", "c_states": "right", "patrol_scrub": "ask", "c1e": "", "jitter_control": "", "apbdis": "ask"} {
		if state[token] != want {
			t.Errorf("%s is %q, want %q", token, state[token], want)
		}
	}
	h.Identity.Kind = maybe.Some("vm")
	if got := Advise(h, bench.GoalLatency); got != nil {
		t.Errorf("advice for a guest: %v", got)
	}
}
