package plan

import (
	"github.com/corewise/corewise/advisor/kargs"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

// LintCmdline finds what is wrong with the kernel arguments of a host; none when its command line is not known.
func LintCmdline(h host.Host) []kargs.Note {
	cmdline, ok := h.Kernel.Cmdline.Get()
	if !ok {
		return nil
	}
	return kargs.Lint(cmdline, lintHost(h))
}

func lintHost(h host.Host) kargs.Host {
	k := kargs.Host{
		Version: h.Kernel.Version, Arch: h.CPU.Arch, Vendor: h.CPU.Vendor.Or(""), Boot: h.CPU.BootCPU,
		Online: h.CPU.Online.Or(nil), Isolated: h.CPU.Isolated, NohzFull: h.CPU.NohzFull,
		Config: h.Kernel.Config, Unknown: h.Kernel.Unknown, CPUSystemd: h.Services.CPUAffinity,
		Siblings: map[int]cpulist.Set{}, IRQBanned: banned(h.Services.Irqbalance),
	}
	if p := h.CPU.Possible.Or(nil); len(p) > 0 {
		k.Last = p[len(p)-1]
	}
	for _, c := range h.CPU.CPUs {
		k.Siblings[c.ID] = c.Siblings
	}
	return k
}

// banned is the ban list that irqbalance has in force; without one it bans isolated CPUs by itself.
func banned(i host.Irqbalance) maybe.Value[cpulist.Set] {
	if !i.Running.Or(false) {
		return maybe.None[cpulist.Set]("irqbalance does not run")
	}
	if i.BannedList.Ok() {
		return i.BannedList
	}
	return i.BannedMask
}
