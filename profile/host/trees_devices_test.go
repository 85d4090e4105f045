package host

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCaseTreesDevices compares the devices, processes and services of every case tree with its raw files.
func TestCaseTreesDevices(t *testing.T) {
	for _, name := range caseTrees(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			tree := openTree(t, name)
			s := tree.First()
			h := Take(t.Context(), s)
			checkTreeNICs(t, s, &h)
			checkTreePCI(t, s, &h)
			checkTreeProcs(t, s, &h)
			checkTreeRest(t, s, &h)
		})
	}
}

func dirOf(s *Source, p string) []string {
	names, err := s.Dir(p)
	if err != nil {
		return nil
	}
	return names
}

func checkTreeNICs(t *testing.T, s *Source, h *Host) {
	t.Helper()
	names := dirOf(s, "/sys/class/net")
	if len(h.NICs) != len(names) {
		t.Errorf("%d interfaces of %d", len(h.NICs), len(names))
	}
	for i := range h.NICs {
		n := &h.NICs[i]
		if n.Type != "physical" && n.Type != "virtual" || n.PCI == "" || !n.Driver.Ok() || !n.MTU.Ok() || len(n.RPS) != n.RxQueues ||
			n.RxQueues == 0 || len(n.XPS) != n.TxQueues || len(n.IRQs) == 0 || len(n.NetStats) < 9 || !n.Node.Ok() {
			t.Errorf("%+v", *n)
		}
		b, err := s.ReadExtra("ethtool/" + n.Name + ".json")
		if err != nil {
			t.Error(err)
			continue
		}
		var raw map[string]map[string]any
		if err := json.Unmarshal(b, &raw); err != nil {
			t.Fatal(err)
		}
		for what, c := range map[string][2]any{
			"rings.rx":            {raw["rings"]["rx"], n.Rings.RX.Or(-1)},
			"channels.combined":   {raw["channels"]["combined"], n.Channels.Combined.Or(-1)},
			"rss.hash_function":   {raw["rss"]["hash_function"], n.RSS.HashFunc.Or("?")},
			"driver.driver":       {raw["driver"]["driver"], n.Driver.Or("?")},
			"link.port":           {raw["link"]["port"], n.Port.Or("?")},
			"coalesce.rx_usecs":   {raw["coalesce"]["rx_usecs"], orNil(n.Coalesce.RXUsecs.Get())},
			"coalesce.rx_frames":  {raw["coalesce"]["rx_frames"], orNil(n.Coalesce.RXFrames.Get())},
			"pause.rx":            {raw["pause"]["rx"], orNil(n.Pause.RX.Get())},
			"features.gro":        {raw["features"]["generic_receive_offload"], n.Features.Or(nil)["generic_receive_offload"]},
			"number of stats":     {len(raw["stats"]), len(n.Stats.Or(nil))},
			"number of features":  {len(raw["features"]), len(n.Features.Or(nil))},
			"number of privflags": {len(raw["priv_flags"]), len(n.PrivFlags.Or(nil))},
		} {
			if codedAdaptive(n.Driver.Or(""), intKey(map[string]string{"u": fmt.Sprint(raw["coalesce"]["rx_usecs"])}, "u").Value) && strings.HasPrefix(what, "coalesce.rx_usecs") {
				continue
			}
			if fmt.Sprint(c[0]) != fmt.Sprint(c[1]) {
				t.Errorf("%s %s: the file says %v, read %v", n.Name, what, c[0], c[1])
			}
		}
	}
}

func orNil[T any](v T, ok bool) any {
	if !ok {
		return nil
	}
	return v
}

