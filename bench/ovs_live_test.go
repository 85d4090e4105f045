package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// switchd is an ovs-vswitchd that runs in a directory of its own, with a dummy datapath on two made-up nodes of four
// cores: no root, no kernel module, no device.
type switchd struct {
	t   *testing.T
	dir string
}

// findOVS looks for a program of Open vSwitch; Debian keeps the daemon outside PATH.
func findOVS(t *testing.T, name string) string {
	t.Helper()
	for _, path := range []string{name, "/usr/sbin/" + name, "/usr/lib/openvswitch-switch/" + name} {
		if p, err := exec.LookPath(path); err == nil {
			return p
		}
	}
	t.Skip("Open vSwitch is not installed: no ", name)
	return ""
}

func (s switchd) run(name string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command(findOVS(s.t, name), args...)
	cmd.Env = append(os.Environ(), "OVS_RUNDIR="+s.dir, "OVS_LOGDIR="+s.dir, "OVS_DBDIR="+s.dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (s switchd) vsctl(args ...string) string {
	return s.run("ovs-vsctl", append([]string{"--timeout=10", "--db=unix:" + s.dir + "/db.sock"}, args...)...)
}

func (s switchd) appctl(args ...string) string {
	return s.run("ovs-appctl", append([]string{"-T", "10", "-t", s.dir + "/vswitchd.ctl"}, args...)...)
}

// daemon starts a daemon in the foreground and ends it with the test.
func (s switchd) daemon(name string, args ...string) {
	s.t.Helper()
	cmd := exec.Command(findOVS(s.t, name), args...)
	cmd.Env = append(os.Environ(), "OVS_RUNDIR="+s.dir, "OVS_LOGDIR="+s.dir, "OVS_DBDIR="+s.dir)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

func (s switchd) waitFor(file string) {
	s.t.Helper()
	for range 100 {
		if _, err := os.Stat(filepath.Join(s.dir, file)); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatal(file, " did not appear")
}

func startOVS(t *testing.T) switchd {
	t.Helper()
	s := switchd{t, t.TempDir()}
	findOVS(t, "ovs-vswitchd")
	schema := filepath.Join(filepath.Dir(filepath.Dir(findOVS(t, "ovsdb-tool"))), "share/openvswitch/vswitch.ovsschema")
	if _, err := os.Stat(schema); err != nil {
		t.Skip("no schema: ", err)
	}
	s.run("ovsdb-tool", "create", s.dir+"/conf.db", schema)
	s.daemon("ovsdb-server", s.dir+"/conf.db", "--remote=punix:"+s.dir+"/db.sock", "--unixctl="+s.dir+"/db.ctl", "--log-file="+s.dir+"/db.log")
	s.waitFor("db.sock")
	s.vsctl("--no-wait", "init")
	s.vsctl("--no-wait", "set", "Open_vSwitch", ".", "other_config:pmd-cpu-mask=0x6", "other_config:pmd-rxq-assign=roundrobin")
	s.daemon("ovs-vswitchd", "--enable-dummy", "--disable-system", "--dummy-numa=0,0,0,0,1,1,1,1", "--unixctl="+s.dir+"/vswitchd.ctl", "--log-file="+s.dir+"/vswitchd.log", "unix:"+s.dir+"/db.sock")
	s.waitFor("vswitchd.ctl")
	return s
}

// TestOVSLive: a port on node 1, poll-mode threads on node 0 only, some packets; everything that OVS says is read.
func TestOVSLive(t *testing.T) {
	s := startOVS(t)
	s.vsctl("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=dummy")
	s.vsctl("add-port", "br0", "p0", "--", "set", "interface", "p0", "type=dummy-pmd", "options:n_rxq=4", "options:numa_id=1")
	s.vsctl("add-port", "br0", "p1", "--", "set", "interface", "p1", "type=dummy-pmd", "options:n_rxq=2", "options:numa_id=0")
	before := ParseOVSStats([]byte(s.appctl("dpif-netdev/pmd-stats-show")))
	for range 20 {
		s.appctl("netdev-dummy/receive", "p0", "--qid", "1", "in_port(1),eth(src=50:54:00:00:00:01,dst=50:54:00:00:00:02),eth_type(0x0800),ipv4(src=10.0.0.1,dst=10.0.0.2,proto=17,tos=0,ttl=64,frag=no),udp(src=1000,dst=2000)")
	}
	time.Sleep(1200 * time.Millisecond)
	rxq := ParseOVSRxq([]byte(s.appctl("dpif-netdev/pmd-rxq-show")))
	queues := 0
	for _, p := range rxq.PMDs {
		queues += len(p.Queues)
		if p.Node != 0 || !slices.Contains([]int{1, 2}, p.Core) || p.Isolated.Or(true) {
			t.Errorf("%+v", p)
		}
	}
	if len(rxq.PMDs) != 2 || queues != 6 {
		t.Errorf("%d threads, %d queues: %+v", len(rxq.PMDs), queues, rxq)
	}
	packets := 0.0
	for _, d := range OVSStatsDelta(before, ParseOVSStats([]byte(s.appctl("dpif-netdev/pmd-stats-show")))) {
		packets += d.Counters["packets"]
	}
	if packets < 20 {
		t.Errorf("%g packets in the difference of the counters", packets)
	}
	s.checkTexts(t)
}

func (s switchd) checkTexts(t *testing.T) {
	perf := ParseOVSPerf([]byte(s.appctl("dpif-netdev/pmd-perf-show")))
	if len(perf) != 2 || !perf[0].SecondsS.Ok() || !perf[0].BusyPct.Ok() {
		t.Errorf("%+v", perf)
	}
	flows := ParseOVSFlows([]byte(s.appctl("dpctl/dump-flows", "-m")))
	if len(flows) != 1 || flows[0].InPort != "p0" || flows[0].EthType != 0x0800 || flows[0].Offloaded != "no" || flows[0].Packets < 15 {
		t.Errorf("%+v", flows)
	}
	if o := OffloadOf(flows); o.PacketsPct.Or(-1) != 0 || o.SoftwareHot != 1 {
		t.Errorf("%+v", o)
	}
	bridges := ParseOVSShow([]byte(s.vsctl("show")))
	if len(bridges) != 1 || bridges[0].Datapath != "dummy" || len(bridges[0].Ports) != 3 {
		t.Errorf("%+v", bridges)
	}
	if c := ParseOVSMap(s.vsctl("get", "Open_vSwitch", ".", "other_config")); c["pmd-cpu-mask"] != "0x6" || c["pmd-rxq-assign"] != "roundrobin" {
		t.Errorf("%v", c)
	}
	if i := ParseOVSInterface([]byte(s.vsctl("list", "Interface", "p0"))); i.Node.Or(-1) != 1 || i.RxQueues.Or(0) != 4 {
		t.Errorf("%+v", i)
	}
	dp := ParseOVSDatapaths([]byte(s.appctl("dpctl/show", "-s")))
	if len(dp) == 0 || dp[0].Ports["p0"] != "dummy-pmd" || !dp[0].Lost.Ok() {
		t.Errorf("%+v", dp)
	}
	if c := ParseOVSCoverage([]byte(s.appctl("coverage/show"))); c["xlate_actions"].Total == 0 {
		t.Errorf("%v", c)
	}
	if u := ParseOVSUpcall([]byte(s.appctl("upcall/show"))); len(u) != 1 || u[0].Limit == 0 {
		t.Errorf("%+v", u)
	}
	log, err := os.ReadFile(filepath.Join(s.dir, "vswitchd.log"))
	if err != nil {
		t.Fatal(err)
	}
	if notes := ParseOVSLog(strings.Split(string(log), "\n")); !hasCode(notes, "ovs-no-local-pmd", "port_name", "p0", "port_node", "1", "node", "0") {
		t.Errorf("%+v", notes)
	}
}
