package host

import (
	"path"
	"regexp"
	"strings"
)

// foreign turns the entries of an archive that another collector made into those of a host tree; of a host tree it returns
// the entries as they are. Such archives hold one sample, and only what that collector found worth keeping.
func foreign(list []entry) []entry {
	for _, e := range list {
		top, rest, _ := strings.Cut(e.name, "/")
		switch {
		case strings.HasPrefix(rest, "sos_commands/"):
			return rewritten(list, top+"/", sosPath)
		case strings.HasPrefix(rest, "commands_txt_output/") && strings.HasPrefix(top, "sysinfo-snapshot"):
			return rewritten(list, top+"/", snapshotPath)
		}
	}
	return list
}

// reBulk are the parts of an sosreport that can be gigabytes and tell nothing that is read here.
var reBulk = regexp.MustCompile(`^sosreport-[^/]+/(var/log|sos_strings|sos_logs|sos_reports|usr|lib)/`)

// rewritten gives each entry below top its place in a host tree ("" for none). Links that lead out of it are left out:
// the collector's own files point to each other.
func rewritten(list []entry, top string, place func(string) string) []entry {
	var out []entry
	for _, e := range list {
		p, ok := strings.CutPrefix(e.name, top)
		if !ok {
			continue
		}
		e.name = place(p)
		inTree, isTree := strings.CutPrefix(e.name, "root/")
		if e.name == "" || e.kind == isLink && (!isTree || checkLink(inTree, e.link) != nil) {
			continue
		}
		out = append(out, e)
	}
	return out
}

var sosSeparators = regexp.MustCompile(`_-?|-+`)

// sosPath places a file of an sosreport: files of the host lie at their own paths, output of commands below sos_commands/AREA,
// with blanks as underscores (ethtool_-c_eth0).
func sosPath(p string) string {
	rest, isCommand := strings.CutPrefix(p, "sos_commands/")
	if !isCommand {
		return "root/" + p
	}
	name := sosSeparators.ReplaceAllString(path.Base(rest), "-")
	aliases := []struct{ prefix, name string }{
		{"lspci-nnvv", "lspci-vvv"}, {"dmesg-T", "dmesg-T"}, {"dmesg", "dmesg"}, {"journalctl-no-pager-dmesg", "journalctl-k"},
		{"ovs-vsctl-t-5-show", "ovs-vsctl-show"}, {"ovs-appctl-dpif-netdev.pmd-rxq-show", "ovs-pmd-rxq-show"},
		{"ovs-appctl-dpif-netdev.pmd-stats-show", "ovs-pmd-stats-show"},
	}
	for _, a := range aliases {
		if name == a.prefix {
			name = a.name
			break
		}
	}
	return "cmd/" + name
}

// snapshotPath places a file of NVIDIA's sysinfo-snapshot. Most of what it knows is in its HTML page, which is not read.
func snapshotPath(p string) string {
	base := path.Base(p)
	switch {
	case p == "commands_txt_output/interrupts":
		return "root/proc/interrupts"
	case p == "commands_txt_output/zoneinfo":
		return "root/proc/zoneinfo"
	case p == "config.gz":
		return "root/proc/config.gz"
	case strings.HasPrefix(p, "pcie_files/lspci") && strings.Contains(base, "vvv"):
		return "cmd/lspci-vvv"
	case base == "dmidecode" || base == "dmesg":
		return "cmd/" + base
	}
	return ""
}
