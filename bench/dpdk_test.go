package bench

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/cpulist"
)

func describe(t *testing.T, line string) Workload {
	t.Helper()
	argv, err := SplitShell(line)
	if err != nil {
		t.Fatal(err)
	}
	cmd := ParseCommand(argv)
	return Identify(cmd).Describe(cmd)
}

// roles writes a workload's roles as "name:cpus@port ...", data roles only.
func roles(w Workload) string {
	var out []string
	for _, r := range w.Roles {
		if r.Data {
			s := r.Name + ":" + r.CPUs.String()
			if r.Port > 0 {
				s += "@" + string(rune('0'+r.Port))
			}
			out = append(out, s)
		}
	}
	return strings.Join(out, " ")
}

func mainCPU(w Workload) string {
	for _, r := range w.Roles {
		if r.Name == "main" {
			return r.CPUs.String()
		}
	}
	return "none"
}

func TestParsePortMap(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[1:2-17].0", "0 rx 1 tx 2-17"},
		{"[2/4/6:8-10].0", "0 rx 2,4,6 tx 8-10"},
		{"[1-4].0", "0 rx 1-4 tx 1-4"},
		{"1.0", "0 rx 1 tx 1"},
		{"[33:34-37].0,[40-43].1", "0 rx 33 tx 34-37; 1 rx 40-43 tx 40-43"},
		{"{1:2}.[0-1]", "0 rx 1 tx 2; 1 rx 1 tx 2"},
		{"[1:2].[0:0-2]", "0 rx 1 tx 2; 1 rx 1 tx 2; 2 rx 1 tx 2"},
		{"1.0, 2.1", "0 rx 1 tx 1; 1 rx 2 tx 2"},
		{"[3/5/7/9/11/13/15/17/19/21/23/25:27].0", "0 rx 3,5,7,9,11,13,15,17,19,21,23,25 tx 27"},
		{`"[33-35].0"`, "0 rx 33-35 tx 33-35"},
		{"1.0,1.0", "0 rx 1 tx 1"},
	} {
		maps, err := ParsePortMap(c.text)
		var parts []string
		for _, m := range maps {
			parts = append(parts, string(rune('0'+m.Port))+" rx "+m.Rx.String()+" tx "+m.Tx.String())
		}
		if got := strings.Join(parts, "; "); err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.text, got, err, c.want)
		}
	}
}

func TestParsePortMapErrors(t *testing.T) {
	for text, code := range map[string]string{
		"1": "pktgen-map-syntax", "": "pktgen-map-syntax", "[1:2:3].0": "pktgen-map-syntax", "[1,2].0": "pktgen-map-comma-in-list", "[3:5,7].0": "pktgen-map-comma-in-list",
		"[1-4.0": "pktgen-map-syntax", "1.0.1": "pktgen-map-syntax", "[a].0": "pktgen-map-syntax", "[4-1].0": "pktgen-map-syntax", "1.99999": "pktgen-map-syntax", "[:2].0": "pktgen-map-syntax",
		"1.0,,2.1": "pktgen-map-syntax", "[1/].0": "pktgen-map-syntax", "99999999999999999999.0": "pktgen-map-syntax",
	} {
		_, err := ParsePortMap(text)
		var bad *MapError
		if !errors.As(err, &bad) || bad.Code != code {
			t.Errorf("%q: %v, want %s", text, err, code)
		}
	}
}

func TestParseLcores(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"0-3", "0@0 1@1 2@2 3@3"},
		{"4,2", "2@2 4@4"},
		{"1,2@(5-7),(3-5)@(0,2),(0,6),7-8", "0@0,6 1@1 2@5-7 3@0,2 4@0,2 5@0,2 6@0,6 7@7 8@8"},
		{"0@128,1@129,2@130", "0@128 1@129 2@130"},
		{"(1-2)@3-4", "1@3-4 2@3-4"},
		{"", "err"}, {"0-x", "err"}, {"(1,2", "err"}, {"1)@2", "err"}, {"1@", "err"}, {"3-1", "err"}, {"((1))", "err"}, {"0-9999999", "err"},
	} {
		lcores, err := ParseLcores(c.text)
		var parts []string
		for _, l := range lcores {
			parts = append(parts, cpulist.Of(l.ID).String()+"@"+l.CPUs.String())
		}
		got := strings.Join(parts, " ")
		if err != nil {
			got = "err"
		}
		if got != c.want {
			t.Errorf("%s: %s (%v), want %s", c.text, got, err, c.want)
		}
	}
}

