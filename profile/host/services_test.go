package host

import (
	"slices"
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

func TestTunedProfile(t *testing.T) {
	h := readAreas(sourceOf(t, `
-- etc/tuned/active_profile --
my-low-latency other
-- etc/tuned/profile_mode --
manual
-- etc/tuned/my-low-latency/tuned.conf --
# comment
[main]
summary=mine
include=network-latency

[sysctl]
vm.swappiness = 1
-- usr/lib/tuned/network-latency/tuned.conf --
[main]
include=latency-performance,../../../etc/passwd
[sysctl]
vm.swappiness=10
net.core.busy_read=50
-- usr/lib/tuned/profiles/latency-performance/tuned.conf --
[main]
include=latency-performance
[cpu]
force_latency=cstate.id_no_zero:1|3
-- etc/tuned/my-low-latency-variables.conf --
; other comment
isolated_cores = 2-9
-- etc/passwd/tuned.conf --
[evil]
x=1
`), readServices)
	is(t, "profile", h.Services.TunedProfile, "my-low-latency other")
	is(t, "mode", h.Services.TunedMode, "manual")
	for key, want := range map[string]string{"sysctl.vm.swappiness": "1", "sysctl.net.core.busy_read": "50",
		"cpu.force_latency": "cstate.id_no_zero:1|3", "variables.isolated_cores": "2-9", "main.summary": "mine"} {
		if got := h.Services.TunedConf[key]; got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
	if h.Services.TunedConf["evil.x"] != "" {
		t.Error("a profile's name must not lead to another directory")
	}
	isMissing(t, "active", h.Services.TunedActive, "need not hold all")
}

func TestSystemdAffinity(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[Manager]\nCPUAffinity=0 1 10 11\n", "0-1,10-11"},
		{"[Manager]\n#CPUAffinity=5\nCPUAffinity=0-3,8\n", "0-3,8"},
		{"CPUAffinity=0\nCPUAffinity=\nCPUAffinity=2\nCPUAffinity=3\n", "2-3"},
	} {
		v := systemdAffinity(sourceOf(t, "-- etc/systemd/system.conf --\n"+c.text))
		if set, ok := v.Get(); !ok || set.String() != c.want {
			t.Errorf("%q = %v (%s), want %s", c.text, set, v.Why(), c.want)
		}
	}
	isMissing(t, "not set", systemdAffinity(sourceOf(t, "-- etc/systemd/system.conf --\n[Manager]\n#CPUAffinity=\n")), "does not set")
	isMissing(t, "no file", systemdAffinity(sourceOf(t, "")), "not there")
	isMissing(t, "a keyword", systemdAffinity(sourceOf(t, "-- etc/systemd/system.conf --\nCPUAffinity=numa\n")), "numa")
	dropIn := "-- etc/systemd/system.conf --\nCPUAffinity=0\n-- etc/systemd/system.conf.d/10-cpus.conf --\n[Manager]\nCPUAffinity=1\n-- etc/systemd/system.conf.d/x.bak --\nCPUAffinity=7\n"
	if set, ok := systemdAffinity(sourceOf(t, dropIn)).Get(); !ok || set.String() != "0-1" {
		t.Errorf("drop-ins add up: %v", set)
	}
}

func TestFirewalls(t *testing.T) {
	h := readAreas(sourceOf(t, `
-- proc/modules --
nf_tables 311296 4 nft_compat, Live 0x0
nf_conntrack 180224 0 - Live 0x0
ip_tables 32768 0 - Live 0x0
mlx5_core 2113536 1 mlx5_ib, Live 0x0
-- proc/net/ip_tables_names --
filter
`), readServices)
	if !slices.Equal(h.Services.Firewalls, []string{"iptables", "nftables"}) {
		t.Errorf("%v: what is loaded without a user filters nothing", h.Services.Firewalls)
	}
}

func TestRunning(t *testing.T) {
	tree := treeOf(t, "")
	h := Host{Procs: []Proc{{PID: 5, Comm: "irqbalance"}, {PID: 6, Comm: "tuned", KThread: true}}}
	is(t, "seen", running(tree, &h, "irqbalance"), true)
	isMissing(t, "not seen in a tree", running(tree, &h, "tuned"), "need not hold all")
	h.Commands = map[string]maybe.Value[string]{"ps-e": maybe.Some("    PID COMMAND\n      1 systemd\n    700 ovs-vswitchd\n")}
	is(t, "in the list of all", running(tree, &h, "ovs-vswitchd"), true)
	is(t, "not in the list of all", running(tree, &h, "tuned"), false)
	h.Identity.Kind = maybe.Some("container")
	isMissing(t, "in a container", running(tree, &h, "tuned"), "container")
}

func TestParseINI(t *testing.T) {
	conf := parseINI("a=1\n[b]\nc = d = e\n[]\nx=y\n[broken\nnot a pair\n")
	if conf[".a"] != "1" || conf["b.c"] != "d = e" || conf[".x"] != "y" || len(conf) != 3 {
		t.Errorf("%v", conf)
	}
}

func FuzzTunedConf(f *testing.F) {
	f.Add("[main]\ninclude=a, b\n[x]\ny = z\n")
	f.Fuzz(func(t *testing.T, text string) {
		for key := range parseINI(text) {
			if !strings.Contains(key, ".") {
				t.Fatalf("key %q without a section", key)
			}
		}
		listed(text, "tuned")
		addAffinity(maybe.None[cpulist.Set]("x"), text, "f")
	})
}
