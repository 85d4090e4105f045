package kargs

import (
	"slices"
	"testing"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// host16 is a machine with 16 CPUs, SMT siblings 8 apart, on kernel 6.12.
func host16() Host {
	h := Host{Version: [3]int{6, 12, 0}, Arch: "x86_64", Vendor: "intel", Last: 15, Online: cpulist.Range(0, 15), Siblings: map[int]cpulist.Set{}}
	for c := range 16 {
		h.Siblings[c] = cpulist.Of(c%8, c%8+8)
	}
	return h
}

const tuned = "isolcpus=managed_irq,domain,2-7,10-15 nohz_full=2-7,10-15 irqaffinity=0-1,8-9"

func TestLint(t *testing.T) {
	old := func(major, minor int) func(*Host) { return func(h *Host) { h.Version = [3]int{major, minor, 0} } }
	amd := func(h *Host) { h.Vendor = "amd" }
	for _, c := range []struct {
		name, line string
		host       func(*Host)
		want       []string // codes, sorted
	}{
		{"a well-tuned line", "ro quiet intel_idle.max_cstate=0 processor.max_cstate=1 iommu=pt intel_iommu=on skew_tick=1 tsc=reliable nosoftlockup mitigations=auto,nosmt default_hugepagesz=1G hugepagesz=1G hugepages=16 " + tuned, nil, nil},
		{"both lists, harmless", tuned + " rcu_nocbs=2-7,10-15", nil, []string{"kargs-rcu-nocbs-implied"}},
		{"N on a kernel that knows it, all CPUs for interrupts", "isolcpus=managed_irq,domain,8-N irqaffinity=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15 nohz_full=8-N", func(h *Host) { h.Siblings = nil }, []string{"kargs-irqaffinity-overlap"}},
		{"N before 5.13", "isolcpus=4-N", func(h *Host) { old(5, 10)(h); h.Siblings = nil }, []string{"kargs-cpu-list-syntax"}},
		{"a list that is one letter word", "isolcpus=all", nil, []string{"kargs-isolcpus-list"}},
		{"flag misspelled", "isolcpus=manged_irq,domain,2-7,10-15", nil, []string{"kargs-isolcpus-flag"}},
		{"managed_irq alone", "isolcpus=managed_irq,2-7,10-15", nil, []string{"kargs-isolcpus-no-domain"}},
		{"backwards", "isolcpus=7-2", nil, []string{"kargs-cpu-list"}},
		{"open range", "nohz_full=2-", nil, []string{"kargs-cpu-list"}},
		{"no list", "nohz_full", nil, []string{"kargs-nohz-full-empty"}},
		{"every CPU", "isolcpus=0-15", nil, []string{"kargs-no-housekeeping"}},
		{"boot CPU", "nohz_full=0,8", nil, []string{"kargs-nohz-full-boot-cpu"}},
		{"boot CPU isolated", "isolcpus=0,8", nil, []string{"kargs-isolcpus-boot-cpu"}},
		{"siblings left out", "isolcpus=2-7", nil, []string{"kargs-isolcpus-half-core"}},
		{"beyond the last", "isolcpus=2-7,10-31", nil, []string{"kargs-cpu-absent"}},
		{"lists differ on an old kernel", "isolcpus=2-7,10-15 nohz_full=2-6,10-14", old(5, 15), []string{"kargs-isolation-mismatch"}},
		{"tickless beyond isolated", "isolcpus=2-6,10-14 nohz_full=2-7,10-15", nil, []string{"kargs-isolation-mismatch"}},
		{"tickless within isolated is fine now", "isolcpus=2-7,10-15 nohz_full=2-6,10-14", nil, nil},
		{"no support", "nohz_full=2-7,10-15", func(h *Host) { h.Config = map[string]string{"CONFIG_NO_HZ_FULL": "n"} }, []string{"kargs-nohz-full-unsupported"}},
		{"contradiction", "nohz=off nohz_full=2-7,10-15", nil, []string{"kargs-nohz-contradiction"}},
		{"poll for nothing", "rcu_nocb_poll", nil, []string{"kargs-rcu-nocb-poll-alone"}},
		{"not in force", "isolcpus=2-7,10-15", func(h *Host) { h.Isolated = maybe.Some(cpulist.Set{}) }, []string{"kargs-not-in-force"}},
		{"in force", "isolcpus=2-7,10-15", func(h *Host) { h.Isolated = maybe.Some(cpulist.Of(2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15)) }, nil},
		{"ban list too short", "isolcpus=2-7,10-15", func(h *Host) { h.IRQBanned = maybe.Some(cpulist.Of(2, 3)) }, []string{"kargs-irqbalance-ban"}},
		{"services on isolated CPUs", "isolcpus=2-7,10-15", func(h *Host) { h.CPUSystemd = maybe.Some(cpulist.Range(0, 3)) }, []string{"kargs-systemd-affinity"}},
		{"misspelled", "isolcpu=2-7 nohzfull=2-7", nil, []string{"kargs-spelling", "kargs-spelling"}},
		{"neighbours that are right", "rcu_nocb_poll rcu_nocbs=2-7 nohz=on nosmt", nil, nil},
		{"en dash and curly quotes", "isolcpus=2–7 “quiet”", nil, []string{"kargs-characters", "kargs-characters", "kargs-cpu-list"}},
		{"half of the C-state pair", "intel_idle.max_cstate=0", nil, []string{"kargs-cstate-half"}},
		{"C-state pair", "intel_idle.max_cstate=0 processor.max_cstate=0", nil, []string{"kargs-cstate-zero"}},
		{"polling needs no half", "intel_idle.max_cstate=0 idle=poll", nil, []string{"kargs-redundant"}},
		{"Intel's argument on AMD", "intel_idle.max_cstate=1", amd, []string{"kargs-wrong-cpu"}},
		{"x86 argument on Arm", "idle=poll", func(h *Host) { h.Arch = "aarch64" }, []string{"kargs-wrong-cpu"}},
		{"pass-through at the wrong key", "amd_iommu=pt", amd, []string{"kargs-iommu-value"}},
		{"iommu=on", "iommu=on", nil, []string{"kargs-iommu-value"}},
		{"amd_iommu=on does no harm", "amd_iommu=on iommu=pt", amd, []string{"kargs-redundant"}},
		{"IOMMU off on a large AMD host", "amd_iommu=off", func(h *Host) { amd(h); h.Online = cpulist.Range(0, 255); h.Last = 255 }, []string{"kargs-iommu-off-many-cpus"}},
		{"size in the count", "hugepages=1G", nil, []string{"kargs-hugepages-count"}},
		{"count before size", "hugepages=16 hugepagesz=1G", nil, []string{"kargs-hugepages-order"}},
		{"size unknown on x86", "hugepagesz=512M hugepages=4", nil, []string{"kargs-hugepages-size"}},
		{"per node", "hugepages=0:8,1:8", nil, nil},
		{"per node too early", "hugepages=0:8,1:8", old(5, 15), []string{"kargs-hugepages-node"}},
		{"bad values", "mitigations=none skew_tick=yes tsc=nowatchdog", nil, []string{"kargs-value", "kargs-value"}},
		{"doubled", "isolcpus=2-7,10-15 isolcpus=2-6,10-14", nil, []string{"kargs-doubled"}},
		{"log says unknown", "kthread_cpus=0-1", func(h *Host) { h.Unknown = []string{"kthread_cpus=0-1"} }, []string{"kargs-unknown"}},
		{"watchdogs twice", "nowatchdog nosoftlockup nmi_watchdog=0", nil, []string{"kargs-redundant", "kargs-redundant"}},
	} {
		h := host16()
		if c.host != nil {
			c.host(&h)
		}
		var got []string
		for _, n := range Lint(c.line, h) {
			got = append(got, n.Code)
			if n.Word == "" || n.Text == "" {
				t.Errorf("%s: empty note %+v", c.name, n)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q gives %v, want %v", c.name, c.line, got, c.want)
		}
	}
}

// What a note proposes must silence it.
func TestLintFixes(t *testing.T) {
	for _, line := range []string{
		tuned + " irqaffinity=0-15", "isolcpus=managed_irq,2-7,10-15", "nohz_full=0-3,8-11", "amd_iommu=pt", "intel_idle.max_cstate=0",
		"nohz=off nohz_full=2-7,10-15", "rcu_nocb_poll",
	} {
		h := host16()
		for _, n := range Lint(line, h) {
			if len(n.Set) == 0 && len(n.Drop) == 0 {
				continue
			}
			fixed := Merge(line, n.Set, n.Drop)
			for _, again := range Lint(fixed, h) {
				if again.Code == n.Code {
					t.Errorf("%q fixed to %q still gives %s", line, fixed, n.Code)
				}
			}
		}
	}
}

// With nothing known of the host only what the line itself shows is said.
func TestLintUnknownHost(t *testing.T) {
	if got := Lint("isolcpus=managed_irq,domain,4-N nohz_full=4-N irqaffinity=0-3 idle=poll intel_iommu=on hugepagesz=64K hugepages=1", Host{Last: -1}); len(got) != 0 {
		t.Errorf("notes without a host: %+v", got)
	}
	got := Lint("isolcpus=4-7 irqaffinity=0-7", Host{})
	if len(got) != 1 || got[0].Code != "kargs-irqaffinity-overlap" || got[0].Set != nil {
		t.Errorf("notes without a host: %+v", got)
	}
}
