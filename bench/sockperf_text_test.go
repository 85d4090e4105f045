package bench

import (
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/maybe"
)

// ingestText parses a transcript that a test writes down itself.
func ingestText(t *testing.T, command, text string) (Workload, Result) {
	t.Helper()
	argv, err := SplitShell(command)
	if err != nil {
		t.Fatal(err)
	}
	return Ingest(argv, &Output{Mixed: []byte(text)})
}

// pingPongText is a clean result with its parts in reach of a test.
const pingPongText = `sockperf: == version #3.7-no.git ==
sockperf: [Total Run] RunTime=10.000 sec; Warm up time=400 msec; SentMessages=1000000; ReceivedMessages=999999
sockperf: ========= Printing statistics for Server No: 0
sockperf: [Valid Duration] RunTime=9.550 sec; SentMessages=955000; ReceivedMessages=955000
sockperf: ====> avg-latency=5.000 (std-dev=1.000)
sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0
sockperf: Summary: Latency is 5.000 usec
sockperf: Total 955000 observations; each percentile contains 9550.00 observations
sockperf: ---> <MAX> observation =  700.000
sockperf: ---> percentile 99.999 =  200.000
sockperf: ---> percentile 50.000 =    4.800
sockperf: ---> <MIN> observation =    4.000
`

func TestSockperfVariants(t *testing.T) {
	l := func(text string) Latency {
		_, r := ingestText(t, "sockperf pp", text)
		return r.Latency.Or(Latency{})
	}
	if got := l("sockperf: ====> avg-lat= 12.551 (std-dev=1.455)\n"); got.AvgUS.Or(0) != 12.551 || got.StddevUS.Or(0) != 1.455 || got.Kind != "half_rtt" {
		t.Errorf("old average: %+v", got)
	}
	if got := l("====> avg-rtt=1892.600 (std-dev=2.5, mean-ad=1, median-ad=2, siqr=3, cv=0.1, std-error=0.2, 99.0% ci=[1800.1, 1900.2])\nSummary: Round trip is 1892.600 usec\n"); got.AvgUS.Or(0) != 1892.6 || got.Kind != "rtt" || got.StddevUS.Or(0) != 2.5 {
		t.Errorf("new average: %+v", got)
	}
	if got := l("Summary: Round trip is 1892.600 usec\n"); got.Kind != "rtt" || got.AvgUS.Or(0) != 1892.6 {
		t.Errorf("summary alone: %+v", got)
	}
	if got := l("====> avg-latency=5 (std-dev=1)\n---> MAX observation =   42.328\n---> MIN observation = 1.5\n"); got.MaxUS.Or(0) != 42.328 || got.MinUS.Or(0) != 1.5 {
		t.Errorf("new MAX: %+v", got)
	}
	if got := l("====> avg-lat= 5 (std-dev=1)\n---> percentile 99.50 =  9.1\n---> percentile 95.00 = 7.2\n"); len(got.Percentiles) != 2 || got.At(99.5).Or(0) != 9.1 || got.At(95).Or(0) != 7.2 {
		t.Errorf("old percentiles: %+v", got)
	}
}

