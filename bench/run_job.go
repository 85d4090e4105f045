package bench

import (
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// job is the command as the terminal's job control sees it. Three cases:
//   - session: it has a terminal of its own, and there all of job control;
//   - its own process group, in the foreground of our terminal if we are: the keyboard reaches it and not us;
//   - shared: corewise writes into a pipe at a terminal (corewise run ... | less). Taking the foreground would stop
//     the program behind the pipe, so the command stays in our group and the keyboard reaches both.
type job struct {
	session bool
	shared  bool
	tty     int // our controlling terminal, -1: none
}

func newJob(session bool) job {
	j := job{session: session, tty: -1}
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return j
	}
	j.tty = fd
	j.shared = !session && j.inForeground(unix.Getpgrp()) && isPipe(os.Stdout)
	return j
}

func isPipe(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

func (j job) attr() *syscall.SysProcAttr {
	switch {
	case j.session:
		return &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	case j.shared:
		return nil
	}
	return &syscall.SysProcAttr{Setpgid: true}
}

func (j job) inForeground(group int) bool {
	if j.tty < 0 {
		return false
	}
	now, err := unix.IoctlGetInt(j.tty, unix.TIOCGPGRP)
	return err == nil && now == group
}

// toForeground gives the terminal to the command's group if it is ours to give.
func (j job) toForeground(pid int) {
	if j.session || j.shared || !j.inForeground(unix.Getpgrp()) {
		return
	}
	setForeground(j.tty, pid)
}

// toBackground takes the terminal back from a command that still has it, or from a group that has ended with it.
func (j job) toBackground(pid int) {
	if !j.session && !j.shared && j.inForeground(pid) {
		setForeground(j.tty, unix.Getpgrp())
	}
}

func (j job) close() {
	if j.tty >= 0 {
		unix.Close(j.tty)
	}
}

// setForeground is tcsetpgrp. From the background that raises SIGTTOU unless it is blocked.
func setForeground(tty, group int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var block, old unix.Sigset_t
	block.Val[0] = 1 << (uint(unix.SIGTTOU) - 1)
	if unix.PthreadSigmask(unix.SIG_BLOCK, &block, &old) != nil {
		return
	}
	defer unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
	unix.IoctlSetPointerInt(tty, unix.TIOCSPGRP, group)
}

// signal sends sig to the whole job: its process group, that of its terminal, or, when it shares ours, its tree.
func (j job) signal(pid, group int, sig unix.Signal) {
	switch {
	case j.shared:
		for _, p := range processTree(pid) {
			unix.Kill(p, sig)
		}
		return
	case j.session && group > 0 && group != pid:
		unix.Kill(-group, sig)
		if sig == unix.SIGINT {
			return
		}
	}
	if unix.Kill(-pid, sig) != nil {
		unix.Kill(pid, sig)
	}
}

// terminalSent says that the keyboard has sent sig to the command already.
func (j job) terminalSent(sig unix.Signal) bool {
	return j.shared && (sig == unix.SIGINT || sig == unix.SIGQUIT)
}

// suspend follows a command that was stopped from the keyboard: corewise stops too, so that the shell gets its prompt,
// and when the shell resumes it, it resumes the command.
func (p *Process) suspend(sig unix.Signal) {
	keyboard := sig == unix.SIGTSTP || sig == unix.SIGTTIN || sig == unix.SIGTTOU
	if p.job.shared || p.job.tty < 0 || !keyboard {
		return
	}
	p.term.cook()
	p.job.toBackground(p.pid)
	unix.Kill(0, sig)
	time.Sleep(10 * time.Millisecond) // the signal arrives on any thread; where our group is orphaned it does nothing
	if p.job.inForeground(unix.Getpgrp()) {
		p.term.raw()
	}
	p.job.toForeground(p.pid)
	p.job.signal(p.pid, p.group(), unix.SIGCONT)
}

// group is the foreground group of the command's terminal, 0 without one.
func (p *Process) group() int {
	if p.term == nil {
		return 0
	}
	return p.term.group()
}
