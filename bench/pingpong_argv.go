package bench

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// PingpongCommand is the subcommand of corewise that runs the built-in workload.
const PingpongCommand = "pingpong"

// Modes of the built-in workload, beside modeServer.
const (
	modeLoopback = "loopback" // both ends in one process
	modeClient   = "client"
)

// PingpongConfig is one run of the built-in workload. The zero value is not valid: begin with DefaultPingpong.
type PingpongConfig struct {
	Server bool   // answer only, until interrupted
	Listen string // the server's address
	Client string // measure against the server at this address; "" and not Server: both ends here, over loopback
	Port   int
	// CPUs are the client's and the server's, in this order; -1: chosen.
	ClientCPU, ServerCPU int
	SizeBytes            int
	Duration             time.Duration // measured part, without the warm-up
	Warmup               time.Duration
	// Rate is messages a second on a fixed schedule, whether answers come or not; 0: the next when the answer is there.
	Rate    float64
	Timeout time.Duration // after which a message counts as lost
	Busy    bool          // poll for answers in place of sleeping
	Samples string        // file for one record a message, see ReadSamples; "": none
}

// Limits of the built-in workload.
const (
	pingpongPort    = 19520
	pingpongMinSize = 16
	pingpongMaxSize = 65507
	pingpongMaxRate = 10e6
)

// DefaultPingpong is a ping-pong over loopback for ten seconds.
func DefaultPingpong() PingpongConfig {
	return PingpongConfig{
		Listen: "0.0.0.0", Port: pingpongPort, ClientCPU: -1, ServerCPU: -1, SizeBytes: 64,
		Duration: 10 * time.Second, Warmup: 500 * time.Millisecond, Timeout: 100 * time.Millisecond,
	}
}

var pingpongOptions = optionTable{Arity: map[string]arity{
	"server": noArg, "listen": oneArg, "client": oneArg, "port": oneArg, "cpus": oneArg, "size": oneArg, "duration": oneArg,
	"warmup": oneArg, "rate": oneArg, "timeout": oneArg, "busy": noArg, "samples": oneArg,
}}

// Args is the command line, after PingpongCommand, that gives this configuration.
func (c PingpongConfig) Args() []string {
	d := DefaultPingpong()
	var args []string
	add := func(differs bool, name, value string) {
		if differs {
			args = append(args, "--"+name, value)
		}
	}
	if c.Server {
		args = append(args, "--server")
	}
	if c.Busy {
		args = append(args, "--busy")
	}
	add(c.Listen != d.Listen, "listen", c.Listen)
	add(c.Client != "", "client", c.Client)
	add(c.Port != d.Port, "port", strconv.Itoa(c.Port))
	add(c.ClientCPU >= 0 || c.ServerCPU >= 0, "cpus", cpuText(c.ClientCPU)+","+cpuText(c.ServerCPU))
	add(c.SizeBytes != d.SizeBytes, "size", strconv.Itoa(c.SizeBytes))
	add(c.Duration != d.Duration, "duration", c.Duration.String())
	add(c.Warmup != d.Warmup, "warmup", c.Warmup.String())
	add(c.Rate != 0, "rate", strconv.FormatFloat(c.Rate, 'g', -1, 64))
	add(c.Timeout != d.Timeout, "timeout", c.Timeout.String())
	add(c.Samples != "", "samples", c.Samples)
	return args
}

func cpuText(cpu int) string {
	if cpu < 0 {
		return ""
	}
	return strconv.Itoa(cpu)
}

// ParsePingpong reads the arguments after PingpongCommand:
//
//	[--server [--listen ADDR] | --client ADDR] [--port N] [--cpus CLIENT,SERVER] [--size BYTES] [--duration 10s]
//	[--warmup 500ms] [--rate MSG/S] [--timeout 100ms] [--busy] [--samples FILE]
func ParsePingpong(args []string) (PingpongConfig, error) {
	c := DefaultPingpong()
	opts := pingpongOptions.read(args)
	for _, list := range [][]string{opts.Unknown, opts.Rest, opts.After} {
		if len(list) > 0 {
			return c, fmt.Errorf("ping-pong: %q is not known", list[0])
		}
	}
	if len(opts.Bare) > 0 {
		return c, fmt.Errorf("ping-pong: %s lacks its value", opts.Bare[0])
	}
	for _, o := range opts.All {
		if err := c.set(o.Name, o.Value); err != nil {
			return c, fmt.Errorf("ping-pong: --%s %.60q: %w", o.Name, o.Value, err)
		}
	}
	return c, c.Check()
}

func (c *PingpongConfig) set(name, value string) (err error) {
	switch name {
	case "server":
		c.Server = true
	case "busy":
		c.Busy = true
	case "listen":
		c.Listen = value
	case "client":
		c.Client = value
	case "samples":
		c.Samples = value
	case "port":
		c.Port, err = strconv.Atoi(value)
	case "size":
		c.SizeBytes, err = strconv.Atoi(value)
	case "rate":
		c.Rate, err = strconv.ParseFloat(value, 64)
	case "cpus":
		err = c.setCPUs(value)
	case "duration":
		c.Duration, err = seconds(value)
	case "warmup":
		c.Warmup, err = seconds(value)
	case "timeout":
		c.Timeout, err = seconds(value)
	}
	return err
}

