package host

import (
	"net/netip"
	"strings"
	"testing"
)

// coins is a fixed sequence in place of random numbers.
func coins(m *addressMap) {
	n := uint32(12345)
	m.coin = func() bool {
		n = n*1664525 + 1013904223
		return n>>31 == 1
	}
}

func TestAddressesKeepPrefixes(t *testing.T) {
	m := newAddressMap()
	coins(&m)
	ip := func(t string) netip.Addr { return m.ip(netip.MustParseAddr(t)) }
	a, b, c, d := ip("10.20.30.1"), ip("10.20.30.200"), ip("10.20.99.1"), ip("10.20.30.1")
	if a != d || a == b || a.String() == "10.20.30.1" {
		t.Errorf("%v %v %v", a, b, d)
	}
	if pa, _ := a.Prefix(24); !pa.Contains(b) || pa.Contains(c) {
		t.Errorf("%v and %v share 24 bits, %v does not", a, b, c)
	}
	if pa, _ := a.Prefix(16); !pa.Contains(c) || a.As4()[0] != 10 {
		t.Errorf("%v and %v share 16 bits", a, c)
	}
	seen := map[netip.Addr]bool{}
	for i := range 256 {
		seen[m.ip(netip.AddrFrom4([4]byte{10, 20, 30, byte(i)}))] = true
	}
	if len(seen) != 256 {
		t.Errorf("256 addresses became %d", len(seen))
	}
	for _, same := range []string{"0.0.0.0", "127.0.0.1", "255.255.255.0", "224.0.0.1", "::", "::1", "ff02::1"} {
		if got := ip(same); got != netip.MustParseAddr(same) {
			t.Errorf("%s became %v", same, got)
		}
	}
	v6a, v6b := ip("2001:db8:1:2::5"), ip("2001:db8:1:2::9")
	if p, _ := v6a.Prefix(64); !p.Contains(v6b) || v6a == v6b {
		t.Errorf("%v %v", v6a, v6b)
	}
}

func TestMACsKeepTheirRelations(t *testing.T) {
	m := newAddressMap()
	out := m.macs("b8:ce:f6:12:34:56 B8:CE:F6:12:34:57 ff:ff:ff:ff:ff:ff 00:00:00:00:00:00 enxb8cef6123456 b8-ce-f6-03-00-12-34-56 b8ce:f603:0012:3456 12:34:56")
	want := "02:00:00:00:00:01 02:00:00:00:00:02 ff:ff:ff:ff:ff:ff 00:00:00:00:00:00 enx020000000001 02-00-00-03-00-00-00-01 0200:0003:0000:0001 12:34:56"
	if out != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
	if got := m.addresses("fe80::bace:f6ff:fe12:3456"); got != "fe80::ff:fe00:1" {
		t.Errorf("the link-local address of the first MAC: %s", got)
	}
}

func TestRedactedBundle(t *testing.T) {
	c := &collected{t0: newRecorder(), redact: true, extra0: map[string][]byte{}, times: times{T0: 5}}
	put := func(p, text string) { c.t0.files[p] = recorded{data: []byte(text)} }
	put("proc/sys/kernel/hostname", "db-node7.corp.example\n")
	put("etc/hostname", "db-node7\n")
	put("proc/version", "Linux version 5.14.0.427 db-node7 #1 SMP\n")
	put("proc/net/route", "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\neth0\t00141E0A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\neth0\t00000000\t01141E0A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n")
	put("proc/41/cmdline", "sockperf\x00pp\x00-i\x0010.30.20.7\x00--password\x00hunter2\x00--api-key=abc\x00")
	put("proc/41/environ", "SECRET=1\x00VMA_SPEC=latency\x00LD_PRELOAD=/home/alice/libvma.so\x00")
	put("sys/class/nvme/nvme0/serial", "S64HNE0T123456\n")
	put("sys/devices/pci0000:00/0000:00:01.0/net/eth0/address", "b8:ce:f6:12:34:56\n")
	c.t0.files["sys/devices/virtual/net/enxb8cef6123456/mtu"] = recorded{data: []byte("1500\n")}
	c.extra0["cmd/ip-j-addr"] = []byte(`[{"ifname":"eth0","address":"b8:ce:f6:12:34:56","addr_info":[{"local":"10.30.20.5","prefixlen":24}]}]`)
	c.extra0["cmd/dmesg"] = []byte("[ 1.0] systemd[1]: Hostname set to <db-node7>.\n[ 2.0] nvme nvme0: S64HNE0T123456 at 12:34:56\n[ 3.0] root=UUID=0fc63daf-8483-4772-8e79-3d69d8477de4\n")
	c.extra0["cmd/nvme-list-o-json"] = []byte(`{"Devices":[{"SerialNumber" : "S64HNE0T123456"}]}`)
	c.extra0["cmd/dmidecode"] = []byte("\tSerial Number: 7XK9Q42\n\tVersion: 1.2.3.4\n")
	r := c.redactor()
	clean := func(p string) string {
		if data, ok := c.extra0[p]; ok {
			return string(r.file(p, data))
		}
		return string(r.file(p, c.t0.files[p].data))
	}
	all := ""
	for p := range c.t0.files {
		all += r.path(p) + "\n" + clean(p)
	}
	for p := range c.extra0 {
		all += clean(p)
	}
	for _, gone := range []string{"db-node7", "corp.example", "10.30.20", "b8:ce:f6", "b8cef6", "S64HNE0T", "7XK9Q42", "0fc63daf", "alice", "141E0A"} {
		if strings.Contains(all, gone) {
			t.Errorf("%q is still there", gone)
		}
	}
	if got := clean("proc/sys/kernel/hostname"); got != "host1.domain2.example\n" || clean("etc/hostname") != "host1\n" || !strings.Contains(clean("cmd/dmesg"), "<host1>") {
		t.Errorf("host name %q", got)
	}
	if v := clean("proc/version"); !strings.Contains(v, "5.14.0.427") || !strings.Contains(clean("cmd/dmidecode"), "1.2.3.4") || !strings.Contains(clean("cmd/dmesg"), "12:34:56") {
		t.Errorf("versions and times are no addresses: %q", v)
	}
	checkRelations(t, clean)
}

