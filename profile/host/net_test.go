package host

import (
	"slices"
	"testing"
)

const (
	procRoute = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n" +
		"eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n" +
		"eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n" +
		"eth1\t486433C6\t00000000\t0001\t0\t0\t0\tF8FFFFFF\t0\t0\t0\n" +
		"eth2\t000200C0\t00000000\t0000\t0\t0\t0\t00FFFFFF\t0\t0\t0\n" +
		"broken\tline\nlo\txyz\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
	fibTrie = `Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 192.0.2.0/24 2 0 2
        |-- 192.0.2.0
           /24 link UNICAST
        |-- 192.0.2.2
           /32 host LOCAL
        |-- 192.0.2.255
           /32 link BROADCAST
     |-- 198.51.100.78
        /32 host LOCAL
     |-- 203.0.113.9
        /32 host LOCAL
     |-- 127.0.0.1
        /32 host LOCAL
Local:
        |-- 192.0.2.2
           /32 host LOCAL
`
)

func TestParseRoutes(t *testing.T) {
	want := []Route{
		{Dst: "0.0.0.0/0", Via: "192.0.2.1", Dev: "eth0", Metric: 100},
		{Dst: "192.0.2.0/24", Dev: "eth0"},
		{Dst: "198.51.100.72/29", Dev: "eth1"},
	}
	if got := parseRoutes(procRoute); !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestParseRoutes6(t *testing.T) {
	text := "fd000000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0\n" +
		"00000000000000000000000000000000 00 00000000000000000000000000000000 00 fd000000000000000000000000000001 00000400 00000003 00000000 00000003     eth0\n" +
		"00000000000000000000000000000001 80 00000000000000000000000000000000 00 00000000000000000000000000000000 00000000 00000003 00000000 80200001       lo\n" +
		"ff000000000000000000000000000000 08 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000003 00000000 00000001     eth0\n" +
		"short line\n"
	want := []Route{{Dst: "fd00::/64", Dev: "eth0", Metric: 256}, {Dst: "::/0", Via: "fd00::1", Dev: "eth0", Metric: 1024}}
	if got := parseRoutes6(text); !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestAddressesOfFibTrie(t *testing.T) {
	got := joinAddresses(parseFibTrie(fibTrie), parseRoutes(procRoute))
	if !slices.Equal(got["eth0"], []string{"192.0.2.2/24"}) || !slices.Equal(got["eth1"], []string{"198.51.100.78/29"}) ||
		!slices.Equal(got["lo"], []string{"127.0.0.1/8"}) || len(got) != 3 {
		t.Errorf("%v: an address that no connected route holds belongs to no interface", got)
	}
}

const ipAddr = `[{"ifname":"lo","addr_info":[{"family":"inet","local":"127.0.0.1","prefixlen":8}]},
{"ifname":"eth0","addr_info":[{"family":"inet","local":"192.0.2.2","prefixlen":24},{"family":"inet6","local":"fd00::2","prefixlen":64},{}]},{}]`

const ipRoute = `[{"dst":"default","gateway":"192.0.2.1","dev":"eth0","metric":100},{"dst":"192.0.2.0/24","dev":"eth0","prefsrc":"192.0.2.2"},
{"dst":"203.0.113.7","dev":"eth0"},{"dst":"default","gateway":"fd00::1","dev":"eth0"},{"dst":"fd00::9","dev":"eth0"}]`

func TestReadNet(t *testing.T) {
	nics := `
-- root/sys/class/net/eth0/ifindex --
2
-- root/sys/class/net/lo/ifindex --
1
-- cmd/ip-j-addr --
` + ipAddr + `
-- cmd/ip-j-route --
` + ipRoute + "\n"
	h := readAreas(treeOf(t, nics+"-- root/proc/net/route --\n"+procRoute), readCommands, readNICs, readNet)
	if !slices.Equal(h.NIC("eth0").Addrs, []string{"192.0.2.2/24", "fd00::2/64"}) {
		t.Errorf("addresses %v", h.NIC("eth0").Addrs)
	}
	if len(h.Net.Routes) != 3 || h.Net.Routes[1].Src != "192.0.2.2" || !h.Net.RoutesKnown {
		t.Errorf("the file counts, the command adds the source: %+v", h.Net.Routes)
	}
	only := readAreas(treeOf(t, nics), readCommands, readNICs, readNet)
	want := []Route{{Dst: "0.0.0.0/0", Via: "192.0.2.1", Dev: "eth0", Metric: 100}, {Dst: "192.0.2.0/24", Dev: "eth0", Src: "192.0.2.2"},
		{Dst: "203.0.113.7/32", Dev: "eth0"}, {Dst: "::/0", Via: "fd00::1", Dev: "eth0"}, {Dst: "fd00::9/128", Dev: "eth0"}}
	if !slices.Equal(only.Net.Routes, want) || !only.Net.RoutesKnown {
		t.Errorf("%+v", only.Net.Routes)
	}
	none := readAreas(treeOf(t, ""), readCommands, readNICs, readNet)
	if none.Net.RoutesKnown || len(none.Gaps) != 0 {
		t.Errorf("%+v %v", none.Net, none.Gaps)
	}
	broken := readAreas(treeOf(t, "-- cmd/ip-j-addr --\nnot json\n-- cmd/ip-j-route --\n{}\n"), readCommands, readNICs, readNet)
	if len(broken.Gaps) != 2 || broken.Net.RoutesKnown {
		t.Errorf("gaps %v", broken.Gaps)
	}
}

func FuzzNet(f *testing.F) {
	f.Add(procRoute, fibTrie)
	f.Add("x\neth0\t0\t0\t1\t0\t0\t0\tffffffff\n", "|-- ::1\n/32 host LOCAL")
	f.Fuzz(func(_ *testing.T, route, trie string) {
		routes := parseRoutes(route)
		joinAddresses(parseFibTrie(trie), append(routes, parseRoutes6(route)...))
	})
}

func FuzzIPJSON(f *testing.F) {
	f.Add([]byte(ipAddr))
	f.Add([]byte(ipRoute))
	f.Fuzz(func(t *testing.T, b []byte) {
		if addrs, err := parseIPAddr(b); err != nil && addrs != nil {
			t.Fatal("value and error")
		}
		if routes, err := parseIPRoute(b); err != nil && routes != nil {
			t.Fatal("value and error")
		}
	})
}
