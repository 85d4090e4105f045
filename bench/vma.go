package bench

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// Accel is VMA or XLIO, the socket libraries that bypass the kernel, as its banner shows it. Every program of a chain
// of wrappers prints a banner; this is the one of the workload itself.
//
// That the library is active does not prove that any socket is offloaded: see AccelStats.
type Accel struct {
	Library string              `json:"library"` // vma or xlio
	Version maybe.Value[string] `json:"version,omitzero"`
	Build   string              `json:"build,omitempty"` // Release, Development Snapshot
	CmdLine string              `json:"cmd_line,omitempty"`
	OFED    string              `json:"ofed,omitempty"`
	Spec    string              `json:"spec,omitempty"`    // as the banner names it: Latency ...
	Banners int                 `json:"banners,omitempty"` // how many programs printed one
	// Params are the parameters that the banner lists: those that differ from the library's compiled default, whether
	// the user or a spec set them, or all of them at a higher log level.
	Params []AccelParam `json:"params,omitempty"`
}

// AccelParam is one parameter in effect.
type AccelParam struct {
	Name    string `json:"name"` // the environment variable
	Value   string `json:"value"`
	Default string `json:"default,omitempty"` // of VMA 9.8.84
	Meaning string `json:"meaning,omitempty"`
}

// Param returns the value in effect of a variable, missing when the banner does not list it.
func (a Accel) Param(name string) maybe.Value[string] {
	for _, p := range a.Params {
		if p.Name == name {
			return maybe.Some(p.Value)
		}
	}
	return maybe.Nonef[string]("the banner does not list %s: it has the library's default, or is unknown to it", name)
}

// Forms of the banner. A line is "VMA INFO: text" or "XLIO INFO   : text", with process, thread and time in front at
// higher detail. A parameter is its description, its value and the variable in brackets.
var (
	accelLine    = regexp.MustCompile(`\b(VMA|XLIO) (?:INFO|DETAILS|DEBUG|WARNING|ERROR|PANIC|FINE|FUNC)[A-Z_]* *: ?(.*)$`)
	accelVersion = regexp.MustCompile(`^(?:VMA|XLIO)_VERSION: (\S+)\s*(.*?)(?: built on .*)?$`)
	accelParam   = regexp.MustCompile(`^(.*?)\s*\[((?:VMA|XLIO)_[A-Z0-9_]+)\]$`)
	wideGap      = regexp.MustCompile(`\s{2,}`)
)

// readAccel finds the banners and warnings of VMA or XLIO in a transcript.
func (r *Result) readAccel(w Workload, lines []textLine) {
	noteLines(r, lines, accelPatterns)
	if a, ok := parseAccel(lines, w.Command); ok {
		r.Accel = &a
	}
	if r.Accel == nil {
		return
	}
	level := r.Accel.Param(strings.ToUpper(r.Accel.Library) + "_TRACELEVEL").Or("INFO")
	if slices.Contains([]string{"DEBUG", "FINE", "FINER", "FUNC", "FUNC_ALL", "ALL"}, level) {
		r.note("vma-log-level-high", "warning", "the socket library logs at level "+level+": that alone costs latency", 0, "level", level)
	}
}

// parseAccel returns the banner that belongs to the command.
func parseAccel(lines []textLine, cmd Command) (Accel, bool) {
	var all []Accel
	for _, l := range lines {
		m := accelLine.FindStringSubmatch(l.S)
		if m == nil {
			continue
		}
		text := strings.TrimSpace(m[2])
		if v := accelVersion.FindStringSubmatch(text); v != nil {
			all = append(all, Accel{Library: strings.ToLower(m[1]), Version: maybe.Some(v[1]), Build: v[2]})
			continue
		}
		if len(all) > 0 {
			all[len(all)-1].read(text)
		}
	}
	if len(all) == 0 {
		return Accel{}, false
	}
	a := all[bannerOf(all, cmd)]
	a.Banners = len(all)
	return a, true
}

