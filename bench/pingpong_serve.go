package bench

import (
	"sync/atomic"
	"syscall"
	"unsafe" // raw system calls

	"golang.org/x/sys/unix"
)

// pingpongServer is the answering end: every message goes back as it came.
type pingpongServer struct {
	fd       int
	flags    int
	buf      []byte
	stop     *atomic.Bool
	messages atomic.Uint64
	addr     [28]byte // the largest socket address of IP
	addrLen  uint32
	errs     uint64
}

//go:nosplit
func (s *pingpongServer) serve() {
	for !s.stop.Load() {
		s.addrLen = uint32(len(s.addr))
		n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(s.fd), uintptr(unsafe.Pointer(&s.buf[0])), uintptr(len(s.buf)), uintptr(s.flags),
			uintptr(unsafe.Pointer(&s.addr[0])), uintptr(unsafe.Pointer(&s.addrLen)))
		if errno != 0 || n == 0 {
			continue // an interrupt, a peer that is gone, or the call to stop
		}
		_, _, errno = syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(s.fd), uintptr(unsafe.Pointer(&s.buf[0])), n, 0,
			uintptr(unsafe.Pointer(&s.addr[0])), uintptr(s.addrLen))
		if errno != 0 {
			s.errs++
			continue
		}
		s.messages.Add(1)
	}
}
