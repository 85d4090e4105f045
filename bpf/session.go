package bpf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// Session is a running capture. Its methods may be called from several goroutines.
type Session struct {
	opts   Options
	ob     *object
	links  []io.Closer
	states []ProbeState
	begin  moment
	timing io.Closer // kernel.bpf_stats_enabled while it is open
	log    *eventLog
	nodes  map[int]int
	faults map[int]faultCount // by thread id: those that a thread had before it was watched

	faultsMu sync.Mutex
	stopping chan struct{} // closed by Stop
	workers  sync.WaitGroup
	once     sync.Once

	mu      sync.Mutex
	done    bool
	capture Capture
	err     error
	notices []string
	misses  []Lost
}

// Start loads the programs, attaches those that this kernel and these privileges allow, and begins to count. What cannot be
// attached is a ProbeState with the reason; the error is about what everything needs (privilege, kernel BTF), or says that
// nothing at all could be attached. A watched process that is the caller's own launcher (its child, running the caller's own
// executable) counts from its execve on, others from now on.
func Start(ctx context.Context, o Options) (*Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &Session{opts: o, nodes: o.NodeOfCPU, faults: map[int]faultCount{}, stopping: make(chan struct{})}
	if s.nodes == nil {
		s.nodes = cpuNodes()
	}
	if len(o.KeepOff) > 0 {
		s.note(KeepOff(o.KeepOff))
	}
	var err error
	if s.ob, err = load(o); err != nil {
		return nil, err
	}
	if err := s.start(); err != nil {
		s.quiesce()
		s.release()
		return nil, err
	}
	return s, nil
}

func (s *Session) start() error {
	if err := s.attach(); err != nil {
		return err
	}
	if !s.opts.SkipCost {
		s.timing, _ = ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME)) // without it the cost is unknown, and says so
	}
	if err := s.watchCPUs(s.opts.Watch.CPUs); err != nil {
		return err
	}
	if err := s.startEvents(); err != nil {
		return err
	}
	s.begin = readMoment()
	if err := s.syncAll(syncStart); err != nil {
		return err
	}
	for _, pid := range s.opts.Watch.PIDs {
		if err := s.Watch(pid); err != nil {
			return err
		}
	}
	return s.watchCgroup(s.opts.Watch.CgroupID)
}

// attach attaches every loaded program and notes why the others are not there.
func (s *Session) attach() error {
	attached := 0
	for _, p := range probes() {
		if p.events && !s.opts.Events {
			continue
		}
		state := ProbeState{Name: p.name, How: p.how()}
		err := s.ob.refuse[p.name]
		if err == nil {
			err = s.attachOne(p)
		}
		if err != nil {
			state.How, state.Why, state.Loses = "", err.Error(), p.loses
		} else {
			state.Attached = true
			attached++
		}
		s.states = append(s.states, state)
	}
	if attached == 0 {
		return fmt.Errorf("attach probes: %s: %s", s.states[0].Name, s.states[0].Why)
	}
	return nil
}

func (s *Session) attachOne(p probe) (err error) {
	var l link.Link
	if p.raw {
		l, err = link.AttachRawTracepoint(link.RawTracepointOptions{Name: p.name, Program: s.ob.progs[p.name]})
	} else {
		l, err = link.AttachTracing(link.TracingOptions{Program: s.ob.progs[p.name]})
	}
	if err != nil {
		return explain(err)
	}
	s.links = append(s.links, l)
	return nil
}

// detach takes all programs off their tracepoints.
func (s *Session) detach() error {
	var errs []error
	for _, l := range s.links {
		errs = append(errs, l.Close())
	}
	s.links = nil
	return errors.Join(errs...)
}

func (s *Session) release() {
	_ = s.detach()
	if s.timing != nil {
		s.timing.Close()
	}
	if s.log != nil {
		s.log.close()
	}
	s.ob.close()
}

// Stop ends the capture and returns it. Later calls return the same.
func (s *Session) Stop() (Capture, error) {
	s.once.Do(s.quiesce)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return s.capture, s.err
	}
	s.done = true
	s.note(s.syncAll(syncStop))
	end := readMoment()
	s.readCosts()
	err := s.detach()
	c, readErr := s.read(end)
	s.capture, s.err = c, errors.Join(err, readErr)
	s.release()
	return s.capture, s.err
}

// note keeps an error that does not end the capture for its Notices.
func (s *Session) note(err error) {
	if err != nil {
		s.notices = append(s.notices, err.Error())
	}
}