// setCPUs reads CLIENT,SERVER; either may be empty, and one number alone is the client's.
func (c *PingpongConfig) setCPUs(text string) error {
	client, server, _ := strings.Cut(text, ",")
	for _, end := range []struct {
		text string
		cpu  *int
	}{{client, &c.ClientCPU}, {server, &c.ServerCPU}} {
		if end.text == "" {
			continue
		}
		n, ok := wholeNumber(end.text)
		if !ok || n > cpulist.MaxCPU {
			return fmt.Errorf("%q is not a CPU number", end.text)
		}
		*end.cpu = n
	}
	return nil
}

// seconds reads 10s, 500ms or a plain number of seconds.
func seconds(text string) (time.Duration, error) {
	if s, ok := finite(text); ok && s >= 0 && s < 1e9 {
		return time.Duration(s * float64(time.Second)), nil
	}
	return time.ParseDuration(text)
}

// Check says what is wrong with a configuration.
func (c PingpongConfig) Check() error {
	switch {
	case c.Server && c.Client != "":
		return fmt.Errorf("ping-pong: it is either server or client")
	case c.Port < 1 || c.Port > 65535:
		return fmt.Errorf("ping-pong: port %d is not 1 to 65535", c.Port)
	case c.SizeBytes < pingpongMinSize || c.SizeBytes > pingpongMaxSize:
		return fmt.Errorf("ping-pong: message size %d is not %d to %d bytes", c.SizeBytes, pingpongMinSize, pingpongMaxSize)
	case c.Duration <= 0 || c.Duration > 1e6*time.Second:
		return fmt.Errorf("ping-pong: duration %s is not above 0, or too long", c.Duration)
	case c.Warmup < 0 || c.Warmup > time.Hour:
		return fmt.Errorf("ping-pong: warm-up %s is not 0 to 1 h", c.Warmup)
	case !(c.Rate >= 0 && c.Rate <= pingpongMaxRate):
		return fmt.Errorf("ping-pong: rate %g is not 0 to %g messages/s", c.Rate, float64(pingpongMaxRate))
	case c.Timeout < time.Microsecond || c.Timeout > time.Minute:
		return fmt.Errorf("ping-pong: timeout %s is not 1 us to 1 min", c.Timeout)
	}
	return nil
}

func (c PingpongConfig) mode() string {
	switch {
	case c.Server:
		return modeServer
	case c.Client != "":
		return modeClient
	}
	return modeLoopback
}

// Pingpong is the adapter of the built-in workload.
type Pingpong struct{}

// Name implements Adapter.
func (Pingpong) Name() string { return "pingpong" }

// Recognise implements Adapter: corewise under its own name, or under the one that this process has.
func (Pingpong) Recognise(cmd Command) bool {
	if len(cmd.Args) == 0 || cmd.Args[0] != PingpongCommand {
		return false
	}
	own, err := os.Executable()
	return strings.HasPrefix(filepath.Base(cmd.Program), "corewise") || err == nil && own == cmd.Program
}

// Describe implements Adapter.
func (p Pingpong) Describe(cmd Command) Workload {
	w := Workload{Kind: p.Name(), Goal: GoalLatency, Command: cmd, DataPath: "kernel", Notes: slices.Clone(cmd.Notes), Options: map[string]string{}}
	pingpongOptions.read(cmd.Args[1:]).into(w.Options)
	c, err := ParsePingpong(cmd.Args[1:])
	if err != nil {
		w.warn("pingpong-bad-option", err.Error())
		return w
	}
	w.Mode = modePingPong
	if c.Rate > 0 {
		w.Mode = modeUnderLoad
		w.Offered.RatePPS = maybe.Some(c.Rate)
	} else {
		w.Offered.RatePPS = maybe.None[float64]("the next message goes when the answer is there")
	}
	w.PollMode = c.Busy
	w.Offered.Proto, w.Offered.SizeBytes, w.Offered.Depth, w.Offered.Flows = "udp", maybe.Some(c.SizeBytes), maybe.Some(1), maybe.Some(1)
	w.DurationS = maybe.Some((c.Warmup + c.Duration).Seconds())
	w.describeEnds(c)
	return w
}

// describeEnds names threads and addresses.
func (w *Workload) describeEnds(c PingpongConfig) {
	role := func(name string, cpu int) Role {
		r := Role{Name: name, Data: true, Count: 1}
		if cpu >= 0 {
			r.CPUs, r.Fixed = cpulist.Of(cpu), true
		}
		return r
	}
	switch c.mode() {
	case modeServer:
		w.Mode = modeServer
		w.Roles = []Role{role("server", c.ServerCPU)}
		w.Local = maybe.Some(c.Listen)
		w.Peer = maybe.None[string]("a server waits for its peer")
		w.DurationS = maybe.None[float64]("a server runs until it is interrupted")
	case modeClient:
		w.Roles = []Role{role("client", c.ClientCPU)}
		w.Peer = maybe.Some(c.Client)
		w.Local = maybe.None[string]("argv names no local address")
		w.checkLoopback()
	default:
		w.Roles = []Role{role("client", c.ClientCPU), role("server", c.ServerCPU)}
		w.Peer, w.Local = maybe.Some("127.0.0.1"), maybe.Some("127.0.0.1")
		w.checkLoopback()
	}
}

// SampleFile implements Sampler.
func (Pingpong) SampleFile(w Workload) string { return w.Options["samples"] }

// address resolves a literal address; names are left to the caller's resolver.
func address(text string, port int) (netip.AddrPort, error) {
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return netip.AddrPort{}, err
	}
	return netip.AddrPortFrom(a.Unmap(), uint16(port)), nil
}
