package host

import (
	"regexp"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// maxOVSLines and maxOVSTail bound what is kept of ovs-vswitchd.log: the end counts.
const (
	maxOVSLines = 200
	maxOVSTail  = 4 << 20
)

var (
	reOVSVersion = regexp.MustCompile(`\(Open vSwitch\) (\d+\.\d+[.\d]*)`)
	reOVSShow    = regexp.MustCompile(`ovs_version: "?(\d+\.\d+[.\d]*)`)
	reOVSPair    = regexp.MustCompile(`([A-Za-z0-9_-]+)=("(?:[^"\\]|\\.)*"|[^,}]*)`)
	reOVSLog     = regexp.MustCompile(`failed to offload flow|flow_put|recirc_id sharing|wakeup due to|Dropped \d+ log messages|` +
		`no available \(non-isolated\) pmd|no non-isolated pmd|Failed to create memory pool|DPDK|dpdk.*(ERR|WARN)|Unreasonably long|` +
		`\|(WARN|ERR|EMER)\|`)
)

// readOVS reads what Open vSwitch is set to. The texts of its other commands stay in Host.Commands.
func readOVS(s *Source, h *Host) {
	o := &h.OVS
	o.Running = running(s, h, "ovs-vswitchd")
	o.Version = ovsVersion(h)
	other := command(h, "ovs-vsctl-other-config")
	o.OtherConfig = maybe.None[map[string]string](other.Why())
	if text, ok := other.Get(); ok {
		o.OtherConfig = maybe.Some(parseOVSMap(text))
	}
	if b, err := s.Read("/var/log/openvswitch/ovs-vswitchd.log"); err == nil {
		o.LogLines = ovsLog(string(b[max(0, len(b)-maxOVSTail):]))
	}
}

func ovsVersion(h *Host) maybe.Value[string] {
	v := command(h, "ovs-vsctl-version")
	if m := reOVSVersion.FindStringSubmatch(v.Or("")); m != nil {
		return maybe.Some(m[1])
	}
	if m := reOVSShow.FindStringSubmatch(command(h, "ovs-vsctl-show").Or("")); m != nil {
		return maybe.Some(m[1])
	}
	return maybe.None[string](v.Why())
}

// parseOVSMap reads OVSDB's map notation: {dpdk-init="true", pmd-cpu-mask="0x3c", note="a, b"}.
func parseOVSMap(text string) map[string]string {
	m := map[string]string{}
	for _, pair := range reOVSPair.FindAllStringSubmatch(text, 1000) {
		value := strings.TrimSpace(pair[2])
		if len(value) > 1 && value[0] == '"' {
			value = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(value[1 : len(value)-1])
		}
		m[pair[1]] = value
	}
	return m
}

func ovsLog(text string) []string {
	var kept []string
	for _, line := range strings.Split(text, "\n") {
		if reOVSLog.MatchString(line) {
			kept = append(kept, line[:min(len(line), 500)])
		}
	}
	return kept[max(0, len(kept)-maxOVSLines):]
}
