package profile

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/corewise/corewise/bpf"
)

// TimelineFile is the timeline in a run directory.
const TimelineFile = "timeline.bin"

// Timeline is what hit the watched threads, in time order, compact: an event names its actor by number.
type Timeline struct {
	Actors  []TimelineActor
	Events  []TimelineEvent
	Dropped uint64 // events that did not fit
	MinNS   int64  // shorter events are among the dropped ones
}

// TimelineActor is one cause with who did it.
type TimelineActor struct {
	Cause bpf.Cause `json:"cause"`
	Actor bpf.Actor `json:"actor"`
}

// TimelineEvent took NS nanoseconds from the thread TID on CPU, from StartNS (CLOCK_MONOTONIC) on.
type TimelineEvent struct {
	StartNS int64
	NS      int64
	TID     int32
	CPU     int32
	Actor   int32 // index into Actors
	_       int32
}

// NewTimeline makes a capture's event log compact.
func NewTimeline(log bpf.EventLog) Timeline {
	t := Timeline{Dropped: log.Dropped, MinNS: log.MinNS, Events: make([]TimelineEvent, 0, len(log.Events))}
	index := map[TimelineActor]int32{}
	for _, e := range log.Events {
		who := TimelineActor{Cause: e.Cause, Actor: e.Actor}
		n, ok := index[who]
		if !ok {
			n = int32(len(t.Actors))
			index[who], t.Actors = n, append(t.Actors, who)
		}
		t.Events = append(t.Events, TimelineEvent{StartNS: e.StartNS, NS: e.NS, TID: int32(e.TID), CPU: int32(e.CPU), Actor: n})
	}
	return t
}

// timelineMagic begins the file; then: length of a JSON head (uint32), the head, and one record of recordBytes an event,
// all little-endian: start int64, ns int64, tid int32, cpu int32, actor int32.
const (
	timelineMagic = "corewise timeline 1\n"
	recordBytes   = 28
	maxHead       = 64 << 20
	maxEvents     = 64 << 20
)

type timelineHead struct {
	Actors  []TimelineActor `json:"actors"`
	Events  int             `json:"events"`
	Dropped uint64          `json:"dropped"`
	MinNS   int64           `json:"min_ns"`
}

// SaveTimeline writes the timeline of a run.
func SaveTimeline(name string, t Timeline) error {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("save timeline: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := errors.Join(t.write(w), w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("save timeline: %w", err)
	}
	return nil
}

func (t Timeline) write(w io.Writer) error {
	head, err := json.Marshal(timelineHead{Actors: t.Actors, Events: len(t.Events), Dropped: t.Dropped, MinNS: t.MinNS})
	if err != nil {
		return err
	}
	b := binary.LittleEndian.AppendUint32([]byte(timelineMagic), uint32(len(head)))
	if _, err := w.Write(append(b, head...)); err != nil {
		return err
	}
	rec := make([]byte, 0, recordBytes)
	for _, e := range t.Events {
		rec = binary.LittleEndian.AppendUint64(rec[:0], uint64(e.StartNS))
		rec = binary.LittleEndian.AppendUint64(rec, uint64(e.NS))
		rec = binary.LittleEndian.AppendUint32(rec, uint32(e.TID))
		rec = binary.LittleEndian.AppendUint32(rec, uint32(e.CPU))
		rec = binary.LittleEndian.AppendUint32(rec, uint32(e.Actor))
		if _, err := w.Write(rec); err != nil {
			return err
		}
	}
	return nil
}

// LoadTimeline reads what SaveTimeline wrote; a file that is cut off or out of bounds is an error.
func LoadTimeline(name string) (Timeline, error) {
	f, err := os.Open(name)
	if err != nil {
		return Timeline{}, fmt.Errorf("read timeline: %w", err)
	}
	defer f.Close()
	t, err := readTimeline(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return Timeline{}, fmt.Errorf("read timeline %s: %w", name, err)
	}
	return t, nil
}

func readTimeline(r io.Reader) (Timeline, error) {
	head, err := readHead(r)
	if err != nil {
		return Timeline{}, err
	}
	t := Timeline{Actors: head.Actors, Dropped: head.Dropped, MinNS: head.MinNS}
	rec := make([]byte, recordBytes)
	for i := range head.Events {
		if _, err := io.ReadFull(r, rec); err != nil {
			return Timeline{}, fmt.Errorf("event %d of %d: %w", i, head.Events, err)
		}
		e := TimelineEvent{
			StartNS: int64(binary.LittleEndian.Uint64(rec)), NS: int64(binary.LittleEndian.Uint64(rec[8:])),
			TID: int32(binary.LittleEndian.Uint32(rec[16:])), CPU: int32(binary.LittleEndian.Uint32(rec[20:])),
			Actor: int32(binary.LittleEndian.Uint32(rec[24:])),
		}
		if e.Actor < 0 || int(e.Actor) >= len(t.Actors) || e.NS < 0 {
			return Timeline{}, fmt.Errorf("event %d names actor %d of %d and lasts %d ns", i, e.Actor, len(t.Actors), e.NS)
		}
		t.Events = append(t.Events, e)
	}
	return t, nil
}

func readHead(r io.Reader) (timelineHead, error) {
	var head timelineHead
	start := make([]byte, len(timelineMagic)+4)
	if _, err := io.ReadFull(r, start); err != nil || string(start[:len(timelineMagic)]) != timelineMagic {
		return head, errors.New("not a corewise timeline of version 1")
	}
	size := binary.LittleEndian.Uint32(start[len(timelineMagic):])
	if size > maxHead {
		return head, fmt.Errorf("head of %d bytes is too large", size)
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(r, b); err != nil {
		return head, fmt.Errorf("head: %w", err)
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return head, fmt.Errorf("head: %w", err)
	}
	if head.Events < 0 || head.Events > maxEvents {
		return head, fmt.Errorf("%d events are too many", head.Events)
	}
	return head, nil
}