func TestSockperfJudgement(t *testing.T) {
	change := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(pingPongText) }
	for _, c := range []struct {
		name, command, text string
		failed              bool
		codes               string // all expected codes but the remark on percentiles
	}{
		{"clean", "sockperf pp -t 10", pingPongText, false, ""},
		{"one observation", "sockperf pp -t 10", change("Total 955000 obs", "Total 1 obs"), false, "bench-too-few-samples"},
		{"assertion", "sockperf pp -t 10", "sockperf: ERROR: _seqN > m_maxSequenceNo (errno=0 Success)\n", true, "bench-failed"},
		{"nothing at all", "sockperf pp -t 10", "", true, "bench-failed"},
		{"ended before its summary", "sockperf pp -t 10", "sockperf: Starting test...\n", true, "bench-failed"},
		{"dropped", "sockperf pp -t 10", change("dropped messages = 0", "dropped messages = 3"), false, "sockperf-dropped"},
		{"stalled by valid part", "sockperf pp -t 10", change("RunTime=9.550", "RunTime=5.000", "SentMessages=1000000", "SentMessages=540000", "ReceivedMessages=999999", "ReceivedMessages=539999",
			"SentMessages=955000", "SentMessages=500000"), true, "sockperf-stalled"},
		{"stalled with --no-rdtsc", "sockperf pp -t 10 --no-rdtsc", change("RunTime=9.550", "RunTime=5.000", "SentMessages=1000000", "SentMessages=600000", "ReceivedMessages=999999", "ReceivedMessages=599999",
			"SentMessages=955000", "SentMessages=500000"), true, "sockperf-stalled"},
		{"long cut of --no-rdtsc", "sockperf pp -t 10 --no-rdtsc", change("RunTime=9.550", "RunTime=8.650", "SentMessages=955000", "SentMessages=865000"), false, ""},
		{"unanswered", "sockperf pp -t 10", change("ReceivedMessages=999999", "ReceivedMessages=999000"), false, "sockperf-unanswered"},
		{"rate not met", "sockperf pp -t 10 --mps 200000", pingPongText, false, "sockperf-rate-not-met"},
		{"rate met", "sockperf pp -t 10 --mps 100000", pingPongText, false, ""},
		{"negative time", "sockperf pp -t 10", change("<MIN> observation =    4.000", "<MIN> observation = -4.000"), true, "bench-clock-suspect"},
		{"speeds differ", "sockperf pp -t 10", "VMA DEBUG: CPU cores are running at different speeds: min= 1000.403 MHz, max= 3542.267 MHz\n" + pingPongText, false, "bench-clock-suspect"},
		{"two results", "sockperf pp -t 10", pingPongText + pingPongText, false, "bench-several-results"},
		{"no mode", "sockperf", "", true, ""},
	} {
		_, r := ingestText(t, c.command, c.text)
		var got []string
		for _, n := range r.Notes {
			if n.Code != "bench-percentile-unreliable" {
				got = append(got, n.Code)
			}
		}
		if strings.Join(got, " ") != c.codes || (r.Failed != "") != c.failed {
			t.Errorf("%s: failed %q, notes %v; want %q", c.name, r.Failed, r.Notes, c.codes)
		}
	}
}

func TestSockperfNotANumber(t *testing.T) {
	_, r := ingestText(t, "sockperf pp", strings.NewReplacer("avg-latency=5.000", "avg-latency=-nan", "= 5.000", "= nan", "=  700.000", "= inf").Replace(pingPongText))
	l := r.Latency.Or(Latency{})
	if l.AvgUS.Ok() && l.AvgUS.Or(0) != 5 || l.MaxUS.Ok() || !strings.Contains(l.MaxUS.Why(), "unparsable") || r.ParseWarnings < 2 {
		t.Errorf("latency %+v, %d warnings", l, r.ParseWarnings)
	}
}

func TestSockperfThroughputAgainstServer(t *testing.T) {
	const sent = "sockperf: Total of 785040 messages sent in 2.000 sec\nsockperf: Summary: Message Rate is 392431 [msg/sec]\nsockperf: Summary: BandWidth is 550.898 MBps (4407.184 Mbps)\n"
	_, r := ingestText(t, "sockperf tp -m 1472", sent)
	if loss := r.Loss.Or(Loss{}); loss.Dropped.Ok() || !hasCode(r.Notes, "sockperf-one-way") {
		t.Errorf("without the server's word: %+v %v", loss, r.Notes)
	}
	_, r = ingestText(t, "sockperf tp -m 1472", sent+"sockperf: Total 298566 messages received and handled\n")
	if loss := r.Loss.Or(Loss{}); loss.Dropped.Or(0) != 785040-298566 || hasCode(r.Notes, "sockperf-one-way") || !hasCode(r.Notes, "sockperf-dropped") {
		t.Errorf("with the server's word: %+v %v", loss, r.Notes)
	}
	tp := r.Throughput.Or(Throughput{})
	if g := tp.TxGbps.Or(0); g < 4.621 || g > 4.622 || tp.Basis != "payload" {
		t.Errorf("throughput %+v", tp)
	}
}

