package host

import (
	"os/exec"
	"testing"
)

func TestQdiscs(t *testing.T) {
	nics := "-- root/sys/class/net/eth0/ifindex --\n2\n-- root/sys/class/net/eth1/ifindex --\n3\n"
	h := readAreas(treeOf(t, nics+"-- cmd/ip-j-addr --\n[{\"ifname\":\"eth0\",\"qdisc\":\"mq\",\"txqlen\":1000},{\"ifname\":\"eth1\"}]\n"), readCommands, readNICs, readQdiscs)
	is(t, "qdisc", h.NIC("eth0").Qdisc, "mq")
	isMissing(t, "not told", h.NIC("eth1").Qdisc, "neither")
	isMissing(t, "no command", readAreas(treeOf(t, nics), readCommands, readNICs, readQdiscs).NICs[0].Qdisc, "neither")
}

func TestLiveQdiscs(t *testing.T) {
	out, err := exec.Command("ip", "-j", "addr").Output()
	if err != nil {
		skip(t, "needs ip: "+err.Error())
	}
	got, err := liveQdiscs()
	if err != nil {
		t.Fatal(err)
	}
	want := parseQdiscs(out)
	if len(want) == 0 {
		t.Fatalf("ip prints no interface: %s", out)
	}
	for name, qdisc := range want {
		if got[name] != qdisc {
			t.Errorf("%s: %q, ip says %q", name, got[name], qdisc)
		}
	}
}

func FuzzParseLink(f *testing.F) {
	f.Add(make([]byte, 16))
	f.Add(append(make([]byte, 16), 8, 0, 3, 0, 'e', '0', 0, 0))
	f.Fuzz(func(_ *testing.T, b []byte) {
		parseLink(b)
		parseQdiscs(b)
	})
}
