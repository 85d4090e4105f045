package plan

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// vector is one case of testdata/vectors.json, made by an independent implementation of the method.
type vector struct {
	Name     string `json:"name"`
	Topology shape  `json:"topology_builder"`
	Render   struct {
		Tool string `json:"tool"`
		Mode string `json:"mode"`
		Rx   int    `json:"rx"`
		Tx   int    `json:"tx"`
	} `json:"render"`
	Input struct {
		Online   cpulist.Set  `json:"online"`
		NICNode  int          `json:"nic_node"`
		Allowed  *cpulist.Set `json:"allowed"`
		Isolated cpulist.Set  `json:"isolated"`
		Kind     string       `json:"kind"`
		Datapath string       `json:"datapath"`
		Data     int          `json:"data"`
		Aux      int          `json:"aux"`
		SMTMode  string       `json:"smt_mode"`
		Scope    string       `json:"scope"`
		IRQBusy  float64      `json:"irq_busy"`
	} `json:"input"`
	Output struct {
		CPUNodes     cpulist.Set `json:"cpu_nodes"`
		NICNode      int         `json:"nic_node"`
		Housekeeping cpulist.Set `json:"housekeeping"`
		Isolated     cpulist.Set `json:"isolated"`
		IRQ          cpulist.Set `json:"irq"`
		Data         []int       `json:"data"`
		Aux          []int       `json:"aux"`
		Reuse        bool        `json:"reuse"`
		Warn         []string    `json:"warn"`
		Cmdline      string      `json:"cmdline"`
	} `json:"output"`
	Command string `json:"command"`
}

func (v vector) input() Input {
	in := v.Topology.input()
	in.Online = v.Input.Online
	in.Kind, in.Datapath, in.SMT, in.Scope = v.Input.Kind, v.Input.Datapath, v.Input.SMTMode, v.Input.Scope
	in.Isolated = v.Input.Isolated
	if in.Kind == "dpu" {
		in.Kind = "dpu-arm"
	}
	if v.Input.Allowed != nil {
		in.Allowed = maybe.Some(*v.Input.Allowed)
	}
	// Where a vector names no softirq load it means none, which is a measurement here.
	in.SoftirqBusy = maybe.Some(v.Input.IRQBusy)
	in.Devices = []Device{{Name: "eth0", PCI: "0000:81:00.0", Node: v.Input.NICNode}}
	in.Roles = v.roles()
	return in
}

// roles are those of the tool that the vector is rendered for.
func (v vector) roles() []Role {
	n, aux := v.Input.Data, Role{Name: "main", Count: v.Input.Aux}
	switch {
	case v.Render.Tool == "pktgen":
		return []Role{{Name: "rx", Data: true, Count: v.Render.Rx}, {Name: "tx", Data: true, Count: v.Render.Tx}, aux}
	case v.Render.Mode == "ul":
		aux.Name = "internal"
		return []Role{{Name: "sender", Data: true, Count: 1}, {Name: "receiver", Data: true, Count: 1}, aux}
	case v.Render.Tool == "sockperf":
		aux.Name = "internal"
		return []Role{{Name: "client", Data: true, Count: n}, aux}
	}
	return []Role{{Name: "worker", Data: true, Count: n}, aux}
}

func loadVectors(t *testing.T) []vector {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 22 {
		t.Fatalf("%d vectors, want 22", len(all))
	}
	return all
}

func flat(p Plan, data bool) []int {
	var all []int
	for _, r := range p.Roles {
		if r.Data == data {
			all = append(all, r.CPUs...)
		}
	}
	return all
}

func TestVectors(t *testing.T) {
	for _, v := range loadVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			in, want := v.input(), v.Output
			p := Make(in)
			// The vectors count CPUs outside the control group as housekeeping; a Plan names only CPUs it may use.
			house := want.Housekeeping
			if a, ok := in.Allowed.Get(); ok {
				house = house.And(a)
			}
			for _, c := range []struct {
				what      string
				got, want any
			}{
				{"data", cpulist.Set(flat(p, true)).Commas(), cpulist.Set(want.Data).Commas()},
				{"aux", cpulist.Set(flat(p, false)).Commas(), cpulist.Set(want.Aux).Commas()},
				{"housekeeping", p.Sets.Housekeeping.String(), house.String()},
				{"isolated", p.Sets.Isolated.String(), want.Isolated.String()},
				{"irq", p.Sets.IRQ.String(), want.IRQ.String()},
				{"workload", p.Sets.Workload.String(), cpulist.Of(want.Data...).String()},
				{"nodes", p.Nodes.String(), want.CPUNodes.String()},
				{"reuse", p.Reuse, want.Reuse},
				{"command line", strings.Join(p.Args, " "), want.Cmdline},
			} {
				if c.got != c.want {
					t.Errorf("%s = %v, want %v", c.what, c.got, c.want)
				}
			}
			if node := p.Node; node != want.NICNode && !(node == -1 && v.Input.NICNode == -1) {
				t.Errorf("node = %d, want %d", node, want.NICNode)
			}
			if len(want.Warn) > 0 && len(p.Steps) == 0 {
				t.Errorf("no steps, want %q", want.Warn)
			}
		})
	}
}
