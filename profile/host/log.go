package host

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/corewise/corewise/profile/maybe"
)

// maxLogBytes bounds the kernel log: ring buffers of more than 16 MiB exist only for debugging.
const maxLogBytes = 16 << 20

// logPattern is one kind of kernel message. all must be in the line.
type logPattern struct {
	code string
	all  []string
}

// logPatterns are the messages worth a rule, by the words that did not change between kernel versions.
var logPatterns = []logPattern{
	{"workqueue-lockup", []string{"BUG: workqueue lockup"}},
	{"soft-lockup", []string{"BUG: soft lockup"}},
	{"hard-lockup", []string{"hard LOCKUP"}},
	{"rcu-stall", []string{"rcu", "detected stall"}},
	{"hung-task", []string{"blocked for more than", "seconds"}},
	{"rt-throttling", []string{"RT throttling activated"}},
	{"dl-overload", []string{"DL replenish lagged"}},
	{"nohz-softirq", []string{"NOHZ tick-stop error"}},
	{"nohz-softirq", []string{"NOHZ: local_softirq_pending"}},
	{"hrtimer-stall", []string{"hrtimer: interrupt took"}},
	{"clocksource-unstable", []string{"Marking clocksource", "as unstable"}},
	{"clocksource-unstable", []string{"Marking TSC unstable"}},
	{"clocksource-switched", []string{"Switched to clocksource"}},
	{"nohz-full-unsupported", []string{"nohz unsupported"}},
	{"unknown-parameters", []string{"Unknown kernel command line parameters"}},
	{"unknown-parameters", []string{"Unknown command line parameters"}},
	{"iommu-invalid-param", []string{"AMD-Vi: Unknown option"}},
	{"isolcpus-invalid", []string{"isolcpus:", "nknown flag"}},
	{"isolcpus-invalid", []string{"Housekeeping:", "must"}},
	{"malformed-parameter", []string{"Malformed early option"}},
	{"iommu-domain", []string{"Default domain type:"}},
	{"pcie-bandwidth", []string{"available PCIe bandwidth, limited by"}},
	{"pcie-bandwidth", []string{"PCI Express bandwidth of", "available"}},
	{"pcie-aer-corrected", []string{"AER: Correct"}},
	{"pcie-aer-fatal", []string{"AER: Uncorrect", "(Fatal)"}},
	{"pcie-aer-fatal", []string{"severity=Uncorrected (Fatal)"}},
	{"pcie-aer-nonfatal", []string{"AER: Uncorrect", "(Non-Fatal)"}},
	{"pcie-power", []string{"insufficient power on the PCIe slot"}},
	{"perf-throttled", []string{"perf: interrupt took too long"}},
	{"thermal-throttle", []string{"temperature above threshold", "throttled"}},
	{"mce", []string{"Machine check events logged"}},
	{"mce", []string{"[Hardware Error]"}},
	{"write-combining", []string{"write-combining", "not supported"}},
	{"write-combining", []string{"Write combining is not supported"}},
	{"conntrack-full", []string{"nf_conntrack: table full"}},
	{"irq-nobody-cared", []string{"nobody cared"}},
	{"tx-timeout", []string{"NETDEV WATCHDOG", "timed out"}},
	{"link-down", []string{"Link down"}},
	{"link-down", []string{"Link is Down"}},
	{"x2apic", []string{"x2apic"}},
	{"firmware-bug", []string{"[Firmware Bug]"}},
	{"oom", []string{"Out of memory: Killed"}},
	{"page-allocation-failure", []string{"page allocation failure"}},
}

// readLog reads the kernel ring buffer, or its copy in a host tree.
func readLog(s *Source, h *Host) {
	text, err := logText(s, h)
	if err != nil {
		h.Log.Known = maybe.None[bool](err.Error())
		return
	}
	h.Log.Known = maybe.Some(true)
	h.Log.Hits, h.Log.PCIeLimits = parseLog(text), parsePCIeLimits(text)
	for _, p := range unknownParams(text) {
		if !slices.Contains(h.Kernel.Unknown, p) {
			h.Kernel.Unknown = append(h.Kernel.Unknown, p)
		}
	}
}

var errNoLog = errors.New("the host tree holds no kernel log (cmd/dmesg)")

func logText(s *Source, h *Host) (string, error) {
	if s.Live {
		return ringBuffer()
	}
	for _, name := range []string{"dmesg", "dmesg-T", "journalctl-k"} {
		if text, ok := command(h, name).Get(); ok {
			return text, nil
		}
	}
	for _, file := range []string{"/var/log/dmesg", "/var/log/kern.log"} {
		if text, ok := s.Text(file).Get(); ok {
			return text, nil
		}
	}
	return "", errNoLog
}