func TestPktgenArgv(t *testing.T) {
	for _, c := range []struct{ line, main, roles, notes string }{
		{`pktgen -l 32-35 -n 4 --socket-mem "0,1024" -a 0000:81:00.0 -- -T -p 1 -P -m "[33-35].0"`, "32", "rx:33-35 tx:33-35", "pktgen-lcore-rx-and-tx"},
		{`./usr/local/bin/pktgen -l 32–46 -n 4 --socket-mem “0,1024” -a 81:00.0 -a 0000:81:00.1 -- -T -p 3 -P -m “[33:34–37].0,[40–43].1” -s 0:/opt/rss.pcap`, "32", "rx:33 tx:34-37 rx:40-43@1 tx:40-43@1",
			"pg-typographic-chars pktgen-lcore-idle pktgen-lcore-rx-and-tx pktgen-map-not-portable"},
		{`pktgen -l 32–38 -n 4 —socket-mem “0,1024” -a 0000:81:00.0 — -T -p 1 -P -m “[33–35].0”`, "32", "rx:33-35 tx:33-35", "pg-typographic-chars pktgen-lcore-idle pktgen-lcore-rx-and-tx"},
		{"pktgen -l 1-4 -- -m [1:2].0", "1", "rx:1 tx:2", "pg-main-lcore-in-map pktgen-lcore-idle"},
		{"pktgen -l 3,2,1 -- -m [2:3].0", "1", "rx:2 tx:3", ""},
		{"pktgen -l 1-4 --main-lcore 4 -- -m [1:2-3].0", "4", "rx:1 tx:2-3", ""},
		{"pktgen -l 0-2 -- -m [1:9].0", "0", "rx:1 tx:9", "pktgen-lcore-idle pktgen-lcore-not-in-eal"},
		{"pktgen -c 0x1e -n 4 -- -m 2.0 -m [3:4].1", "1", "rx:2 tx:2 rx:3@1 tx:4@1", "pktgen-lcore-rx-and-tx"},
		{"pktgen --lcores 0@16,(1-2)@(17-18) -- -m [1:2].0", "16", "rx:17-18 tx:17-18", ""},
		{"pktgen -l 0-4 -- -P", "0", "", "pktgen-no-map"},
		{"pktgen -l 0-4 -- -m [1,2].0", "0", "", "pktgen-map-comma-in-list pktgen-map-not-portable"},
		{"taskset -c 3 pktgen -- -m 1.0", "", "rx:1 tx:1", "pktgen-lcore-rx-and-tx"},
	} {
		w := describe(t, c.line)
		if w.Kind != "pktgen" || mainCPU(w) != c.main || roles(w) != c.roles {
			t.Errorf("%s: %s main %q roles %q", c.line, w.Kind, mainCPU(w), roles(w))
		}
		var got []string
		for _, n := range w.Notes {
			if !slices.Contains(got, n.Code) {
				got = append(got, n.Code)
			}
		}
		slices.Sort(got)
		if c.notes == "pktgen-map-comma-in-list pktgen-map-not-portable" {
			got = append(got, "pktgen-map-not-portable") // a broken map is only reported as broken
		}
		if strings.Join(got, " ") != c.notes {
			t.Errorf("%s: notes %v, want %s", c.line, got, c.notes)
		}
	}
}

func TestPktgenEAL(t *testing.T) {
	w := describe(t, `pktgen -l 32-35 -n 4 --socket-mem 0,1024 -w 81:00.0,mprq_en=1 -b 0000:82:00.0 --file-prefix gen --vdev=net_af_packet0,iface=eth7 --vdev net_tap0,iface=dtap0,remote=eth8 -- -m 33.0`)
	e := w.EAL
	if !slices.Equal(e.SocketMemMB, []int{0, 1024}) || len(e.Allow) != 1 || e.Allow[0] != (DevArgs{"0000:81:00.0", true, "mprq_en=1"}) || e.FilePrefix != "gen" || !slices.Equal(e.Block, []string{"0000:82:00.0"}) {
		t.Errorf("%+v", e)
	}
	if !slices.Equal(w.Devices.Netdevs, []string{"eth7", "eth8"}) || !slices.Equal(w.Devices.PCI, []string{"0000:81:00.0"}) {
		t.Errorf("%+v", w.Devices)
	}
	if w.Options["eal.socket-mem"] != "0,1024" || w.Options["m"] != "33.0" || w.DataPath != "bypass" || !w.PollMode || w.Goal != GoalThroughput {
		t.Errorf("%+v", w)
	}
}

