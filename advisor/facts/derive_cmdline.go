package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
)

func deriveCmdline(v *view, f *Facts) {
	c := &f.Cmdline
	c.lists()
	text, ok := v.b.Kernel.Cmdline.Get()
	if !ok {
		for _, e := range entries(Entry{}, typeOf(*c)) {
			c.Unknown.miss(e.Name, v.b.Kernel.Cmdline.Why())
		}
		return
	}
	c.Text = text
	args := cmdArgs(v.b.Kernel.Args)
	v.cmdCPULists(c, args)
	v.cmdEffect(c)
	v.cmdIOMMU(c, args)
	cmdPlain(c, args)
	c.Hugepages = hugepageWords(v.b.Kernel.Args)
	c.RepeatedKeys = repeated(v.b.Kernel.Args)
	c.UnknownParams = append(c.UnknownParams, v.b.Kernel.Unknown...)
	c.Typographic = strings.ContainsAny(text, "\u2010\u2011\u2012\u2013\u2014\u2212\u201c\u201d\u2018\u2019\u00a0")
	if !v.b.Log.Known.Or(false) && len(c.UnknownParams) == 0 {
		c.Unknown.miss("unknown_params", "no kernel log was readable")
	}
}

// lists makes every list empty instead of nil.
func (c *Cmdline) lists() {
	for _, l := range []*[]int{&c.IsolcpusCPUs, &c.NohzFullCPUs, &c.RCUNocbsCPUs, &c.IrqaffinityCPUs, &c.IrqaffinityOnIso, &c.IsolcpusIgnored, &c.NohzFullIgnored, &c.OfflineCPUs} {
		*l = []int{}
	}
	for _, l := range []*[]string{&c.IsolcpusFlags, &c.ParseErrors, &c.UnknownParams, &c.RepeatedKeys, &c.IommuInvalid} {
		*l = []string{}
	}
}

// cmdArgs indexes the command line: the last of several words with one key counts; '-' and '_' are equal in names.
func cmdArgs(list []host.Arg) map[string]host.Arg {
	m := make(map[string]host.Arg, len(list))
	for _, a := range list {
		m[cmdKey(a.Key)] = a
	}
	return m
}

func cmdKey(key string) string { return strings.ReplaceAll(key, "-", "_") }

// repeated names keys with CPU lists or C-states that are given twice with different values: the reader of the command
// line and the kernel may take different ones for the valid one.
func repeated(list []host.Arg) []string {
	out, seen := []string{}, map[string]string{}
	for _, a := range list {
		key := cmdKey(a.Key)
		switch key {
		case "isolcpus", "nohz_full", "rcu_nocbs", "irqaffinity", "intel_idle.max_cstate", "processor.max_cstate", "kthread_cpus", "idle", "mitigations":
		default:
			continue
		}
		if old, ok := seen[key]; ok && old != a.Value && !slices.Contains(out, key) {
			out = append(out, key)
		}
		seen[key] = a.Value
	}
	return out
}

// cmdCPULists reads the CPU lists as the kernel does: isolcpus may begin with flags, N is the last possible CPU.
func (v *view) cmdCPULists(c *Cmdline, args map[string]host.Arg) {
	c.Isolcpus, c.NohzFull, c.RCUNocbs, c.Irqaffinity = args["isolcpus"].Value, args["nohz_full"].Value, args["rcu_nocbs"].Value, args["irqaffinity"].Value
	list := c.Isolcpus
	for {
		word, rest, _ := strings.Cut(list, ",")
		if word != "nohz" && word != "domain" && word != "managed_irq" {
			break
		}
		c.IsolcpusFlags, list = append(c.IsolcpusFlags, word), rest
	}
	if c.Isolcpus != "" && len(c.IsolcpusFlags) == 0 {
		c.IsolcpusFlags = []string{"domain"}
	}
	c.IsolcpusDomain = slices.Contains(c.IsolcpusFlags, "domain")
	c.IsolcpusManagedIRQ = slices.Contains(c.IsolcpusFlags, "managed_irq")
	c.IsolcpusCPUs = v.cmdList(c, "isolcpus", list)
	c.NohzFullCPUs = v.cmdList(c, "nohz_full", c.NohzFull)
	c.RCUNocbsCPUs = v.cmdList(c, "rcu_nocbs", c.RCUNocbs)
	c.IrqaffinityCPUs = v.cmdList(c, "irqaffinity", c.Irqaffinity)
	c.IsolationAsked = c.Isolcpus != "" || c.NohzFull != ""
	c.RCUNocbPoll = has(args, "rcu_nocb_poll")
}

func (v *view) cmdList(c *Cmdline, key, text string) []int {
	if text == "" {
		return []int{}
	}
	set, err := cpulist.ParseKernel(text, v.last())
	if err != nil {
		c.ParseErrors = append(c.ParseErrors, fmt.Sprintf("%s=%s: %v", key, text, err))
		return []int{}
	}
	if possible, ok := v.b.CPU.Possible.Get(); ok {
		c.OfflineCPUs = ints(cpulist.Of(c.OfflineCPUs...).Or(set.Minus(possible)))
	}
	return ints(set)
}