// checkRelations: the target still lies in the network of the route, over the interface with the address in it.
func checkRelations(t *testing.T, clean func(string) string) {
	t.Helper()
	routes := parseRoutes(clean("proc/net/route"))
	addrs, err := parseIPAddr([]byte(clean("cmd/ip-j-addr")))
	if err != nil || len(routes) != 2 {
		t.Fatal(routes, err)
	}
	target := netip.MustParseAddr(strings.Split(clean("proc/41/cmdline"), "\x00")[3])
	own := netip.MustParsePrefix(addrs["eth0"][0])
	network := netip.MustParsePrefix(routes[0].Dst)
	if !network.Contains(target) || !network.Contains(own.Addr()) || !network.Contains(netip.MustParseAddr(routes[1].Via)) || network != network.Masked() {
		t.Errorf("network %v, target %v, own %v, gateway %v", network, target, own, routes[1].Via)
	}
}

func TestSecretsAreNeverCollected(t *testing.T) {
	if got := string(keptEnviron([]byte("SECRET=1\x00VMA_SPEC=latency\x00AWS_TOKEN=x\x00container=podman\x00"))); got != "VMA_SPEC=latency\x00container=podman\x00" {
		t.Errorf("environ %q", got)
	}
	got := string(hideSecrets([]byte("redis\x00--password\x00hunter2\x00--auth-token=abc\x00--port\x006379\x00--secret\x00-v\x00")))
	if got != "redis\x00--password\x00***\x00--auth-token=***\x00--port\x006379\x00--secret\x00-v\x00" {
		t.Errorf("cmdline %q", got)
	}
}

// A host called "vm" must not turn vm.swappiness into something else.
func TestCommonHostNames(t *testing.T) {
	c := &collected{t0: newRecorder(), extra0: map[string][]byte{}}
	c.t0.files["etc/hostname"] = recorded{data: []byte("vm\n")}
	r := c.redactor()
	if got := string(r.file("cmd/dmesg", []byte("sysctl vm swappiness\n"))); got != "sysctl vm swappiness\n" {
		t.Errorf("%q", got)
	}
	if got := string(r.file("etc/hostname", []byte("vm\n"))); got != "host1\n" {
		t.Errorf("%q", got)
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("10.0.0.1/8 b8:ce:f6:12:34:56 fe80::1 b8ce:f603:0012:3456 /home/x enxb8cef6123456")
	f.Fuzz(func(t *testing.T, text string) {
		r := &redactor{addrs: newAddressMap(), words: map[string]string{"db-node7": "host1"}, homes: map[string]string{}, uuids: map[string]string{}}
		r.inText = wordPattern(r.words)
		once := string(r.file("cmd/dmesg", []byte(text)))
		if again := string(r.file("cmd/dmesg", []byte(text))); again != once {
			t.Fatalf("the same text became %q and %q", once, again)
		}
		r.file("proc/net/route", []byte(text))
		r.file("proc/net/ipv6_route", []byte(text))
	})
}