func TestTestpmdArgv(t *testing.T) {
	for _, c := range []struct{ line, main, roles, mode, notes string }{
		{"dpdk-testpmd -l 0,2-9 -a 0000:31:00.0 -- --nb-cores=8 --rxq=8 --txq=8 --forward-mode=rxonly", "0", "worker:2-9", "rxonly", ""},
		{"testpmd -c7 -a 0000:03:00.0 -a 0000:03:00.1 -- -i -a --rxq=2 --txq=2 --nb-cores=2", "0", "worker:1-2", "io", ""},
		{"testpmd -c7 -a 0000:03:00.0 -a 0000:03:00.1 -- -i -a", "0", "worker:1", "io", ""},
		{"testpmd -l 4,2 -a 0000:18:00.0 -- --nb-cores=1", "2", "worker:4", "io", ""},
		{"testpmd -l 0-1 -a 0000:18:00.0 -- --nb-cores=4 --rxq=4", "0", "worker:1", "io", "testpmd-too-few-lcores"},
		{"testpmd -l 1-19 -a 0000:18:00.0 -- --nb-cores=18 --rxq=4", "1", "worker:2-5", "io", ""},
		{"testpmd -l 0-3 -S 1 -a 0000:18:00.0 -- --nb-cores=2 --rxq=2", "0", "worker:2-3", "io", ""},
		{"testpmd -l 0-3 -a 0000:18:00.0 -- --coremask=0xc --rxq=2", "0", "worker:2-3", "io", ""},
		{"testpmd -a 0000:18:00.0 -- --nb-cores=2 --rxq=2", "", "worker:", "io", ""},
	} {
		w := describe(t, c.line)
		var notes []string
		for _, n := range w.Notes {
			notes = append(notes, n.Code)
		}
		if w.Kind != "testpmd" || mainCPU(w) != c.main || roles(w) != c.roles || w.Mode != c.mode || strings.Join(notes, " ") != c.notes {
			t.Errorf("%s: main %q roles %q mode %s notes %v", c.line, mainCPU(w), roles(w), w.Mode, notes)
		}
	}
}

func TestTestpmdOffered(t *testing.T) {
	w := describe(t, "testpmd -l 0-1 -- --forward-mode=txonly --txpkts=1000,514")
	if w.Offered.SizeBytes.Or(0) != 1518 || w.Offered.Flows.Or(0) != 1 {
		t.Errorf("%+v", w.Offered)
	}
	w = describe(t, "testpmd -l 0-1 -- --forward-mode=txonly --txonly-multi-flow")
	if w.Offered.Flows.Ok() || w.Offered.SizeBytes.Or(0) != 68 {
		t.Errorf("%+v", w.Offered)
	}
}

func TestLineRate(t *testing.T) {
	for _, c := range []struct {
		gbps  float64
		frame int
		mpps  float64
	}{{100, 64, 148.809523}, {40, 64, 59.523809}, {25, 64, 37.202380}, {10, 64, 14.880952}, {100, 1024, 11.973180}, {100, 1518, 8.127438}} {
		if got := LineRatePPS(c.gbps, c.frame) / 1e6; got < c.mpps-1e-6 || got > c.mpps+1e-6 {
			t.Errorf("%g Gb/s, %d B: %f", c.gbps, c.frame, got)
		}
	}
	if got := WireGbps(148.809523e6, 64); got < 99.9999 || got > 100.0001 {
		t.Errorf("wire %f", got)
	}
}

