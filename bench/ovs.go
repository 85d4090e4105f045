package bench

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// Open vSwitch is not a benchmark but the thing that is measured: these functions read the texts of ovs-vsctl and
// ovs-appctl, versions 2.6 to 3.x and NVIDIA's 2.17 fork. Sources: lib/dpif-netdev.c, dpif-netdev-perf.c, dpctl.c.

// OVSQueue is one receive queue as pmd-rxq-show lists it.
type OVSQueue struct {
	Port     string               `json:"port"`
	Queue    int                  `json:"queue"`
	Enabled  maybe.Value[bool]    `json:"enabled,omitzero"`   // printed since 2.10
	UsagePct maybe.Value[float64] `json:"usage_pct,omitzero"` // of its PMD; missing until cycles were measured
}

// OVSPMD is one poll-mode thread of pmd-rxq-show. Node is that of the thread, not of the ports it polls.
type OVSPMD struct {
	Node        int                  `json:"node"`
	Core        int                  `json:"core"`
	Isolated    maybe.Value[bool]    `json:"isolated,omitzero"`
	Queues      []OVSQueue           `json:"queues"`
	OverheadPct maybe.Value[float64] `json:"overhead_pct,omitzero"` // printed since 2.16
}

// Usage is the sum of the queues' usage, without overhead; missing when a queue's usage is.
func (p OVSPMD) Usage() maybe.Value[float64] {
	sum := 0.0
	for _, q := range p.Queues {
		v, ok := q.UsagePct.Get()
		if !ok {
			return q.UsagePct
		}
		sum += v
	}
	return maybe.Some(sum)
}

// OVSRxq is the whole of pmd-rxq-show.
type OVSRxq struct {
	Seconds maybe.Value[int] `json:"seconds,omitzero"` // the usage is that of the last so many seconds; printed since 3.1
	PMDs    []OVSPMD         `json:"pmds"`
}

var (
	ovsThread   = regexp.MustCompile(`^pmd thread numa_id (-?\d+) core_id (\d+):$`)
	ovsMain     = regexp.MustCompile(`^main thread:$`)
	ovsSeconds  = regexp.MustCompile(`^Displaying last (\d+) seconds pmd usage %`)
	ovsIsolated = regexp.MustCompile(`^\s+isolated : (true|false)$`)
	ovsQueue    = regexp.MustCompile(`^\s+port: (\S+)\s+queue-id:\s+(\d+)\s+(?:\((enabled|disabled)\)\s+)?pmd usage:\s+(?:(\d+) %|NOT AVAIL)$`)
	ovsOldQueue = regexp.MustCompile(`^\s+port: (\S+)\s+queue-id:((?:\s+\d+)+)$`) // up to 2.7: all queues of a port in one line, without usage
	ovsOverhead = regexp.MustCompile(`^\s+overhead:\s+(?:(\d+) %|NOT AVAIL)$`)
)

// ParseOVSRxq reads dpif-netdev/pmd-rxq-show of every version.
func ParseOVSRxq(text []byte) OVSRxq {
	out := OVSRxq{Seconds: maybe.None[int]("this version does not print it")}
	for _, l := range splitLines(text) {
		if m := ovsSeconds.FindStringSubmatch(l.S); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				out.Seconds = maybe.Some(n)
			}
		} else if m := ovsThread.FindStringSubmatch(l.S); m != nil && len(out.PMDs) < 1<<16 {
			p := OVSPMD{Isolated: maybe.None[bool]("not printed"), OverheadPct: maybe.None[float64]("not printed"), Queues: []OVSQueue{}}
			p.Node, _ = strconv.Atoi(m[1])
			p.Core, _ = strconv.Atoi(m[2])
			out.PMDs = append(out.PMDs, p)
		} else if len(out.PMDs) > 0 {
			out.PMDs[len(out.PMDs)-1].line(l.S)
		}
	}
	return out
}

