package bench

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
	"syscall"
	"unsafe" // raw system calls and linkname

	"golang.org/x/sys/unix"
)

// The loops of the built-in workload are written for one thing: that nothing of Go's runtime gets between two
// timestamps. They call nothing but raw system calls and the clock, neither of which has a point where the scheduler
// may take the thread away, and have none themselves (nosplit: no check at a function's begin); they allocate nothing; the thread is locked, pinned and has its signals blocked, so that
// the runtime's preemption signal stays pending.

// nanotime is CLOCK_MONOTONIC in nanoseconds, read through the vDSO. time.Now reads the same clock but is a point of
// preemption; unix.ClockGettime is a system call.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

// A message is a header of 16 bytes, little-endian: magic, run, sequence number; zeros up to its size.
const pingpongMagic = 0x77706377 // "wcpw"

// sampleRing hands samples from the measuring thread to the recorder: one writer, one reader.
type sampleRing struct {
	slots []Sample // a power of two
	head  atomic.Uint64
	tail  atomic.Uint64
}

// pingpongCounts are the counters of the measured part.
type pingpongCounts struct {
	sent       uint64
	answered   uint64
	timeouts   uint64 // ping-pong: nothing came in time
	late       uint64 // came after its time-out
	duplicates uint64
	reordered  uint64
	stray      uint64 // of another run, or no message of ours
	refused    uint64 // the peer has no socket there
	sendErrors uint64
	unrecorded uint64 // the ring was full
}

// pingpongClient is the measuring end. Everything is allocated before the loop begins.
type pingpongClient struct {
	fd      int
	run     uint32
	out, in []byte
	flags   int  // of recvfrom: MSG_DONTWAIT when busy or under load
	spin    bool // never sleep
	stop    *atomic.Bool
	ring    *sampleRing
	seen    []uint32 // by sequence number modulo its length: the low bits of the one that was answered last
	n       pingpongCounts
	// lateness of sending behind the schedule, by power of two of nanoseconds.
	lateness [65]uint64
	maxLate  int64
	lastErr  syscall.Errno
	fromNS   int64 // begin and end of the measured part
	untilNS  int64
	endNS    int64 // when it really ended
}

// send sends message seq; the socket is connected.
//
//go:nosplit
func (c *pingpongClient) send(seq uint64) bool {
	binary.LittleEndian.PutUint64(c.out[8:], seq)
	_, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(c.fd), uintptr(unsafe.Pointer(&c.out[0])), uintptr(len(c.out)), 0, 0, 0)
	if errno == 0 {
		return true
	}
	if errno == unix.ECONNREFUSED {
		c.n.refused++
	} else {
		c.n.sendErrors++
		c.lastErr = errno
	}
	return false
}

// receive takes one message; errno tells why there is none.
//
//go:nosplit
func (c *pingpongClient) receive() (seq uint64, ours bool, errno syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(c.fd), uintptr(unsafe.Pointer(&c.in[0])), uintptr(len(c.in)), uintptr(c.flags), 0, 0)
	if errno != 0 {
		return 0, false, errno
	}
	if int(n) < pingpongMinSize || binary.LittleEndian.Uint32(c.in) != pingpongMagic || binary.LittleEndian.Uint32(c.in[4:]) != c.run {
		c.n.stray++
		return 0, false, 0
	}
	return binary.LittleEndian.Uint64(c.in[8:]), true, 0
}

//go:nosplit
func (c *pingpongClient) record(sentNS, rttNS int64) {
	head := c.ring.head.Load()
	if head-c.ring.tail.Load() >= uint64(len(c.ring.slots)) {
		c.n.unrecorded++
		return
	}
	c.ring.slots[head&uint64(len(c.ring.slots)-1)] = Sample{SentNS: sentNS, RTTNS: rttNS}
	c.ring.head.Store(head + 1)
}

// firstAnswer says whether seq is answered for the first time, and remembers it.
//
//go:nosplit
func (c *pingpongClient) firstAnswer(seq uint64) bool {
	slot := &c.seen[seq&uint64(len(c.seen)-1)]
	if *slot == uint32(seq) {
		return false
	}
	*slot = uint32(seq)
	return true
}

