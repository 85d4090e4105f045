package facts

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/host"
)

func deriveServices(v *view, f *Facts) {
	s, u, sv := &f.Services, &f.Services.Unknown, &v.b.Services
	s.Monitors, s.CPUFreqMonitors, s.PowerDaemons = []string{}, []string{}, []string{}
	var texts []string
	for i := range v.b.Procs {
		p := &v.b.Procs[i]
		name, reads := monitor(p)
		if name == "" {
			continue
		}
		if !slices.Contains(s.Monitors, name) {
			s.Monitors = append(s.Monitors, name)
		}
		if reads != "" && !slices.Contains(s.CPUFreqMonitors, name) {
			s.CPUFreqMonitors = append(s.CPUFreqMonitors, name)
			texts = append(texts, fmt.Sprintf("%s (pid %d) reads %s", name, p.PID, reads))
		}
	}
	s.MonitorsText = strings.Join(texts, "; ")
	s.SystemdAffinity, s.SystemdOnWL = []int{}, []int{}
	if set, ok := sv.CPUAffinity.Get(); ok {
		s.SystemdAffinity = ints(set)
	}
	v.systemdReach(s)
	s.Firewalls = append([]string{}, sv.Firewalls...)
	s.Stalld, s.Auditd = v.runs("stalld"), v.runs("auditd")
	s.Kubelet = v.runs("kubelet")
	s.PTP = v.runs("ptp4l") || v.runs("phc2sys") || v.runs("chronyd")
	for _, d := range []string{"tuned", "power-profiles-", "thermald", "tlp", "auto-cpufreq"} {
		if v.runs(d) {
			s.PowerDaemons = append(s.PowerDaemons, d)
		}
	}
	if len(v.b.Procs) == 0 {
		u.missAll("no processes were readable", "monitors", "cpufreq_monitors", "monitors_text", "stalld", "auditd", "kubelet", "ptp", "power_daemons")
	}
}

// runs reports a process of that name. A host tree need not hold all processes: absence there is taken as "not running",
// which no rule may use to fire.
func (v *view) runs(comm string) bool {
	return v.b.Services.Running[comm] || slices.ContainsFunc(v.b.Procs, func(p host.Proc) bool { return p.Comm == comm && !p.KThread })
}

// monitor recognises agents that sample all CPUs, and what they read with an interrupt to each: cpufreq's scaling_cur_freq,
// MSRs, perf events. node_exporter's cpufreq collector is on unless it is switched off.
func monitor(p *host.Proc) (name, reads string) {
	if p.KThread || len(p.Argv) == 0 {
		return "", ""
	}
	args := strings.Join(p.Argv[1:], " ")
	switch name = path.Base(p.Argv[0]); name {
	case "node_exporter", "prometheus-node-exporter":
		off := strings.Contains(args, "--no-collector.cpufreq") ||
			strings.Contains(args, "--collector.disable-defaults") && !strings.Contains(args, "--collector.cpufreq")
		if !off {
			return name, "cpufreq of every CPU"
		}
		return name, ""
	case "turbostat", "cpupower", "rdmsr", "pqos", "pcm", "pcm-memory", "pcm-iio":
		return name, "MSRs of every CPU"
	case "perf", "rezolus", "bpftrace":
		return name, "perf events or probes on every CPU"
	case "powertop", "i7z", "s-tui":
		return name, "idle and frequency of every CPU"
	case "collectd", "telegraf", "netdata", "dcgm-exporter", "datadog-agent", "glances", "atop", "sar", "sadc", "pmdalinux":
		return name, ""
	}
	return "", ""
}

// systemdReach is where services that systemd starts may run: its own mask, which they inherit.
func (v *view) systemdReach(s *Services) {
	if !v.wl.known && v.wl.present {
		s.Unknown.miss("systemd_workload_cpus", v.wl.noWhy)
		return
	}
	for i := range v.b.Procs {
		p := &v.b.Procs[i]
		if p.PID == 1 && len(p.Threads) > 0 && p.Threads[0].AllowedKnown {
			s.SystemdOnWL = ints(p.Threads[0].Allowed.And(v.wl.data))
			return
		}
	}
	s.Unknown.miss("systemd_workload_cpus", "the CPUs of process 1 were not readable")
}