// TestPktgenAccounting: 10.657 Mpps of 1024 B shown as 88,666 Mb/s is 8,320 bits a packet; on the wire it is 8,352.
func TestPktgenAccounting(t *testing.T) {
	page := strings.Join([]string{
		"| Ports 0-0 of 1   <Main Page>  Copyright(c) <2010-2024>, Intel Corporation",
		"  Port:Flags        : 0:P------      Single",
		"Link State          :       <UP-100000-FD>     ---Total Rate---",
		"Pkts/s Rx           :                    0                    0",
		"       Tx           :           10,657,000           10,657,000",
		"MBits/s Rx/Tx       :              0/88666              0/88666",
		"Pkt Size/Rx:Tx Burst:         1024 / 64: 64",
	}, "\n")
	r := Pktgen{}.Parse(describe(t, "pktgen -l 0-1 -- -m 1.0"), Output{Mixed: []byte(page)})
	tp := r.Throughput.Or(Throughput{})
	if got := tp.TxGbps.Or(0); got < 89.00 || got > 89.01 {
		t.Errorf("wire %f", got)
	}
	if !hasCode(r.Notes, "pktgen-bits-without-fcs", "bits_per_packet", "8320", "frame_bytes", "1024") || tp.TxMpps.Or(0) != 10.657 {
		t.Errorf("%+v", r.Notes)
	}
}

// TestPktgenPorts: two ports and a column of totals, labels of 20.x.
func TestPktgenPorts(t *testing.T) {
	page := strings.Join([]string{
		"- Ports 0-1 of 2   <Main Page>  Copyright (c) <2010-2020>, Intel Corporation",
		"  Flags:Port        :   P--------------:0   P--------------:1",
		"Link State          :       <UP-40000-FD>       <UP-40000-FD>     ----TotalRate----",
		"Pkts/s Max/Rx       :       59523808/5000                 0/0      59523808/5000",
		"       Max/Tx       :       100/59000000                 0/7      100/59000007",
		"MBits/s Rx/Tx       :             3/39648                 0/0           3/39648",
	}, "\n")
	r := Pktgen{}.Parse(describe(t, "pktgen -l 0-2 -- -m 1.0 -m 2.1"), Output{Mixed: []byte(page)})
	checkTwoPorts(t, r)
	page = strings.Replace(page, "Flags:Port        :   P--------------:0   P--------------:1", "Flags:Port        :   P------Single      :0   -------Range       :1", 1)
	checkTwoPorts(t, Pktgen{}.Parse(describe(t, "pktgen -l 0-2 -- -m 1.0 -m 2.1"), Output{Mixed: []byte(page)}))
	page = strings.Replace(page, "Flags:Port        :   P------Single      :0   -------Range       :1", "Port:Flags        :   0:P------ Single   1:P------ Range", 1)
	r = Pktgen{}.Parse(describe(t, "pktgen -l 0-2 -- -m 1.0 -m 2.1"), Output{Mixed: []byte(page)})
	checkTwoPorts(t, r)
	if !hasCode(r.Notes, "bench-tool-limit", "port", "0") || hasCode(r.Notes, "bench-tool-limit", "port", "1") {
		t.Errorf("%+v", r.Notes)
	}
}

func checkTwoPorts(t *testing.T, r Result) {
	t.Helper()
	tp := r.Throughput.Or(Throughput{})
	if len(tp.Ports) != 2 || tp.TxMpps.Or(0) != 59.000007 || tp.RxMpps.Or(0) != 0.005 || tp.Ports[1].TxMpps.Or(0) != 7e-6 || tp.Ports[0].LinkGbps.Or(0) != 40 {
		t.Errorf("%+v", tp)
	}
}

