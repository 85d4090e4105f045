package facts

import (
	"regexp"
	"slices"
	"strings"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/cpulist"
)

func deriveVMA(v *view, f *Facts) {
	a, u, w := &f.VMA, &f.VMA.Unknown, &v.wl
	a.InternalCPUs, a.InternalShares = []int{}, []int{}
	a.Library, a.Asked = w.preload()
	_, byOption := w.option("load-vma", "load-xlio")
	a.Asked = a.Asked || byOption
	v.vmaLoaded(f)
	if !a.Asked && !a.Loaded {
		v.vmaAbsent(a)
		v.vmaNICs(f)
		return
	}
	prefix := "VMA_"
	if a.Library == "xlio" {
		prefix = "XLIO_"
	}
	a.Spec, _, _ = w.env(prefix + "SPEC")
	a.LatencySpec = latencySpec(a.Spec)
	a.ThreadMode, a.MemAlloc = v.vmaParam(prefix+"THREAD_MODE"), v.vmaParam(prefix+"MEM_ALLOC_TYPE")
	a.RXPoll, a.SelectPoll, a.TimerMS = v.vmaParam(prefix+"RX_POLL"), v.vmaParam(prefix+"SELECT_POLL"), v.vmaParam(prefix+"TIMER_RESOLUTION_MSEC")
	v.vmaInternal(f, prefix)
	v.vmaStats(f)
	v.vmaNICs(f)
	v.vmaModeration(a, prefix)
	a.NoHugepages, a.MemlockWarning = noted(f.Notes, "vma-no-hugepages"), noted(f.Notes, "vma-memlock-low")
	a.NoRawQP, a.BondProblem = noted(f.Notes, "vma-no-raw-qp", "vma-no-net-raw"), noted(f.Notes, "vma-bond-not-offloadable")
	if _, _, known := w.env(prefix + "SPEC"); !known {
		u.missAll("the environment of the workload is not known", "spec", "latency_spec")
	}
}

// vmaLoaded goes by the banner of the run, then by what the process has mapped, then by LD_PRELOAD.
func (v *view) vmaLoaded(f *Facts) {
	a, u := &f.VMA, &f.VMA.Unknown
	mapped := ""
	for _, p := range v.wl.procs {
		for _, m := range p.now.Maps {
			if strings.Contains(m, "libxlio") {
				mapped = "xlio"
			} else if strings.Contains(m, "libvma") {
				mapped = "vma"
			}
		}
	}
	r, hasOutput := v.p.Result.Get()
	switch {
	case hasOutput && r.Accel != nil:
		a.Loaded, a.Library = true, r.Accel.Library
		take(u, "version", &a.Version, r.Accel.Version)
		return
	case mapped != "":
		a.Loaded, a.Library = true, mapped
	case noted(f.Notes, "vma-failed-to-start", "vma-no-device"):
	case a.Asked && !noted(f.Notes, "vma-not-loaded"):
		a.Loaded = true
	}
	u.miss("version", "the output holds no banner of the library")
}

// vmaAbsent marks what only a loaded library has.
func (v *view) vmaAbsent(a *VMA) {
	why := "neither libvma nor libxlio is used"
	if !v.wl.present {
		why = v.wl.why
	}
	a.Unknown.missAll(why, "version", "internal_cpus", "offloaded_packets", "os_packets", "poll_hit_share", "tx_dropped_send_requests", "tx_dropped_in_run", "connections", "mean_packet_bytes", "small_payload")
}

func latencySpec(spec string) bool {
	return slices.Contains([]string{"latency", "15", "ultra-latency", "ultra_latency", "10", "multi_ring_latency", "29west", "29"}, strings.ToLower(spec))
}

// vmaParam is a parameter in effect: by the banner, else by the environment with the spec; "" for the library's default.
func (v *view) vmaParam(name string) string {
	if r, ok := v.p.Result.Get(); ok && r.Accel != nil {
		if s, ok := r.Accel.Param(name).Get(); ok {
			return s
		}
	}
	if s, set, _ := v.wl.env(name); set {
		return s
	}
	env := map[string]string{}
	if spec, set, _ := v.wl.env("VMA_SPEC"); set {
		env["VMA_SPEC"] = spec
	}
	if s, ok := bench.AccelEffective(env, name).Get(); ok && len(env) > 0 {
		return s
	}
	return ""
}

