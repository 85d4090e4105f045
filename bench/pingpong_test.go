package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

func TestPingpongArgs(t *testing.T) {
	full := PingpongConfig{
		Listen: "::", Client: "192.0.2.1", Port: 7, ClientCPU: 3, ServerCPU: -1, SizeBytes: 200, Duration: 1500 * time.Millisecond,
		Warmup: 0, Rate: 12345.5, Timeout: time.Second, Busy: true, Samples: "x y",
	}
	server := DefaultPingpong()
	server.Server, server.ServerCPU = true, 2
	for _, c := range []PingpongConfig{DefaultPingpong(), full, server} {
		got, err := ParsePingpong(c.Args())
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%q: %+v, %v; want %+v", c.Args(), got, err, c)
		}
	}
	if c, err := ParsePingpong(strings.Fields("--duration 2 --warmup=0.25 --cpus ,4")); err != nil || c.Duration != 2*time.Second || c.Warmup != 250*time.Millisecond || c.ClientCPU != -1 || c.ServerCPU != 4 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, bad := range []string{"--bogus", "x", "-- x", "--rate", "--rate -1", "--rate nan", "--rate 1e9", "--size 15", "--size 65508", "--size x", "--port 0", "--duration 0", "--duration -1s",
		"--duration x", "--warmup 2h", "--timeout 0", "--cpus x", "--cpus 1,99999999", "--server --client 1.2.3.4"} {
		if c, err := ParsePingpong(strings.Fields(bad)); err == nil {
			t.Errorf("%s: accepted as %+v", bad, c)
		}
	}
}

func TestChooseCPUs(t *testing.T) {
	smt := func(cpu int) coreOf { // 0-3 with siblings 4-7, packages by parity
		return coreOf{cpu: cpu, siblings: strconv.Itoa(cpu%4) + "," + strconv.Itoa(cpu%4+4), pkg: strconv.Itoa(cpu % 2)}
	}
	for _, c := range []struct {
		allowed        cpulist.Set
		client, server int
		warns          bool
	}{
		{cpulist.Range(0, 7), 3, 1, false},
		{cpulist.Of(2, 3), 3, 2, true}, // two packages
		{cpulist.Of(1, 5), 5, 1, true}, // one core
		{cpulist.Of(6), 6, 6, true},
		{cpulist.Of(0, 1, 2), 2, 0, false},
		{nil, -1, -1, true},
	} {
		client, server, warning := chooseCPUs(c.allowed, smt)
		if client != c.client || server != c.server || (warning != "") != c.warns {
			t.Errorf("%s: %d, %d, %q", c.allowed, client, server, warning)
		}
	}
}

// pingpong runs the built-in workload in a process of its own, and parses what it prints.
func pingpong(t *testing.T, args ...string) (Workload, Result, ran) {
	t.Helper()
	r := run(t, Spec{Argv: self(t, append([]string{"pingpong"}, args...)...)})
	cmd := ParseCommand(append([]string{"corewise", PingpongCommand}, args...))
	a := Identify(cmd)
	w := a.Describe(cmd)
	r.out.Ended = maybe.Some(r.exit)
	return w, a.Parse(w, r.out), r
}

