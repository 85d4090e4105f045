package bench

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/corewise/corewise/profile/cpulist"
)

// PingpongMain runs the built-in workload: UDP between two pinned threads over loopback, or two hosts. It prints who
// runs where, then a summary for people, then one line of JSON that the adapter reads. ctx ends it early, with the
// result so far; a server ends that way only.
//
// It changes the process while it runs (garbage collector off, signals blocked on the measuring threads, other threads
// moved away from their CPUs), so it is for a process of its own.
func PingpongMain(ctx context.Context, cfg PingpongConfig, w io.Writer) error {
	if err := cfg.Check(); err != nil {
		return err
	}
	warnings, err := cfg.place()
	if err != nil {
		return err
	}
	r := pingpongRun{cfg: cfg, w: w, result: PingpongResult{Schema: pingpongSchema, Warnings: warnings}}
	if cfg.Server {
		return r.serve(ctx)
	}
	return r.measure(ctx)
}

// pingpongRun is one run of either end.
type pingpongRun struct {
	cfg     PingpongConfig
	w       io.Writer
	result  PingpongResult
	stop    atomic.Bool
	servers sync.WaitGroup
	bound   netip.AddrPort // of the server here, if there is one
}

// pinned starts f on a thread of its own: locked, pinned, without signals. The TID comes back when it is ready; f
// begins when go is closed.
func (r *pingpongRun) pinned(name string, cpu int, begin <-chan struct{}, done *sync.WaitGroup, f func()) (tid int, err error) {
	type started struct {
		tid int
		err error
	}
	ready := make(chan started, 1)
	done.Go(func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		s := started{tid: unix.Gettid()}
		nameThread(name)
		if cpu >= 0 {
			s.err = pinThread(cpulist.Of(cpu))
		}
		if s.err == nil {
			s.err = blockSignals()
		}
		ready <- s
		if s.err != nil {
			return
		}
		<-begin
		f()
	})
	s := <-ready
	if s.err != nil {
		return 0, fmt.Errorf("ping-pong: pin a thread to CPU %d: %w", cpu, s.err)
	}
	return s.tid, nil
}

// serve is the answering end on a host of its own.
func (r *pingpongRun) serve(ctx context.Context) error {
	addr, err := resolve(ctx, r.cfg.Listen, r.cfg.Port)
	if err != nil {
		return err
	}
	begin := make(chan struct{})
	s, bound, err := r.startServer(addr, begin)
	if err != nil {
		return err
	}
	defer unix.Close(s.fd)
	fmt.Fprintf(r.w, "corewise ping-pong server: UDP %s, thread %d on CPU %d; Ctrl-C ends it\n", bound, r.result.ServerTID, r.cfg.ServerCPU)
	moveOthers(cpulist.Of(r.cfg.ServerCPU), r.result.ServerTID)
	restore := quietRuntime()
	close(begin)
	<-ctx.Done()
	r.stopServer()
	restore()
	r.result.Mode, r.result.ServerCPU = modeServer, r.cfg.ServerCPU
	r.result.Received = s.messages.Load()
	if s.errs > 0 {
		r.result.Warnings = append(r.result.Warnings, fmt.Sprintf("%d answers could not be sent", s.errs))
	}
	fmt.Fprintf(r.w, "%d messages answered\n", r.result.Received)
	return r.result.writeJSON(r.w)
}

func (r *pingpongRun) startServer(addr netip.AddrPort, begin <-chan struct{}) (*pingpongServer, netip.AddrPort, error) {
	fd, bound, err := listenUDP(addr)
	if err != nil {
		return nil, addr, fmt.Errorf("ping-pong: %w", err)
	}
	s := &pingpongServer{fd: fd, buf: make([]byte, 1<<16), stop: &r.stop}
	if r.cfg.Busy {
		s.flags = unix.MSG_DONTWAIT
	}
	r.result.ServerTID, err = r.pinned("pp-server", r.cfg.ServerCPU, begin, &r.servers, s.serve)
	if err != nil {
		unix.Close(fd)
		return nil, addr, err
	}
	r.bound = bound
	return s, bound, nil
}

// quietRuntime keeps the garbage collector and a shortage of processors from the loops. It has to be called, and
// undone, while none of them runs: both stop the world.
func quietRuntime() (restore func()) {
	procs := runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), 6))
	percent := debug.SetGCPercent(-1)
	return func() {
		debug.SetGCPercent(percent)
		runtime.GOMAXPROCS(procs)
	}
}

// measure is the measuring end, with the answering one beside it over loopback.
func (r *pingpongRun) measure(ctx context.Context) error {
	begin := make(chan struct{})
	addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0)
	if r.cfg.Client != "" {
		var err error
		if addr, err = resolve(ctx, r.cfg.Client, r.cfg.Port); err != nil {
			return fmt.Errorf("ping-pong: %w", err)
		}
	} else {
		s, bound, err := r.startServer(addr, begin)
		if err != nil {
			return err
		}
		defer unix.Close(s.fd)
		addr = bound
	}
	err := r.measureAgainst(ctx, addr, begin)
	r.stopServer()
	return err
}