// vmaInternal is where the library's own thread runs: seen, else as its variable says.
func (v *view) vmaInternal(f *Facts, prefix string) {
	a, u := &f.VMA, &f.VMA.Unknown
	_, a.InternalSet, _ = v.wl.env(prefix + "INTERNAL_THREAD_AFFINITY")
	set := cpulist.Set{}
	for i := range v.wl.threads {
		if t := &v.wl.threads[i]; t.role == "internal" {
			if c, ok := t.oneCPU(); ok {
				set = set.Or(cpulist.Set{c})
			} else {
				set = set.Or(t.on)
			}
		}
	}
	for _, r := range v.wl.Roles {
		if r.Name == "internal" && len(set) == 0 && r.Fixed {
			set = r.CPUs
		}
	}
	if len(set) == 0 {
		u.missAll("the library's own thread is not pinned, and was not seen on one CPU", "internal_cpus", "internal_shared_cpus", "internal_remote")
		return
	}
	a.InternalPin, a.InternalCPUs = len(set) == 1, ints(set)
	a.InternalShares = ints(set.And(v.wl.data))
	if !v.wl.known {
		u.miss("internal_shared_cpus", v.wl.noWhy)
	}
	if why, missing := f.Unknown["workload_nics"]; missing {
		u.miss("internal_remote", why)
	}
	for i := range f.WorkloadNICs {
		n := &f.WorkloadNICs[i]
		if why, missing := n.Unknown["node"]; missing {
			u.miss("internal_remote", why)
			continue
		}
		for _, node := range v.nodesOf(set) {
			a.InternalRemote = a.InternalRemote || node != n.Node && !v.near(node, n.Node)
		}
	}
}

var (
	ringTx      = regexp.MustCompile(`(?m)^\s*Tx Offload:\s+(\d+) / (\d+)`)
	ringDropped = regexp.MustCompile(`(?m)^\s*TX Dropped Send Reqs:\s+(\d+)`)
	ringSockets = regexp.MustCompile(`(?m)^\s*Attached sockets:\s+(\d+)`)
)

// vmaNICs compares the route to the peer with the interfaces that can be offloaded at all.
func (v *view) vmaNICs(f *Facts) {
	a, u := &f.VMA, &f.VMA.Unknown
	var capable []string
	for i := range f.NICs {
		n := &f.NICs[i]
		if n.LinkUp && slices.Contains([]string{"mlx5_core", "mlx4_en", "mlx4_core"}, n.Driver) {
			capable = append(capable, n.Name)
		}
		a.NICCapable = a.NICCapable || n.Workload && slices.Contains([]string{"mlx5_core", "mlx4_en", "mlx4_core"}, n.Driver)
	}
	a.Offloadable = strings.Join(capable, ", ")
	if why, missing := f.Unknown["workload_nics"]; missing {
		u.miss("nic_capable", why)
	}
	r, ok := v.peerRoute().Get()
	if !ok {
		u.missAll(v.peerRoute().Why(), "route_nic", "route_other_nic")
		return
	}
	a.RouteNIC = r.Dev
	local, ok := v.localAddr()
	if !ok {
		u.miss("route_other_nic", "the workload's own address is not known")
		return
	}
	if n := v.owner(local); n != nil {
		a.RouteOther = n.Name != r.Dev
	}
	if !slices.Contains(capable, r.Dev) && len(capable) > 0 && !v.runsOver(r.Dev, capable) {
		a.RouteOther = true
	}
}

// runsOver reports that the interface is a bond, VLAN or bridge over one of the names.
func (v *view) runsOver(name string, over []string) bool {
	use := nicUse{names: map[string]bool{}, pci: map[string]bool{}}
	use.addName(v, name)
	return slices.ContainsFunc(over, func(n string) bool { return use.names[n] })
}

func (v *view) vmaModeration(a *VMA, prefix string) {
	for _, name := range []string{"CQ_MODERATION_ENABLE", "CQ_AIM_INTERVAL_MSEC"} {
		text, set, _ := v.wl.env(prefix + name)
		if set && text != "0" && !strings.EqualFold(text, "disabled") && !strings.EqualFold(text, "false") {
			a.CQModeration = true
			a.CQModerationBy = prefix + name + "=" + text
			return
		}
	}
	if _, _, known := v.wl.env(prefix + "CQ_MODERATION_ENABLE"); !known {
		a.Unknown.missAll("the environment of the workload is not known", "cq_moderation", "cq_moderation_text")
	}
}