func TestPingpongLoopback(t *testing.T) {
	file := filepath.Join(t.TempDir(), "samples")
	w, r, p := pingpong(t, "--duration", "300ms", "--warmup", "100ms", "--samples", file)
	l, ok := r.Latency.Get()
	if !ok || r.Failed != "" || p.exit.Code != 0 || w.Kind != "pingpong" || r.Mode != "ping-pong" || l.Kind != "rtt" {
		t.Fatalf("%+v\n%s%s", r, p.out.Stdout, p.out.Stderr)
	}
	n := l.Samples.Or(0)
	if n < 10 || l.MinUS.Or(0) < 1 || l.MinUS.Or(0) > l.At(50).Or(0) || l.At(50).Or(0) > l.MaxUS.Or(0) || len(r.Threads) != 2 || r.WarmupS.Or(0) != 0.1 {
		t.Errorf("%+v", r)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := (Pingpong{}).SampleFile(w); got != file {
		t.Errorf("sample file %q", got)
	}
	log, err := Pingpong{}.ReadSamples(f, Span{})
	if err != nil || int64(len(log.Samples)) != n || log.Clock != ClockMonotonic || log.Truncated {
		t.Fatalf("%d samples of %d, %+v, %v", len(log.Samples), n, log.Clock, err)
	}
	span := Span{p.use.StartNS, p.use.EndNS}
	last := int64(0)
	for _, s := range log.Samples {
		if !span.Holds(s.SentNS) || !span.Holds(s.SentNS+s.RTTNS) || s.SentNS < last {
			t.Fatalf("sample %+v is outside the run %+v, or out of order", s, span)
		}
		last = s.SentNS
	}
}

// Under load a message is timed from when it was due: the sends lie exactly on the schedule.
func TestPingpongUnderLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "samples")
	w, r, p := pingpong(t, "--duration", "500ms", "--warmup", "100ms", "--rate", "1000", "--samples", file)
	if r.Failed != "" || w.Mode != "under-load" || w.Offered.RatePPS.Or(0) != 1000 {
		t.Fatalf("%+v\n%s", r, p.out.Stdout)
	}
	if loss := r.Loss.Or(Loss{}); loss.Sent.Or(0) != 500 {
		t.Errorf("sent %v, want exactly 500", loss.Sent)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log, err := ReadSamples(f)
	if err != nil || len(log.Samples) < 2 {
		t.Fatal(log, err)
	}
	for _, s := range log.Samples {
		if off := (s.SentNS - log.Samples[0].SentNS) % 1e6; off > 1 && off < 1e6-1 {
			t.Fatalf("a message was due %d ns off the schedule", off)
		}
	}
}

func TestPingpongTwoProcesses(t *testing.T) {
	server, err := Prepare(context.Background(), Spec{Argv: self(t, "pingpong", "--server", "--listen", "127.0.0.1", "--port", "29521")})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Release(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	_, r, p := pingpong(t, "--client", "127.0.0.1", "--port", "29521", "--duration", "200ms", "--warmup", "50ms")
	server.Interrupt()
	exit, _, err := server.Wait()
	if err != nil || exit.Code != 0 {
		t.Errorf("server: %+v, %v\n%s", exit, err, server.Output().All())
	}
	if r.Failed != "" || r.Latency.Or(Latency{}).Samples.Or(0) < 5 || len(r.Threads) != 1 {
		t.Errorf("%+v\n%s%s", r, p.out.Stdout, p.out.Stderr)
	}
	argv := []string{"corewise", "pingpong", "--server"}
	out := server.Output()
	w, served := Ingest(argv, &out)
	if w.Mode != "server" || served.Failed != "" || len(served.Metrics) != 1 || served.Metrics[0].Value < 5 {
		t.Errorf("server's result: %+v", served)
	}
}

func TestPingpongNobodyThere(t *testing.T) {
	for _, rate := range []string{"0", "2000"} {
		_, r, p := pingpong(t, "--client", "127.0.0.1", "--port", "29522", "--duration", "1s", "--warmup", "0", "--timeout", "10ms", "--rate", rate)
		if r.Failed == "" || p.exit.Code != 1 || !hasCode(r.Notes, "pingpong-no-server") || r.Latency.Ok() {
			t.Errorf("rate %s: %+v\n%s%s", rate, r, p.out.Stdout, p.out.Stderr)
		}
	}
	_, r, p := pingpong(t, "--client", "no.such.host.invalid", "--duration", "1s")
	if r.Failed == "" || p.exit.Code != 1 {
		t.Errorf("unresolved: %+v", r)
	}
	_, r, p = pingpong(t, "--cpus", "4000,4001", "--duration", "1s")
	if !strings.Contains(r.Failed, "CPU 4000") || p.exit.Code != 1 {
		t.Errorf("CPU that is not there: %+v", r)
	}
}

func TestPingpongInterrupted(t *testing.T) {
	argv := self(t, "pingpong", "--duration", "60s", "--warmup", "50ms")
	r := runCtx(t, context.Background(), Spec{Argv: argv}, func(p *Process) {
		time.Sleep(3 * time.Second)
		p.Interrupt()
	})
	_, res := Ingest([]string{"corewise", "pingpong"}, &r.out)
	if r.exit.Code != 0 || r.use.ElapsedS > 10 || !hasCode(res.Notes, "bench-interrupted") || res.Latency.Or(Latency{}).Samples.Or(0) == 0 {
		t.Errorf("%+v\n%s", res, r.out.All())
	}
}

// unruly answers on UDP, but loses, doubles, delays and swaps by the number of the message.
func unruly(t *testing.T) netip.AddrPort {
	t.Helper()
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 2048)
		for n := 0; ; n++ {
			k, from, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			msg := bytes.Clone(buf[:k])
			switch n % 10 {
			case 3: // lost
				continue
			case 5: // twice
				conn.WriteToUDPAddrPort(msg, from)
			case 7: // after the time-out of 20 ms
				time.AfterFunc(35*time.Millisecond, func() { conn.WriteToUDPAddrPort(msg, from) })
				continue
			case 8: // not ours
				conn.WriteToUDPAddrPort([]byte("junk"), from)
				conn.WriteToUDPAddrPort(append([]byte{1}, msg[1:]...), from)
			}
			conn.WriteToUDPAddrPort(msg, from)
		}
	}()
	return conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