func (p *OVSPMD) line(s string) {
	if m := ovsIsolated.FindStringSubmatch(s); m != nil {
		p.Isolated = maybe.Some(m[1] == "true")
	} else if m := ovsOverhead.FindStringSubmatch(s); m != nil {
		p.OverheadPct = ovsPct(m[1])
	} else if m := ovsQueue.FindStringSubmatch(s); m != nil && len(p.Queues) < 1<<16 {
		q := OVSQueue{Port: m[1], Enabled: maybe.None[bool]("this version does not print it"), UsagePct: ovsPct(m[4])}
		q.Queue, _ = strconv.Atoi(m[2])
		if m[3] != "" {
			q.Enabled = maybe.Some(m[3] == "enabled")
		}
		p.Queues = append(p.Queues, q)
	} else if m := ovsOldQueue.FindStringSubmatch(s); m != nil {
		for id := range strings.FieldsSeq(m[2]) {
			q := OVSQueue{Port: m[1], Enabled: maybe.None[bool]("this version does not print it"), UsagePct: maybe.None[float64]("this version does not print it")}
			q.Queue, _ = strconv.Atoi(id)
			p.Queues = append(p.Queues, q)
		}
	}
}

func ovsPct(text string) maybe.Value[float64] {
	if text == "" {
		return maybe.None[float64]("NOT AVAIL: cycles were not measured yet")
	}
	return number(text)
}

// OVSStats is the counters of one thread since its start or the last pmd-stats-clear (pmd-stats-show). Clear or take the
// difference of two: lifetime totals prove nothing.
type OVSStats struct {
	Main     bool               `json:"main"` // the main thread: no node, no core, no cycles
	Node     int                `json:"node"`
	Core     int                `json:"core"`
	Counters map[string]float64 `json:"counters"` // packets, recirculations, emc_hits, smc_hits, megaflow_hits, phwol_hits, mfex_hits, simple_hits, miss, lost, idle_cycles, busy_cycles
}

// BusyPct is the share of cycles in which packets were processed.
func (s OVSStats) BusyPct() maybe.Value[float64] {
	idle, a := s.Counters["idle_cycles"]
	busy, b := s.Counters["busy_cycles"]
	if !a || !b || idle+busy <= 0 {
		return maybe.None[float64]("no cycles were counted")
	}
	return maybe.Some(busy / (idle + busy) * 100)
}

// ovsStatsNames are the labels, without hits of a later version's spelling; 2.6 and 2.7 have no packets line.
var ovsStatsNames = map[string]string{
	"packets received": "packets", "packet recirculations": "recirculations", "emc hits": "emc_hits", "smc hits": "smc_hits", "megaflow hits": "megaflow_hits", "phwol hits": "phwol_hits",
	"mfex opt hits": "mfex_hits", "simple match hits": "simple_hits", "miss with success upcall": "miss", "miss": "miss", "miss with failed upcall": "lost", "lost": "lost",
	"idle cycles": "idle_cycles", "polling cycles": "idle_cycles", "processing cycles": "busy_cycles",
}

var ovsStatsLine = regexp.MustCompile(`^\s+([a-z][a-z. ]*?)\s*:\s*(\d+)(?: \([0-9.]+%\))?$`)

// ParseOVSStats reads dpif-netdev/pmd-stats-show.
func ParseOVSStats(text []byte) []OVSStats {
	var out []OVSStats
	for _, l := range splitLines(text) {
		if m := ovsThread.FindStringSubmatch(l.S); m != nil && len(out) < 1<<16 {
			s := OVSStats{Counters: map[string]float64{}}
			s.Node, _ = strconv.Atoi(m[1])
			s.Core, _ = strconv.Atoi(m[2])
			out = append(out, s)
			continue
		}
		if ovsMain.MatchString(l.S) && len(out) < 1<<16 {
			out = append(out, OVSStats{Main: true, Node: -1, Core: -1, Counters: map[string]float64{}})
			continue
		}
		m := ovsStatsLine.FindStringSubmatch(l.S)
		if m == nil || len(out) == 0 {
			continue
		}
		if name, ok := ovsStatsNames[m[1]]; ok {
			out[len(out)-1].Counters[name], _ = finite(m[2])
		}
	}
	return out
}

// OVSStatsDelta is after minus before, thread by thread. A thread that is new, or whose counters ran backwards because
// somebody cleared them, is left out.
func OVSStatsDelta(before, after []OVSStats) []OVSStats {
	var out []OVSStats
	for _, a := range after {
		for _, b := range before {
			if a.Core != b.Core || a.Node != b.Node || a.Main != b.Main {
				continue
			}
			if d, ok := counterDelta(b.Counters, a.Counters); ok {
				out = append(out, OVSStats{Main: a.Main, Node: a.Node, Core: a.Core, Counters: d})
			}
		}
	}
	return out
}

func counterDelta(before, after map[string]float64) (map[string]float64, bool) {
	d := map[string]float64{}
	for name, v := range after {
		b, ok := before[name]
		if ok && v < b {
			return nil, false
		}
		if ok {
			d[name] = v - b
		}
	}
	return d, true
}

