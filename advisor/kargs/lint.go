package kargs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// Host is what the linter knows of the machine. A field that is not known stays empty and silences the checks that need it.
type Host struct {
	Version    [3]int // of the kernel; zero: not known
	Arch       string // x86_64, aarch64
	Vendor     string // intel, amd, ...
	Last       int    // highest possible CPU; below 1: not known
	Online     cpulist.Set
	Boot       int
	Siblings   map[int]cpulist.Set      // of each online CPU, with itself
	Isolated   maybe.Value[cpulist.Set] // /sys/devices/system/cpu/isolated
	NohzFull   maybe.Value[cpulist.Set] // /sys/devices/system/cpu/nohz_full
	Config     map[string]string        // CONFIG_NO_HZ_FULL -> y or n
	Unknown    []string                 // words that the kernel's log calls unknown
	IRQBanned  maybe.Value[cpulist.Set] // irqbalance's ban list; missing: not set
	CPUSystemd maybe.Value[cpulist.Set] // CPUAffinity= of systemd; missing: not set
}

// before reports whether the kernel is known to be older than major.minor.
func (h Host) before(major, minor int) bool {
	return h.Version[0] > 0 && (h.Version[0] < major || h.Version[0] == major && h.Version[1] < minor)
}

// lacks reports whether the kernel is known to be built without an option.
func (h Host) lacks(option string) bool { return h.Config[option] == "n" }

// Level says how bad a note is.
type Level string

// The levels: an error means that the kernel ignores the argument or does the opposite.
const (
	Error   Level = "error"
	Warning Level = "warning"
	Info    Level = "info"
)

// Note is one remark about one argument, with the change that would put it right, where there is one.
type Note struct {
	Code  string   `json:"code"`
	Level Level    `json:"level"`
	Word  string   `json:"word"`
	Text  string   `json:"text"`
	Set   []string `json:"set,omitempty"`  // words to set
	Drop  []string `json:"drop,omitempty"` // words or keys to remove
}

// linter collects the notes of one command line.
type linter struct {
	h     Host
	words []Word
	notes []Note
	// lists as the kernel reads them; nil: argument absent or refused
	isolated, tickless, nocbs, irq cpulist.Set
	domain                         bool
}

// Lint finds arguments that are refused, ignored, redundant, contradictory or misspelled. Notes come in a fixed order.
func Lint(cmdline string, h Host) []Note {
	l := &linter{h: h, words: Parse(cmdline)}
	l.characters()
	l.isolation()
	l.relations()
	l.services()
	l.values()
	l.power()
	l.iommu()
	l.hugepages()
	l.spelling()
	l.doubles()
	return l.notes
}

func (l *linter) note(level Level, code string, w Word, format string, args ...any) *Note {
	l.notes = append(l.notes, Note{Code: code, Level: level, Word: w.Text, Text: fmt.Sprintf(format, args...)})
	return &l.notes[len(l.notes)-1]
}

// last returns the last word with the name, which is the one that counts for most arguments.
func (l *linter) last(name string) (Word, bool) {
	for i := len(l.words) - 1; i >= 0; i-- {
		if l.words[i].Name() == name {
			return l.words[i], true
		}
	}
	return Word{}, false
}

func (l *linter) has(name string) bool { _, ok := l.last(name); return ok }

// characters finds what text processors put in place of '-' and '"'.
func (l *linter) characters() {
	for _, w := range l.words {
		if strings.ContainsFunc(w.Text, func(r rune) bool { return r > 126 || r < 32 }) {
			l.note(Error, "kargs-characters", w, "%q has characters that are not plain ASCII: a dash or a quote from a text processor", w.Text)
		}
	}
}

// doubles finds keys that stand twice where the kernel takes only one.
func (l *linter) doubles() {
	single := []string{"isolcpus", "nohz_full", "rcu_nocbs", "irqaffinity", "mitigations", "intel_iommu", "amd_iommu", "default_hugepagesz", "skew_tick", "nmi_watchdog", "transparent_hugepage"}
	count := map[string]int{}
	for _, w := range l.words {
		count[w.Name()]++
	}
	for _, name := range single {
		if count[name] < 2 {
			continue
		}
		w, _ := l.last(name)
		l.note(Warning, "kargs-doubled", w, "%s stands %d times: keep one", w.Key, count[name])
	}
}

// spelling finds arguments that the kernel does not know, by its own log or by likeness to one that it knows.
func (l *linter) spelling() {
	for _, w := range l.words {
		switch name := w.Name(); {
		case slices.Contains(l.h.Unknown, w.Text) || slices.Contains(l.h.Unknown, w.Key):
			l.note(Warning, "kargs-unknown", w, "the kernel log calls %s unknown", w.Key)
		case slices.Contains(known, name):
		default:
			if like := alike(name); like != "" {
				l.note(Error, "kargs-spelling", w, "%s is not an argument; %s is probably meant", w.Key, like)
			}
		}
	}
}

// known are the names that spelling compares with, and near neighbours of them that are right as they are.
var known = []string{
	"isolcpus", "nohz_full", "rcu_nocbs", "rcu_nocb_poll", "irqaffinity", "hugepages", "hugepagesz", "default_hugepagesz",
	"mitigations", "skew_tick", "nosoftlockup", "nowatchdog", "nmi_watchdog", "transparent_hugepage", "numa_balancing",
	"intel_iommu", "amd_iommu", "intel_pstate", "amd_pstate", "clocksource", "processor.max_cstate", "intel_idle.max_cstate",
	"softlockup_panic", "hugetlb_cma", "iommu.strict", "iommu.passthrough",
}

func alike(name string) string {
	for _, k := range known {
		if len(name) >= 6 && levenshtein.ComputeDistance(name, k) <= 2 {
			return k
		}
	}
	return ""
}
