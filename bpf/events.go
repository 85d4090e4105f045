package bpf

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/cilium/ebpf/ringbuf"
)

// eventRingBytes holds the events of one pollEvery at several million events a second.
const eventRingBytes = 32 << 20

// pollEvery is how often the ring buffer is read; the programs never wake the reader, which would disturb.
const pollEvery = 20 * time.Millisecond

// eventLog collects the timeline in bounded memory: when it is full, it drops the shorter half and from then on everything
// that is as short.
type eventLog struct {
	reader  *ringbuf.Reader
	max     int
	done    chan struct{}
	stopped sync.WaitGroup

	events  []probeEvent
	minNS   uint64
	dropped uint64
	err     error
}

func (s *Session) startEvents() error {
	if !s.opts.Events {
		return nil
	}
	r, err := ringbuf.NewReader(s.ob.maps[probeMapEvents])
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	s.log = &eventLog{reader: r, max: s.opts.maxEvents(), done: make(chan struct{})}
	s.log.stopped.Add(1)
	go s.log.loop()
	return nil
}

func (l *eventLog) loop() {
	defer l.stopped.Done()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.done:
			l.drain()
			return
		case <-tick.C:
			l.drain()
		}
	}
}

// drain takes everything that is in the ring buffer now.
func (l *eventLog) drain() {
	var rec ringbuf.Record
	l.reader.SetDeadline(time.Now())
	for {
		err := l.reader.ReadInto(&rec)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return
		case err != nil:
			l.err = err
			return
		}
		if len(rec.RawSample) >= int(unsafe.Sizeof(probeEvent{})) {
			l.add(*(*probeEvent)(unsafe.Pointer(unsafe.SliceData(rec.RawSample))))
		}
	}
}

func (l *eventLog) add(e probeEvent) {
	if len(l.events) >= l.max {
		l.shrink()
	}
	if e.Ns < l.minNS {
		l.dropped++
		return
	}
	l.events = append(l.events, e)
}

// shrink drops the shorter half.
func (l *eventLog) shrink() {
	lengths := make([]uint64, len(l.events))
	for i, e := range l.events {
		lengths[i] = e.Ns
	}
	slices.Sort(lengths)
	l.minNS = lengths[len(lengths)/2] + 1
	kept := slices.DeleteFunc(l.events, func(e probeEvent) bool { return e.Ns < l.minNS })
	l.dropped += uint64(len(l.events) - len(kept))
	l.events = kept
}

// stop ends the reading, after the last events are taken.
func (l *eventLog) stop() {
	if l.done != nil {
		close(l.done)
		l.stopped.Wait()
		l.done = nil
	}
}

func (l *eventLog) close() {
	l.stop()
	l.reader.Close()
}

// finish is the timeline in time order.
func (l *eventLog) finish(d *decoder) EventLog {
	l.stop()
	slices.SortFunc(l.events, func(a, b probeEvent) int {
		switch {
		case a.Start < b.Start:
			return -1
		case a.Start > b.Start:
			return 1
		}
		return 0
	})
	out := EventLog{Dropped: l.dropped + d.dropped, MinNS: int64(l.minNS), Events: make([]Event, 0, len(l.events))}
	for _, e := range l.events {
		out.Events = append(out.Events, d.event(e))
	}
	l.events = nil
	return out
}

func (d *decoder) event(e probeEvent) Event {
	out := Event{StartNS: int64(e.Start), NS: int64(e.Ns), TID: d.tid(e.Key.slot()), CPU: e.Key.cpu()}
	out.Cause, out.Actor = d.actor(e.Key)
	return out
}
