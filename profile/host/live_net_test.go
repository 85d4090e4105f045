package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const inNamespace = "COREWISE_TEST_NAMESPACE"

// TestLiveInterfaces makes interfaces of many kinds in a network namespace of its own and compares what is read of them
// with ip(8) and ethtool(8).
func TestLiveInterfaces(t *testing.T) {
	if os.Getenv(inNamespace) != "" {
		liveInterfaces(t)
		return
	}
	if os.Geteuid() != 0 {
		skip(t, "making a network namespace needs root")
	}
	for _, tool := range []string{"ip", "ethtool"} {
		if _, err := exec.LookPath(tool); err != nil {
			skip(t, err.Error())
		}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestLiveInterfaces$", "-test.v")
	cmd.Env = append(os.Environ(), inNamespace+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		skip(t, "making a network namespace: "+err.Error())
	}
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

// liveInterfaces runs in the namespace. /sys shows the namespace in which it was mounted, so it is mounted again.
func liveInterfaces(t *testing.T) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("sysfs", "/sys", "sysfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	optional := makeInterfaces(t)
	h := readAreas(LiveSource(), readCommands, readNICs, readNet)
	if len(h.Gaps) != 0 {
		t.Errorf("gaps: %v", h.Gaps)
	}
	compareLinks(t, &h)
	compareAddresses(t, &h)
	compareRoutes(t, &h)
	for _, n := range h.NICs {
		t.Run(n.Name, func(t *testing.T) { compareEthtool(t, n.Name) })
	}
	bottom := func(name string) (names []string) {
		for _, n := range h.Bottom(name) {
			names = append(names, n.Name)
		}
		return names
	}
	if got := bottom("mac0"); !slices.Equal(got, []string{"va"}) {
		t.Errorf("below a macvlan: %v", got)
	}
	if got := bottom("br0"); !slices.Equal(got, []string{"tap0", "vc"}) {
		t.Errorf("below a bridge: %v", got)
	}
	if optional["vlan"] {
		if got := bottom("va.100"); !slices.Equal(got, []string{"va"}) {
			t.Errorf("below a VLAN: %v", got)
		}
	}
	if optional["bond"] {
		if got := bottom("bond0"); !slices.Equal(got, []string{"ve", "vg"}) {
			t.Errorf("below a bond: %v", got)
		}
		is(t, "bond mode", h.NIC("bond0").BondMode, "active-backup")
	}
	if xps := h.NIC("va").XPS["tx-1"]; xps.String() != "0" {
		t.Errorf("XPS of tx-1: %q", xps)
	}
}

// makeInterfaces returns which of the kinds that not every kernel has were made.
func makeInterfaces(t *testing.T) map[string]bool {
	t.Helper()
	ip := func(args ...string) error {
		out, err := exec.Command("ip", args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ip %v: %w: %s", args, err, out)
		}
		return nil
	}
	for _, line := range []string{
		"link set lo up",
		"link add va numtxqueues 4 numrxqueues 4 type veth peer name vb numtxqueues 4 numrxqueues 4", "link add vc type veth peer name vd",
		"link add ve type veth peer name vf", "link add vg type veth peer name vh",
		"link add link va name mac0 type macvlan mode bridge", "link add br0 type bridge", "tuntap add dev tap0 mode tap", "tuntap add dev tun0 mode tun",
		"link set vc master br0", "link set tap0 master br0", "link set va mtu 9000 up", "link set vb up", "link set br0 up", "link set mac0 up",
		"addr add 192.0.2.5/24 dev va", "addr add 198.51.100.9/29 dev br0", "addr add fd00:1::5/64 dev va nodad",
		"route add default via 192.0.2.1 dev va metric 50", "route add 203.0.113.0/25 via 198.51.100.10",
	} {
		if err := ip(strings.Fields(line)...); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("/sys/class/net/va/queues/tx-1/xps_cpus", []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	made := map[string]bool{}
	for kind, line := range map[string]string{"vlan": "link add link va name va.100 type vlan id 100", "dummy": "link add d0 type dummy",
		"bond": "link add bond0 type bond mode active-backup"} {
		err := ip(strings.Fields(line)...)
		if err != nil && !strings.Contains(err.Error(), "Unknown device type") {
			t.Fatal(err)
		}
		if made[kind] = err == nil; err != nil {
			t.Logf("this kernel has no %s", kind)
		}
	}
	if made["bond"] {
		for _, port := range []string{"ve", "vg"} {
			if err := ip("link", "set", port, "master", "bond0"); err != nil {
				t.Fatal(err)
			}
		}
	}
	return made
}

// ipJSON runs ip -j and decodes the answer.
func ipJSON[T any](t *testing.T, args ...string) T {
	t.Helper()
	out, err := exec.Command("ip", append([]string{"-j"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func compareLinks(t *testing.T, h *Host) {
	t.Helper()
	type link struct {
		Name     string `json:"ifname"`
		MTU      int    `json:"mtu"`
		State    string `json:"operstate"`
		Address  string `json:"address"`
		Master   string `json:"master"`
		TxQueues int    `json:"num_tx_queues"`
		LinkType string `json:"link_type"`
		Info     struct {
			Kind string `json:"info_kind"`
			Data struct {
				Type string `json:"type"` // tun: tap or tun
			} `json:"info_data"`
		} `json:"linkinfo"`
	}
	links := ipJSON[[]link](t, "-d", "link")
	if len(links) != len(h.NICs) {
		t.Errorf("ip knows %d interfaces, %d were read", len(links), len(h.NICs))
	}
	for _, l := range links {
		n := h.NIC(l.Name)
		if n == nil {
			t.Errorf("%s was not read", l.Name)
			continue
		}
		kind := l.Info.Kind
		if kind == "tun" && l.Info.Data.Type != "" {
			kind = l.Info.Data.Type
		}
		if l.LinkType == "loopback" {
			kind = "loopback"
		}
		if n.Type != kind {
			t.Errorf("%s: type %s, ip says %s", l.Name, n.Type, kind)
		}
		is(t, l.Name+" mtu", n.MTU, l.MTU)
		is(t, l.Name+" state", n.OperState, strings.ToLower(l.State))
		if l.LinkType != "none" {
			is(t, l.Name+" address", n.MAC, l.Address)
		}
		// ip tells how many queues were allocated, sysfs how many of them are used.
		if n.Master != l.Master || n.TxQueues < 1 || n.TxQueues > l.TxQueues {
			t.Errorf("%s: master %q, %d queues; ip says %q, %d", l.Name, n.Master, n.TxQueues, l.Master, l.TxQueues)
		}
	}
}

func compareAddresses(t *testing.T, h *Host) {
	t.Helper()
	out, err := exec.Command("ip", "-j", "addr").Output()
	if err != nil {
		t.Fatal(err)
	}
	want, err := parseIPAddr(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range h.NICs {
		got, expect := slices.Sorted(slices.Values(n.Addrs)), slices.Sorted(slices.Values(want[n.Name]))
		if !slices.Equal(got, expect) {
			t.Errorf("%s has %v, ip says %v", n.Name, got, expect)
		}
	}
	if !slices.Contains(h.NIC("va").Addrs, "192.0.2.5/24") {
		t.Errorf("va has %v", h.NIC("va").Addrs)
	}
	// The fallback of a tree without ip: local addresses joined with the routes.
	trie, err := os.ReadFile("/proc/net/fib_trie")
	if err != nil {
		t.Fatal(err)
	}
	joined := joinAddresses(parseFibTrie(string(trie)), h.Net.Routes)
	for name, addrs := range want {
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a); err == nil && p.Addr().Is4() && !slices.Contains(joined[name], a) {
				t.Errorf("fib_trie gives %s %v, ip says %s", name, joined[name], a)
			}
		}
	}
}

func compareRoutes(t *testing.T, h *Host) {
	t.Helper()
	out, err := exec.Command("ip", "-j", "route").Output()
	if err != nil {
		t.Fatal(err)
	}
	routes, err := parseIPRoute(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(routes) < 4 {
		t.Errorf("ip prints only %d routes", len(routes))
	}
	for _, want := range routes {
		want.Src = "" // the kernel's file does not have it
		if !slices.Contains(h.Net.Routes, want) {
			t.Errorf("no route %+v among %+v", want, h.Net.Routes)
		}
	}
}

// TestEthtoolOfThisMachine compares with ethtool(8) for every interface of this machine with a device below it.
func TestEthtoolOfThisMachine(t *testing.T) {
	if _, err := exec.LookPath("ethtool"); err != nil {
		skip(t, err.Error())
	}
	h := readAreas(LiveSource(), readCommands, readNICs)
	for _, n := range h.NICs {
		if n.PCI != "" {
			t.Run(n.Name, func(t *testing.T) { compareEthtool(t, n.Name) })
		}
	}
}

// compareEthtool asks the driver and compares with what ethtool(8) prints, read by the parsers for its text. A value that
// ethtool prints as n/a or not at all must not be present; ring, channel and pause ioctls read 0 for n/a, as they must.
func compareEthtool(t *testing.T, iface string) {
	conn, err := dialEthtool()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.close()
	got := conn.ask(iface, true)
	text := func(option string) (string, bool) {
		out, err := exec.Command("ethtool", option, iface).Output()
		return string(out), err == nil
	}
	if out, ok := text("-i"); ok {
		keys := colonKeys(out)
		is(t, "driver", got.Driver.v.Driver.Value, keys["driver"])
		is(t, "bus-info", got.Driver.v.BusInfo.Value, keys["bus-info"])
		is(t, "version", got.Driver.v.Version.Value, keys["version"])
	}
	out, ok := text("-k")
	compareMaps(t, "feature", got.Features.v, featuresText(out), ok)
	out, ok = text("-S")
	if stats := statsText(out); ok != got.Stats.ok || len(stats) != len(got.Stats.v) {
		t.Errorf("%d statistics (%v), ethtool has %d", len(got.Stats.v), got.Stats.errno, len(stats))
	}
	out, ok = text("-c")
	c := coalesceText(out)
	sameKey(t, "coalesce", ok, got.Coalesce.ok, map[string][2]any{
		"adaptive-rx": {got.Coalesce.v.AdaptiveRX, c.AdaptiveRX}, "adaptive-tx": {got.Coalesce.v.AdaptiveTX, c.AdaptiveTX},
		"rx-usecs": {got.Coalesce.v.RXUsecs, c.RXUsecs}, "rx-frames": {got.Coalesce.v.RXFrames, c.RXFrames},
		"tx-usecs": {got.Coalesce.v.TXUsecs, c.TXUsecs}, "tx-frames": {got.Coalesce.v.TXFrames, c.TXFrames},
	})
	out, ok = text("-g")
	limit, now := twoBlocks(out)
	sameKey(t, "rings", ok, got.Rings.ok, map[string][2]any{"rx": {got.Rings.v.RX, intKey(now, "RX")}, "rx-max": {got.Rings.v.RXMax, intKey(limit, "RX")},
		"tx": {got.Rings.v.TX, intKey(now, "TX")}})
	out, ok = text("-l")
	limit, now = twoBlocks(out)
	sameKey(t, "channels", ok, got.Channels.ok, map[string][2]any{"combined": {zeroKey(got.Channels.v.Combined), zeroKey(intKey(now, "Combined"))},
		"combined-max": {zeroKey(got.Channels.v.CombinedMax), zeroKey(intKey(limit, "Combined"))}, "rx": {zeroKey(got.Channels.v.RX), zeroKey(intKey(now, "RX"))}})
	compareSettings(t, iface, got.Link.v)
}

// zeroKey makes n/a and 0 the same.
func zeroKey(k key[int]) key[int] { return has(k.Or(0)) }

func sameKey(t *testing.T, part string, printed, answered bool, keys map[string][2]any) {
	t.Helper()
	if printed != answered {
		t.Errorf("%s: ethtool prints it: %v, the driver answered: %v", part, printed, answered)
		return
	}
	for name, k := range keys {
		if a, b := fmt.Sprint(k[0]), fmt.Sprint(k[1]); printed && a != b {
			t.Errorf("%s %s: %s, ethtool says %s", part, name, a, b)
		}
	}
}

func compareMaps(t *testing.T, what string, got, want map[string]bool, printed bool) {
	t.Helper()
	if !printed || len(got) < len(want) {
		t.Errorf("%d %ss, ethtool prints %d", len(got), what, len(want))
	}
	for name, on := range want {
		if v, ok := got[name]; !ok || v != on {
			t.Errorf("%s %s: %v (%v), ethtool says %v", what, name, v, ok, on)
		}
	}
}

// compareSettings compares with plain `ethtool IFACE`.
func compareSettings(t *testing.T, iface string, l linkPart) {
	t.Helper()
	out, err := exec.Command("ethtool", iface).Output()
	if err != nil {
		if l.SpeedMbps.Ok() || l.Autoneg.Ok() {
			t.Errorf("link %+v, ethtool knows nothing: %v", l, err)
		}
		return
	}
	want := linkText(string(out))
	for name, c := range map[string][2]any{"speed": {l.SpeedMbps.Or(0), want.SpeedMbps.Or(0)}, "fastest": {l.MaxSpeedMbps.Or(0), want.MaxSpeedMbps.Or(0)},
		"duplex": {l.Duplex.Or(""), want.Duplex.Or("")}, "autoneg": {l.Autoneg.Or(false), want.Autoneg.Or(false)}, "port": {l.Port.Or(""), want.Port.Or("")}} {
		if c[0] != c[1] && strings.Contains(string(out), "Port:") {
			t.Errorf("%s %v, ethtool says %v", name, c[0], c[1])
		}
	}
}
