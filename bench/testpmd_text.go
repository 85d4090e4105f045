package bench

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// testpmdLog is what testpmd says beside its statistics.
var testpmdLog = []logPattern{
	{re: regexp.MustCompile(`Warning: NUMA should be configured manually`), code: "testpmd-numa-unknown", level: "warning"},
	{re: regexp.MustCompile(`^Command not found`), code: "testpmd-command-unknown", level: "info"},
	{re: regexp.MustCompile(`^Invalid (?P<mode>\S+) packet forwarding mode`), code: "testpmd-mode-unknown", level: "error"},
	{re: regexp.MustCompile(`nb-cores should be > 0 and <= (?P<left>\d+)`), code: "testpmd-too-few-lcores", level: "error"},
	{re: regexp.MustCompile(`Fail: (?P<what>.*)`), code: "testpmd-failed-step", level: "error"},
	{re: regexp.MustCompile(`Port (?P<port>\d+) Link down`), code: "testpmd-link-down", level: "warning"},
}

// pmdBlock is one "NIC statistics" block. Values are as printed: counters since start or clear, rates since the last show.
type pmdBlock struct {
	port   int
	values map[string]float64
}

// fwdTotals is one "Forward statistics" block.
type fwdTotals map[string]float64

// pmdLog is everything that testpmd counted.
type pmdLog struct {
	rounds      [][]pmdBlock // all ports at one moment
	forward     map[int]fwdTotals
	accumulated fwdTotals
	cycles      maybe.Value[float64] // CPU cycles a packet
	empty       maybe.Value[float64] // share of receive bursts without a packet, %
	orphans     int                  // lines of statistics without a heading
}

var (
	nicHeading  = regexp.MustCompile(`NIC statistics for port (\d+) `)
	fwdHeading  = regexp.MustCompile(`Forward statistics for port (\d+) `)
	accHeading  = regexp.MustCompile(`Accumulated forward statistics for all ports`)
	pmdField    = regexp.MustCompile(`\b([RT][Xx]-(?:packets|missed|bytes|errors|nombuf|dropped|total|pps|bps)): *(\d+)`)
	cyclesLine  = regexp.MustCompile(`CPU cycles/packet=([0-9.]+) \((?:total|busy) cycles=`)
	burstLine   = regexp.MustCompile(`RX-bursts : \d+ \[(\d+)% of 0 pkts`)
	logicalCore = regexp.MustCompile(`Logical Core (\d+) \(socket (-?\d+)\) forwards packets`)
	streamLine  = regexp.MustCompile(`RX P=(\d+)/Q=\d+ \(socket (-?\d+)\) -> TX P=(\d+)/Q=\d+ \(socket (-?\d+)\)`)
)

// maxRounds bounds the statistics rounds that are kept.
const maxRounds = 200_000

// readTestpmd collects the statistics. Fields are found by name anywhere in a line, because a prompt on a shared pipe
// lands in the middle of lines; the heading before them tells whose they are.
func readTestpmd(lines []textLine) pmdLog {
	log := pmdLog{forward: map[int]fwdTotals{}}
	var into map[string]float64
	for _, l := range lines {
		switch {
		case nicHeading.MatchString(l.S):
			into = log.block(nicHeading.FindStringSubmatch(l.S)[1])
		case accHeading.MatchString(l.S):
			log.accumulated = fwdTotals{}
			into = log.accumulated
		case fwdHeading.MatchString(l.S):
			into = log.forwardOf(fwdHeading.FindStringSubmatch(l.S)[1])
		default:
			log.line(l.S, into)
		}
	}
	return log
}

// block starts a NIC statistics block; a port that comes again starts a new round.
func (log *pmdLog) block(text string) map[string]float64 {
	port, err := strconv.Atoi(text)
	if err != nil || port > maxPktgenPort || len(log.rounds) >= maxRounds {
		return nil
	}
	b := pmdBlock{port: port, values: map[string]float64{}}
	n := len(log.rounds)
	if n == 0 || log.rounds[n-1][len(log.rounds[n-1])-1].port >= port {
		log.rounds = append(log.rounds, nil)
		n++
	}
	log.rounds[n-1] = append(log.rounds[n-1], b)
	return b.values
}

func (log *pmdLog) forwardOf(text string) map[string]float64 {
	port, err := strconv.Atoi(text)
	if err != nil || port > maxPktgenPort {
		return nil
	}
	log.forward[port] = fwdTotals{}
	return log.forward[port]
}

