package plan

import (
	"strings"
	"testing"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// on makes an input with one device on the node and data threads of one role.
func on(s shape, node, threads int) Input {
	in := s.input()
	in.Devices = []Device{{Name: "eth0", PCI: "0000:81:00.0", Node: node}}
	in.Roles = []Role{{Name: "worker", Data: true, Count: threads}, {Name: "main", Count: 1}}
	return in
}

func TestEdges(t *testing.T) {
	for _, c := range []struct {
		name  string
		in    func() Input
		sets  string // H | IRQ | I | W
		holds func(Plan) string
	}{
		{"CPU 0 offline: the first online CPU is the boot CPU", func() Input {
			in := on(shape{Cores: 8, Offline: "0"}, 0, 2)
			return in
		}, "1 | 1 | 2-7 | 2-3", nil},
		{"SMT off: every CPU is a core", func() Input { return on(shape{Cores: 8, SMT: 2, Offline: "8-15"}, 0, 2) }, "0 | 0 | 1-7 | 1-2", nil},
		{"adjacent siblings: 1 is the sibling of 0", func() Input { return on(shape{Cores: 4, SMT: 2, Numbering: "adjacent"}, 0, 2) }, "0-1 | 0-1 | 2-7 | 2,4", nil},
		{"alternate numbering: no dash over nodes", func() Input { return on(shape{Sockets: 2, Cores: 4, Numbering: "evenodd"}, 1, 3) }, "0-1 | 1 | 3,5,7 | 3,5,7",
			func(p Plan) string { return want(p.Syntaxes["pktgen-map"], `-m "[3:5/7].0"`) }},
		{"node with memory only: the nearest with CPUs", func() Input {
			in := on(shape{Sockets: 2, Cores: 4}, 7, 2)
			in.Distance[7] = map[int]int{0: 28, 1: 14, 7: 10}
			return in
		}, "0,4 | 4 | 5-7 | 5-6", func(p Plan) string {
			return want(p.NodeWhy, "eth0 is on node 7, which has no online CPU; node 1 is nearest by distance")
		}},
		{"no node, bridge tells", func() Input {
			in := on(shape{Sockets: 2, Cores: 4}, -1, 1)
			in.Devices[0].ParentNode = maybe.Some(1)
			return in
		}, "0,4 | 4 | 5-7 | 5", nil},
		{"no node, local CPUs tell", func() Input {
			in := on(shape{Sockets: 2, Cores: 4}, -1, 1)
			in.Devices[0].LocalCPUs = cpulist.Range(4, 7)
			return in
		}, "0,4 | 4 | 5-7 | 5", nil},
		{"no node, local CPUs are all CPUs: not known", func() Input {
			in := on(shape{Sockets: 2, Cores: 4}, -1, 1)
			in.Devices[0].LocalCPUs = cpulist.Range(0, 7)
			return in
		}, "0,4 | 0 | 1-3 | 1", func(p Plan) string {
			if p.Node != -1 || len(p.Args) > 0 || !strings.Contains(p.Limited, "measure") {
				return "node, arguments or limit"
			}
			return ""
		}},
		{"measurement beats sysfs", func() Input {
			in := on(shape{Sockets: 2, Cores: 4}, 1, 1)
			in.Devices[0].Measured = maybe.Some(0)
			return in
		}, "0,4 | 0 | 1-3 | 1", nil},
		{"two NICs on two nodes: a list for each", func() Input {
			in := on(shape{Sockets: 2, Cores: 6}, 0, 0)
			in.Devices = append(in.Devices, Device{Name: "eth1", PCI: "0000:c1:00.0", Node: 1})
			in.Roles = []Role{{Name: "rx", Data: true, Count: 1}, {Name: "tx", Data: true, Count: 1}, {Name: "rx", Data: true, Count: 1, Port: 1, Device: 1},
				{Name: "tx", Data: true, Count: 3, Port: 1, Device: 1}, {Name: "main", Count: 1}}
			return in
		}, "0,6 | 0,6 | 1-5,7-11 | 1-2,7-10", func(p Plan) string {
			return want(p.Syntaxes["pktgen"], `-l 0,1-2,7-10 -n 4 --socket-mem 1024,1024 -a 0000:81:00.0 -a 0000:c1:00.0 -- -T -P -m "[1:2].0,[7:8-10].1"`)
		}},
		{"big and small cores: data on the big ones", func() Input {
			in := on(shape{Cores: 12}, 0, 4)
			for i := range in.CPUs {
				in.CPUs[i].Capacity = 1024
				if in.CPUs[i].ID >= 6 {
					in.CPUs[i].Capacity = 450
				}
			}
			return in
		}, "0,6-11 | 0,6-11 | 1-5 | 1-4", nil},
		{"small cores only when the big ones run out", func() Input {
			in := on(shape{Cores: 12}, 0, 7)
			for i := range in.CPUs {
				in.CPUs[i].Capacity = 1024 - 574*(in.CPUs[i].ID/6)
			}
			return in
		}, "0 | 0 | 1-11 | 1-7", nil},
		{"an unmovable hot interrupt is avoided", func() Input {
			in := on(shape{Cores: 8}, 0, 2)
			in.ManagedIRQ = cpulist.Of(1)
			return in
		}, "0 | 0 | 1-7 | 2-3", nil},
		{"kubelet's reserved CPUs stay housekeeping", func() Input {
			in := on(shape{Cores: 8, SMT: 2}, 0, 2)
			in.Reserved = cpulist.Range(0, 1)
			return in
		}, "0-1,8-9 | 0-1,8-9 | 2-7,10-15 | 2-3", nil},
		{"another partition's CPUs are not ours", func() Input {
			in := on(shape{Cores: 8}, 0, 2)
			in.Foreign = cpulist.Range(1, 3)
			return in
		}, "0 |  |  | 4-5", func(p Plan) string {
			if p.Limited == "" {
				return "not limited"
			}
			return ""
		}},
		{"BlueField, any one core reserved is fine", func() Input {
			in := on(shape{Cores: 8}, 0, 7)
			in.Kind = "dpu-arm"
			in.Roles = []Role{{Name: "pmd", Data: true, Count: 7, Now: []int{0, 1, 2, 3, 4, 5, 6}}, {Name: "main", Count: 1, Now: []int{7}}}
			return in
		}, "7 | 7 |  | 0-6", func(p Plan) string {
			return want(p.Syntaxes["ovs"], "ovs-vsctl --no-wait set Open_vSwitch . other_config:pmd-cpu-mask=0x7f other_config:dpdk-lcore-mask=0x80")
		}},
		{"throughput over sockets: no isolation", func() Input {
			in := on(shape{Cores: 8}, 0, 2)
			in.Datapath, in.Goal = "kernel", bench.GoalThroughput
			return in
		}, "0 | 0 |  | 1-2", nil},
		{"kernel sockets without measurement: a core in 16 for interrupts", func() Input {
			in := on(shape{Cores: 40}, 0, 4)
			in.Datapath = "kernel"
			return in
		}, "0-2 | 0-2 | 3-39 | 3-6", nil},
		{"a poller never goes to the other socket", func() Input { return on(shape{Sockets: 2, Cores: 4}, 1, 6) }, "0,4 | 4 | 5-7 | 5-7", nil},
		{"anything else does", func() Input {
			in := on(shape{Sockets: 2, Cores: 4}, 1, 5)
			in.Datapath = "storage"
			return in
		}, "0,4 | 4 | 1-3,5-7 | 1-2,5-7", nil},
		{"throughput: siblings before the other socket, both on one port", func() Input {
			in := on(shape{Sockets: 2, Cores: 3, SMT: 2}, 1, 0)
			in.Goal, in.SMT = bench.GoalThroughput, "both"
			in.Roles = []Role{{Name: "rx", Data: true, Count: 2}, {Name: "rx", Data: true, Count: 2, Port: 1}}
			return in
		}, "0,3,6,9 | 3,9 | 4-5,10-11 | 4-5,10-11", func(p Plan) string { return want(p.Syntaxes["pktgen-map"], `-m "[4/10].0,[5/11].1"`) }},
		{"kernel without the options", func() Input {
			in := on(shape{Cores: 4}, 0, 1)
			in.NoHZFullBuilt = maybe.Some(false)
			return in
		}, "0 | 0 | 1-3 | 1", func(p Plan) string {
			return want(strings.Join(p.Args, " "), "isolcpus=managed_irq,domain,1-3 irqaffinity=0")
		}},
		{"minimal scope", func() Input {
			in := on(shape{Sockets: 2, Cores: 8, SMT: 2}, 1, 2)
			in.Scope = "minimal"
			return in
		}, "0,8,16,24 | 8,24 | 9-10,25-26 | 9-10", nil},
		{"no workload: no isolation is invented", func() Input {
			in := on(shape{Sockets: 2, Cores: 4}, 1, 0)
			in.Roles = nil
			return in
		}, "0,4 | 4 |  | ", nil},
	} {
		p := Make(c.in())
		got := strings.Join([]string{p.Sets.Housekeeping.String(), p.Sets.IRQ.String(), p.Sets.Isolated.String(), p.Sets.Workload.String()}, " | ")
		if got != c.sets {
			t.Errorf("%s: %s, want %s (steps %q)", c.name, got, c.sets, p.Steps)
		}
		if c.holds != nil {
			if bad := c.holds(p); bad != "" {
				t.Errorf("%s: %s", c.name, bad)
			}
		}
	}
}

func want(got, want string) string {
	if got != want {
		return "got " + got + "\nwant " + want
	}
	return ""
}

func TestPresentPlacement(t *testing.T) {
	base := func(now ...int) Input {
		in := on(shape{Sockets: 2, Cores: 4, SMT: 2}, 1, 2)
		in.Roles[0].Now, in.Roles[1].Now = now, []int{4}
		return in
	}
	for _, c := range []struct {
		name string
		in   Input
		text string // of Plan.Current; "" when the cores stay
	}{
		{"right", base(6, 7), ""},
		{"right, though not the planner's choice", base(7, 5), ""},
		{"wrong node", base(1, 2), "worker on CPUs 1-2 of node 0, the device is on node 1"},
		{"siblings", base(5, 13), "CPUs 5,13 are SMT siblings"},
		{"twice", base(6, 6), "CPUs 6 have more than one data thread"},
		{"absent", base(6, 77), "CPUs 77 are not online"},
		{"beside control", base(12, 5), "main on CPUs 4 shares a core"},
		{"too few", base(6), "2 threads on 1 CPUs (6)"},
		{"unpinned", base(), "worker: 2 threads not pinned"},
	} {
		p := Make(c.in)
		if p.Kept != (c.text == "") || !strings.Contains(p.Current, c.text) || c.text == "" && p.Current != "" {
			t.Errorf("%s: kept %v, current %q; want %q", c.name, p.Kept, p.Current, c.text)
		}
		if p.Kept && !p.Sets.Workload.Equal(cpulist.Of(c.in.Roles[0].Now...)) {
			t.Errorf("%s: kept, but the workload is on %s", c.name, p.Sets.Workload)
		}
	}
	isolated := base(6, 7)
	isolated.Isolated = cpulist.Of(5, 6, 13, 14)
	if p := Make(isolated); p.Kept || !strings.Contains(p.Current, "CPUs 7 are not isolated, while 5-6,13-14 are") || !p.Sets.Workload.Equal(cpulist.Range(5, 6)) {
		t.Errorf("outside the isolation: %q, workload %s", p.Current, p.Sets.Workload)
	}
}

// More than 1024 CPUs: lists and masks of any width.
func TestManyCPUs(t *testing.T) {
	p := Make(on(shape{Sockets: 4, Cores: 256, SMT: 2}, 3, 4))
	for name, after := range map[string]string{"ovs": "pmd-cpu-mask=", "irq-mask": "echo "} {
		_, text, _ := strings.Cut(p.Syntaxes[name], after)
		mask, _, _ := strings.Cut(text, " ")
		want := p.Sets.Workload
		if name == "irq-mask" {
			want = p.Sets.IRQ
			if n := strings.Count(mask, ","); n != 63 {
				t.Errorf("%s has %d commas, want 63 for 2048 CPUs", name, n)
			}
		}
		if got, err := cpulist.ParseMask(mask); err != nil || !got.Equal(want) {
			t.Errorf("%s = %v, %v; want %s", name, got, err, want)
		}
	}
	if want := `--lcores "0@768,1@769,2@770,3@771,4@772" --socket-mem 0,0,0,1024`; p.Syntaxes["eal"] != want {
		t.Errorf("eal = %s, want %s", p.Syntaxes["eal"], want)
	}
}

func TestWhatIf(t *testing.T) {
	h := host.Host{NICs: []host.NIC{{Name: "eth2", PCI: "0000:81:00.0", Node: maybe.Some(1)}}}
	in := shape{Sockets: 2, Cores: 16}.input()
	got, err := WhatIf(in, h, "nic=eth2 threads=8 goal=latency")
	if err != nil {
		t.Fatal(err)
	}
	if p := Make(got); p.Node != 1 || p.Sets.Workload.String() != "17-24" {
		t.Errorf("node %d, workload %s", p.Node, p.Sets.Workload)
	}
	got, err = WhatIf(got, h, "rx=1 tx=3 control=1 node=0")
	if p := Make(got); err != nil || p.Syntaxes["pktgen-map"] != `-m "[1:2-4].0"` || p.Node != 0 {
		t.Errorf("%v, node %d, map %s", err, p.Node, p.Syntaxes["pktgen-map"])
	}
	for _, bad := range []string{"nic=eth9", "threads=x", "threads=-1", "threads", "node=9", "colour=red", "goal=fast", "threads=100000"} {
		if _, err := WhatIf(in, h, bad); err == nil {
			t.Errorf("WhatIf(%q) gives no error", bad)
		}
	}
}

func TestNoCPUs(t *testing.T) {
	if p := Make(Input{}); p.Limited == "" || len(p.Sets.Workload) > 0 {
		t.Errorf("plan of nothing: %+v", p)
	}
}
