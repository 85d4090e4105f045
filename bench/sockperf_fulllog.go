package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// fullLogRowBytes is the least that a row of four columns takes; it has 39 to 44 bytes.
const fullLogRowBytes = 39

// logColumns says where a row of a full log has its two times.
type logColumns struct{ tx, rx int }

// ReadSamples implements Sampler for --full-log, of all versions: "txTime, rxTime" up to 3.3 and "packet, txTime(sec),
// rxTime(sec), latency(usec)" since; in seconds with nine digits. The round trip is always rx - tx, whatever the
// latency column shows. There is a row for each valid observation only: not for warm-up, cool-down or losses, and
// the packet column is the number of the row.
//
// It reads as a stream; memory is 16 bytes a row.
func (Sockperf) ReadSamples(r io.Reader, span Span) (SampleLog, error) {
	log := SampleLog{Clock: ClockUnknown, Samples: make([]Sample, 0, expectedRows(r, fullLogRowBytes))}
	in := bufio.NewReaderSize(r, 1<<20)
	var columns logColumns
	begun := false
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if err := skipLine(in); err != nil && err != io.EOF {
				return log, fmt.Errorf("read full log: %w", err)
			}
			log.Skipped++
			continue
		}
		if err != nil && err != io.EOF {
			return log, fmt.Errorf("read full log: %w", err)
		}
		if found, ok := logHeader(line); ok {
			columns, begun = found, true
		} else if begun && !log.take(line, columns, err == io.EOF) {
			break
		}
		if err == io.EOF {
			break
		}
	}
	if !begun {
		return log, errors.New("read full log: it has no rows; sockperf writes them at its end: not when it was killed, and not without a valid observation")
	}
	log.finishFullLog(span)
	return log, nil
}

func skipLine(in *bufio.Reader) error {
	for {
		_, err := in.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// logHeader recognises the line of column names.
func logHeader(line []byte) (logColumns, bool) {
	if !bytes.Contains(line, []byte("txTime")) || !bytes.Contains(line, []byte("rxTime")) {
		return logColumns{}, false
	}
	c := logColumns{tx: -1, rx: -1}
	for i, name := range strings.Split(string(line), ",") {
		switch name = strings.TrimSpace(name); {
		case strings.HasPrefix(name, "txTime"):
			c.tx = i
		case strings.HasPrefix(name, "rxTime"):
			c.rx = i
		}
	}
	return c, c.tx >= 0 && c.rx > c.tx
}

// take reads one row; false: enough. A last row without its newline is a cut one: its digits may be missing.
func (l *SampleLog) take(line []byte, c logColumns, last bool) bool {
	line = bytes.TrimRight(line, "\r\n")
	if bytes.HasPrefix(line, []byte("-----")) {
		return len(l.Samples) == 0 // behind the rows come a line of dashes and, since 3.8, a histogram
	}
	if len(line) == 0 {
		return true
	}
	if last {
		l.Truncated = true
		return false
	}
	if len(l.Samples) >= MaxSamples {
		l.Truncated = true
		return false
	}
	tx, rx, ok := rowTimes(line, c)
	if !ok || rx < tx {
		l.Skipped++
		return true
	}
	l.Samples = append(l.Samples, Sample{SentNS: tx, RTTNS: rx - tx})
	return true
}

// rowTimes finds the two columns without allocating.
func rowTimes(line []byte, c logColumns) (tx, rx int64, ok bool) {
	for i := 0; ; i++ {
		field, rest, more := bytes.Cut(line, []byte(","))
		switch i {
		case c.tx:
			if tx, ok = secondsToNS(field); !ok {
				return 0, 0, false
			}
		case c.rx:
			rx, ok = secondsToNS(field)
			return tx, rx, ok
		}
		if !more {
			return 0, 0, false
		}
		line = rest
	}
}

// secondsToNS reads seconds with up to nine decimals exactly, which a float64 cannot for the times of a long uptime.
func secondsToNS(field []byte) (int64, bool) {
	field = bytes.TrimSpace(field)
	var ns int64
	decimals, seen := -1, false
	for _, b := range field {
		switch {
		case b == '.' && decimals < 0:
			decimals = 0
		case b >= '0' && b <= '9' && ns < 1<<59:
			seen = true
			if decimals == 9 {
				continue
			}
			ns = ns*10 + int64(b-'0')
			if decimals >= 0 {
				decimals++
			}
		default:
			return 0, false
		}
	}
	for decimals = max(decimals, 0); decimals < 9; decimals++ {
		if ns > 1<<62/10 {
			return 0, false
		}
		ns *= 10
	}
	return ns, seen
}

// finishFullLog tells the clock by the first row: with --no-rdtsc it lies within the run, on CLOCK_MONOTONIC. In TSC
// mode times count from the program's start, so the first is the 2 s of sleep and the 0.4 s of warm-up.
func (l *SampleLog) finishFullLog(span Span) {
	if len(l.Samples) == 0 {
		l.Notes = append(l.Notes, Note{Code: "sockperf-no-observations", Level: "warning", Text: "the full log has no row"})
		return
	}
	first := l.Samples[0].SentNS
	const low, high = 15e8, 10e9
	inRun := span.EndNS > span.StartNS && span.Holds(first)
	likeTSC := first > low && first < high
	switch {
	case inRun && likeTSC:
		// A host that booted seconds ago.
		l.Notes = append(l.Notes, Note{Code: "sockperf-log-clock-unclear", Level: "warning", Text: "the first time of the full log fits both clocks"})
	case inRun:
		l.Clock = ClockMonotonic
	case likeTSC:
		l.Clock = ClockTSC
		l.Notes = append(l.Notes, Note{Code: "sockperf-log-tsc", Level: "info",
			Text: "the full log has times of the time stamp counter since the program's start; with --no-rdtsc they are CLOCK_MONOTONIC and need no mapping"})
	default:
		l.Notes = append(l.Notes, Note{Code: "sockperf-log-clock-unclear", Level: "warning",
			Text: fmt.Sprintf("the first time of the full log, %.9f s, lies neither in the run nor shortly after a start of the counter", float64(first)/1e9)})
	}
}
