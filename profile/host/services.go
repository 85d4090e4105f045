package host

import (
	"os"
	"path"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// daemons are the services whose running matters, by the name of the process (15 characters at most).
var daemons = []string{"irqbalance", "tuned", "ksmtuned", "numad", "power-profiles-", "thermald", "firewalld", "kubelet", "crio",
	"containerd", "dockerd", "libvirtd", "virtqemud", "ovs-vswitchd", "chronyd", "ptp4l", "node_exporter"}

// readServices reads the daemons that change placement or power by themselves, and their configuration.
func readServices(s *Source, h *Host) {
	sv := &h.Services
	sv.Running = map[string]bool{}
	for _, p := range h.Procs {
		if !p.KThread && slices.Contains(daemons, p.Comm) {
			sv.Running[p.Comm] = true
		}
	}
	readIrqbalance(s, h)
	readTuned(s, h)
	sv.CPUAffinity = systemdAffinity(s)
	sv.Firewalls = firewalls(s, h)
}

// running tells whether a daemon runs. Only where all processes can be seen does its absence mean anything.
func running(s *Source, h *Host, comm string) maybe.Value[bool] {
	switch {
	case h.runs(comm):
		return maybe.Some(true)
	case !s.Live && !command(h, "ps-e").Ok():
		return maybe.Nonef[bool]("no process %s among those of the host tree, which need not hold all", comm)
	case !s.Live && listed(command(h, "ps-e").Or(""), comm):
		return maybe.Some(true)
	case h.Identity.Kind.Or("") == "container":
		return maybe.None[bool]("a container does not see the host's processes")
	case s.Live && hidesProcs(s):
		return maybe.None[bool]("/proc is mounted with hidepid")
	}
	return maybe.Some(false)
}

// runs reports whether a daemon is among the processes that were read.
func (h *Host) runs(comm string) bool {
	return slices.ContainsFunc(h.Procs, func(p Proc) bool { return p.Comm == comm && !p.KThread })
}

// listed looks a name up in the output of `ps -eo pid,comm`, which lists all processes.
func listed(ps, comm string) bool {
	for _, line := range strings.Split(ps, "\n") {
		if _, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.TrimSpace(name) == comm {
			return true
		}
	}
	return false
}

func hidesProcs(s *Source) bool {
	for _, line := range strings.Split(s.Text("/proc/self/mounts").Or(""), "\n") {
		f := strings.Fields(line)
		if len(f) > 3 && f[1] == "/proc" && strings.Contains(f[3], "hidepid=") {
			return os.Geteuid() != 0 && !strings.Contains(f[3], "hidepid=0") && !strings.Contains(f[3], "hidepid=off")
		}
	}
	return false
}

// readTuned reads the active profile with its variables and, where it includes another, that one below it.
func readTuned(s *Source, h *Host) {
	sv := &h.Services
	sv.TunedActive = running(s, h, "tuned")
	sv.TunedProfile = s.Word("/etc/tuned/active_profile")
	sv.TunedMode = s.Word("/etc/tuned/profile_mode")
	active, ok := sv.TunedProfile.Get()
	if !ok {
		return
	}
	sv.TunedConf = map[string]string{}
	for _, name := range strings.Fields(active) {
		tunedProfile(s, name, sv.TunedConf, 0)
	}
}

// tunedProfile merges a profile over what it includes. Names are untrusted: only plain ones are looked up.
func tunedProfile(s *Source, name string, into map[string]string, depth int) {
	if depth > 8 || name == "" || name != path.Base(name) {
		return
	}
	for _, dir := range []string{"/etc/tuned/", "/etc/tuned/profiles/", "/usr/lib/tuned/", "/usr/lib/tuned/profiles/"} {
		text, ok := s.Text(dir + name + "/tuned.conf").Get()
		if !ok {
			continue
		}
		conf := parseINI(text)
		for _, parent := range strings.FieldsFunc(conf["main.include"], func(r rune) bool { return r == ',' || r == ' ' }) {
			tunedProfile(s, parent, into, depth+1)
		}
		for k, v := range conf {
			into[k] = v
		}
		break
	}
	for k, v := range parseINI(s.Text("/etc/tuned/" + name + "-variables.conf").Or("")) {
		into["variables."+strings.TrimPrefix(k, ".")] = v
	}
}

// parseINI reads "[section]" and "key = value" lines into "section.key"; keys before any section are ".key".
func parseINI(text string) map[string]string {
	conf, section := map[string]string{}, ""
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[' && line[len(line)-1] == ']':
			section = strings.TrimSpace(line[1 : len(line)-1])
		default:
			if key, value, ok := strings.Cut(line, "="); ok {
				conf[section+"."+strings.TrimSpace(key)] = strings.TrimSpace(value)
			}
		}
	}
	return conf
}

// systemdAffinity reads CPUAffinity= of systemd's manager (systemd-system.conf(5)): assignments add up, an empty one resets.
func systemdAffinity(s *Source) maybe.Value[cpulist.Set] {
	files := []string{"/usr/lib/systemd/system.conf", "/etc/systemd/system.conf"}
	for _, dir := range []string{"/usr/lib/systemd/system.conf.d", "/etc/systemd/system.conf.d"} {
		names, _ := s.Dir(dir) // usually not there
		for _, name := range names {
			if strings.HasSuffix(name, ".conf") {
				files = append(files, dir+"/"+name)
			}
		}
	}
	result := maybe.None[cpulist.Set]("systemd's system.conf is not there")
	for _, file := range files {
		if s.Exists(file) && !result.Ok() {
			result = maybe.Nonef[cpulist.Set]("%s does not set CPUAffinity=", file)
		}
		for _, line := range strings.Split(s.Text(file).Or(""), "\n") {
			value, ok := strings.CutPrefix(strings.TrimSpace(line), "CPUAffinity=")
			if ok {
				result = addAffinity(result, value, file)
			}
		}
	}
	return result
}

func addAffinity(sum maybe.Value[cpulist.Set], value, file string) maybe.Value[cpulist.Set] {
	list := strings.Join(strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' }), ",")
	if list == "" {
		return maybe.Nonef[cpulist.Set]("%s resets CPUAffinity=", file)
	}
	set, err := cpulist.Parse(list)
	if err != nil {
		return maybe.Nonef[cpulist.Set]("%s: CPUAffinity=%.80s: %v", file, value, err)
	}
	return maybe.Some(sum.Or(nil).Or(set))
}

// firewalls lists packet filters that are in use: daemons, tables of /proc/net/ip_tables_names, and modules that something
// holds. A loaded module without users filters nothing.
func firewalls(s *Source, h *Host) []string {
	var found []string
	add := func(name string) {
		if !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	if h.Services.Running["firewalld"] {
		add("firewalld")
	}
	for _, f := range []string{"/proc/net/ip_tables_names", "/proc/net/ip6_tables_names"} {
		if s.Text(f).Or("") != "" {
			add("iptables")
		}
	}
	for _, line := range strings.Split(s.Text("/proc/modules").Or(""), "\n") {
		f := strings.Fields(line)
		if len(f) < 3 || f[2] == "0" {
			continue
		}
		switch f[0] {
		case "nf_tables":
			add("nftables")
		case "ip_tables", "iptable_filter", "iptable_nat", "iptable_mangle":
			add("iptables")
		case "nf_conntrack":
			add("conntrack")
		}
	}
	return found
}
