package facts

import (
	"slices"
	"strings"

	"github.com/corewise/corewise/advisor/bios"
	"github.com/corewise/corewise/profile/maybe"
)

// deriveBios takes each setting from the machine's own attributes, else from what the kernel shows of it.
func deriveBios(v *view, f *Facts) {
	b, u := &f.Bios, &f.Bios.Unknown
	b.Readable = len(v.b.Firmware.Tokens) > 0
	for field, dst := range map[string]*string{
		"profile": &b.Profile, "power_management": &b.PowerMgmt, "c_states": &b.CStates, "c1e": &b.C1E, "turbo": &b.Turbo, "smt": &b.SMT,
		"snc": &b.SNC, "nps": &b.NPS, "l3_as_numa": &b.L3AsNUMA, "determinism": &b.Determinism, "apbdis": &b.APBDIS, "df_c_states": &b.DFCStates,
		"xgmi_width": &b.XGMIWidth, "preferred_io": &b.PreferredIO, "aspm": &b.ASPM, "relaxed_ordering": &b.RelaxedOrder, "iommu": &b.IOMMU,
		"virtualization": &b.Virtual, "x2apic": &b.X2APIC, "sriov": &b.SRIOV, "uncore": &b.Uncore, "jitter_control": &b.JitterControl,
		"patrol_scrub": &b.PatrolScrub, "memory_speed": &b.MemorySpeed, "llc_prefetch": &b.LLCPrefetch,
	} {
		take(u, field, dst, maybe.Map(bios.See(*v.b, field), func(s bios.Seen) string { return s.Value }))
	}
	if why, missing := (*u)["profile"]; missing {
		u.miss("profile_saving", why)
	}
	b.ProfileSaving = savingProfile(b.Profile)
	take(u, "vendor", &b.Vendor, maybe.Map(v.b.Firmware.SysVendor, bios.Vendor))
	b.PreferredIOOn = preferredIOOn(b.PreferredIO)
	b.SnoopedNPS = f.NUMA.PerSocket
	if why, missing := f.NUMA.Unknown["nodes_per_socket"]; missing {
		u.miss("nps_seen", why)
	}
	take(u, "iommu_groups", &b.IOMMUGroups, v.b.Firmware.IOMMUGroups)
	v.indirectSaving(f)
}

// savingProfile goes by the vendors' words for profiles that save power.
func savingProfile(p string) bool {
	p = strings.ToLower(p)
	for _, word := range []string{"dapc", "osdbpm", "perfperwatt", "balanced", "powersav", "efficien", "minpower", "static low", "dynamic"} {
		if strings.Contains(p, word) {
			return true
		}
	}
	return false
}

// preferredIOOn goes by the vendors' words: a mode, or the number of a bus.
func preferredIOOn(value string) bool {
	return !slices.Contains([]string{"", "off", "auto", "disabled", "none"}, strings.ToLower(value))
}

// indirectSaving is what the OS sees of a power-saving profile.
func (v *view) indirectSaving(f *Facts) {
	p := &f.Power
	why, noDeep := p.Unknown["deep_per_s"]
	_, noFreq := p.Unknown["freq_low_cpus"]
	f.Bios.IndirectSlow = !noDeep && p.DeepPerS > 0 || !noFreq && len(p.FreqLow) > 0
	if !f.Bios.IndirectSlow && noDeep && noFreq {
		f.Bios.Unknown.miss("indirect_saving", why)
	}
}