// bannerOf picks the banner of the command itself, else of a wrapper around it, which has the same environment, else of
// the same program, else the last.
func bannerOf(all []Accel, cmd Command) int {
	args := strings.Join(cmd.Args, " ")
	best, rank := len(all)-1, 0
	for i, a := range all {
		first, rest, _ := strings.Cut(a.CmdLine, " ")
		same := cmd.Program != "" && path.Base(first) == cmd.Name()
		r := 0
		switch {
		case same && rest == args:
			r = 3
		case args != "" && strings.HasSuffix(a.CmdLine, cmd.Program+" "+args):
			r = 2
		case same:
			r = 1
		}
		if r > 0 && r >= rank {
			best, rank = i, r
		}
	}
	return best
}

// read takes one line of a banner.
func (a *Accel) read(text string) {
	if cmd, ok := strings.CutPrefix(text, "Cmd Line: "); ok {
		a.CmdLine = clip(cmd)
		return
	}
	if ofed, ok := strings.CutPrefix(text, "OFED Version: "); ok {
		a.OFED = clip(strings.TrimSuffix(ofed, ":"))
		return
	}
	m := accelParam.FindStringSubmatch(text)
	if m == nil || len(a.Params) >= 512 {
		return
	}
	info := accelParams()[m[2]]
	p := AccelParam{Name: m[2], Value: accelValue(m[1], info.description), Default: info.value, Meaning: accelMeaning[strings.TrimPrefix(strings.TrimPrefix(m[2], "VMA_"), "XLIO_")]}
	a.Params = append(a.Params, p)
	if p.Name == "VMA_SPEC" || p.Name == "XLIO_SPEC" {
		a.Spec = p.Value
	}
}

// accelValue separates the value from its description: by the known description, by the gap of the columns, and where
// a web page has eaten the blanks, by the last blank.
func accelValue(text, description string) string {
	if value, ok := strings.CutPrefix(text, description); ok && description != "" && (value == "" || value[0] == ' ') {
		return strings.TrimSpace(value)
	}
	if at := wideGap.FindStringIndex(text); at != nil {
		return strings.TrimSpace(text[at[1]:])
	}
	_, value, found := cutLast(text, " ")
	if !found {
		return ""
	}
	return value
}

// accelMeaning says what the parameters do that matter for latency and placement, by name without prefix.
var accelMeaning = map[string]string{
	"SPEC":                          "a set of parameters for one kind of use",
	"TRACELEVEL":                    "how much is logged; debug and above cost latency",
	"RX_POLL":                       "polls of the receive queue before a blocking read sleeps; -1: polls for ever, one core at 100 %",
	"SELECT_POLL":                   "microseconds that select, poll and epoll poll before they sleep; -1: for ever",
	"SELECT_POLL_OS_RATIO":          "how often such a poll also looks at kernel sockets",
	"SELECT_POLL_OS_FORCE":          "kernel sockets are looked at even when offloaded ones are ready",
	"SELECT_SKIP_OS":                "how many ready offloaded polls may skip the look at kernel sockets",
	"PROGRESS_ENGINE_INTERVAL":      "milliseconds between drains of the completion queue by the internal thread; 0: none",
	"CQ_MODERATION_ENABLE":          "completion interrupts are gathered: less CPU, more latency",
	"CQ_AIM_INTERVAL_MSEC":          "how often the moderation adapts; Disabled: never",
	"CQ_KEEP_QP_FULL":               "the receive queue is refilled at once, not in batches",
	"INTERNAL_THREAD_AFFINITY":      "CPU of the library's own thread; -1: any",
	"INTERNAL_THREAD_CPUSET":        "cpuset of the library's own thread",
	"INTERNAL_THREAD_ARM_CQ":        "the library's own thread wakes for every packet",
	"THREAD_MODE":                   "locking; Single: only one thread of the program may use sockets",
	"MEM_ALLOC_TYPE":                "where buffers come from; 2: huge pages",
	"RX_WRE":                        "receive descriptors of a ring",
	"TX_WRE":                        "send descriptors of a ring",
	"RX_WRE_BATCHING":               "how many receive descriptors are posted at once",
	"TX_WRE_BATCHING":               "every how many sends a completion is asked for",
	"RX_UDP_POLL_OS_RATIO":          "how often a UDP read also looks at the kernel's socket",
	"RX_PREFETCH_BYTES_BEFORE_POLL": "bytes of the next packet to prefetch before the poll",
	"GRO_STREAMS_MAX":               "TCP streams whose segments are merged; 0: none",
	"TCP_NODELAY":                   "small segments are sent at once",
	"AVOID_SYS_CALLS_ON_TCP_FD":     "no system calls for a connected TCP socket",
	"RING_ALLOCATION_LOGIC_RX":      "which sockets share a receive ring",
	"RING_ALLOCATION_LOGIC_TX":      "which sockets share a send ring",
	"RING_MIGRATION_RATIO_RX":       "how easily a socket moves to another ring; -1: never",
	"RING_DEV_MEM_TX":               "bytes of the NIC's own memory used for sending",
	"OFFLOADED_SOCKETS":             "sockets are offloaded unless told otherwise",
	"TSO":                           "large segments are cut by the NIC",
}

