package bench

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// childFiles are the ends of the streams that the child gets; closed here once it has them.
type childFiles struct{ in, out, err *os.File }

func (c childFiles) close() {
	for _, f := range []*os.File{c.out, c.err} {
		if f != nil {
			f.Close()
		}
	}
}

// openStreams makes the pipes or the terminal, and the files that keep what comes through them.
func (p *Process) openStreams() (childFiles, error) {
	if p.spec.Terminal == TerminalAlways || p.spec.Terminal == TerminalAuto && p.spec.WantsTerminal {
		return p.openTerminal()
	}
	child := childFiles{in: p.spec.Stdin}
	for _, end := range []struct {
		name  string
		child **os.File
	}{{StdoutName, &child.out}, {StderrName, &child.err}} {
		r, w, err := os.Pipe()
		if err != nil {
			child.close()
			p.closeStreams()
			return childFiles{}, fmt.Errorf("make a pipe for its output: %w", err)
		}
		*end.child = w
		p.addStream(r, end.name)
	}
	return child, nil
}

// addStream begins to keep what comes from r. A file that cannot be made is a note: the run goes on.
func (p *Process) addStream(r *os.File, name string) {
	s := &stream{from: r, live: p.spec.Live, head: p.spec.KeepBytes - p.spec.KeepBytes/4, tail: p.spec.KeepBytes / 4}
	p.streams = append(p.streams, s)
	if p.spec.SaveDir == "" {
		return
	}
	f, err := os.Create(filepath.Join(p.spec.SaveDir, name))
	if err != nil {
		p.note("run-output-not-saved", "warning", "the output of the command could not be saved: %v", err)
		return
	}
	s.file = f
}

// closeStreams undoes openStreams where there is no child yet.
func (p *Process) closeStreams() {
	p.term.stopInput()
	for _, s := range p.streams {
		s.from.Close()
		if s.file != nil {
			s.file.Close()
		}
	}
}

func (p *Process) copyStreams() {
	for _, s := range p.streams {
		p.copied.Go(s.copy)
	}
}

// fork starts the launcher: the command's descriptors, the pipe it waits on and the pipe it reports on.
func (p *Process) fork(child childFiles) error {
	holdR, holdW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer holdR.Close()
	statusR, statusW, err := os.Pipe()
	if err != nil {
		holdW.Close()
		return err
	}
	defer statusW.Close()
	p.job = newJob(p.term != nil)
	argv := append([]string{"corewise", LaunchArg, launchCPUs + p.spec.CPUs.String(), p.file}, p.spec.Argv...)
	files := append([]uintptr{child.in.Fd(), child.out.Fd(), child.err.Fd()}, inheritedFDs()...)
	files = append(files, holdR.Fd(), statusW.Fd())
	pid, err := syscall.ForkExec("/proc/self/exe", argv, &syscall.ProcAttr{
		Dir: p.spec.Dir, Env: p.spec.Env, Files: files, Sys: p.job.attr(),
	})
	runtime.KeepAlive(child)
	if err != nil {
		holdW.Close()
		statusR.Close()
		return err
	}
	p.pid, p.hold, p.status, p.says = pid, holdW, statusR, bufio.NewReader(statusR)
	return nil
}

// inheritedFDs are the descriptors 3.. that whoever started corewise passed on; they go to the command unchanged.
func inheritedFDs() []uintptr {
	var fds []uintptr
	for fd := firstExtraFD; fd < holdFD; fd++ {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			fds = append(fds, ^uintptr(0))
			continue
		}
		fds = append(fds, uintptr(fd))
	}
	return fds
}
