package bench

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// sockperfPatterns are the errors and warnings of sockperf, most specific first.
var sockperfPatterns = []logPattern{
	{regexp.MustCompile(`No messages were received from the server`), "sockperf-no-server", "error", true},
	{regexp.MustCompile(`Can.t connect socket.*errno=(?P<errno>\d+)`), "sockperf-no-server", "error", true},
	{regexp.MustCompile(`A connection was forcibly closed by a peer`), "sockperf-peer-closed", "error", true},
	{regexp.MustCompile(`sendto\(\) Failed.*?to (?P<peer>\S+).*errno=(?P<errno>\d+)`), "sockperf-send-failed", "error", true},
	{regexp.MustCompile(`No messages were sent`), "sockperf-nothing-sent", "error", true},
	{regexp.MustCompile(`No valid observations found|Test end before test start`), "sockperf-no-observations", "error", true},
	{regexp.MustCompile(`No messages were received on the server`), "sockperf-server-idle", "warning", false},
	{regexp.MustCompile(`Can.t bind socket.* (?P<addr>\S+:\d+).*errno=98`), "sockperf-addr-in-use", "error", true},
	{regexp.MustCompile(`Can.t bind socket.* (?P<addr>\S+:\d+).*errno=99`), "sockperf-addr-not-local", "error", true},
	{regexp.MustCompile(`Set thread affinity failed to set tid\((?P<tid>\d+)\) to cpu\((?P<cpu>\d+)\)`), "sockperf-affinity-failed", "error", true},
	{regexp.MustCompile(`message-per-second rate is too high|clients cycle duration might be too small`), "sockperf-rate-not-met", "warning", false},
	{regexp.MustCompile(`socket\(AF_\w+, SOCK_\w+\) \(errno=(?P<errno>\d+)`), "sockperf-socket-failed", "error", true},
	{regexp.MustCompile(`^Invalid (?P<number>\d+) val`), "sockperf-bad-option", "error", true},
	{regexp.MustCompile(`^'(?P<option>-[\w/-]+)':? (?:[Ii]nvalid|Wrong)`), "sockperf-bad-option", "error", true},
	{regexp.MustCompile(`^Invalid (?P<option>--[\w-]+) value|^\S.*(?:must be used with|must be greater|does not support|ARM target build)`), "sockperf-bad-option", "error", true},
	{regexp.MustCompile(`^ERROR: Invalid argument`), "sockperf-bad-option", "error", true},
	{regexp.MustCompile(`^Can't open file: (?P<file>.*)`), "sockperf-file-missing", "error", true},
	{regexp.MustCompile(`^ERROR: `), "bench-failed", "error", true},
	{regexp.MustCompile(`CPU cores are running at different speeds`), "bench-clock-suspect", "warning", false},
}

// sockperfOptionNumbers are the options that an "Invalid N val" message names by their number only.
var sockperfOptionNumbers = map[string]string{"18": "--mps", "19": "--reply-every", "24": "--full-log"}

// cutS is what versions since 3.2 leave out of the statistics at both ends together.
const cutS = 0.45

// finish judges what was read and fills in the result.
func (t *sockperfText) finish(out Output) {
	switch t.w.Mode {
	case modeServer:
		t.finishServer()
	case modeThroughput:
		t.finishThroughput()
	case modeHelp, "":
		t.r.fail("it printed its help or version: no benchmark ran")
	default:
		t.finishLatency()
	}
	if t.interrupt && t.w.Mode != modeServer {
		t.r.note("bench-interrupted", "info", "the run was ended from outside before its time", 0)
	}
	t.nameOptions()
	t.judgeFailure(out)
	t.dropGeneral()
}

// finishLatency is for the modes that measure latency: ping-pong, under-load, playback.
func (t *sockperfText) finishLatency() {
	t.judgeClock()
	if t.lat.Kind != "" && t.lat.AvgUS.Ok() || len(t.lat.Percentiles) > 0 {
		t.r.takeLatency(t.lat)
	}
	t.fillLoss()
	if rate := t.valid.rate(); rate > 0 {
		t.r.setThroughput(Throughput{MsgPerS: maybe.Some(rate), Basis: "payload"})
	}
	if t.burst != "" {
		t.r.note("sockperf-burst", "info", "the latency is that of a burst of "+t.burst+" messages", 0, "messages", t.burst)
	}
	t.judgeRate()
	t.judgeStall()
}

