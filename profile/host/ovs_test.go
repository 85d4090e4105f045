package host

import (
	"fmt"
	"strings"
	"testing"
)

func TestReadOVS(t *testing.T) {
	h := readAreas(treeOf(t, `
-- cmd/ovs-vsctl-version --
ovs-vsctl (Open vSwitch) 2.17.9
DB Schema 8.3.0
-- cmd/ovs-vsctl-other-config --
{dpdk-init="true", dpdk-socket-mem="1024,0", note="a \"b\", c", hw-offload=true, pmd-cpu-mask="0x3c"}
-- root/var/log/openvswitch/ovs-vswitchd.log --
2026-12-01T11:58:00.001Z|00001|vlog|INFO|opened log file
2026-12-01T12:00:01.220Z|00120|poll_loop|INFO|wakeup due to [POLLIN] on fd 71 (AF_PACKET(tap)(protocol=0x3)<->) at lib/netdev-linux.c:1425 (96% CPU usage)
2026-12-01T12:00:07.220Z|00121|netdev_offload_tc|WARN|failed to offload flow: Operation not supported
`), readCommands, readOVS)
	is(t, "version", h.OVS.Version, "2.17.9")
	m, ok := h.OVS.OtherConfig.Get()
	if !ok || m["dpdk-init"] != "true" || m["dpdk-socket-mem"] != "1024,0" || m["note"] != `a "b", c` || m["hw-offload"] != "true" || len(m) != 5 {
		t.Errorf("%v", m)
	}
	if len(h.OVS.LogLines) != 2 {
		t.Errorf("%v", h.OVS.LogLines)
	}
	none := readAreas(treeOf(t, "-- cmd/ovs-vsctl-show --\n    ovs_version: \"3.1.0\"\n"), readCommands, readOVS)
	is(t, "version of show", none.OVS.Version, "3.1.0")
	isMissing(t, "other_config", none.OVS.OtherConfig, "other-config")
	failed := readAreas(treeOf(t, "-- cmd/ovs-vsctl-other-config --\novs-vsctl: unix:/var/run/openvswitch/db.sock: database connection failed\n-- cmd/ovs-vsctl-other-config.exit --\n1\n"), readCommands, readOVS)
	isMissing(t, "other_config of a failed command", failed.OVS.OtherConfig, "exit code 1: ovs-vsctl: unix")
}

func TestOVSLogIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "%d|WARN|failed to offload flow %s\n", i, strings.Repeat("x", 1000))
	}
	lines := ovsLog(b.String())
	if len(lines) != maxOVSLines || !strings.HasPrefix(lines[len(lines)-1], "999|") || len(lines[0]) != 500 {
		t.Errorf("%d lines, last %.20q", len(lines), lines[len(lines)-1])
	}
}

func FuzzParseOVSMap(f *testing.F) {
	f.Add(`{dpdk-init="true", x=y}`)
	f.Add(`{a="`)
	f.Fuzz(func(_ *testing.T, text string) {
		parseOVSMap(text)
		ovsLog(text)
	})
}