// stopServer ends the answering thread and waits for it.
func (r *pingpongRun) stopServer() {
	r.stop.Store(true)
	ended := make(chan struct{})
	go func() { r.servers.Wait(); close(ended) }()
	for r.bound.IsValid() {
		wakeUDP(r.bound)
		select {
		case <-ended:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (r *pingpongRun) measureAgainst(ctx context.Context, addr netip.AddrPort, begin chan struct{}) error {
	c, err := r.newClient(addr)
	if err != nil {
		close(begin)
		return err
	}
	defer unix.Close(c.fd)
	rec, err := newRecorder(c.ring, r.cfg.Samples)
	if err != nil {
		close(begin)
		return err
	}
	var client sync.WaitGroup
	tid, err := r.pinned("pp-client", r.cfg.ClientCPU, begin, &client, func() { r.loop(c) })
	if err != nil {
		r.stop.Store(true)
		close(begin)
		return errors.Join(err, rec.close(SampleLog{}))
	}
	r.result.ClientTID = tid
	r.describe(addr)
	r.head()
	moveOthers(cpulist.Of(r.cfg.ClientCPU, r.cfg.ServerCPU), r.result.ClientTID, r.result.ServerTID)
	restore := quietRuntime()
	c.fromNS = nanotime() + r.cfg.Warmup.Nanoseconds()
	c.untilNS = c.fromNS + r.cfg.Duration.Nanoseconds()
	close(begin)
	finished := make(chan struct{})
	go func() { client.Wait(); close(finished) }()
	r.result.Interrupted = rec.follow(ctx, finished, &r.stop)
	<-finished
	r.stopServer() // restore stops the world: no loop may run then
	restore()
	return r.finish(c, rec)
}

func (r *pingpongRun) newClient(addr netip.AddrPort) (*pingpongClient, error) {
	fd, err := dialUDP(addr, r.cfg.Timeout)
	if err != nil {
		return nil, fmt.Errorf("ping-pong: %w", err)
	}
	c := &pingpongClient{
		fd: fd, stop: &r.stop, spin: r.cfg.Busy,
		out: make([]byte, r.cfg.SizeBytes), in: make([]byte, 1<<16), seen: make([]uint32, 1<<16),
		ring: newSampleRing(),
	}
	if r.cfg.Busy || r.cfg.Rate > 0 {
		c.flags = unix.MSG_DONTWAIT
	}
	var id [4]byte
	rand.Read(id[:])
	c.run = binary.LittleEndian.Uint32(id[:])
	binary.LittleEndian.PutUint32(c.out, pingpongMagic)
	binary.LittleEndian.PutUint32(c.out[4:], c.run)
	return c, nil
}

func (r *pingpongRun) loop(c *pingpongClient) {
	if r.cfg.Rate > 0 {
		unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
		c.underLoad(r.cfg.Rate, r.cfg.Timeout.Nanoseconds())
		return
	}
	c.pingPong(r.cfg.Timeout.Nanoseconds())
}

// clockCost is what one reading of the clock takes, in nanoseconds, as the mean of many.
func clockCost() float64 {
	const n = 20000
	begin := nanotime()
	for range n {
		nanotime()
	}
	return float64(nanotime()-begin) / (n + 1)
}

// finish drains the recorder, computes and prints the result.
func (r *pingpongRun) finish(c *pingpongClient, rec *recorder) error {
	rec.drain()
	log := SampleLog{Clock: ClockMonotonic}
	errFile := rec.close(log, ThreadRole{TID: r.result.ClientTID, Role: "client"}, ThreadRole{TID: r.result.ServerTID, Role: "server"})
	r.result.take(r.cfg, c, rec)
	r.judge(c)
	r.summary()
	if err := r.result.writeJSON(r.w); err != nil {
		return err
	}
	if r.result.Samples == 0 {
		return fmt.Errorf("ping-pong: no message was answered by %s", r.result.Peer)
	}
	return errFile
}

// judge notes what makes the numbers weaker than they look.
func (r *pingpongRun) judge(c *pingpongClient) {
	warn := func(format string, args ...any) {
		r.result.Warnings = append(r.result.Warnings, fmt.Sprintf(format, args...))
	}
	if r.result.ClockReadNS > 200 {
		warn("one reading of the clock takes %.0f ns: the clock source is not read in user space", r.result.ClockReadNS)
	}
	if c.n.refused > 0 {
		warn("the peer refused %d messages: nothing listens there", c.n.refused)
	}
	if c.n.sendErrors > 0 {
		warn("%d messages could not be sent: %v", c.n.sendErrors, c.lastErr)
	}
	if c.n.unrecorded > 0 {
		warn("%d samples were not recorded: the recorder did not keep up", c.n.unrecorded)
	}
	if want := r.cfg.Rate * r.result.DurationS; r.cfg.Rate > 0 && float64(r.result.Sent) < 0.99*want {
		warn("%.0f messages were due, %d were sent: the rest would have been the slowest, and is not in the percentiles", want, r.result.Sent)
	}
	if late := r.result.SendLateUS; r.cfg.Rate > 0 && late.P99 > 10 {
		warn("the sender was up to %.0f us behind its schedule for 99 %% of the messages; that is part of the latency", late.P99)
	}
	if r.cfg.Duration < time.Second {
		warn("%s is too short for a statement on tails", r.cfg.Duration)
	}
}