func checkTreePCI(t *testing.T, s *Source, h *Host) {
	t.Helper()
	for _, bdf := range dirOf(s, "/sys/bus/pci/devices") {
		p := h.PCIFunction(bdf)
		if p == nil {
			t.Errorf("%s was not read", bdf)
			continue
		}
		dir := "/sys/bus/pci/devices/" + bdf
		if driver, err := s.Readlink(dir + "/driver"); p.Driver.Or("?") != path.Base(driver) && err == nil {
			t.Errorf("%s: driver %v", bdf, p.Driver)
		}
		if s.Exists(dir+"/config") && !p.ReadReqBytes.Ok() {
			t.Errorf("%s: %s", bdf, p.ReadReqBytes.Why())
		}
		if s.Exists(dir+"/current_link_width") && (!p.Width.Ok() || !p.SpeedGTs.Ok() || !p.MaxWidth.Ok() || !p.MaxSpeedGTs.Ok()) {
			t.Errorf("%s: link %v %v of %v %v", bdf, p.SpeedGTs, p.Width, p.MaxSpeedGTs, p.MaxWidth)
		}
		if group := s.Exists(dir + "/iommu_group"); group != p.IOMMUGroup.Ok() || group == (p.IOMMUType.Or("") == "none") {
			t.Errorf("%s: group %v, type %v", bdf, p.IOMMUGroup, p.IOMMUType)
		}
		if up := h.PCIPath(bdf); len(up) == 0 || up[len(up)-1].Parent != "" || !strings.HasPrefix(up[0].RootBus, "pci") {
			t.Errorf("%s: path %v", bdf, up)
		}
	}
}

func checkTreeProcs(t *testing.T, s *Source, h *Host) {
	t.Helper()
	count := 0
	for _, name := range dirOf(s, "/proc") {
		if !s.Exists("/proc/" + name + "/stat") {
			continue
		}
		count++
		i := slices.IndexFunc(h.Procs, func(p Proc) bool { return fmt.Sprint(p.PID) == name })
		if i < 0 {
			t.Errorf("process %s was not read", name)
			continue
		}
		p := h.Procs[i]
		if len(p.Threads) != len(dirOf(s, "/proc/"+name+"/task")) || p.Comm != s.Text("/proc/"+name+"/comm").Or("?") || len(p.Cgroup) == 0 {
			t.Errorf("%+v", p)
		}
		if p.KThread == (len(p.Argv) > 0) || !p.KThread && (p.EnvWhy != "" || !p.MemlockBytes.Ok() || !p.RSSBytes.Ok()) {
			t.Errorf("%s: kernel thread %v, argv %v, env %s, memlock %v", p.Comm, p.KThread, p.Argv, p.EnvWhy, p.MemlockBytes)
		}
		for _, th := range p.Threads {
			if !th.AllowedKnown || !th.LastCPU.Ok() || !th.Policy.Ok() || !th.Voluntary.Ok() {
				t.Errorf("%s: %+v", p.Comm, th)
			}
		}
	}
	if count != len(h.Procs) || count < 2 {
		t.Errorf("%d processes of %d", len(h.Procs), count)
	}
}

func checkTreeRest(t *testing.T, s *Source, h *Host) {
	t.Helper()
	if !h.Log.Known.Ok() || len(h.Cgroups) == 0 || h.Cgroups[0].Path != "/" {
		t.Errorf("log %v, %d cgroups", h.Log.Known, len(h.Cgroups))
	}
	for _, f := range []string{"/etc/default/irqbalance", "/etc/sysconfig/irqbalance"} {
		if s.Exists(f) && (!h.Services.Irqbalance.ConfigKnown || !h.Services.Irqbalance.Running.Ok() || !h.Services.Irqbalance.Version.Ok()) {
			t.Errorf("irqbalance %+v", h.Services.Irqbalance)
		}
	}
	if s.Exists("/etc/tuned/active_profile") != h.Services.TunedProfile.Ok() {
		t.Errorf("tuned %v", h.Services.TunedProfile)
	}
	if len(dirOf(s, "/sys/class/infiniband")) != len(h.RDMA) || len(dirOf(s, "/sys/class/nvme")) != len(h.Storage.NVMe) {
		t.Errorf("%d RDMA devices, %d controllers", len(h.RDMA), len(h.Storage.NVMe))
	}
	for _, r := range h.RDMA {
		if len(r.Netdevs) == 0 || !r.RateGbps.Ok() || r.State.Or("") != "ACTIVE" || len(r.HWCounters) == 0 || r.PCI == "" || !r.Node.Ok() {
			t.Errorf("%+v", r)
		}
	}
	for _, c := range h.Storage.NVMe {
		if !c.Transport.Ok() || len(c.IRQs) == 0 || !c.Node.Ok() || !c.Queues.Ok() {
			t.Errorf("%+v", c)
		}
	}
	if h.Net.RoutesKnown != (s.Exists("/proc/net/route") || command(h, "ip-j-route").Ok()) {
		t.Error("routes")
	}
	if command(h, "ip-j-addr").Ok() || s.Exists("/proc/net/fib_trie") {
		if !slices.ContainsFunc(h.NICs, func(n NIC) bool { return len(n.Addrs) > 0 }) && len(h.NICs) > 0 {
			t.Error("no interface has an address")
		}
	}
}

