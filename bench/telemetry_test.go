package bench

import (
	"bufio"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// replayTelemetry is a server that gives the answers of a capture (lines ">>> query" and "<<< answer"), each in turn.
func replayTelemetry(t *testing.T, capture string) string {
	t.Helper()
	answers := map[string][]string{}
	greeting, query := "", ""
	f, err := os.Open(capture)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if q, ok := strings.CutPrefix(lines.Text(), ">>> "); ok {
			query = q
		} else if g, ok := strings.CutPrefix(lines.Text(), "<<< (greeting) "); ok {
			greeting = g
		} else if a, ok := strings.CutPrefix(lines.Text(), "<<< "); ok {
			answers[query] = append(answers[query], a)
		}
	}
	path := filepath.Join(t.TempDir(), "sock")
	l, err := net.Listen("unixpacket", path)
	if err != nil {
		t.Skip("no SOCK_SEQPACKET here: ", err)
	}
	t.Cleanup(func() { l.Close() })
	go serveTelemetry(l, greeting, answers)
	return path
}

func serveTelemetry(l net.Listener, greeting string, answers map[string][]string) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	conn.Write([]byte(greeting))
	buf := make([]byte, 1<<16)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		q := string(buf[:n])
		answer := `{"` + q + `":null}`
		if a := answers[q]; len(a) > 0 {
			answer, answers[q] = a[0], a[1:]
		}
		conn.Write([]byte(answer))
	}
}

func TestTelemetry(t *testing.T) {
	for _, name := range []string{"p23", "p26", "tp25"} {
		tele, err := DialTelemetry(replayTelemetry(t, "testdata/telemetry/"+name+".txt"), 5*time.Second)
		if err != nil {
			t.Fatal(name, err)
		}
		if !strings.HasPrefix(tele.Greeting.Version, "DPDK 2") || tele.Greeting.PID == 0 {
			t.Errorf("%s: greeting %+v", name, tele.Greeting)
		}
		before, err := tele.Ports()
		if err != nil || len(before) == 0 || before[0].TxPackets <= 0 {
			t.Errorf("%s: ports %+v, %v", name, before, err)
		}
		var none any
		if err := tele.Query("/ethdev/stats,99", &none); !errors.Is(err, errNoAnswer) {
			t.Errorf("%s: absent port: %v", name, err)
		}
		tele.Close()
	}
}

func TestRatesBetween(t *testing.T) {
	at := time.Unix(100, 0)
	before := []PortCounters{{Port: 0, At: at, TxPackets: 33852032, TxBytes: 2031121920}, {Port: 1, At: at, RxPackets: 10}}
	after := []PortCounters{{Port: 0, At: at.Add(2 * time.Second), TxPackets: 47163264, TxBytes: 2829795840, RxMissed: 7}, {Port: 1, At: at.Add(2 * time.Second), RxPackets: 5}}
	got := RatesBetween(before, after)
	if len(got) != 1 {
		t.Fatalf("a cleared counter gave a rate: %+v", got)
	}
	if v := got[0].TxMpps.Or(0); v != 6.655616 {
		t.Errorf("tx %v", v)
	}
	if v := got[0].TxGbps.Or(0); v < 3.1946 || v > 3.1948 {
		t.Errorf("tx bits %v", v)
	}
	if v := got[0].RxMissed.Or(-1); v != 7 {
		t.Errorf("missed %v", v)
	}
}
