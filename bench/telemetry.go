package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/corewise/corewise/profile/maybe"
)

// Telemetry is a connection to the telemetry socket of a running DPDK program (Pktgen, testpmd or any other): its
// counters at any time, independent of what it prints. The protocol is one packet a query and one an answer
// (doc/guides/howto/telemetry.rst).
type Telemetry struct {
	conn net.Conn
	// Greeting is what the program says of itself.
	Greeting struct {
		Version string `json:"version"`
		PID     int    `json:"pid"`
		MaxLen  int    `json:"max_output_len"`
	}
	buf     []byte
	timeout time.Duration
}

// errNoAnswer is the null that a program answers to a query that it does not know, or an object that it does not have.
var errNoAnswer = errors.New("the program has no answer to it")

// TelemetryPath is the socket of the program that runs with a file prefix; runtime is /var/run for root, else
// $XDG_RUNTIME_DIR, and $RUNTIME_DIRECTORY moves it.
func TelemetryPath(runtime, prefix string) string {
	return filepath.Join(runtime, "dpdk", prefix, "dpdk_telemetry.v2")
}

// DialTelemetry connects and reads the greeting; timeout bounds that and each later query.
func DialTelemetry(path string, timeout time.Duration) (*Telemetry, error) {
	conn, err := net.DialTimeout("unixpacket", path, timeout)
	if err != nil {
		return nil, fmt.Errorf("connect to DPDK telemetry: %w", err)
	}
	t := &Telemetry{conn: conn, timeout: timeout, buf: make([]byte, 1<<20)}
	answer, err := t.receive()
	if err == nil {
		err = json.Unmarshal(answer, &t.Greeting)
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("read greeting of DPDK telemetry: %w", err)
	}
	return t, nil
}

// Close ends the connection.
func (t *Telemetry) Close() error { return t.conn.Close() }

func (t *Telemetry) receive() ([]byte, error) {
	if err := t.conn.SetDeadline(time.Now().Add(t.timeout)); err != nil {
		return nil, err
	}
	n, err := t.conn.Read(t.buf)
	return t.buf[:n], err
}

// Query sends a command such as "/ethdev/stats,0" and decodes what stands under its name into to.
func (t *Telemetry) Query(command string, to any) error {
	err := t.conn.SetDeadline(time.Now().Add(t.timeout))
	if err == nil {
		_, err = t.conn.Write([]byte(command))
	}
	if err != nil {
		return fmt.Errorf("query %s: %w", command, err)
	}
	answer, err := t.receive()
	if err != nil {
		return fmt.Errorf("query %s: %w", command, err)
	}
	if err := decodeTelemetry(answer, to); err != nil {
		return fmt.Errorf("query %s: %w", command, err)
	}
	return nil
}

// decodeTelemetry reads {"/command": VALUE}.
func decodeTelemetry(answer []byte, to any) error {
	var body map[string]json.RawMessage
	if err := json.Unmarshal(answer, &body); err != nil {
		return err
	}
	for _, value := range body {
		if string(value) == "null" {
			return errNoAnswer
		}
		return json.Unmarshal(value, to)
	}
	return errNoAnswer
}

// PortCounters is one port's counters since start, or since they were cleared.
type PortCounters struct {
	Port      int
	At        time.Time
	RxPackets float64 `json:"ipackets"`
	TxPackets float64 `json:"opackets"`
	RxBytes   float64 `json:"ibytes"`
	TxBytes   float64 `json:"obytes"`
	RxMissed  float64 `json:"imissed"`
	RxErrors  float64 `json:"ierrors"`
	TxErrors  float64 `json:"oerrors"`
	RxNombuf  float64 `json:"rx_nombuf"`
}

// Ports reads the counters of every port.
func (t *Telemetry) Ports() ([]PortCounters, error) {
	var ids []int
	if err := t.Query("/ethdev/list", &ids); err != nil {
		return nil, err
	}
	out := make([]PortCounters, 0, len(ids))
	for _, id := range ids {
		c := PortCounters{}
		err := t.Query(fmt.Sprintf("/ethdev/stats,%d", id), &c)
		if errors.Is(err, errNoAnswer) { // the port went away
			continue
		}
		if err != nil {
			return nil, err
		}
		c.Port, c.At = id, time.Now()
		out = append(out, c)
	}
	return out, nil
}

// RatesBetween turns two readings of the same ports into rates. Bits are those of the frames without check sequence. A
// port that is not in both, or whose counters ran backwards, is left out.
func RatesBetween(before, after []PortCounters) []PortRate {
	var out []PortRate
	for _, a := range after {
		for _, b := range before {
			dt := a.At.Sub(b.At).Seconds()
			if a.Port != b.Port || dt <= 0 || a.RxPackets < b.RxPackets || a.TxPackets < b.TxPackets {
				continue
			}
			out = append(out, PortRate{
				Port:   a.Port,
				RxMpps: maybe.Some((a.RxPackets - b.RxPackets) / dt / 1e6), TxMpps: maybe.Some((a.TxPackets - b.TxPackets) / dt / 1e6),
				RxGbps: maybe.Some((a.RxBytes - b.RxBytes) * 8 / dt / 1e9), TxGbps: maybe.Some((a.TxBytes - b.TxBytes) * 8 / dt / 1e9),
				RxMissed: maybe.Some(a.RxMissed - b.RxMissed), RxErrors: maybe.Some(a.RxErrors - b.RxErrors),
				RxNombuf: maybe.Some(a.RxNombuf - b.RxNombuf), TxErrors: maybe.Some(a.TxErrors - b.TxErrors),
				LinkGbps: maybe.None[float64]("the counters do not tell the link speed"),
			})
		}
	}
	return out
}