func (log *pmdLog) line(s string, into map[string]float64) {
	fields := pmdField.FindAllStringSubmatch(s, 8)
	for _, m := range fields {
		v, ok := finite(m[2])
		switch {
		case !ok:
		case into == nil, has(into, m[1]): // a heading was lost: whose number this is cannot be told
			log.orphans++
		default:
			into[m[1]] = v
		}
	}
	if m := cyclesLine.FindStringSubmatch(s); m != nil {
		if v, ok := finite(m[1]); ok {
			log.cycles = maybe.Some(v)
		}
	}
	if m := burstLine.FindStringSubmatch(s); m != nil {
		if v, ok := finite(m[1]); ok {
			log.empty = maybe.Some(v)
		}
	}
}

func (b pmdBlock) get(name string) maybe.Value[float64] {
	if v, ok := b.values[name]; ok {
		return maybe.Some(v)
	}
	return maybe.Nonef[float64]("the output has no %s of port %d", name, b.port)
}

// rates turns a block into a port's rates; bits are 8 per byte of the frame without check sequence.
func (b pmdBlock) rates() PortRate {
	return PortRate{
		Port:   b.port,
		RxMpps: maybe.Map(b.get("Rx-pps"), perMillion), TxMpps: maybe.Map(b.get("Tx-pps"), perMillion),
		RxGbps: maybe.Map(b.get("Rx-bps"), perBillion), TxGbps: maybe.Map(b.get("Tx-bps"), perBillion),
		RxMissed: b.get("RX-missed"), RxErrors: b.get("RX-errors"), RxNombuf: b.get("RX-nombuf"), TxErrors: b.get("TX-errors"),
		LinkGbps: maybe.None[float64]("testpmd's statistics do not tell the link speed"),
	}
}

func perBillion(v float64) float64 { return v / 1e9 }

// finish makes the result.
func (log pmdLog) finish(r *Result, w Workload) {
	r.ParseWarnings += log.orphans
	if len(log.rounds) > 0 {
		log.finishRates(r, w)
	} else {
		r.Throughput = maybe.None[Throughput]("the output has no NIC statistics (testpmd prints them with --stats-period, or on demand)")
	}
	log.finishLoss(r)
	if v, ok := log.cycles.Get(); ok {
		metric(&r.Metrics, "cycles_per_packet", v, "cycles")
	}
	if v, ok := log.empty.Get(); ok {
		metric(&r.Metrics, "rx_empty_bursts_pct", v, "%")
	}
	if !r.Throughput.Ok() && !r.Loss.Ok() {
		r.failFromNotes("the output has no statistics")
	}
}

// finishRates: the first round always shows rates of 0, because there is none before it.
func (log pmdLog) finishRates(r *Result, w Workload) {
	var samples [][]PortRate
	for _, round := range log.rounds {
		var ports []PortRate
		for _, b := range round {
			ports = append(ports, b.rates())
		}
		samples = append(samples, ports)
	}
	period, timed := finite(w.Options["stats-period"])
	if timed && period > 0 && len(samples) > 1 {
		for i := 1; i < len(samples); i++ {
			r.Intervals = append(r.Intervals, portInterval(float64(i-1)*period, float64(i)*period, samples[i]))
		}
		r.DurationS = maybe.Some(float64(len(activeSamples(samples))) * period)
	}
	t := medianRates(samples)
	t.Basis = "l2"
	t.FrameBytes = log.frameBytes(w)
	r.finishPorts(t)
	if w.EAL != nil && usesVdev(w.EAL.Vdevs, "af_packet") {
		r.note("dpdk-loss-not-counted", "info", "net_af_packet ports count no missed packets before DPDK 25.11: what the kernel dropped shows nowhere", 0)
	}
}

// frameBytes is the mean frame on the wire: bytes over packets of the last round plus the check sequence that NICs cut
// off. Software ports have none, and mixed traffic has no one size.
func (log pmdLog) frameBytes(w Workload) maybe.Value[int] {
	if w.EAL != nil && len(w.EAL.Vdevs) > 0 {
		return maybe.None[int]("software ports count bytes in their own way")
	}
	var packets, bytes float64
	for _, b := range log.rounds[len(log.rounds)-1] {
		packets += b.values["RX-packets"] + b.values["TX-packets"]
		bytes += b.values["RX-bytes"] + b.values["TX-bytes"]
	}
	if packets < 1 || bytes < packets {
		return maybe.None[int]("no packets were counted")
	}
	return maybe.Some(int(bytes/packets+0.5) + fcsBytes)
}

func usesVdev(vdevs []string, driver string) bool {
	for _, v := range vdevs {
		if strings.Contains(v, driver) {
			return true
		}
	}
	return false
}
