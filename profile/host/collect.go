package host

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// CollectOptions says what Collect does.
type CollectOptions struct {
	Gap        time.Duration // between the two samples; 0: one sample
	Redact     bool          // replace host names, addresses, MACs and serial numbers, keeping their relations
	NoCommands bool          // run no external command
}

// Estimate is what Collect would write.
type Estimate struct {
	Files    int           `json:"files"`
	Bytes    int64         `json:"bytes"`     // before compression
	Archive  int64         `json:"archive"`   // compressed, about
	Duration time.Duration `json:"duration"`  // about, without the slow commands
	Unread   int           `json:"unread"`    // files that cannot be read with these privileges
	Commands []string      `json:"commands"`  // that would be run
	TakesNS  int64         `json:"sample_ns"` // time of one sample
}

// Collect writes a bundle of this machine: a tar.zst in the layout of a host tree. It only reads, at the lowest priority,
// and nothing that interrupts an isolated CPU.
func Collect(ctx context.Context, dst io.Writer, opts CollectOptions) (Manifest, error) {
	var m Manifest
	err := quietly(func() error {
		c, err := collect(ctx, opts)
		if err != nil {
			return err
		}
		m, err = c.write(dst)
		return err
	})
	if err != nil {
		return m, fmt.Errorf("collect host: %w", err)
	}
	return m, nil
}

// EstimateCollect takes one sample, writes nothing, and says what Collect would do.
func EstimateCollect(ctx context.Context, opts CollectOptions) (Estimate, error) {
	var e Estimate
	err := quietly(func() error {
		start := time.Now()
		c, err := collect(ctx, CollectOptions{NoCommands: true, Redact: opts.Redact})
		if err != nil {
			return err
		}
		took := time.Since(start)
		var size counting
		m, err := c.write(&size)
		e = Estimate{Files: m.Files, Bytes: m.Bytes, Archive: int64(size), Unread: len(m.Skipped), Duration: 2*took + opts.Gap, TakesNS: took.Nanoseconds()}
		if !opts.NoCommands {
			e.Commands = plannedCommands(c.first)
		}
		return err
	})
	if err != nil {
		return e, fmt.Errorf("estimate bundle: %w", err)
	}
	return e, nil
}

type counting int64

func (c *counting) Write(b []byte) (int, error) {
	*c += counting(len(b))
	return len(b), nil
}

// quietly runs f on a thread of its own with nice 19 and idle I/O priority; commands it starts inherit both. The thread
// ends with f, so nothing else of the program keeps the low priority.
func quietly(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		const whoProcess, idleClass = 1, 3 << 13                              // linux/ioprio.h
		_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, whoProcess, 0, idleClass) // a sandbox may forbid it: then at normal priority
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 19)
		done <- f()
	}()
	return <-done
}

// collected is what two samples gave.
type collected struct {
	first    Host
	t0, t1   *recorder // t1 is nil with one sample
	times    times
	extra0   map[string][]byte // ethtool/ and cmd/
	extra1   map[string][]byte
	commands map[string]int
	redact   bool
}

func collect(ctx context.Context, opts CollectOptions) (*collected, error) {
	c := &collected{redact: opts.Redact, commands: map[string]int{}}
	c.t0, c.first, c.extra0 = sample(ctx, opts)
	c.times.T0 = c.first.TimeS
	if opts.Gap > 0 {
		if err := sleep(ctx, opts.Gap); err != nil {
			return nil, err
		}
		var second Host
		c.t1, second, c.extra1 = sample(ctx, opts)
		c.times.T1 = second.TimeS
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !opts.NoCommands {
		// After the second sample, so that none of them falls between the two.
		for _, o := range RunCommands(ctx, &c.first, false) {
			c.addCommand(o)
		}
	}
	return c, ctx.Err()
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// sample takes one moment through a recorder, and what Take reads elsewhere than in files.
func sample(ctx context.Context, opts CollectOptions) (*recorder, Host, map[string][]byte) {
	r := newRecorder()
	s := r.source()
	s.noCommands = opts.NoCommands
	h := Take(ctx, s)
	for _, p := range []string{"/proc/net/dev", "/proc/net/fib_trie", "/proc/swaps", "/proc/zoneinfo", "/proc/buddyinfo", "/proc/net/snmp", "/proc/net/netstat"} {
		_, _ = s.Read(p) // for people; fib_trie stands in for `ip addr` where that is not installed
	}
	r.pickProcs(&h)
	return r, h, extras(&h)
}

// extras are the answers of drivers, the kernel log, and what the commands printed that Take ran.
func extras(h *Host) map[string][]byte {
	files := map[string][]byte{}
	for name, v := range h.Commands {
		if text, ok := v.Get(); ok {
			files["cmd/"+name] = []byte(text)
		}
	}
	if text, err := ringBuffer(); err == nil {
		files["cmd/dmesg"] = []byte(text)
	}
	conn, err := dialEthtool()
	if err != nil {
		return files
	}
	defer conn.close()
	for _, n := range h.NICs {
		b, err := json.MarshalIndent(conn.ask(n.Name, n.PCI != ""), "", " ")
		if err == nil {
			files["ethtool/"+n.Name+".json"] = append(b, '\n')
		}
	}
	return files
}

// addCommand adds an output, unless the first sample has it already: what it counts belongs to that moment.
func (c *collected) addCommand(o CommandOutput) {
	c.commands[o.Name] = o.Exit
	if _, had := c.extra0["cmd/"+o.Name]; had {
		return
	}
	if o.Exit == 127 {
		c.extra0["cmd/"+o.Name+".exit"] = []byte("127\n")
		return
	}
	c.extra0["cmd/"+o.Name] = []byte(o.Text)
	if o.Exit != 0 {
		c.extra0["cmd/"+o.Name+".exit"] = fmt.Appendf(nil, "%d\n", o.Exit)
	}
}

// plannedCommands names what RunCommands would run on this host.
func plannedCommands(h Host) []string {
	var names []string
	for _, a := range allowList() {
		if (a.when == nil || a.when(&h)) && (a.each == nil || len(a.each(&h)) > 0) {
			names = append(names, a.name)
		}
	}
	return names
}