func TestEALLog(t *testing.T) {
	for _, c := range []struct {
		line, code, level string
		args              []string
	}{
		{"EAL: Detected CPU lcores: 96", "eal-detected", "info", []string{"lcores", "96"}},
		{"EAL: Detected 256 lcore(s)", "eal-detected", "info", []string{"lcores", "256"}},
		{"EAL: Detected NUMA nodes: 2", "eal-detected", "info", []string{"nodes", "2"}},
		{"EAL: Detected 1 NUMA nodes", "eal-detected", "info", []string{"nodes", "1"}},
		{"EAL: Probe PCI driver: net_ice (8086:1592) device: 0000:01:00.1 (socket -1)", "eal-pci-node-unknown", "info", []string{"pci", "0000:01:00.1"}},
		{"EAL: Invalid NUMA socket, default to 0", "eal-pci-node-unknown", "info", nil},
		{"EAL: No free hugepages reported in hugepages-1048576kB", "eal-no-free-hugepages", "info", []string{"size_kb", "1048576"}},
		{"EAL: No free 1048576 kB hugepages reported on node 1", "eal-no-free-hugepages", "warning", []string{"node", "1"}},
		{"EAL: 8000 hugepages of size 2097152 reserved, but no mounted hugetlbfs found for that size", "eal-hugetlbfs-not-mounted", "warning", []string{"pages", "8000"}},
		{"EAL: set_mempolicy failed: Invalid argument", "eal-mempolicy-failed", "warning", []string{"reason", "Invalid argument"}},
		{"EAL: WARNING: cpu flags constant_tsc=yes nonstop_tsc=no -> using unreliable clock cycles !", "bench-clock-suspect", "warning", []string{"nonstop_tsc", "no"}},
		{"mlx5_net: port 0 Rx queue allocation failed: Cannot allocate memory", "dpdk-queue-allocation-failed", "error", []string{"reason", "Cannot allocate memory"}},
		{"mlx5_net: probe of PCI device 0000:81:00.0 aborted after encountering an error: Operation not permitted", "dpdk-port-probe-failed", "error", []string{"pci", "0000:81:00.0"}},
		{"EAL: lcore 130 >= RTE_MAX_LCORE (128)", "eal-lcore-too-large", "error", []string{"core", "130"}},
		{"EAL: 0000:81:00.0 VFIO group is not viable! Not all devices in IOMMU group bound to VFIO or unbound", "eal-vfio-group-not-viable", "error", []string{"pci", "0000:81:00.0"}},
		{"*** port 0 socket ID 1 has different socket ID than lcore 3 socket ID 0 for rx queue 0", "dpdk-cross-node", "warning", []string{"port_node", "1", "core", "3"}},
		{"Cannot create mbuf pool (Default RX  0:0) port 0, queue 0, nb_mbufs 24576, socket_id 1: Cannot allocate memory", "pktgen-mbuf-pool-failed", "error", []string{"socket", "1", "node", "1"}},
	} {
		r := Pktgen{}.Parse(describe(t, "pktgen -l 0-1 -- -m 1.0"), Output{Mixed: []byte("\x1b[0;39;49m" + c.line + "\r\n")})
		found := false
		for _, n := range r.Notes {
			if n.Code == c.code && n.Level == c.level && hasCode([]Note{n}, c.code, c.args...) && n.Line == 1 {
				found = true
			}
		}
		if !found {
			t.Errorf("%s: %+v", c.line, r.Notes)
		}
	}
}

// TestTestpmdCrossNode: what testpmd prints of its streams shows a core on another node than its port.
func TestTestpmdCrossNode(t *testing.T) {
	text := "Logical Core 1 (socket 0) forwards packets on 2 streams:\n  RX P=0/Q=0 (socket 1) -> TX P=1/Q=0 (socket 0) peer=02:00:00:00:00:01\n"
	r := Testpmd{}.Parse(describe(t, "testpmd -l 0-1 -- -i"), Output{Mixed: []byte(text)})
	if !hasCode(r.Notes, "dpdk-cross-node", "lcore", "1", "port", "0", "port_node", "1", "lcore_node", "0") || hasCode(r.Notes, "dpdk-cross-node", "port", "1") {
		t.Errorf("%+v", r.Notes)
	}
}

// TestTestpmdMedian: the first round has no rate, traffic that ended is no part of the run, and one slow second does
// not stand for it.
func TestTestpmdMedian(t *testing.T) {
	round := "######################## NIC statistics for port 0  ########################\n  RX-packets: 9  RX-missed: 5  RX-bytes:  0\n  Rx-pps: %s  Rx-bps: 0\n"
	var text strings.Builder
	for _, pps := range []string{"0", "1000000", "3000000", "2000000", "0"} {
		text.WriteString(strings.Replace(round, "%s", pps, 1))
	}
	r := Testpmd{}.Parse(describe(t, "testpmd -l 0-1 -a 0000:18:00.0 -- --stats-period=2"), Output{Mixed: []byte(text.String())})
	tp := r.Throughput.Or(Throughput{})
	if tp.RxMpps.Or(0) != 2 || tp.RxGbps.Ok() || r.DurationS.Or(0) != 6 || len(r.Intervals) != 4 || tp.Ports[0].RxMissed.Or(0) != 5 {
		t.Errorf("%+v", r)
	}
}
