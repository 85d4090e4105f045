package kargs

import (
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// isolation reads isolcpus, nohz_full, rcu_nocbs and irqaffinity as the kernel does.
func (l *linter) isolation() {
	if w, ok := l.last("isolcpus"); ok {
		l.isolcpus(w)
	}
	if w, ok := l.last("nohz_full"); ok {
		l.nohzFull(w)
	}
	if w, ok := l.last("rcu_nocbs"); ok {
		l.rcuNocbs(w)
	}
	if w, ok := l.last("irqaffinity"); ok {
		if l.irq = l.list(w, w.Value); l.irq != nil && len(l.h.Online) > 0 && len(l.irq.And(l.h.Online)) == 0 {
			l.note(Error, "kargs-irqaffinity-offline", w, "irqaffinity names no online CPU")
		}
	}
}

// isolcpus takes off the flags first: a word of letters is a flag to the kernel, also "all" and "N".
func (l *linter) isolcpus(w Word) {
	rest, flags := w.Value, 0
	for rest != "" && isLetter(rest[0]) {
		flag, after, found := strings.Cut(rest, ",")
		switch {
		case !found && (flag == "all" || flag == "N"):
			l.note(Error, "kargs-isolcpus-list", w, "isolcpus=%s: the kernel takes %q for a flag and isolates nothing; write a range of numbers", w.Value, flag)
			return
		case flag == "domain":
			l.domain, flags = true, flags+1
		case flag == "managed_irq", flag == "nohz":
			flags++
		case strings.ContainsFunc(flag, func(r rune) bool { return !isLetter(byte(r)) && r != '_' }):
			l.note(Error, "kargs-isolcpus-flag", w, "isolcpus: %q is not a flag, the kernel ignores the whole argument", flag)
			return
		default:
			l.note(Error, "kargs-isolcpus-flag", w, "isolcpus: the kernel skips the unknown flag %q (known: domain, managed_irq, nohz)", flag)
		}
		rest = after
	}
	l.domain = l.domain || flags == 0
	l.isolated = l.list(w, rest)
	if l.isolated != nil && !l.domain {
		l.note(Warning, "kargs-isolcpus-no-domain", w, "isolcpus without the flag domain does not take the CPUs out of the scheduler's domains").Set = []string{"isolcpus=managed_irq,domain," + rest}
	}
	l.everyCPU(w, l.isolated)
	l.bootCPU(w, l.isolated)
	l.split(w, l.isolated)
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func (l *linter) nohzFull(w Word) {
	if l.h.lacks("CONFIG_NO_HZ_FULL") {
		l.note(Error, "kargs-nohz-full-unsupported", w, "this kernel is built without CONFIG_NO_HZ_FULL: nohz_full does nothing").Drop = []string{"nohz_full"}
		return
	}
	if !w.HasValue || w.Value == "" {
		l.note(Error, "kargs-nohz-full-empty", w, "nohz_full needs a CPU list")
		return
	}
	l.tickless = l.list(w, w.Value)
	l.everyCPU(w, l.tickless)
	if l.tickless.Has(l.h.Boot) && len(l.h.Online) > 0 {
		rest := l.tickless.Minus(cpulist.Of(l.h.Boot))
		l.note(Warning, "kargs-nohz-full-boot-cpu", w, "nohz_full names boot CPU %d, which keeps its tick for timekeeping", l.h.Boot).Set = []string{"nohz_full=" + rest.String()}
	}
	if v, ok := l.last("nohz"); ok && v.Value == "off" {
		l.note(Error, "kargs-nohz-contradiction", v, "nohz=off and nohz_full contradict each other").Drop = []string{"nohz=off"}
	}
}

func (l *linter) rcuNocbs(w Word) {
	if l.h.lacks("CONFIG_RCU_NOCB_CPU") {
		l.note(Error, "kargs-rcu-nocbs-unsupported", w, "this kernel is built without CONFIG_RCU_NOCB_CPU: rcu_nocbs does nothing").Drop = []string{"rcu_nocbs"}
		return
	}
	if w.HasValue {
		l.nocbs = l.list(w, w.Value)
	}
}

// list parses a CPU list; nil when the kernel refuses it or there is none.
func (l *linter) list(w Word, text string) cpulist.Set {
	if text == "" {
		l.note(Error, "kargs-cpu-list", w, "%s has no CPU list", w.Key)
		return nil
	}
	lastCPU := l.h.Last
	if lastCPU < 1 && len(l.h.Online) > 0 {
		lastCPU = l.h.Online[len(l.h.Online)-1]
	}
	if lastCPU < 1 {
		lastCPU = cpulist.MaxCPU
	}
	set, err := cpulist.ParseKernel(text, lastCPU)
	if err != nil {
		l.note(Error, "kargs-cpu-list", w, "%s: the kernel refuses the list: %v", w.Key, err)
		return nil
	}
	if strings.Contains(text, "N") && l.h.before(5, 13) || strings.Contains(text, "all") && l.h.before(5, 14) {
		l.note(Error, "kargs-cpu-list-syntax", w, "kernel %d.%d does not know the words N and all in CPU lists", l.h.Version[0], l.h.Version[1]).Set = []string{w.Key + "=" + plainList(w.Value, text, set)}
		return nil
	}
	if l.h.Last > 0 && len(set) > 0 && set[len(set)-1] > l.h.Last {
		l.note(Warning, "kargs-cpu-absent", w, "%s names CPUs %s, the highest possible one is %d; older kernels refuse the whole list",
			w.Key, set.Minus(cpulist.Range(0, l.h.Last)), l.h.Last)
		set = set.And(cpulist.Range(0, l.h.Last))
	}
	return set
}

// plainList keeps the flags in front of a list and writes the list with numbers only.
func plainList(value, list string, set cpulist.Set) string {
	return strings.TrimSuffix(value, list) + set.String()
}

func (l *linter) everyCPU(w Word, set cpulist.Set) {
	if len(l.h.Online) > 0 && l.h.Online.Within(set) {
		l.note(Error, "kargs-no-housekeeping", w, "%s names every CPU: the kernel leaves only the boot CPU out, and everything else runs there", w.Key)
	}
}

func (l *linter) bootCPU(w Word, set cpulist.Set) {
	if len(l.h.Online) > len(set) && set.Has(l.h.Boot) {
		l.note(Warning, "kargs-isolcpus-boot-cpu", w, "isolcpus names boot CPU %d, which cannot be freed from the kernel's own work", l.h.Boot)
	}
}

// split finds physical cores of which only a part is isolated.
func (l *linter) split(w Word, set cpulist.Set) {
	half := cpulist.Set{}
	for _, c := range set {
		if s := l.h.Siblings[c]; len(s) > 1 && !s.Within(set) {
			half = append(half, c)
		}
	}
	if len(half) > 0 {
		l.note(Warning, "kargs-isolcpus-half-core", w, "isolcpus names CPUs %s without their SMT siblings, so that other work shares their cores", half)
	}
}

// relations compares the lists with each other and with what the kernel made of them.
func (l *linter) relations() {
	iso, _ := l.last("isolcpus")
	full, hasFull := l.last("nohz_full")
	if l.isolated != nil && l.tickless != nil && !l.isolated.Equal(l.tickless) {
		if l.h.before(5, 18) {
			l.note(Error, "kargs-isolation-mismatch", full, "nohz_full (%s) and isolcpus (%s) differ: kernels before 5.18 ignore the second of them", l.tickless, l.isolated)
		} else if rest := l.tickless.Minus(l.isolated); len(rest) > 0 {
			l.note(Warning, "kargs-isolation-mismatch", full, "CPUs %s are in nohz_full but not in isolcpus: the scheduler may put two tasks there, and then the tick returns", rest)
		}
	}
	l.callbacks(hasFull)
	for _, c := range []struct {
		w   Word
		set cpulist.Set
	}{{iso, l.isolated}, {full, l.tickless}} {
		if hit := l.irq.And(c.set); len(hit) > 0 && c.set != nil {
			w, _ := l.last("irqaffinity")
			n := l.note(Error, "kargs-irqaffinity-overlap", w, "irqaffinity (%s) sends interrupts to CPUs %s of %s", l.irq, hit, c.w.Key)
			if rest := l.h.Online.Minus(c.set); len(rest) > 0 {
				n.Set = []string{"irqaffinity=" + rest.String()}
			}
			break
		}
	}
	l.effective(iso, l.isolated, l.domain, l.h.Isolated, "isolated")
	l.effective(full, l.tickless, true, l.h.NohzFull, "nohz_full")
}

// callbacks finds rcu_nocbs that adds nothing, and rcu_nocb_poll with nothing to poll for.
func (l *linter) callbacks(hasFull bool) {
	if w, ok := l.last("rcu_nocbs"); ok && l.nocbs != nil && l.tickless != nil && l.nocbs.Within(l.tickless) {
		l.note(Info, "kargs-rcu-nocbs-implied", w, "rcu_nocbs is implied by nohz_full: harmless, not needed")
	}
	if w, ok := l.last("rcu_nocb_poll"); ok && !hasFull && !l.has("rcu_nocbs") {
		l.note(Warning, "kargs-rcu-nocb-poll-alone", w, "rcu_nocb_poll does nothing without rcu_nocbs or nohz_full").Drop = []string{"rcu_nocb_poll"}
	}
}

// effective compares an argument with the kernel's own account in sysfs.
func (l *linter) effective(w Word, asked cpulist.Set, counts bool, in maybe.Value[cpulist.Set], file string) {
	got, ok := in.Get()
	if !ok || asked == nil || !counts {
		return
	}
	asked = asked.Minus(cpulist.Of(l.h.Boot))
	if lost := asked.And(l.h.Online).Minus(got); len(lost) > 0 {
		l.note(Error, "kargs-not-in-force", w, "%s asks for CPUs %s, but /sys/devices/system/cpu/%s has %q: the kernel did not take it", w.Key, asked, file, got)
	}
}

// services finds user space that works against the isolation.
func (l *linter) services() {
	w, _ := l.last("isolcpus")
	if banned, ok := l.h.IRQBanned.Get(); ok && l.isolated != nil {
		if open := l.isolated.And(l.h.Online).Minus(banned); len(open) > 0 {
			l.note(Warning, "kargs-irqbalance-ban", w, "irqbalance's own ban list (%s) leaves out isolated CPUs %s; a list that is set replaces the automatic one", banned, open)
		}
	}
	if on, ok := l.h.CPUSystemd.Get(); ok && l.isolated != nil {
		if hit := on.And(l.isolated); len(hit) > 0 {
			l.note(Warning, "kargs-systemd-affinity", w, "CPUAffinity= of systemd (%s) puts services on isolated CPUs %s", on, hit)
		}
	}
}
