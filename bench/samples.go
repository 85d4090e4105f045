package bench

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Sample is one message: when it was sent, in nanoseconds of the log's clock, and how long its round trip took.
// Under a fixed schedule SentNS is the time at which the message was due, so that a late sender counts as latency.
type Sample struct {
	SentNS int64
	RTTNS  int64
}

// Span is a time on CLOCK_MONOTONIC, in nanoseconds.
type Span struct{ StartNS, EndNS int64 }

// Holds says whether the span holds a moment.
func (s Span) Holds(ns int64) bool { return ns >= s.StartNS && ns <= s.EndNS }

// Clock is the clock of a log's times.
type Clock string

// The clocks. ClockMonotonic is that of bpf_ktime_get_ns. ClockTSC counts from the program's start, at a calibrated
// rate that is off by some parts in a million: its samples have to be mapped before they can be joined with anything.
const (
	ClockMonotonic Clock = "monotonic"
	ClockTSC       Clock = "tsc"
	ClockUnknown   Clock = "unknown"
)

// SampleLog is the log of a run.
type SampleLog struct {
	Clock   Clock
	Samples []Sample // in the order of the log, which is that of sending but for several sockets
	// Skipped counts rows that were not understood.
	Skipped int64
	// Truncated: the log holds more than MaxSamples, or ends in the middle of a row.
	Truncated bool
	Notes     []Note
}

// MaxSamples bounds the memory of a log: 16 bytes each.
const MaxSamples = 64 << 20

// The binary sample file: a header of 64 bytes and records of 16, all little-endian.
//
//	offset 0   8 bytes  magic "CWSAMPLE"
//	offset 8   uint32   version, 1
//	offset 12  uint32   size of the header, 64
//	offset 16  uint32   clock: 1 CLOCK_MONOTONIC, 2 TSC, 0 unknown
//	offset 20  uint32   TID of the sending thread, 0 unknown
//	offset 24  uint32   TID of the answering thread, 0 unknown or on another host
//	offset 28  uint32   reserved, 0
//	offset 32  uint64   number of records, 0 unknown: up to the end of the file
//	offset 40  24 bytes reserved, 0
//	record     int64    time of sending, ns
//	           int64    round trip, ns
const (
	sampleMagic      = "CWSAMPLE"
	sampleVersion    = 1
	sampleHeaderSize = 64
	sampleSize       = 16
)

var sampleClocks = []Clock{ClockUnknown, ClockMonotonic, ClockTSC}

// sampleHeader is the header of a sample file; threads are the sender and the answerer.
func sampleHeader(clock Clock, count uint64, threads []ThreadRole) (h [sampleHeaderSize]byte) {
	copy(h[:], sampleMagic)
	le := binary.LittleEndian
	le.PutUint32(h[8:], sampleVersion)
	le.PutUint32(h[12:], sampleHeaderSize)
	for i, c := range sampleClocks {
		if c == clock {
			le.PutUint32(h[16:], uint32(i))
		}
	}
	for i := range min(2, len(threads)) {
		le.PutUint32(h[20+4*i:], uint32(threads[i].TID))
	}
	le.PutUint64(h[32:], count)
	return h
}

// WriteSamples writes the binary sample file.
func WriteSamples(w io.Writer, log SampleLog, threads ...ThreadRole) error {
	h := sampleHeader(log.Clock, uint64(len(log.Samples)), threads)
	le := binary.LittleEndian
	buf := bufio.NewWriterSize(w, 1<<20)
	buf.Write(h[:]) // errors stay in buf until Flush
	var rec [sampleSize]byte
	for _, s := range log.Samples {
		le.PutUint64(rec[:], uint64(s.SentNS))
		le.PutUint64(rec[8:], uint64(s.RTTNS))
		buf.Write(rec[:])
	}
	if err := buf.Flush(); err != nil {
		return fmt.Errorf("write samples: %w", err)
	}
	return nil
}

// ReadSamples reads the binary sample file. A file that ends early gives what is there, and Truncated.
func ReadSamples(r io.Reader) (SampleLog, error) {
	in := bufio.NewReaderSize(r, 1<<20)
	var h [sampleHeaderSize]byte
	if _, err := io.ReadFull(in, h[:]); err != nil {
		return SampleLog{}, fmt.Errorf("read samples: header: %w", err)
	}
	le := binary.LittleEndian
	if string(h[:8]) != sampleMagic {
		return SampleLog{}, errors.New("read samples: not a sample file")
	}
	if v := le.Uint32(h[8:]); v != sampleVersion {
		return SampleLog{}, fmt.Errorf("read samples: version %d is not known, only %d", v, sampleVersion)
	}
	size := le.Uint32(h[12:])
	if size < sampleHeaderSize || size > 1<<16 {
		return SampleLog{}, fmt.Errorf("read samples: header of %d bytes", size)
	}
	if _, err := in.Discard(int(size - sampleHeaderSize)); err != nil {
		return SampleLog{}, fmt.Errorf("read samples: header: %w", err)
	}
	log := SampleLog{Clock: ClockUnknown, Samples: make([]Sample, 0, expectedRows(r, sampleSize))}
	if c := le.Uint32(h[16:]); int(c) < len(sampleClocks) {
		log.Clock = sampleClocks[c]
	}
	return log, log.readRecords(in, le.Uint64(h[32:]))
}

// expectedRows spares the copies of a growing slice where the size of the file is known.
func expectedRows(r io.Reader, rowBytes int64) int64 {
	f, ok := r.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return 0
	}
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return 0
	}
	return min(st.Size()/rowBytes, MaxSamples)
}

// readRecords reads up to promised records; 0: all. The header's promise is not believed before it is kept.
func (l *SampleLog) readRecords(in io.Reader, promised uint64) error {
	var rec [sampleSize]byte
	for promised == 0 || uint64(len(l.Samples)) < promised {
		switch _, err := io.ReadFull(in, rec[:]); {
		case err == io.EOF:
			l.Truncated = promised > 0
			return nil
		case err == io.ErrUnexpectedEOF:
			l.Truncated = true
			return nil
		case err != nil:
			return fmt.Errorf("read samples: record %d: %w", len(l.Samples), err)
		}
		if len(l.Samples) >= MaxSamples {
			l.Truncated = true
			return nil
		}
		le := binary.LittleEndian
		l.Samples = append(l.Samples, Sample{SentNS: int64(le.Uint64(rec[:])), RTTNS: int64(le.Uint64(rec[8:]))})
	}
	return nil
}