// accelPatterns are the words of VMA and XLIO that a finding can rest on. The codes begin with vma for both.
var accelPatterns = []logPattern{
	{regexp.MustCompile(`will not be offloaded due to problem with it.?s slaves`), "vma-bond-not-offloadable", "warning", false},
	{regexp.MustCompile(`Interface (?P<netdev>\S+) will not be offloaded|(?:VMA|XLIO) .*will not be offloaded`), "vma-interface-not-offloaded", "warning", false},
	{regexp.MustCompile(`Not enough hugepage resources`), "vma-no-hugepages", "warning", false},
	{regexp.MustCompile(`disable_raw_qp_enforcement|[Rr]aw.?QP.*(?:permission|privilege)`), "vma-no-raw-qp", "warning", false},
	{regexp.MustCompile(`current max locked memory is: (?P<bytes>\d+)`), "vma-memlock-low", "warning", false},
	{regexp.MustCompile(`create_ibv_flow.*errno[ =:]*22`), "vma-flow-rule-invalid", "warning", false},
	{regexp.MustCompile(`create_ibv_flow.*errno[ =:]*17`), "vma-flow-rule-exists", "warning", false},
	{regexp.MustCompile(`[Ff]low steering.*(?:not|disabled|doesn)`), "vma-flow-steering-off", "warning", false},
	{regexp.MustCompile(`Failed in rdma_bind_addr.*errno[ =:]*19|No verbs context in cma_id`), "vma-no-verbs-device-for-interface", "warning", false},
	{regexp.MustCompile(`does not detect IB capable devices|Failure in (?:xlio_)?ibv_get_device_list|net_device_map is empty|No IB capable devices found`), "vma-no-device", "error", false},
	{regexp.MustCompile(`(?:vma|XLIO) failed to start`), "vma-failed-to-start", "error", false},
	{regexp.MustCompile(`CAP_NET_RAW`), "vma-no-net-raw", "warning", false},
	{regexp.MustCompile(`Failed to start event handler thread with thread affinity`), "vma-internal-thread-unpinned", "warning", false},
	{regexp.MustCompile(`TX Dropped Send Reqs|ring_tx_dropped_wqes`), "xlio-sq-exhausted", "warning", false},
	{regexp.MustCompile(`CPU cores are running at different speeds: min= *(?P<min_mhz>[\d.]+) MHz, max= *(?P<max_mhz>[\d.]+)`), "bench-clock-suspect", "warning", false},
}
