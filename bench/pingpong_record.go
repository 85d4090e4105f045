package bench

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// ringSlots is how many samples wait for the recorder: 64 MiB, seven seconds of the fastest loopback. A run that fits
// is not touched by the recorder before its end.
const ringSlots = 1 << 22

func newSampleRing() *sampleRing {
	r := &sampleRing{slots: make([]Sample, ringSlots)}
	const page = 4096 / sampleSize
	for i := 0; i < len(r.slots); i += page {
		r.slots[i].SentNS = 1 // every page is there before the loop begins
	}
	return r
}

// recorder takes samples off the ring into a histogram and, when asked, a file.
type recorder struct {
	ring  *sampleRing
	hist  *hdrhistogram.Histogram
	above int64 // longer than the histogram's range; counted at its end
	file  *os.File
	out   *bufio.Writer
	count uint64
	err   error
}

// histogramMax is the longest round trip that is told apart, one minute.
const histogramMax = int64(time.Minute)

func newRecorder(ring *sampleRing, path string) (*recorder, error) {
	rec := &recorder{ring: ring, hist: hdrhistogram.New(1, histogramMax, 3)}
	if path == "" {
		return rec, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("ping-pong: write samples: %w", err)
	}
	rec.file, rec.out = f, bufio.NewWriterSize(f, 1<<20)
	head := sampleHeader(ClockMonotonic, 0, nil) // again at the end, when count and threads are known
	rec.out.Write(head[:])
	return rec, nil
}

// follow empties the ring when it is half full, until the loop has finished. It reports whether ctx ended the run.
func (rec *recorder) follow(ctx context.Context, finished <-chan struct{}, stop *atomic.Bool) (interrupted bool) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	done := ctx.Done()
	for {
		select {
		case <-finished:
			return interrupted
		case <-done:
			done, interrupted = nil, true
			stop.Store(true)
		case <-tick.C:
			if rec.ring.head.Load()-rec.ring.tail.Load() > ringSlots/2 {
				rec.drain()
			}
		}
	}
}

// drain takes everything that is in the ring.
func (rec *recorder) drain() {
	head := rec.ring.head.Load()
	for tail := rec.ring.tail.Load(); tail < head; tail++ {
		rec.take(rec.ring.slots[tail&(ringSlots-1)])
		rec.ring.tail.Store(tail + 1)
	}
}

func (rec *recorder) take(s Sample) {
	rec.count++
	if rec.hist.RecordValue(min(max(s.RTTNS, 1), histogramMax)) != nil || s.RTTNS > histogramMax {
		rec.above++
	}
	if rec.out == nil || rec.err != nil {
		return
	}
	var b [sampleSize]byte
	binary.LittleEndian.PutUint64(b[:], uint64(s.SentNS))
	binary.LittleEndian.PutUint64(b[8:], uint64(s.RTTNS))
	_, rec.err = rec.out.Write(b[:])
}

// close completes the file: its header gets the number of records and the threads.
func (rec *recorder) close(log SampleLog, threads ...ThreadRole) error {
	if rec.file == nil {
		return nil
	}
	err := rec.err
	if err == nil {
		err = rec.out.Flush()
	}
	if err == nil {
		head := sampleHeader(log.Clock, rec.count, threads)
		_, err = rec.file.WriteAt(head[:], 0)
	}
	if err = errors.Join(err, rec.file.Close()); err != nil {
		return fmt.Errorf("ping-pong: write samples: %w", err)
	}
	return nil
}

// ReadSamples implements Sampler.
func (Pingpong) ReadSamples(r io.Reader, _ Span) (SampleLog, error) { return ReadSamples(r) }
