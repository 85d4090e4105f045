package host

import (
	"fmt"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// policy is one cpufreq policy: CPUs that share a frequency domain.
type policy struct {
	dir  string
	cpus cpulist.Set
}

// readCpufreq reads each policy once for all its CPUs (Documentation/admin-guide/pm/cpufreq.rst). procfs is not used: one
// unreadable file, such as an empty governor in a container, costs it all of them.
func readCpufreq(s *Source, h *Host) {
	p := &h.Power
	p.Driver = maybe.Nonef[string]("%s/cpufreq has no policy: no frequency scaling is visible here", cpuDir)
	policies := readPolicies(s, h.CPU.Online.Or(nil))
	p.Governors, p.EPP, p.EPB = map[int]string{}, map[int]string{}, map[int]int{}
	p.MinFreqKHz, p.MaxFreqKHz, p.CurFreqKHz, p.HWMaxFreqKHz = map[int]int{}, map[int]int{}, map[int]int{}, map[int]int{}
	p.BaseFreqKHz = map[int]int{}
	for _, pol := range policies {
		readPolicy(s, h, pol)
	}
	for _, c := range h.CPU.Online.Or(nil) {
		if mayInterrupt(s, h, c) {
			keepInt(p.EPB, cpulist.Of(c), s.Int(fmt.Sprintf("%s/cpu%d/power/energy_perf_bias", cpuDir, c)))
		}
	}
	for i := range h.CPU.CPUs {
		c := &h.CPU.CPUs[i]
		c.MaxFreqKHz = maybe.None[int]("cpuinfo_max_freq is not there")
		if khz, ok := p.HWMaxFreqKHz[c.ID]; ok {
			c.MaxFreqKHz = maybe.Some(khz)
		}
	}
}

// readPolicies lists cpufreq/policyN, or cpuN/cpufreq where only that is there.
func readPolicies(s *Source, online cpulist.Set) []policy {
	var list []policy
	names, _ := s.Dir(cpuDir + "/cpufreq")
	for _, name := range names {
		n, ok := numbered(name, "policy")
		if !ok {
			continue
		}
		dir := cpuDir + "/cpufreq/" + name
		cpus, ok := s.List(dir + "/affected_cpus").Get()
		if !ok {
			cpus = s.List(dir + "/related_cpus").Or(cpulist.Of(n))
		}
		list = append(list, policy{dir: dir, cpus: spaced(s, dir, cpus).And(online)})
	}
	if len(list) > 0 {
		return list
	}
	for _, c := range online {
		if dir := fmt.Sprintf("%s/cpu%d/cpufreq", cpuDir, c); s.Exists(dir) {
			list = append(list, policy{dir: dir, cpus: cpulist.Of(c)})
		}
	}
	return list
}

// spaced reads affected_cpus, which separates numbers by blanks where other lists have commas.
func spaced(s *Source, dir string, otherwise cpulist.Set) cpulist.Set {
	for _, file := range []string{"/affected_cpus", "/related_cpus"} {
		t, ok := s.Text(dir + file).Get()
		if !ok || t == "" {
			continue
		}
		if set, err := cpulist.Parse(strings.Join(strings.Fields(t), ",")); err == nil {
			return set
		}
	}
	return otherwise
}

func readPolicy(s *Source, h *Host, pol policy) {
	p := &h.Power
	if v := s.Word(pol.dir + "/scaling_driver"); v.Ok() || !p.Driver.Ok() {
		p.Driver = v
	}
	keepText(p.Governors, pol.cpus, s.Word(pol.dir+"/scaling_governor"))
	keepInt(p.BaseFreqKHz, pol.cpus, s.Int(pol.dir+"/base_frequency"))
	keepInt(p.MinFreqKHz, pol.cpus, s.Int(pol.dir+"/scaling_min_freq"))
	keepInt(p.MaxFreqKHz, pol.cpus, s.Int(pol.dir+"/scaling_max_freq"))
	keepInt(p.HWMaxFreqKHz, pol.cpus, s.Int(pol.dir+"/cpuinfo_max_freq"))
	if len(pol.cpus) == 0 || !mayInterrupt(s, h, pol.cpus[0]) {
		return
	}
	keepText(p.EPP, pol.cpus, s.Word(pol.dir+"/energy_performance_preference"))
	if kernelFrom(h, 5, 17) || !s.Live {
		keepInt(p.CurFreqKHz, pol.cpus, s.Int(pol.dir+"/scaling_cur_freq"))
	}
}

// mayInterrupt tells whether files may be read whose contents the kernel fetches from the CPU itself by an interrupt to it
// (the MSRs behind EPB and EPP; the current frequency before Linux 5.17). Isolated CPUs are left alone, also in a tree,
// so that a host and its bundle say the same.
func mayInterrupt(s *Source, h *Host, cpu int) bool {
	return !s.Live || !h.CPU.Isolated.Or(nil).Has(cpu) && !h.CPU.NohzFull.Or(nil).Has(cpu)
}

func kernelFrom(h *Host, major, minor int) bool {
	v := h.Kernel.Version
	return v[0] > major || v[0] == major && v[1] >= minor
}

func keepText(m map[int]string, cpus cpulist.Set, v maybe.Value[string]) {
	if t, ok := v.Get(); ok {
		for _, c := range cpus {
			m[c] = t
		}
	}
}

func keepInt(m map[int]int, cpus cpulist.Set, v maybe.Value[int]) {
	if n, ok := v.Get(); ok && n >= 0 {
		for _, c := range cpus {
			m[c] = n
		}
	}
}