func TestPingpongCountsFaults(t *testing.T) {
	addr := unruly(t)
	_, r, p := pingpong(t, "--client", "127.0.0.1", "--port", strconv.Itoa(int(addr.Port())), "--duration", "1s", "--warmup", "0", "--timeout", "20ms")
	res, ok := findPingpong(p.out)
	if !ok {
		t.Fatalf("%s%s", p.out.Stdout, p.out.Stderr)
	}
	share := func(n uint64) float64 { return float64(n) / float64(res.Sent) }
	for name, got := range map[string]float64{"lost": share(res.Lost), "late": share(res.Late), "twice": share(res.Duplicates), "stray": share(res.Stray) / 2} {
		if got < 0.04 || got > 0.25 {
			t.Errorf("%s: %.3f of the messages, want about 0.1; %+v", name, got, res)
		}
	}
	if !hasCode(r.Notes, "pingpong-lost") {
		t.Errorf("notes %v", r.Notes)
	}
	if res.Samples != res.Received-res.Late {
		t.Errorf("%d samples of %d answers, %d of them late", res.Samples, res.Received, res.Late)
	}
}

func TestPingpongParseBad(t *testing.T) {
	for _, text := range []string{"", "hello", `{"corewise_pingpong":1,`, `{"corewise_pingpong":2,"samples":5}`, `{"corewise_pingpong":1,"mode":"ping-pong"}`, "corewise: ping-pong: CPU 7 is not allowed"} {
		_, r := Ingest([]string{"corewise", "pingpong"}, &Output{Mixed: []byte(text), Ended: maybe.Some(Exit{Code: 1})})
		if r.Failed == "" || r.Latency.Ok() {
			t.Errorf("%q: %+v", text, r)
		}
	}
	w, _ := Ingest([]string{"corewise", "pingpong", "--bogus"}, nil)
	if !hasCode(w.Notes, "pingpong-bad-option") {
		t.Errorf("%+v", w)
	}
}

func TestPingpongDescribe(t *testing.T) {
	w, _ := Ingest([]string{"corewise", "pingpong", "--cpus", "5,3", "--busy"}, nil)
	if len(w.Roles) != 2 || w.Roles[0].CPUs.String() != "5" || w.Roles[1].CPUs.String() != "3" || !w.PollMode || w.DurationS.Or(0) != 10.5 || !hasCode(w.Notes, "bench-loopback") {
		t.Errorf("%+v", w)
	}
	w, _ = Ingest([]string{"/usr/bin/corewise", "pingpong", "--client", "192.0.2.9"}, nil)
	if len(w.Roles) != 1 || w.Peer.Or("") != "192.0.2.9" || hasCode(w.Notes, "bench-loopback") {
		t.Errorf("%+v", w)
	}
	own := self(t)[0]
	if w, _ = Ingest([]string{own, "pingpong"}, nil); w.Kind != "pingpong" {
		t.Errorf("under its own path: %s", w.Kind)
	}
	w, _ = Ingest([]string{"corewise", "run"}, nil)
	if w.Kind == "pingpong" {
		t.Error("another subcommand is taken for the workload")
	}
}

func FuzzPingpongLine(f *testing.F) {
	b, err := json.Marshal(PingpongResult{Schema: 1, Samples: 5, Percentiles: []PingpongPoint{{50, 1}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(b))
	f.Fuzz(func(t *testing.T, text string) {
		_, r := Ingest([]string{"corewise", "pingpong"}, &Output{Mixed: []byte(text)})
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("the result has no JSON: %v", err)
		}
	})
}