// takeLatency marks the percentiles with ten samples above them, and says which have fewer.
func (r *Result) takeLatency(l Latency) {
	var weak []string
	l.Percentiles = sortPercentiles(l.Percentiles)
	for i := range l.Percentiles {
		q := &l.Percentiles[i]
		q.Reliable = reliable(q.P, l.Samples)
		if !q.Reliable {
			weak = append(weak, strconv.FormatFloat(q.P, 'f', -1, 64))
		}
	}
	r.setLatency(l)
	n, known := l.Samples.Get()
	if known && n < minSamples {
		r.note("bench-too-few-samples", "warning", fmt.Sprintf("%d samples are too few for any statement on a distribution", n), 0, "samples", strconv.FormatInt(n, 10))
	}
	if known && len(weak) > 0 {
		r.note("bench-percentile-unreliable", "info", fmt.Sprintf("with %d samples fewer than ten lie above percentile %s: those are single events, not percentiles", n, strings.Join(weak, ", ")), 0,
			"percentiles", strings.Join(weak, " "), "samples", strconv.FormatInt(n, 10))
	}
}

// minSamples is the least number of samples that a distribution is made of.
const minSamples = 100

func (t *sockperfText) fillLoss() {
	if t.total.seconds <= 0 {
		return
	}
	loss := t.r.Loss.Or(Loss{})
	span := t.valid
	if span.seconds <= 0 {
		span = t.total
	}
	loss.Sent, loss.Received = maybe.Some(span.sent), maybe.Some(span.received)
	t.r.Loss = maybe.Some(loss)
	dropped, ok := loss.Dropped.Get()
	if expected := dropped + span.received; ok && expected > 0 {
		metric(&t.r.Metrics, "loss_pct", 100*dropped/expected, "%")
	}
	burst := 1.0
	if b, ok := finite(t.burst); ok {
		burst = b
	}
	if lag := t.total.sent - t.total.received; t.w.Mode == modePingPong && lag > burst {
		t.r.note("sockperf-unanswered", "warning", fmt.Sprintf("%.0f messages of the whole run were not answered", lag), 0, "count", fmt.Sprintf("%.0f", lag))
	}
}

// judgeRate compares the rate that was asked for with the one that was sent.
func (t *sockperfText) judgeRate() {
	want, ok := t.w.Offered.RatePPS.Get()
	got := t.total.rate()
	if !ok || got <= 0 || math.Abs(got-want) <= 0.1*want {
		return
	}
	why := "the sender cannot keep up, or waits for replies"
	cause := "sender"
	if t.noRDTSC() && got < want && !versionAtLeast(t.version, 3, 9) {
		why = "with --no-rdtsc versions before 3.9 divide the rate by the GHz of the time stamp counter"
		cause = "no-rdtsc"
	}
	args := []string{"asked", fmt.Sprintf("%.0f", want), "sent", fmt.Sprintf("%.0f", got), "cause", cause}
	for i := range t.r.Notes {
		if t.r.Notes[i].Code == "sockperf-rate-not-met" { // in sockperf's own words
			t.r.Notes[i].Args = noteArgs(args)
			return
		}
	}
	t.r.note("sockperf-rate-not-met", "warning", fmt.Sprintf("%.0f messages/s were asked for, %.0f were sent: %s", want, got, why), 0, args...)
}

// judgeStall finds the run that looks clean although it stood still: one lost datagram blocks a UDP ping-pong for ever,
// and its counters do not show it. The signs are a valid part that is too short, or fewer messages than its rate gives.
func (t *sockperfText) judgeStall() {
	if t.w.Mode != modePingPong || t.total.seconds <= 0 {
		return
	}
	still := 0.0
	switch {
	case t.valid.seconds <= 0 && !t.noRDTSC() && t.total.seconds > 2*cutS && t.total.sent > 0:
		still = t.total.seconds - cutS
	case t.valid.seconds > 0:
		still = t.stillS()
	}
	if still <= 0.1*t.total.seconds || still < 0.05 {
		return
	}
	text := fmt.Sprintf("about %.2f of %.2f s passed without any message: a lost datagram blocks a ping-pong for ever, and is not counted as dropped", still, t.total.seconds)
	t.r.note("sockperf-stalled", "error", text, 0, "still_s", fmt.Sprintf("%.2f", still))
	t.r.fail("stalled: " + text)
}

