package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// load makes every event of the first probes, on one CPU: two threads that wake each other through pipes (switches and
// wake-ups), UDP over loopback (softirqs), direct reads of a file (device interrupts), pages taken and given back.
type load struct {
	cpu    int
	rounds atomic.Int64
	ping   [2]int
	pong   [2]int
	tids   chan int
	file   *os.File
	udp    *net.UDPConn
	block  []byte
}

func newLoad(cpu int) (*load, error) {
	l := &load{cpu: cpu, tids: make(chan int)}
	if err := unix.Pipe(l.ping[:]); err != nil {
		return nil, err
	}
	if err := unix.Pipe(l.pong[:]); err != nil {
		return nil, err
	}
	var err error
	if l.udp, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
		return nil, err
	}
	l.block, err = unix.Mmap(-1, 0, 64<<10, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	return l, l.openFile()
}

// openFile makes a file whose direct reads reach the disk; where the file system cannot do that, there are no interrupts.
func (l *load) openFile() error {
	f, err := os.CreateTemp("/var/tmp", "corewise-cost-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write(make([]byte, 1<<20)); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	fd, err := unix.Open(f.Name(), unix.O_RDONLY|unix.O_DIRECT, 0)
	if err == nil {
		l.file = os.NewFile(uintptr(fd), f.Name())
	}
	return nil
}

// start begins the load, which ends with the process, and returns the ids of the two threads.
func (l *load) start() (int, int) {
	go l.echo()
	go l.drive()
	if l.file != nil {
		go l.read()
	}
	return <-l.tids, <-l.tids
}

func (l *load) pin() {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(l.cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		fmt.Fprintln(os.Stderr, "pin:", err)
	}
	l.tids <- unix.Gettid()
}

func (l *load) drive() {
	l.pin()
	b := []byte{1}
	packet, to := make([]byte, 64), l.udp.LocalAddr().(*net.UDPAddr)
	for i := 0; ; i++ {
		unix.Write(l.ping[1], b)
		unix.Read(l.pong[0], b)
		if i%4 == 0 {
			l.udp.WriteToUDP(packet, to)
			l.udp.ReadFromUDP(packet)
			l.block[(i*1024)%len(l.block)] = 1
		}
		if i%256 == 0 {
			unix.Madvise(l.block, unix.MADV_DONTNEED)
		}
		l.rounds.Add(1)
	}
}

func (l *load) echo() {
	l.pin()
	b := []byte{0}
	for {
		unix.Read(l.ping[0], b)
		unix.Write(l.pong[1], b)
	}
}

// read makes about a thousand device interrupts a second.
func (l *load) read() {
	runtime.LockOSThread()
	raw := make([]byte, 8192)
	off := 4096 - int(uintptr(unsafe.Pointer(&raw[0]))%4096)
	for i := int64(0); ; i++ {
		unix.Pread(int(l.file.Fd()), raw[off:off+4096], i%256*4096)
		time.Sleep(time.Millisecond)
	}
}