func TestSockperfBandwidthLabels(t *testing.T) {
	for _, c := range []struct {
		command, rate, band string
		want                float64
		label               bool
	}{
		{"sockperf tp -m 4096 --giga-size", "20000", "0.078 GBps (0.625 Gbps)", 0.654, false},
		{"sockperf tp -m 1472 --increase_output_precision", "269757", "378.687194824 GBps (3029.497558594 Gbps)", 3.1767, true},
		{"sockperf tp", "336866", "4.498 MBps (35.981 Mbps)", 0.03773, false},
		{"sockperf tp --increase_output_precision", "336866", "4.497682571 GBps (35.981460571 Gbps)", 0.03773, true},
	} {
		_, r := ingestText(t, c.command, "Summary: Message Rate is "+c.rate+" [msg/sec]\nSummary: BandWidth is "+c.band+"\n")
		got := r.Throughput.Or(Throughput{}).TxGbps.Or(0)
		if got < c.want*0.999 || got > c.want*1.001 || hasCode(r.Notes, "sockperf-bandwidth-label") != c.label {
			t.Errorf("%s: %v Gb/s, notes %v; want %v", c.band, got, r.Notes, c.want)
		}
	}
}

func TestSockperfDescribe(t *testing.T) {
	describe := func(line string) Workload {
		w, _ := ingestText(t, line, "")
		return w
	}
	w := describe("taskset -c 2,3 sockperf ul -i 192.0.2.1 --sender-affinity 4 --receiver-affinity 5 --pps 5000 --reply-every=10 -m14 -t 9 --tcp")
	if w.Mode != "under-load" || len(w.Roles) != 2 || w.Roles[0].CPUs.String() != "4" || w.Roles[1].CPUs.String() != "5" || w.Offered.RatePPS.Or(0) != 5000 ||
		w.Offered.SizeBytes.Or(0) != 14 || w.DurationS.Or(0) != 9 || w.Offered.Proto != "tcp" || w.Peer.Or("") != "192.0.2.1" {
		t.Errorf("ul: %+v", w)
	}
	w = describe("taskset -c 2 /opt/sockperf-3.10 server -i 0.0.0.0 --cpu-affinity 1-3 --threads-num 3 -f feed")
	if w.Mode != "server" || w.Roles[0].Count != 3 || w.Roles[0].CPUs.String() != "1-3" || w.Local.Or("") != "0.0.0.0" || w.DurationS.Ok() {
		t.Errorf("sr: %+v", w)
	}
	w = describe("sockperf pp --mps=max --nonblocked -t 3600")
	if w.Offered.RatePPS.Ok() || !w.PollMode || w.DataPath != "kernel" || !hasCode(w.Notes, "sockperf-memory") {
		t.Errorf("pp: %+v", w)
	}
	w = describe("sockperf tp -t 5")
	if w.Goal != GoalThroughput || w.Roles[0].Name != "sender" {
		t.Errorf("tp: %+v", w)
	}
	w = describe("sockperf pp -t abc -m x --sender-affinity z --full-log l.csv")
	if w.DurationS.Ok() || w.Offered.SizeBytes.Ok() || (Sockperf{}).SampleFile(w) != "l.csv" || !hasCode(w.Notes, "sockperf-affinity-failed") {
		t.Errorf("bad values: %+v", w)
	}
	if a := Identify(ParseCommand([]string{"sockperf_wrapper"})); a.Name() == "sockperf" {
		t.Error("another program is taken for sockperf")
	}
}

func FuzzSockperf(f *testing.F) {
	for _, c := range sockperfCaptures(f) {
		f.Add(strings.Join(c.argv, " "), string(c.out.All()))
	}
	f.Fuzz(func(t *testing.T, command, text string) {
		argv, err := SplitShell(command)
		if err != nil {
			return
		}
		cmd := ParseCommand(argv)
		s := Sockperf{}
		r := s.Parse(s.Describe(cmd), Output{Mixed: []byte(text), Ended: maybe.Some(Exit{})})
		if l, ok := r.Latency.Get(); ok && len(l.Percentiles) > 64 || len(r.Notes) > maxNotes {
			t.Errorf("unbounded: %d percentiles, %d notes", len(l.Percentiles), len(r.Notes))
		}
	})
}
