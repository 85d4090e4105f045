package kargs

import (
	"regexp"
	"slices"
	"strings"
)

// allowed are the values of arguments that take one of a list (or several, separated by commas).
var allowed = map[string][]string{
	"mitigations":          {"off", "auto", "nosmt", "no_user_kernel", "no_user_user", "no_guest_host", "no_guest_guest", "no_cross_thread"},
	"skew_tick":            {"0", "1"},
	"tsc":                  {"reliable", "noirqtime", "unstable", "nowatchdog", "recalibrate", "watchdog"},
	"transparent_hugepage": {"always", "madvise", "never"},
	"numa_balancing":       {"enable", "disable"},
	"intel_pstate":         {"disable", "active", "passive", "force", "no_hwp", "hwp_only", "support_acpi_ppc", "per_cpu_perf_limits", "no_cas"},
	"amd_pstate":           {"disable", "active", "passive", "guided"},
	"idle":                 {"poll", "halt", "nomwait"},
	"nohz":                 {"on", "off"},
	"pcie_aspm":            {"off", "force"},
	"nosmt":                {"force"},
	"preempt":              {"none", "voluntary", "full", "lazy"},
	"iommu.strict":         {"0", "1", "y", "n", "on", "off"},
	"iommu.passthrough":    {"0", "1", "y", "n", "on", "off"},
}

// values checks arguments whose value is one of a list.
func (l *linter) values() {
	for _, w := range l.words {
		list, ok := allowed[w.Name()]
		if !ok || !w.HasValue {
			continue
		}
		for _, v := range strings.Split(w.Value, ",") {
			if !slices.Contains(list, v) {
				l.note(Error, "kargs-value", w, "%s=%s is ignored: the kernel knows %s", w.Key, w.Value, strings.Join(list, ", "))
				break
			}
		}
	}
	l.watchdogs()
}

// watchdogs finds arguments that say the same twice.
func (l *linter) watchdogs() {
	if !l.has("nowatchdog") {
		return
	}
	for _, name := range []string{"nosoftlockup", "nmi_watchdog"} {
		if w, ok := l.last(name); ok && (!w.HasValue || w.Value == "0") {
			l.note(Info, "kargs-redundant", w, "%s is implied by nowatchdog", w.Text)
		}
	}
}

// power checks the limits of idle states, which work only in pairs.
func (l *linter) power() {
	intel, hasIntel := l.last("intel_idle.max_cstate")
	acpi, hasACPI := l.last("processor.max_cstate")
	idle, _ := l.last("idle")
	switch {
	case l.h.Arch == "aarch64":
		for _, w := range l.words {
			if n := w.Name(); n == "intel_idle.max_cstate" || n == "processor.max_cstate" || n == "idle" {
				l.note(Warning, "kargs-wrong-cpu", w, "%s is for x86: it does nothing on Arm", w.Key).Drop = []string{w.Key}
			}
		}
		return
	case hasIntel && l.h.Vendor == "amd":
		l.note(Warning, "kargs-wrong-cpu", intel, "intel_idle is for Intel processors: on AMD it does nothing; processor.max_cstate is the argument").Drop = []string{intel.Key}
	case hasIntel && intel.Value == "0" && !hasACPI && idle.Value != "poll":
		l.note(Error, "kargs-cstate-half", intel, "intel_idle.max_cstate=0 only switches to acpi_idle, which goes as deep: processor.max_cstate=1 belongs to it").Set = []string{"processor.max_cstate=1"}
	}
	if hasACPI && acpi.Value == "0" {
		l.note(Info, "kargs-cstate-zero", acpi, "processor.max_cstate=0 is the same as 1")
	}
	if idle.Value == "poll" && (hasIntel || hasACPI) {
		l.note(Info, "kargs-redundant", idle, "idle=poll never idles: limits of idle states have no effect beside it")
	}
}

var iommuWords = []string{"off", "force", "noforce", "biomerge", "panic", "nopanic", "merge", "nomerge", "soft", "pt", "nopt", "usedac", "forcesac", "allowdac", "fullflush", "memaper", "noagp", "noaperture", "leak"}

var intelIOMMU = []string{"on", "off", "igfx_off", "forcedac", "strict", "sp_off", "sm_on", "sm_off", "tboot_noforce"}