// stillS is for how long no message went, as far as can be told: by the length of the valid part where the cut at
// both ends is known, and by the number of messages sent at the valid part's rate.
func (t *sockperfText) stillS() float64 {
	byCount := t.total.seconds - t.total.sent/max(t.valid.rate(), 1e-9)
	if t.noRDTSC() || !versionAtLeast(t.version, 3, 2) || t.w.Options["number-of-packets"] != "" {
		return byCount
	}
	return min(byCount, t.total.seconds-cutS-t.valid.seconds)
}

// judgeClock finds times that no clock in order gives.
func (t *sockperfText) judgeClock() {
	l := t.lat
	lowest, hasMin := l.MinUS.Get()
	highest, hasMax := l.MaxUS.Get()
	average, hasAvg := l.AvgUS.Get()
	bad := hasMin && lowest < 0 || hasAvg && average < 0 || hasMax && t.total.seconds > 0 && highest > 1e6*t.total.seconds ||
		hasMin && hasMax && lowest > highest
	if bad {
		t.r.note("bench-clock-suspect", "error", "the times are negative, longer than the run or contradictory: the clock cannot be trusted", 0)
		t.r.fail("the clock of the measurement cannot be trusted")
	}
}

// nameOptions adds the name of an option where sockperf told its number only.
func (t *sockperfText) nameOptions() {
	for i := range t.r.Notes {
		n := &t.r.Notes[i]
		if name, ok := sockperfOptionNumbers[n.Args["number"]]; ok && n.Code == "sockperf-bad-option" {
			n.Args["option"] = name
		}
	}
}

// dropGeneral takes out the general failure where a note of its own says what it was.
func (t *sockperfText) dropGeneral() {
	own := func(n Note) bool { return n.Level == "error" && strings.HasPrefix(n.Code, "sockperf-") }
	if !slices.ContainsFunc(t.r.Notes, own) {
		return
	}
	t.r.Notes = slices.DeleteFunc(t.r.Notes, func(n Note) bool { return n.Code == "bench-failed" })
}

// hasResult says whether the mode's own summary was printed.
func (t *sockperfText) hasResult() bool {
	switch t.w.Mode {
	case modeServer:
		return t.handled.Ok()
	case modeThroughput:
		return t.rate.Ok()
	}
	return t.r.Latency.Ok()
}

// judgeFailure finds the reason when there is no result and nothing has said why.
func (t *sockperfText) judgeFailure(out Output) {
	if t.r.Failed != "" || t.hasResult() && !t.helped {
		return
	}
	switch exit, known := out.Ended.Get(); {
	case t.helped:
		text := "it printed its help in place of running: an option is unknown to this version, or its value is wrong"
		t.r.note("sockperf-bad-option", "error", text, 0, "options", t.unknownOptions())
		t.r.fail(text)
		return
	case known && exit.Failure() != "":
		t.r.fail("no result: it " + exit.Failure())
	case t.w.Mode == modeServer:
		t.r.fail("the server's count is not in the output")
	default:
		t.r.fail("there is no summary in the output")
	}
	t.r.note("bench-failed", "error", t.r.Failed, 0)
}

// unknownOptions are those that argv has and no version knows.
func (t *sockperfText) unknownOptions() string {
	var names []string
	for _, n := range t.w.Notes {
		if n.Code == "sockperf-bad-option" {
			names = append(names, n.Args["option"])
		}
	}
	return strings.Join(names, " ")
}

// versionAtLeast compares "3.7-no.git" with a version; an unknown one counts as recent.
func versionAtLeast(version string, major, minor int) bool {
	m := versionNumbers.FindStringSubmatch(version)
	if m == nil {
		return true
	}
	a, _ := strconv.Atoi(m[1])
	b, _ := strconv.Atoi(m[2])
	return a > major || a == major && b >= minor
}

var versionNumbers = regexp.MustCompile(`^(\d{1,4})\.(\d{1,4})`)
