package bench

import (
	"fmt"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// ownTerminal is the pseudo-terminal that a command gets. The user's own terminal, if there is one, is raw meanwhile: keys
// go through as bytes, and Ctrl-C becomes a signal in the command's terminal, not in ours.
type ownTerminal struct {
	master *os.File
	in     *os.File
	tty    bool // in is a terminal
	saved  *term.State
	cancel *os.File // closing it ends pump
	done   chan struct{}
}

// Size of the terminal when corewise itself has none: wide enough for the tables that full-screen programs draw.
const (
	defaultCols = 132
	defaultRows = 50
)

func (p *Process) openTerminal() (childFiles, error) {
	master, slave, err := openPTY()
	if err != nil {
		return childFiles{}, err
	}
	t := &ownTerminal{master: master, in: p.spec.Stdin, done: make(chan struct{})}
	fd := int(t.in.Fd())
	t.tty = term.IsTerminal(fd)
	if t.tty {
		if modes, err := unix.IoctlGetTermios(fd, unix.TCGETS); err == nil {
			unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, modes)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		master.Close()
		slave.Close()
		return childFiles{}, fmt.Errorf("make a pipe: %w", err)
	}
	p.term, t.cancel = t, w
	t.resize()
	t.raw()
	p.addStream(master, StdoutName)
	go t.pump(r)
	return childFiles{in: slave, out: slave, err: slave}, nil
}

// openPTY returns a master whose reads can be given a deadline, which the library's, being blocking, cannot.
func openPTY() (master, slave *os.File, err error) {
	m, slave, err := pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	defer m.Close()
	fd, err := unix.FcntlInt(m.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		slave.Close()
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	return os.NewFile(uintptr(fd), "/dev/ptmx"), slave, nil
}

// pump carries input to the command. It polls, so that it never takes a byte after the command's end.
func (t *ownTerminal) pump(cancel *os.File) {
	defer close(t.done)
	defer cancel.Close()
	buf := make([]byte, 4096)
	fds := []unix.PollFd{{Fd: int32(t.in.Fd()), Events: unix.POLLIN}, {Fd: int32(cancel.Fd())}}
	for {
		if _, err := unix.Poll(fds, -1); err != nil && err != unix.EINTR {
			return
		}
		if fds[1].Revents != 0 {
			return
		}
		if fds[0].Revents == 0 {
			continue
		}
		n, err := t.in.Read(buf)
		if n > 0 {
			_, err = t.master.Write(buf[:n])
		}
		if err != nil {
			t.endInput()
			return
		}
	}
}

// endInput tells the command that there is no more input, as Ctrl-D at a terminal does.
func (t *ownTerminal) endInput() {
	const eof = 4 // VEOF of a new terminal
	if !t.tty {
		t.master.Write([]byte{eof})
	}
}

func (t *ownTerminal) stopInput() {
	if t == nil {
		return
	}
	t.cancel.Close()
	<-t.done
	t.cook()
}

// raw makes the user's terminal raw.
func (t *ownTerminal) raw() {
	if t != nil && t.tty {
		t.saved, _ = term.MakeRaw(int(t.in.Fd()))
	}
}

// cook puts the user's terminal back.
func (t *ownTerminal) cook() {
	if t == nil || t.saved == nil {
		return
	}
	term.Restore(int(t.in.Fd()), t.saved)
	t.saved = nil
}

// resize gives the command's terminal the size of the user's.
func (t *ownTerminal) resize() {
	if t == nil {
		return
	}
	size := unix.Winsize{Row: defaultRows, Col: defaultCols}
	for _, f := range []*os.File{t.in, os.Stderr, os.Stdout} {
		ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
		if err == nil && ws.Row > 0 && ws.Col > 0 {
			size = *ws
			break
		}
	}
	t.control(func(fd int) error { return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &size) })
}

// group is the process group that Ctrl-C in the command's terminal would reach, 0 when there is none.
func (t *ownTerminal) group() int {
	group := 0
	t.control(func(fd int) (err error) {
		group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	return group
}

func (t *ownTerminal) control(f func(fd int) error) {
	raw, err := t.master.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) { f(int(fd)) })
}