var amdIOMMU = []string{"fullflush", "off", "force_isolation", "force_enable", "pgtbl_v1", "pgtbl_v2", "irtcachedis", "nohugepages", "v2_pgsizes_only"}

// iommu checks iommu=, intel_iommu= and amd_iommu=, whose words are often mixed up.
func (l *linter) iommu() {
	for _, w := range l.words {
		switch w.Name() {
		case "iommu":
			l.iommuWords(w, iommuWords)
		case "intel_iommu":
			l.iommuVendor(w, "amd", "Intel")
			l.iommuWords(w, intelIOMMU)
		case "amd_iommu":
			l.iommuVendor(w, "intel", "AMD")
			if w.Value == "on" {
				l.note(Info, "kargs-redundant", w, "amd_iommu=on is no value of that argument: AMD's IOMMU is on unless it is off").Drop = []string{w.Key}
				continue
			}
			l.iommuWords(w, amdIOMMU)
		}
	}
}

func (l *linter) iommuVendor(w Word, other, owner string) {
	if l.h.Vendor == other {
		l.note(Info, "kargs-wrong-cpu", w, "%s is for %s processors: it does nothing here", w.Key, owner).Drop = []string{w.Key}
	}
}

func (l *linter) iommuWords(w Word, words []string) {
	for _, v := range strings.Split(w.Value, ",") {
		if slices.Contains(words, v) {
			continue
		}
		n := l.note(Error, "kargs-iommu-value", w, "%s=%s: %q is no value of %s", w.Key, w.Value, v, w.Key)
		if v == "pt" {
			n.Text += "; the argument for pass-through is iommu=pt"
			n.Set, n.Drop = []string{"iommu=pt"}, []string{w.Key + "=" + w.Value}
		}
		return
	}
	if slices.Contains(strings.Split(w.Value, ","), "off") && len(l.h.Online) >= 255 && l.h.Vendor == "amd" {
		l.note(Error, "kargs-iommu-off-many-cpus", w, "%s: with 255 CPUs or more, interrupts of the upper CPUs need the IOMMU", w.Text).Drop = []string{w.Key}
	}
}

var (
	hugeSize  = regexp.MustCompile(`^[0-9]+[KMGkmg]$`)
	hugeCount = regexp.MustCompile(`^([0-9]+|[0-9]+:[0-9]+(,[0-9]+:[0-9]+)*)$`)
)

// hugepages checks that counts follow their sizes and that both can be read.
func (l *linter) hugepages() {
	var open *Word // a size that waits for its count
	counted := false
	for i, w := range l.words {
		switch w.Name() {
		case "hugepagesz":
			l.openSize(open, counted)
			open = &l.words[i]
			l.hugeSize(w)
		case "default_hugepagesz":
			l.hugeSize(w)
		case "hugepages":
			open, counted = nil, true
			switch {
			case !hugeCount.MatchString(w.Value):
				l.note(Error, "kargs-hugepages-count", w, "hugepages=%s is not a number of pages (the kernel reads the digits alone); a size goes into hugepagesz= before it", w.Value)
			case strings.Contains(w.Value, ":") && l.h.before(5, 16):
				l.note(Error, "kargs-hugepages-node", w, "kernel %d.%d does not know counts per node (5.16 does)", l.h.Version[0], l.h.Version[1])
			}
		}
	}
	l.openSize(open, counted)
}

// openSize: a size without a count only registers the size, which is fine unless a count in front of it was meant for it.
func (l *linter) openSize(w *Word, counted bool) {
	if w != nil && counted {
		l.note(Warning, "kargs-hugepages-order", *w, "%s is not followed by its hugepages=: a count before it belongs to another size", w.Text)
	}
}

func (l *linter) hugeSize(w Word) {
	if !hugeSize.MatchString(w.Value) {
		l.note(Error, "kargs-hugepages-size", w, "%s=%s is not a size", w.Key, w.Value)
		return
	}
	if l.h.Arch == "x86_64" && !slices.Contains([]string{"2M", "1G", "1024M", "2048K"}, strings.ToUpper(w.Value)) {
		l.note(Error, "kargs-hugepages-size", w, "%s=%s: x86 has huge pages of 2M and 1G", w.Key, w.Value)
	}
}
