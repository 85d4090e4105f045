package bench

import (
	"regexp"

	"github.com/corewise/corewise/profile/maybe"
)

// pktgenLog is what Pktgen itself says; up to 24.05.0 and after it the words differ.
var pktgenLog = []logPattern{
	{re: regexp.MustCompile(`Error can not use initial lcore(?: (?P<lcore>\d+))? for`), code: "pktgen-main-lcore-mapped", level: "error", fails: true},
	{re: regexp.MustCompile(`The initial lcore is (?P<lcore>\d+)`), code: "pktgen-main-lcore-mapped", level: "error"},
	{re: regexp.MustCompile(`WARNING: Nothing to do on lcore (?P<lcore>\d+)`), code: "pktgen-lcore-without-work", level: "warning"},
	{re: regexp.MustCompile(`Logical core +(?P<lcore>\d+) has no work`), code: "pktgen-lcore-without-work", level: "warning"},
	{re: regexp.MustCompile(`Err: lcore (?P<lcore>\d+) already in use`), code: "pktgen-lcore-in-two-maps", level: "warning"},
	{re: regexp.MustCompile(`!ERROR!: invalid matrix string \((?P<map>.*)\)`), code: "pktgen-map-syntax", level: "error", fails: true},
	{re: regexp.MustCompile(`Invalid mapping format '(?P<map>.*)'`), code: "pktgen-map-syntax", level: "error"},
	{re: regexp.MustCompile(`!ERROR!: error or too many mapping entries`), code: "pktgen-map-rejected", level: "error"},
	{re: regexp.MustCompile(`Config error: No port (?P<port>\d+) found on lcore (?P<lcore>\d+)`), code: "pktgen-port-absent", level: "error", fails: true},
	{re: regexp.MustCompile(`Unable to allocate port_info_t for port (?P<port>\d+)`), code: "pktgen-port-unmapped", level: "error", fails: true},
	{re: regexp.MustCompile(`Cannot set MTU(?: (?P<mtu>\d+))? on port (?P<port>\d+), \((?P<errno>\d+)\)(?P<reason>.*)`), code: "pktgen-mtu-failed", level: "error", fails: true},
	{re: regexp.MustCompile(`Cannot configure device: port=(?P<port>\d+)`), code: "pktgen-port-configure-failed", level: "error", fails: true},
	{re: regexp.MustCompile(`!ERROR!: Invalid PCAP filename \((?P<file>.*)\)`), code: "pktgen-pcap-failed", level: "error", fails: true},
	{re: regexp.MustCompile(`pcap_open: failed for \((?P<file>.*)\)`), code: "pktgen-pcap-failed", level: "error", fails: true},
	{re: regexp.MustCompile(`User State for CLI not set for Lua`), code: "pktgen-without-lua", level: "error"},
	{re: regexp.MustCompile(`lua-shell: (?P<reason>.*)`), code: "pktgen-lua-error", level: "error"},
	{re: regexp.MustCompile(`lua_docall\((?P<file>.*)\) failed`), code: "pktgen-lua-error", level: "error"},
	{re: regexp.MustCompile(`Pktgen got a Segment Fault`), code: "pktgen-crashed", level: "error", fails: true},
	{re: regexp.MustCompile(`Pktgen received a (?P<signal>SIG\w+)`), code: "pktgen-signal", level: "warning"},
}

var versionPatterns = []*regexp.Regexp{
	regexp.MustCompile(`"Pktgen_Version":"Pktgen (\d[\d.]*\w*)"`),
	regexp.MustCompile(`Pktgen (\d+\.\d+[\w.-]*) (?:\(DPDK|created by| Powered)`),
	regexp.MustCompile(`Pktgen (\d+\.\d+[\w.-]*) +Powered by DPDK`),
	regexp.MustCompile(`/pktgen-(?:dpdk-pktgen-)?(\d+\.\d+\.\d+)`),
}

func pktgenVersion(lines []textLine) maybe.Value[string] {
	for _, re := range versionPatterns {
		for _, l := range lines {
			if m := re.FindStringSubmatch(l.S); m != nil {
				return maybe.Some(m[1])
			}
		}
	}
	return maybe.None[string]("the output names no Pktgen version")
}
