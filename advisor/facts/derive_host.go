package facts

import (
	"slices"
	"strings"
	"time"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

func deriveHost(v *view, f *Facts) {
	h, u := &f.Host, &f.Host.Unknown
	id, fw := v.b.Identity, v.b.Firmware
	take(u, "kind", &h.Kind, v.kind())
	take(u, "hypervisor", &h.Hypervisor, orEmpty(id.Hypervisor, h.Kind == "bare"))
	take(u, "container", &h.Container, orEmpty(id.Container, h.Kind == "bare" || h.Kind == "vm"))
	take(u, "hostname", &h.Hostname, id.Hostname)
	take(u, "os", &h.OS, id.OS)
	take(u, "os_id", &h.OSID, id.OSID)
	take(u, "vendor", &h.Vendor, v.b.CPU.Vendor)
	take(u, "sys_vendor", &h.SysVendor, fw.SysVendor)
	take(u, "product", &h.Product, fw.Product)
	take(u, "cloud", &h.Cloud, maybe.Map(fw.SysVendor, func(s string) string { return cloud(s, fw.Product.Or("")) }))
	take(u, "bios", &h.BIOS, maybe.Map(fw.BIOSVersion, func(s string) string { return strings.TrimSpace(s + " " + fw.BIOSDate.Or("")) }))
	take(u, "bios_age_years", &h.BIOSAgeY, v.biosAge())
	if h.Arch = v.b.CPU.Arch; h.Arch == "" {
		u.miss("arch", "/proc/version and /proc/cpuinfo do not tell")
	}
	h.Nodes, h.CPUs, h.Cores = len(v.nodes), len(v.online), v.cores(v.online)
	if h.Nodes == 0 {
		u.miss("nodes", "/sys/devices/system/node was not readable")
	}
	if h.CPUs == 0 {
		u.missAll("/sys/devices/system/cpu was not readable", "cpus", "cores")
	}
	take(u, "sockets", &h.Sockets, v.sockets())
	take(u, "uptime_s", &h.UptimeS, v.b.Kernel.UptimeS)
	take(u, "loadavg", &h.Loadavg, v.a.Kernel.Loadavg)
	h.TwoSamples, h.Live = v.two, v.b.Source == "live"
	h.SpanS = v.spanS
	h.Hotplugged = []int{}
	if v.two {
		was, is := v.b.CPU.Online.Or(v.online), v.a.CPU.Online.Or(v.online)
		h.Hotplugged = ints(was.Minus(is).Or(is.Minus(was)))
	} else {
		u.missAll(v.noRate, "span_s", "hotplugged_cpus")
	}
	v.mitigations(h)
}

// kind falls back on the CPU's own flag: without the hypervisor bit nothing virtualises an x86 CPU.
func (v *view) kind() maybe.Value[string] {
	kind := v.b.Identity.Kind
	if kind.Ok() || len(v.b.CPU.Flags) == 0 || v.b.CPU.Arch != "x86_64" {
		return kind
	}
	if slices.Contains(v.b.CPU.Flags, "hypervisor") {
		return maybe.Some("vm")
	}
	return maybe.Some("bare")
}

// orEmpty makes "" of a missing value where its absence is known.
func orEmpty(v maybe.Value[string], absent bool) maybe.Value[string] {
	if !v.Ok() && absent {
		return maybe.Some("")
	}
	return v
}

// cloud goes by the DMI names that the providers document.
func cloud(vendor, product string) string {
	switch {
	case strings.HasPrefix(vendor, "Amazon"):
		return "aws"
	case strings.HasPrefix(vendor, "Microsoft") && strings.Contains(product, "Virtual Machine"):
		return "azure"
	case strings.HasPrefix(vendor, "Google"):
		return "gcp"
	case strings.HasPrefix(vendor, "Oracle"):
		return "oci"
	}
	return ""
}

// biosAge compares the DMI date (MM/DD/YYYY) with the time of the run.
func (v *view) biosAge() maybe.Value[float64] {
	text, ok := v.b.Firmware.BIOSDate.Get()
	if !ok {
		return maybe.None[float64](v.b.Firmware.BIOSDate.Why())
	}
	at := v.b.TimeS
	if at == 0 {
		at = v.p.TimeS
	}
	date, err := time.Parse("01/02/2006", strings.TrimSpace(text))
	if err != nil || at < float64(date.Unix()) {
		return maybe.Nonef[float64]("BIOS date %.20q and the time of the run do not fit together", text)
	}
	return maybe.Some((at - float64(date.Unix())) / (365.25 * 86400))
}

func (v *view) sockets() maybe.Value[int] {
	seen := map[int]bool{}
	for _, c := range v.cpus {
		n, ok := c.Package.Get()
		if !ok {
			return maybe.None[int](c.Package.Why())
		}
		seen[n] = true
	}
	if len(seen) == 0 {
		return maybe.None[int]("no CPU topology")
	}
	return maybe.Some(len(seen))
}

func (v *view) mitigations(h *Host) {
	h.Mitigated = []string{}
	if len(v.b.CPU.Vulnerabilities) == 0 {
		h.Unknown.miss("mitigations", "/sys/devices/system/cpu/vulnerabilities was not readable")
		return
	}
	for name, text := range v.b.CPU.Vulnerabilities {
		if strings.HasPrefix(text, "Mitigation") {
			h.Mitigated = append(h.Mitigated, name)
		}
	}
	slices.Sort(h.Mitigated)
}

func deriveCPU(v *view, f *Facts) {
	c, u, b := &f.CPU, &f.CPU.Unknown, &v.b.CPU
	take(u, "model", &c.Model, b.Model)
	take(u, "family", &c.Family, b.Family)
	take(u, "model_number", &c.ModelNumber, b.ModelNum)
	take(u, "microcode", &c.Microcode, b.Microcode)
	take(u, "zen", &c.Zen, v.zen())
	c.Online, c.OnlineCount, c.BootCPU, c.BootCore = ints(v.online), len(v.online), b.BootCPU, ints(v.bootCore())
	takeSet(u, "offline", &c.Offline, b.Offline)
	take(u, "possible_count", &c.PossibleCount, maybe.Map(b.Possible, func(s cpulist.Set) int { return len(s) }))
	take(u, "smt_active", &c.SMTActive, b.SMTActive)
	take(u, "smt_control", &c.SMTControl, b.SMTControl)
	v.cacheFacts(c)
	c.Has = slices.Clone(b.Flags)
	if len(c.Has) == 0 {
		u.missAll("/proc/cpuinfo has no flags", "flags", "has_1g_pages", "x2apic", "constant_tsc")
		c.Has = []string{}
	}
	c.Has1GPages, c.X2APIC = slices.Contains(c.Has, "pdpe1gb"), slices.Contains(c.Has, "x2apic")
	c.ConstantTSC = slices.Contains(c.Has, "constant_tsc") && slices.Contains(c.Has, "nonstop_tsc")
	multihit, ok := b.Vulnerabilities["itlb_multihit"]
	if !ok {
		u.miss("itlb_multihit", "vulnerabilities/itlb_multihit was not readable")
	}
	c.ITLBMultihit = ok && !strings.HasPrefix(multihit, "Not affected")
}

// zen is AMD's core generation: family 17h is Zen 1 to 2, 19h Zen 3 to 4, 1Ah Zen 5; the model tells them apart.
func (v *view) zen() maybe.Value[int] {
	vendor, ok := v.b.CPU.Vendor.Get()
	if !ok {
		return maybe.None[int](v.b.CPU.Vendor.Why())
	}
	if vendor != "amd" {
		return maybe.Some(0)
	}
	family, ok := v.b.CPU.Family.Get()
	model, ok2 := v.b.CPU.ModelNum.Get()
	if !ok || !ok2 {
		return maybe.None[int]("family or model is not known")
	}
	switch {
	case family == 0x17 && model < 0x30:
		return maybe.Some(1)
	case family == 0x17:
		return maybe.Some(2)
	case family == 0x19 && (model < 0x10 || model >= 0x20 && model < 0x60):
		return maybe.Some(3)
	case family == 0x19:
		return maybe.Some(4)
	case family == 0x1a:
		return maybe.Some(5)
	}
	return maybe.Some(0)
}

func (v *view) cacheFacts(c *CPU) {
	known, kinds, capacity := len(v.cpus) > 0, map[string]bool{}, map[int]bool{}
	bySocket := map[int]cpulist.Set{}
	for _, id := range v.online {
		l := v.cpus[id]
		if l == nil {
			continue
		}
		known = known && l.L3Known
		if k, ok := l.Hybrid.Get(); ok {
			kinds[k] = true
		}
		if n, ok := l.Capacity.Get(); ok {
			capacity[n] = true
		}
		bySocket[l.Package.Or(-1)] = append(bySocket[l.Package.Or(-1)], id)
	}
	c.Hybrid = len(kinds) > 1 || len(capacity) > 1
	if !known {
		c.Unknown.missAll("no level-3 cache in sysfs", "l3_domains", "l3_per_node", "l3_per_socket")
		return
	}
	c.L3Domains = v.l3Domains(v.online)
	for _, n := range v.nodes {
		c.L3PerNode = max(c.L3PerNode, v.l3Domains(v.nodeCPU[n]))
	}
	for _, set := range bySocket {
		c.L3PerSocket = max(c.L3PerSocket, v.l3Domains(set))
	}
}