// OVSPerf is one thread's block of pmd-perf-show. Percentages of used cycles hold; those of total cycles and times in
// microseconds are nonsense in builds without DPDK, which do not know the clock's rate, and are not read.
type OVSPerf struct {
	Node      int                  `json:"node"`
	Core      int                  `json:"core"`
	SecondsS  maybe.Value[float64] `json:"seconds,omitzero"`
	BusyPct   maybe.Value[float64] `json:"busy_pct,omitzero"` // of used cycles
	RxPackets maybe.Value[float64] `json:"rx_packets,omitzero"`
	Passes    maybe.Value[float64] `json:"passes_per_packet,omitzero"`
	EMCPct    maybe.Value[float64] `json:"emc_hit_pct,omitzero"`
	Lookups   maybe.Value[float64] `json:"lookups_per_hit,omitzero"` // subtable lookups of a megaflow hit
	Upcalls   maybe.Value[float64] `json:"upcalls,omitzero"`
	Lost      maybe.Value[float64] `json:"lost_upcalls,omitzero"`
	CyclesPkt maybe.Value[float64] `json:"cycles_per_packet,omitzero"`
	Batch     maybe.Value[float64] `json:"packets_per_tx_batch,omitzero"`
	Suspect   int                  `json:"suspicious_iterations,omitempty"`
}

var (
	ovsPerfTime = regexp.MustCompile(`^Measurement duration: ([0-9.]+) s`)
	ovsPerfLine = regexp.MustCompile(`^\s+(?:- )?([A-Z][A-Za-z ]+|busy iterations):\s+(\d+)\s*(?:\((.*)\))?$`)
	ovsPerfBusy = regexp.MustCompile(`([0-9.]+) % of used cycles`)
	ovsPerfPass = regexp.MustCompile(`([0-9.]+) passes/pkt`)
	ovsPerfLook = regexp.MustCompile(`([0-9.]+) subtbl lookups/hit`)
	ovsPerfCyc  = regexp.MustCompile(`([0-9]+) cycles/pkt`)
	ovsPerfBat  = regexp.MustCompile(`([0-9.]+) pkts/batch`)
	ovsPerfPct  = regexp.MustCompile(`^\s*([0-9.]+) %`)
	ovsPerfBad  = regexp.MustCompile(`Suspicious iteration`)
)

// ParseOVSPerf reads dpif-netdev/pmd-perf-show, with or without histograms.
func ParseOVSPerf(text []byte) []OVSPerf {
	var out []OVSPerf
	duration := maybe.None[float64]("the block does not tell")
	for _, l := range splitLines(text) {
		if m := ovsPerfTime.FindStringSubmatch(l.S); m != nil {
			duration = number(m[1])
		} else if m := ovsThread.FindStringSubmatch(l.S); m != nil && len(out) < 1<<16 {
			p := OVSPerf{SecondsS: duration}
			p.Node, _ = strconv.Atoi(m[1])
			p.Core, _ = strconv.Atoi(m[2])
			out = append(out, p)
		} else if len(out) > 0 {
			out[len(out)-1].line(l.S)
		}
	}
	return out
}

func (p *OVSPerf) line(s string) {
	if ovsPerfBad.MatchString(s) {
		p.Suspect++
		return
	}
	m := ovsPerfLine.FindStringSubmatch(s)
	if m == nil {
		return
	}
	switch strings.TrimSpace(m[1]) {
	case "busy iterations":
		p.BusyPct = insideNumber(ovsPerfBusy, m[3])
	case "Rx packets":
		p.RxPackets, p.CyclesPkt = number(m[2]), insideNumber(ovsPerfCyc, m[3])
	case "Datapath passes":
		p.Passes = insideNumber(ovsPerfPass, m[3])
	case "EMC hits":
		p.EMCPct = insideNumber(ovsPerfPct, m[3])
	case "Megaflow hits":
		p.Lookups = insideNumber(ovsPerfLook, m[3])
	case "Upcalls":
		p.Upcalls = number(m[2])
	case "Lost upcalls":
		p.Lost = number(m[2])
	case "Tx batches":
		p.Batch = insideNumber(ovsPerfBat, m[3])
	}
}

func insideNumber(re *regexp.Regexp, s string) maybe.Value[float64] {
	if m := re.FindStringSubmatch(s); m != nil {
		return number(m[1])
	}
	return maybe.Nonef[float64]("unparsable: %.60q", s)
}
