package bench

import (
	"regexp"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// Sockperf is the adapter of sockperf 2.7 to 3.10 in all its modes, over kernel sockets, VMA or XLIO.
//
// Its exit status says next to nothing: bad options, a refused connection, a bind failure and a run without a single
// reply all end with 0. What counts is what it printed.
type Sockperf struct{}

// sockperfText is what a transcript tells, line by line.
type sockperfText struct {
	w          Workload
	r          *Result
	lat        Latency
	burst      string
	version    string
	total      sockperfSpan // whole run
	valid      sockperfSpan // what statistics are made of
	hasLoss    bool
	results    int
	interrupt  bool
	helped     bool
	noteSize   float64 // message size as the throughput mode itself states it
	rate       maybe.Value[float64]
	band       maybe.Value[float64] // as printed, in the printed unit
	bandUnit   string
	handled    maybe.Value[float64] // by a server
	gap        float64              // by its gap detection
	sinceStart float64              // end of the last activity line, seconds
}

// sockperfSpan is one "RunTime=...; SentMessages=...; ReceivedMessages=..." group; seconds 0: not printed.
type sockperfSpan struct{ seconds, sent, received float64 }

// rate is messages a second, 0 when it is not known.
func (s sockperfSpan) rate() float64 {
	if s.seconds <= 0 {
		return 0
	}
	return s.sent / s.seconds
}

// sockperfLine is one form of line. The patterns are not anchored: lines come glued together and coloured. Every such
// line holds the word, which is far cheaper to look for.
type sockperfLine struct {
	word string
	re   *regexp.Regexp
	read func(t *sockperfText, m []string, line int)
}

var sockperfLines = []sockperfLine{
	{"ersion", regexp.MustCompile(`== version #(\S+) ==|^(?:sockperf, )?version (\d\S*)`), (*sockperfText).readVersion},
	{"[Total Run]", regexp.MustCompile(`\[Total Run\] RunTime=(\S+) sec;(?: Warm up (time|packets)=(\d+)[^;]*;)? SentMessages=(\d+); ReceivedMessages=(\d+)(?:; SkippedMessages=(\d+))?`), (*sockperfText).readTotal},
	{"Server No", regexp.MustCompile(`Printing statistics for Server No: ([1-9]\d*)`), (*sockperfText).readServerNo},
	{"[Valid Duration]", regexp.MustCompile(`\[Valid Duration\] RunTime=(\S+) sec; SentMessages=(\d+); ReceivedMessages=(\d+)`), (*sockperfText).readValid},
	{"====> avg", regexp.MustCompile(`====> avg-(lat|latency|rtt)= *([-\w.+]+) \(std-dev= *([-\w.+]+?)(?:, mean-ad=(\S+), median-ad=(\S+), siqr=(\S+), cv=(\S+), std-error=(\S+), ([\d.]+)% ci=\[(\S+), (\S+)\])?\)`), (*sockperfText).readAverage},
	{"dropped messages", regexp.MustCompile(`# dropped messages = (\d+); # duplicated messages = (\d+); # out-of-order messages = (\d+)`), (*sockperfText).readLoss},
	{"Summary: ", regexp.MustCompile(`Summary: (Latency|Round trip) (?:of burst of (\d+) messages )?is (\S+) usec`), (*sockperfText).readSummary},
	{"observations", regexp.MustCompile(`Total (\d+) observations`), (*sockperfText).readObservations},
	{"observation =", regexp.MustCompile(`---> <?(MAX|MIN)>? observation = *(\S+)`), (*sockperfText).readExtreme},
	{"percentile ", regexp.MustCompile(`---> percentile *([\d.]+) = *(\S+)`), (*sockperfText).readPercentile},
	{"messages sent in", regexp.MustCompile(`Total of (\d+) messages sent in (\S+) sec(?: \((\d+) messages skipped\))?`), (*sockperfText).readSent},
	{"NOTE: test", regexp.MustCompile(`NOTE: test was performed, using msg-size=(\d+)`), (*sockperfText).readNoteSize},
	{"Message Rate is", regexp.MustCompile(`Summary: Message Rate is (\d+) \[msg/sec\](?:, Packet Rate is about (\d+) \[pkt/sec\] \((\d+) ip frags / msg\))?`), (*sockperfText).readRate},
	{"BandWidth is", regexp.MustCompile(`Summary: BandWidth is (\S+) ([MG]Bps) \(`), (*sockperfText).readBandwidth},
	{"[usec]", regexp.MustCompile(`^\s*(\d+) \[usec\]\s+(\d+) \[msg/s\]\s+(\d+) \[msg\]`), (*sockperfText).readActivity},
	{"interrupted by user", regexp.MustCompile(`Test end \(interrupted by user\)`), (*sockperfText).readInterrupted},
	{"received and handled", regexp.MustCompile(`Total (\d+) messages received and handled`), (*sockperfText).readHandled},
	{"Dropped/OOO", regexp.MustCompile(`Summary: Total Dropped/OOO: (\d+)`), (*sockperfText).readGap},
	{"[tid ", regexp.MustCompile(`\[tid (\d+)\] using (\w+)\(\) to block`), (*sockperfText).readThread},
	{"Usage: sockperf", regexp.MustCompile(`^Usage: sockperf `), (*sockperfText).readUsage},
	{"taking time", regexp.MustCompile(`taking time, using the given settings, consumes (\S+) nsec`), (*sockperfText).readClockCost},
}

// Parse implements Adapter.
func (s Sockperf) Parse(w Workload, out Output) Result {
	r := newResult(s.Name(), w.Mode)
	t := &sockperfText{w: w, r: &r, version: ""}
	lines := joinErrno(splitLines(out.All()))
	for _, l := range lines {
		t.read(l)
	}
	noteLines(&r, errorWords(lines), sockperfPatterns)
	r.readAccel(w, lines)
	r.readAccelFiles(w, out)
	t.finish(out)
	return r
}

func (t *sockperfText) read(l textLine) {
	for _, form := range sockperfLines {
		if !strings.Contains(l.S, form.word) {
			continue
		}
		if m := form.re.FindStringSubmatch(l.S); m != nil {
			form.read(t, m, l.N)
		}
	}
}

// joinErrno puts the second line of an error of two lines behind its first.
func joinErrno(lines []textLine) []textLine {
	var out []textLine
	for _, l := range lines {
		if n := len(out); n > 0 && strings.HasPrefix(strings.TrimSpace(l.S), "(errno=") && strings.Contains(out[n-1].S, "ERROR:") && !strings.Contains(out[n-1].S, "(errno=") {
			out[n-1].S += " " + strings.TrimSpace(l.S)
			continue
		}
		out = append(out, l)
	}
	return out
}

// errorWords cuts off what is glued in front of sockperf's own words.
func errorWords(lines []textLine) []textLine {
	out := make([]textLine, len(lines))
	for i, l := range lines {
		_, words, found := cutLast(l.S, "sockperf: ")
		if !found {
			words = l.S
		}
		out[i] = textLine{N: l.N, S: words}
	}
	return out
}

// value reads a number that is missing as unparsable when it is none, such as -nan.
func (t *sockperfText) value(text string) maybe.Value[float64] {
	v, ok := finite(text)
	if !ok {
		t.r.ParseWarnings++
		return maybe.Nonef[float64]("unparsable: %.40q", text)
	}
	return maybe.Some(v)
}

// zero reads a number of a place where the pattern allows digits only, or text that is no number as 0.
func zero(text string) float64 {
	v, ok := finite(text)
	if !ok || v < 0 {
		return 0
	}
	return v
}

func (t *sockperfText) noRDTSC() bool { return t.w.Options["no-rdtsc"] != "" }
