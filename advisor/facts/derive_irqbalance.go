package facts

import (
	"fmt"

	"github.com/corewise/corewise/profile/cpulist"
)

func deriveIrqbalance(v *view, f *Facts) {
	b, u, s := &f.Irqbalance, &f.Irqbalance.Unknown, &v.b.Services.Irqbalance
	take(u, "running", &b.Running, s.Running)
	take(u, "version", &b.Version, s.Version)
	b.Installed, b.OneShot, b.Args = s.ConfigPath != "", s.OneShot, s.Args
	b.LogErrors = append([]string{}, s.LogErrors...)
	b.EIO, b.EACCES = []int{}, []int{}
	for _, e := range s.IRQErrors {
		switch e.Reason {
		case "managed":
			b.EIO = append(b.EIO, e.IRQ)
		case "sandboxed":
			b.EACCES = append(b.EACCES, e.IRQ)
		}
	}
	v.bans(f)
	b.MovedIRQs = []int{}
	if s.Running.Or(false) {
		b.MovedIRQs = append(b.MovedIRQs, f.IRQ.Moved...)
	}
	if !v.two {
		u.miss("moved_irqs", v.noRate)
	}
	v.podMasks(f)
}

// bans follows irqbalance's own rule: a variable that is set, even an empty list, switches the automatic ban of isolated
// and tickless CPUs off (cputree.c, setup_banned_cpus).
func (v *view) bans(f *Facts) {
	b, u, s := &f.Irqbalance, &f.Irqbalance.Unknown, &v.b.Services.Irqbalance
	mask, hasMask := s.BannedMask.Get()
	list, hasList := s.BannedList.Get()
	if !hasMask && !hasList && !s.ConfigKnown {
		u.missAll("neither irqbalance's configuration nor its environment was readable", "banned_cpus_set", "banned_list_set", "banned_cpus",
			"banned_text", "banned_by_hand", "unbanned_isolated_cpus", "need_ban_cpus", "need_ban_text", "unbanned_workload_cpus")
	}
	b.BannedCPUsSet, b.BannedListSet = hasMask && len(mask) > 0, hasList
	b.ByHand = b.BannedCPUsSet || b.BannedListSet
	banned := mask.Or(list)
	b.Banned, b.BannedText = ints(banned), listAndMask(banned)
	need := banned.Or(v.iso.protected)
	b.NeedBan, b.NeedBanText = ints(need), listAndMask(need)
	b.UnbannedIsolated = []int{}
	open := v.wl.data.Minus(banned)
	if b.ByHand {
		b.UnbannedIsolated = ints(v.iso.protected.Minus(banned))
	} else {
		open = open.Minus(v.iso.protected)
	}
	b.UnbannedWorkload = ints(open)
	if !v.iso.known {
		u.missAll(v.iso.domain.Why(), "unbanned_isolated_cpus", "need_ban_cpus", "need_ban_text", "unbanned_workload_cpus")
	}
	if !v.wl.known && v.wl.present {
		u.miss("unbanned_workload_cpus", v.wl.noWhy)
	}
}

// listAndMask writes "0-4 (mask 1f)"; "none" for the empty set.
func listAndMask(s cpulist.Set) string {
	if len(s) == 0 {
		return "none"
	}
	return fmt.Sprintf("%s (mask %s)", s, s.Hex())
}

// podMasks compares the masks that a container runtime writes with the containers that run. CRI-O takes the CPUs of
// containers with irq-load-balancing disabled out of default_smp_affinity and adds them to irqbalance's ban; after the
// last one has gone it should put both back (cri-o, internal/runtimehandlerhooks).
func (v *view) podMasks(f *Facts) {
	b, u := &f.Irqbalance, &f.Irqbalance.Unknown
	own := cpulist.Set{}
	for _, cpus := range v.b.K8s.IRQLBDisabled {
		own = own.Or(cpus)
	}
	b.PodIRQsOff, b.StaleBan, b.MissingBan = ints(own), []int{}, []int{}
	saved, wasSaved := v.b.K8s.OrigIRQBanned.Get()
	if !wasSaved && len(own) == 0 {
		u.missAll("no container runtime saved a ban list here, and no container has irq-load-balancing disabled", "saved_ban", "want_default_mask", "want_ban_mask")
		return
	}
	b.SavedBan = listAndMask(saved)
	if !wasSaved {
		u.miss("saved_ban", v.b.K8s.OrigIRQBanned.Why())
	}
	want := v.online.Minus(own)
	b.WantDefaultMask = want.Hex()
	now, ok := v.b.IRQ.DefaultAffinity.Get()
	if !ok {
		u.missAll(v.b.IRQ.DefaultAffinity.Why(), "stale_ban_cpus", "missing_ban_cpus")
		return
	}
	out := v.online.Minus(now)
	ban := cpulist.Of(b.Banned...)
	wantBan := own.Or(saved)
	b.WantBanMask = wantBan.Hex()
	// Without a running container, CPUs that are out of the default mask, or banned beyond what was saved, are left over.
	b.StaleBan = ints(out.Minus(own).Minus(v.iso.cpus()).Or(ban.Minus(wantBan).Minus(v.iso.cpus()).And(v.online)))
	b.MissingBan = ints(own.And(now).Or(v.unbanned(own, f)))
}

// unbanned are CPUs of such containers that a ban list by hand leaves open.
func (v *view) unbanned(own cpulist.Set, f *Facts) cpulist.Set {
	if !f.Irqbalance.ByHand {
		return cpulist.Set{}
	}
	return own.Minus(cpulist.Of(f.Irqbalance.Banned...))
}