// pingPong sends the next message when the answer to the last one is there, or its time is out. A lost message costs
// one time-out, not the run.
//
//go:nosplit
func (c *pingpongClient) pingPong(timeoutNS int64) {
	measuring := false
	for seq := uint64(1); !c.stop.Load(); seq++ {
		now := nanotime()
		if now >= c.untilNS {
			break
		}
		if !measuring && now >= c.fromNS {
			measuring = true
			c.n = pingpongCounts{refused: c.n.refused}
		}
		sent := nanotime()
		if !c.send(seq) {
			if c.giveUp() {
				break
			}
			continue
		}
		c.n.sent++
		got := c.await(seq, sent+timeoutNS)
		if got == 0 {
			c.n.timeouts++
			continue
		}
		c.n.answered++
		if measuring {
			c.record(sent, got-sent)
		}
	}
	c.endNS = nanotime()
}

// await returns when the answer to seq came, 0 when it did not by the deadline.
//
//go:nosplit
func (c *pingpongClient) await(seq uint64, deadline int64) int64 {
	for {
		got, ours, errno := c.receive()
		now := nanotime()
		switch {
		case ours && got == seq && c.firstAnswer(seq):
			return now
		case ours && got == seq:
			c.n.duplicates++
		case ours:
			c.old(got)
		case errno == unix.ECONNREFUSED:
			c.n.refused++
			return 0
		}
		if now >= deadline || c.stop.Load() {
			return 0
		}
	}
}

// old counts an answer to an earlier message.
//
//go:nosplit
func (c *pingpongClient) old(seq uint64) {
	if c.firstAnswer(seq) {
		c.n.late++
		return
	}
	c.n.duplicates++
}

// giveUp ends a run that nobody answers, after a pause of a millisecond for each refusal.
//
//go:nosplit
func (c *pingpongClient) giveUp() bool {
	ts := unix.Timespec{Nsec: 1e6}
	syscall.RawSyscall6(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0, 0, 0, 0)
	return c.n.answered == 0 && c.n.refused+c.n.sendErrors > 200
}

// underLoad sends on a fixed schedule whatever comes back, and reads answers in between. Latency counts from the time
// at which a message was due, so that a late sender cannot hide it. A sender that is still behind a second after the
// end gives the rest up; those messages are due and not sent.
//
//go:nosplit
func (c *pingpongClient) underLoad(rate float64, timeoutNS int64) {
	start := nanotime()
	interval := 1e9 / rate
	drainNS := max(timeoutNS, 1e9) // what comes that late is late, but not lost
	due, end := start, c.untilNS+drainNS
	seq, highest := uint64(0), uint64(0)
	for !c.stop.Load() {
		now := nanotime()
		sending := due < c.untilNS && now < c.untilNS+1e9
		if !sending && (now >= end || c.n.answered >= c.n.sent) {
			break
		}
		if sending && now >= due {
			seq++
			c.onSchedule(seq, due, now)
			due = start + int64(float64(seq)*interval)
			end = max(end, now+drainNS)
			if c.n.answered == 0 && c.n.refused+c.n.sendErrors > 200 {
				break
			}
		}
		got, ours, errno := c.receive()
		switch {
		case ours:
			c.answer(got, start+int64(float64(got-1)*interval), nanotime(), seq, highest)
			highest = max(highest, got)
		case errno == unix.ECONNREFUSED:
			c.n.refused++
		case errno == unix.EAGAIN && sending:
			c.idle(due)
		case errno == unix.EAGAIN:
			c.idle(end)
		}
	}
	c.endNS = nanotime()
}

// onSchedule sends message seq that was due at due.
//
//go:nosplit
func (c *pingpongClient) onSchedule(seq uint64, due, now int64) {
	ok := c.send(seq)
	if due < c.fromNS {
		return
	}
	late := now - due
	c.lateness[bits.Len64(uint64(late))]++
	c.maxLate = max(c.maxLate, late)
	if ok {
		c.n.sent++
	}
}

// answer takes the answer to message seq of those sent so far.
//
//go:nosplit
func (c *pingpongClient) answer(seq uint64, due, now int64, sent, highest uint64) {
	switch {
	case seq == 0 || seq > sent:
		c.n.stray++
	case !c.firstAnswer(seq):
		c.n.duplicates++
	case due >= c.fromNS:
		if seq < highest {
			c.n.reordered++
		}
		c.n.answered++
		c.record(due, now-due)
	}
}

// idle sleeps until an answer comes or the next message is nearly due; the last stretch is spun away.
//
//go:nosplit
func (c *pingpongClient) idle(until int64) {
	const spinNS = 100e3
	left := until - nanotime() - spinNS
	if c.spin || left <= 0 {
		return
	}
	fd := unix.PollFd{Fd: int32(c.fd), Events: unix.POLLIN}
	ts := unix.NsecToTimespec(left)
	syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fd)), 1, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
}