// TestCaseFacts holds the facts on which single cases turn.
func TestCaseFacts(t *testing.T) {
	take := func(id string) *Host {
		h := Take(t.Context(), openTree(t, "../../testdata/cases/"+id+".txtar").First())
		return &h
	}
	is(t, "C10: numa_node of the NIC", take("C10").PCIFunction("0000:3b:00.0").Node, 1)
	is(t, "C10: and of its root port", take("C10").PCIFunction("0000:3a:00.0").Node, 0)
	is(t, "C44: relaxed ordering", take("C44").PCIFunction("0000:41:00.0").RelaxedOrdering, false)
	is(t, "C47: pause", take("C47").NICs[0].Pause.RX, true)
	bar := func(h *Host) BAR {
		bars := h.PCIFunction("0000:27:00.0").BARs
		return bars[len(bars)-1]
	}
	is(t, "C50: large BAR", bar(take("C50")).CacheType, "uncached-minus")
	is(t, "C50-wc: large BAR", bar(take("C50-wc")).CacheType, "write-combining")
	isMissing(t, "C50-unknown: large BAR", bar(take("C50-unknown")).CacheType, "not readable")
	is(t, "C55: driver", take("C55").PCIFunction("0000:17:00.0").Driver, "vfio-pci")
	is(t, "C55: version", take("C55").OVS.Version, "2.17.9")
	if m := take("C55").OVS.OtherConfig.Or(nil); m["pmd-cpu-mask"] != "0x3c" {
		t.Errorf("C55: other_config %v", m)
	}
	throttled := slices.MaxFunc(take("C59").Cgroups, func(a, b Cgroup) int { return int(a.ThrottledUS.Or(0) - b.ThrottledUS.Or(0)) })
	is(t, "C59: throttled", throttled.ThrottledUS, 210_000_000)
	is(t, "F06: trust", take("F06").NICs[0].Trust, "dscp")
	for id, want := range map[string]string{"F06": "[3]", "F06-lossy": "[]"} {
		if prios, ok := take(id).NICs[0].PFCPrios.Get(); !ok || fmt.Sprint(prios) != want {
			t.Errorf("%s: priorities with flow control %v, want %s", id, prios, want)
		}
	}
	if k := take("F11").K8s; len(k.Exclusive) != 1 || k.ReservedCPUs.Or(nil).String() != "0-1" {
		t.Errorf("F11: %+v", k)
	}
	if k := take("C22").K8s; len(k.IRQLBDisabled) != 1 || take("C22-after").K8s.IRQLBDisabled != nil {
		t.Errorf("C22: %+v", k)
	}
	if e := take("F01-eacces").Services.Irqbalance.IRQErrors; len(e) != 2 || e[0].Reason != "sandboxed" {
		t.Errorf("F01-eacces: %v", e)
	}
	if fds := take("C36-held").Procs; !slices.ContainsFunc(fds, func(p Proc) bool { return p.FDs["4"] == "/dev/cpu_dma_latency" }) {
		t.Error("C36-held: nobody holds cpu_dma_latency")
	}
	if u := take("C27").Kernel.Unknown; !slices.Equal(u, []string{"rcu_nocbs=2-7"}) {
		t.Errorf("C27: unknown parameters %q", u)
	}
}