// ringBuffer reads the kernel's log with one syslog(2) call, which marks nothing as read.
func ringBuffer() (string, error) {
	const readAll, sizeBuffer = 3, 10 // SYSLOG_ACTION_READ_ALL, SYSLOG_ACTION_SIZE_BUFFER
	size, err := unix.Klogctl(sizeBuffer, nil)
	if err != nil {
		return "", errors.New("read kernel log: " + err.Error() + " (needs CAP_SYSLOG)")
	}
	buf := make([]byte, min(size, maxLogBytes))
	n, err := unix.Klogctl(readAll, buf)
	if err != nil {
		return "", errors.New("read kernel log: " + err.Error() + " (needs CAP_SYSLOG)")
	}
	return string(buf[:n]), nil
}

// parseLog counts the patterns. One line may carry several; a code is listed once, in order of first appearance.
func parseLog(text string) []LogHit {
	var hits []LogHit
	at := map[string]int{}
	for _, line := range strings.Split(text, "\n") {
		for i, p := range logPatterns {
			if !matchesAll(line, p.all) || i > 0 && logPatterns[i-1].code == p.code && matchesAll(line, logPatterns[i-1].all) {
				continue
			}
			seconds, body := splitStamp(line)
			n, seen := at[p.code]
			if !seen {
				n = len(hits)
				at[p.code] = n
				hits = append(hits, LogHit{Code: p.code, First: body[:min(len(body), 300)], FirstS: seconds})
			}
			hits[n].Count++
			hits[n].LastS = seconds
		}
	}
	return hits
}

func matchesAll(line string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(line, p) {
			return false
		}
	}
	return true
}

var (
	reLevel    = regexp.MustCompile(`^<\d{1,3}>`)
	reSinceUp  = regexp.MustCompile(`^\[ *(\d+\.\d+)\](?:\[ *[TC]\d+\])? ?`)
	reKmsg     = regexp.MustCompile(`^\d+,\d+,(\d+),[^;]*;`)
	reCalendar = regexp.MustCompile(`^(?:\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}\] ?|\d{4}-\d\d-\d\dT\S+ (?:\S+ kernel: )?|[A-Z][a-z]{2} [ \d]\d [\d:]{8} \S+ kernel: )`)
)

// splitStamp takes the prefix off a line: "[  12.345678]", "<4>[...]", a /dev/kmsg record, or a calendar time of dmesg -T
// or a journal, from which the seconds since boot are not known.
func splitStamp(line string) (maybe.Value[float64], string) {
	line = reLevel.ReplaceAllString(line, "")
	if m := reKmsg.FindStringSubmatch(line); m != nil {
		us, err := strconv.ParseFloat(m[1], 64)
		return maybe.From(us/1e6, err), line[len(m[0]):]
	}
	if m := reCalendar.FindString(line); m != "" {
		line = line[len(m):]
	}
	if m := reSinceUp.FindStringSubmatch(line); m != nil {
		return maybe.From(strconv.ParseFloat(m[1], 64)), line[len(m[0]):]
	}
	return maybe.None[float64]("the log has no time since boot"), line
}

var (
	reUnknownArgs = regexp.MustCompile(`Unknown (?:kernel )?command line parameters:? "?([^"]*?)"?(?:, will be passed to user space\.?)?$`)
	reAMDOption   = regexp.MustCompile(`AMD-Vi: Unknown option - '([^']*)'`)
	reMalformed   = regexp.MustCompile(`Malformed early option '([^']*)'`)
)

// unknownParams lists words of the command line that the kernel said it does not know. What begins with BOOT_IMAGE= is
// always among them and means nothing.
func unknownParams(text string) []string {
	var words []string
	for _, line := range strings.Split(text, "\n") {
		if !strings.Contains(line, "nknown") && !strings.Contains(line, "Malformed") {
			continue
		}
		line = strings.TrimSpace(line)
		if m := reUnknownArgs.FindStringSubmatch(line); m != nil {
			for _, w := range strings.Fields(m[1]) {
				if !strings.HasPrefix(w, "BOOT_IMAGE=") {
					words = append(words, w)
				}
			}
		}
		if m := reAMDOption.FindStringSubmatch(line); m != nil {
			words = append(words, "amd_iommu="+m[1])
		}
		if m := reMalformed.FindStringSubmatch(line); m != nil {
			words = append(words, m[1])
		}
	}
	return words
}
