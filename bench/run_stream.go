package bench

import (
	"fmt"
	"io"
	"os"
	"time"
)

// stream keeps one output of the command: the first head bytes and, of more, the last tail bytes. Memory has what is
// kept, so that a full disk costs nothing but the file.
type stream struct {
	from *os.File
	live io.Writer
	file *os.File // nil: not saved

	head, tail int64 // bounds
	kept       []byte
	ring       []byte // the last tail bytes behind head; full when len == tail
	next       int    // where the ring goes on
	total      int64

	liveErr, fileErr error
}

// copy reads until the end. Nothing but the end of the input stops it: a reader that goes away would stop the command.
func (s *stream) copy() {
	buf := make([]byte, 64<<10)
	for {
		n, err := s.from.Read(buf)
		s.take(buf[:n])
		if err != nil {
			return
		}
	}
}

func (s *stream) take(b []byte) {
	if len(b) == 0 {
		return
	}
	s.total += int64(len(b))
	if s.liveErr == nil {
		_, s.liveErr = s.live.Write(b)
	}
	n := min(int64(len(b)), s.head-int64(len(s.kept)))
	s.kept = append(s.kept, b[:n]...)
	s.save(b[:n])
	s.toRing(b[n:])
}

func (s *stream) save(b []byte) {
	if s.file == nil || s.fileErr != nil || len(b) == 0 {
		return
	}
	_, s.fileErr = s.file.Write(b)
}

// toRing keeps the last tail bytes of what it is given.
func (s *stream) toRing(b []byte) {
	if s.tail == 0 || len(b) == 0 {
		return
	}
	b = b[max(0, int64(len(b))-s.tail):]
	if room := int(s.tail) - len(s.ring); room > 0 {
		n := min(room, len(b))
		s.ring = append(s.ring, b[:n]...)
		b = b[n:]
	}
	for len(b) > 0 {
		n := copy(s.ring[s.next:], b)
		s.next = (s.next + n) % len(s.ring)
		b = b[n:]
	}
}

// gap is how many bytes between head and tail were let go.
func (s *stream) gap() int64 { return s.total - int64(len(s.kept)) - int64(len(s.ring)) }

// rest is what stands behind the head: a line that says what is missing, if anything is, and the tail.
func (s *stream) rest() []byte {
	if len(s.ring) == 0 {
		return nil
	}
	var out []byte
	if gap := s.gap(); gap > 0 {
		out = fmt.Appendf(out, "\n[corewise: %d bytes of output left out here]\n", gap)
	}
	out = append(out, s.ring[s.next:]...)
	return append(out, s.ring[:s.next]...)
}

func (s *stream) bytes() []byte {
	rest := s.rest()
	return append(s.kept[:len(s.kept):len(s.kept)], rest...)
}

// finish completes the file; no more output is taken.
func (s *stream) finish() {
	if s.file == nil {
		return
	}
	s.save(s.rest())
	if err := s.file.Close(); s.fileErr == nil {
		s.fileErr = err
	}
}

// drain waits until both streams have ended, which a grandchild that holds them may put off for ever: after limit
// they are closed here.
func (p *Process) drain(limit time.Duration) {
	done := make(chan struct{})
	go func() {
		p.copied.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(limit):
		if limit > 0 {
			p.note("run-output-held-open", "info", "the command ended, but a process that it left behind still held its output %v later; what that one prints is not kept", limit)
		}
		for _, s := range p.streams {
			s.from.SetReadDeadline(time.Unix(1, 0))
		}
		<-done
	}
	for _, s := range p.streams {
		s.from.Close()
		s.finish()
		p.noteStream(s)
	}
}

func (p *Process) noteStream(s *stream) {
	if s.fileErr != nil {
		p.note("run-output-not-saved", "warning", "the output of the command could not be saved whole: %v", s.fileErr)
	}
	if s.liveErr != nil {
		p.note("run-output-not-shown", "info", "the output of the command could not be shown to its end: %v", s.liveErr)
	}
	if gap := s.gap(); gap > 0 {
		p.note("run-output-bounded", "info", "the command printed %d bytes; %d of them, between beginning and end, are not kept", s.total, gap)
	}
}
