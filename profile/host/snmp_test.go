package host

import (
	"maps"
	"testing"
)

func TestProtocolCounters(t *testing.T) {
	s := sourceOf(t, `-- proc/net/snmp --
Ip: Forwarding DefaultTTL
Ip: 1 64
Tcp: RtoMin MaxConn
Tcp: 200 -1
Udp: InDatagrams RcvbufErrors
Udp: 5 7
Broken: a b
Udp: 1
-- proc/net/netstat --
TcpExt: TCPTimeouts
TcpExt: 3
`)
	want := map[string]int64{"Ip.Forwarding": 1, "Ip.DefaultTTL": 64, "Tcp.RtoMin": 200, "Tcp.MaxConn": -1, "Udp.InDatagrams": 5, "Udp.RcvbufErrors": 7, "TcpExt.TCPTimeouts": 3}
	if got := readAreas(s, readProtocols).Net.Protocols; !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := readAreas(sourceOf(t, ""), readProtocols).Net.Protocols; got != nil {
		t.Errorf("absent files count as zeros: %v", got)
	}
}

func FuzzProtocols(f *testing.F) {
	f.Add("Udp: InDatagrams RcvbufErrors\nUdp: 5 7\n")
	f.Fuzz(func(_ *testing.T, text string) { addProtocols(map[string]int64{}, text) })
}

func TestUncore(t *testing.T) {
	text := `-- sys/devices/system/cpu/online --
0-1
-- sys/devices/system/cpu/isolated --
1
-- sys/devices/system/cpu/cpu0/topology/physical_package_id --
0
-- sys/devices/system/cpu/cpu1/topology/physical_package_id --
1
-- sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/min_freq_khz --
800000
-- sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/max_freq_khz --
2400000
-- sys/devices/system/cpu/intel_uncore_frequency/package_01_die_00/min_freq_khz --
800000
`
	s := sourceOf(t, text)
	u := readAreas(s, readCPU, readPower).Power.Uncore
	if len(u) != 2 || u[0].MinKHz.Or(0) != 800000 || u[0].MaxKHz.Or(0) != 2400000 || u[1].MinKHz.Or(0) != 800000 || u[1].MaxKHz.Ok() {
		t.Errorf("%+v", u)
	}
	s.Live = true
	if u = readAreas(s, readCPU, readPower).Power.Uncore; len(u) != 2 || !u[0].MinKHz.Ok() || u[1].MinKHz.Ok() {
		t.Errorf("the first CPU of package 1 is isolated: %+v", u)
	}
}