// cmdEffect compares what was asked for with what the kernel made of it.
func (v *view) cmdEffect(c *Cmdline) {
	u := &c.Unknown
	asked := cpulist.Of(c.IsolcpusCPUs...).And(v.online)
	isolated, ok := v.b.CPU.Isolated.Get()
	switch {
	case !c.IsolcpusDomain:
	case ok:
		c.IsolcpusIgnored = ints(asked.Minus(isolated))
	default:
		u.miss("isolcpus_ignored_cpus", v.b.CPU.Isolated.Why())
	}
	want := cpulist.Of(c.NohzFullCPUs...).And(v.online).Minus(cpulist.Set{v.b.CPU.BootCPU})
	tickless, ok := v.b.CPU.NohzFull.Get()
	switch {
	case len(want) == 0:
	case ok:
		c.NohzFullIgnored = ints(want.Minus(tickless))
	default:
		u.miss("nohz_full_ignored_cpus", v.b.CPU.NohzFull.Why())
	}
	if v.iso.known {
		c.IrqaffinityOnIso = ints(cpulist.Of(c.IrqaffinityCPUs...).And(v.iso.cpus()))
	} else if c.Irqaffinity != "" {
		u.miss("irqaffinity_isolated_cpus", v.iso.domain.Why())
	}
}

// cmdIOMMU collects the IOMMU words. amd_iommu=pt is the classic that no kernel knows (drivers/iommu/amd/init.c).
func (v *view) cmdIOMMU(c *Cmdline, args map[string]host.Arg) {
	var words []string
	for _, key := range []string{"iommu", "intel_iommu", "amd_iommu", "iommu.passthrough", "iommu.strict"} {
		a, ok := args[key]
		if !ok {
			continue
		}
		words = append(words, key+"="+a.Value)
		for _, value := range strings.Split(a.Value, ",") {
			if !iommuKnown(key, value) {
				c.IommuInvalid = append(c.IommuInvalid, key+"="+value)
			}
		}
	}
	c.Iommu = strings.Join(words, " ")
	c.IommuPassthrough = inList(args["iommu"].Value, "pt") || args["iommu.passthrough"].Value == "1" || inList(args["iommu"].Value, "passthrough")
	c.IommuOff = inList(args["iommu"].Value, "off") || inList(args["intel_iommu"].Value, "off") || inList(args["amd_iommu"].Value, "off")
	c.IommuStrict = args["iommu.strict"].Value == "1" || inList(args["intel_iommu"].Value, "strict")
	for _, h := range v.a.Log.Hits {
		if h.Code == "iommu-invalid-param" && len(c.IommuInvalid) == 0 {
			c.IommuInvalid = append(c.IommuInvalid, h.First)
		}
	}
}

// iommuKnown lists the values of admin-guide/kernel-parameters.txt.
func iommuKnown(key, value string) bool {
	known := map[string][]string{
		"iommu":       {"off", "force", "noforce", "biomerge", "panic", "nopanic", "merge", "nomerge", "soft", "pt", "nopt", "nobypass", "usedac", "allowdac", "noagp", "memaper", "noaperture", "calgary", "dac", "nodac", "forcedac"},
		"intel_iommu": {"on", "off", "igfx_off", "forcedac", "strict", "sp_off", "sm_on", "sm_off", "tboot_noforce", "nobounce"},
		"amd_iommu":   {"fullflush", "off", "on", "force_isolation", "force_enable", "pgtbl_v1", "pgtbl_v2", "irtcachedis", "nohugepages", "v2_pgsizes_only"},
	}
	list, ok := known[key]
	return !ok || value == "" || slices.Contains(list, value) || strings.HasPrefix(value, "memaper=")
}

func inList(list, word string) bool { return slices.Contains(strings.Split(list, ","), word) }

func has(args map[string]host.Arg, key string) bool {
	_, ok := args[key]
	return ok
}

// cmdPlain copies words that are compared as they are.
func cmdPlain(c *Cmdline, args map[string]host.Arg) {
	c.Idle, c.TSC, c.Clocksource, c.MCE = args["idle"].Value, args["tsc"].Value, args["clocksource"].Value, args["mce"].Value
	c.Mitigations, c.PcieASPM, c.THP = args["mitigations"].Value, args["pcie_aspm"].Value, args["transparent_hugepage"].Value
	c.Nosoftlockup, c.Nosmt = has(args, "nosoftlockup"), has(args, "nosmt")
	c.SkewTick, c.NohzOff = args["skew_tick"].Value == "1", args["nohz"].Value == "off"
	if c.Pstate = args["intel_pstate"].Value; c.Pstate == "" {
		c.Pstate = args["amd_pstate"].Value
	}
	c.IntelIdleMax, c.IntelIdleMaxSet = cmdInt(c, args, "intel_idle.max_cstate")
	c.ProcessorMax, c.ProcessorMaxSet = cmdInt(c, args, "processor.max_cstate")
}

// hugepageWords keeps the order: hugepages= counts for the hugepagesz= before it.
func hugepageWords(list []host.Arg) string {
	var words []string
	for _, a := range list {
		switch a.Key {
		case "default_hugepagesz", "hugepagesz", "hugepages":
			words = append(words, a.Key+"="+a.Value)
		}
	}
	return strings.Join(words, " ")
}

func cmdInt(c *Cmdline, args map[string]host.Arg, key string) (n int, set bool) {
	a, ok := args[key]
	if !ok {
		return 0, false
	}
	if _, err := fmt.Sscanf(a.Value, "%d", &n); err != nil {
		c.ParseErrors = append(c.ParseErrors, fmt.Sprintf("%s=%s is not a number", key, a.Value))
		return 0, false
	}
	return n, true
}
