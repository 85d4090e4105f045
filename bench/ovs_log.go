package bench

import (
	"regexp"
	"strings"
)

// ovsLog is the lines of ovs-vswitchd.log that say something about placement and offload.
var ovsLog = []logPattern{
	{re: regexp.MustCompile(`There's no available \(non-isolated\) pmd thread on numa node (?P<port_node>-?\d+)\. Port '(?P<port_name>[^']*)' rx queue (?P<queue>\d+) will be assigned to a pmd on numa node (?P<node>\d+)`), code: "ovs-no-local-pmd", level: "warning"},
	{re: regexp.MustCompile(`There's no available \(non-isolated\) pmd thread on numa node (?P<port_node>-?\d+)\. Queue (?P<queue>\d+) on port '(?P<port_name>[^']*)' will be assigned to the pmd on core (?P<core>\d+) \(numa node (?P<node>\d+)\)`), code: "ovs-no-local-pmd", level: "warning"},
	{re: regexp.MustCompile(`(?i)no non-isolated pmd`), code: "ovs-queue-without-pmd", level: "error"},
	{re: regexp.MustCompile(`Core\s+(?P<core>\d+) on numa node (?P<node>\d+) is pinned with port '(?P<port_name>[^']*)' rx queue (?P<queue>\d+)`), code: "ovs-queue-pinned", level: "info"},
	{re: regexp.MustCompile(`failed to offload flow: (?P<reason>.*)`), code: "ovs-offload-failed", level: "warning"},
	{re: regexp.MustCompile(`(?P<reason>(?:flow_put: )?recirc_id sharing not supported)`), code: "ovs-offload-failed", level: "warning"},
	{re: regexp.MustCompile(`Failed to create memory pool for netdev (?P<port_name>\S+?),? .*socket (?P<node>\d+)`), code: "ovs-mempool-failed", level: "error"},
	{re: regexp.MustCompile(`Failed to create memory pool|Insufficient memory to create memory pool`), code: "ovs-mempool-failed", level: "error"},
	{re: regexp.MustCompile(`wakeup due to \[POLLIN\] on fd \d+ \((?P<what>[^)]*AF_PACKET[^)]*)\)`), code: "ovs-main-thread-wakeups", level: "warning"},
	{re: regexp.MustCompile(`Unreasonably long (?P<ms>\d+)ms poll interval`), code: "ovs-long-poll-interval", level: "warning"},
	{re: regexp.MustCompile(`Dropped (?P<lines>\d+) log messages in last (?P<seconds>\d+) seconds`), code: "ovs-log-dropped", level: "info"},
	{re: regexp.MustCompile(`Suspicious iteration \((?P<what>[^)]*)\)`), code: "ovs-suspicious-iteration", level: "warning"},
}

var ovsLogFrame = regexp.MustCompile(`^\S+\|\d+\|[\w()/-]+\|(EMER|ERR|WARN|INFO|DBG)\|`)

// ParseOVSLog turns lines of ovs-vswitchd.log into notes; equal ones count once.
func ParseOVSLog(lines []string) []Note {
	text := make([]textLine, 0, len(lines))
	for i, l := range lines {
		text = append(text, textLine{N: i + 1, S: strings.TrimSpace(ovsLogFrame.ReplaceAllString(cleanText([]byte(l)), ""))})
	}
	r := newResult("ovs", "")
	noteLines(&r, text, ovsLog)
	return r.Notes
}
