package bench

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/corewise/corewise/profile/maybe"
)

// ended is how the child ended, as wait4 has it.
type ended struct {
	status unix.WaitStatus
	usage  unix.Rusage
	atNS   int64
	err    error
}

// events is what Wait listens to: the child's end and the signals that reach corewise.
type events struct {
	exited  chan ended
	signals chan os.Signal
}

// listen subscribes to signals and begins to wait for the child. SIGPIPE is among them so that a reader who closes our
// stderr does not kill corewise; caught signals are back at their default in the command.
func (p *Process) listen() {
	p.events = events{exited: make(chan ended, 1), signals: make(chan os.Signal, 16)}
	signal.Notify(p.events.signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE, unix.SIGWINCH)
	go func() { p.events.exited <- p.reap() }()
}

func (e events) stop() { signal.Stop(e.signals) }

// reap waits for the child's end, and follows it when it is stopped from the keyboard.
func (p *Process) reap() ended {
	for {
		var e ended
		_, e.err = unix.Wait4(p.pid, &e.status, unix.WUNTRACED, &e.usage)
		switch {
		case e.err == unix.EINTR:
		case e.err == nil && e.status.Stopped():
			p.note("run-was-stopped", "warning", "the command was stopped by %s for a while: its times include that", unix.SignalName(e.status.StopSignal()))
			p.suspend(e.status.StopSignal())
		default:
			e.atNS = monotonicNS()
			p.setOver()
			return e
		}
	}
}

// Wait waits for the end of the command and of its output. The error is about corewise's own waiting, never about
// the command: that is in Exit.
func (p *Process) Wait() (Exit, Usage, error) {
	done := p.ctx.Done()
	var next <-chan time.Time
	if p.spec.Duration > 0 {
		next = time.After(p.spec.Duration)
	}
	stage := 0
	escalate := func() {
		next = nil
		if p.end(stage) {
			next = time.After(p.spec.Grace)
		}
		stage++
	}
	for {
		select {
		case e := <-p.events.exited:
			return p.finish(e)
		case s := <-p.events.signals:
			p.passOn(s)
		case <-done:
			done = nil
			escalate()
		case <-next:
			escalate()
		}
	}
}

// end sends the signal of one stage and says whether a harder one is left.
func (p *Process) end(stage int) bool {
	stages := []unix.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGKILL}
	if stage >= len(stages) {
		return false
	}
	if stage > 0 {
		p.note("run-forced-end", "warning", "the command did not end within %v; it got %s", p.spec.Grace, unix.SignalName(stages[stage]))
	}
	p.forced = true
	p.kill(stages[stage])
	return true
}

// Interrupt sends the command what Ctrl-C would: SIGINT to its whole group. It may be called from any goroutine
// between Prepare and the end of Wait.
func (p *Process) Interrupt() {
	p.kill(unix.SIGINT)
}

// kill sends the whole job a signal that asks it to end, unless it has ended: its PID may be another's by then.
func (p *Process) kill(sig unix.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.interrupted = true
	p.job.signal(p.pid, p.group(), sig)
}

func (p *Process) setInterrupted() {
	p.mu.Lock()
	p.interrupted = true
	p.mu.Unlock()
}

func (p *Process) setOver() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
}

// passOn handles a signal that reached corewise during the run.
func (p *Process) passOn(s os.Signal) {
	sig, ok := s.(unix.Signal)
	switch {
	case !ok || sig == unix.SIGPIPE:
	case sig == unix.SIGWINCH:
		p.term.resize()
	case p.job.terminalSent(sig):
		p.setInterrupted()
	default:
		p.kill(sig)
	}
}

// finish collects everything after the child's end.
func (p *Process) finish(e ended) (Exit, Usage, error) {
	p.letGo()
	p.endLeftovers(unix.SIGTERM)
	p.drain(p.spec.Drain)
	p.endLeftovers(unix.SIGKILL)
	if e.err != nil {
		return Exit{}, Usage{}, fmt.Errorf("wait for %s: %w", p.name, e.err)
	}
	exit := exitOf(e.status)
	u := Usage{
		StartNS: p.startNS, EndNS: e.atNS, ElapsedS: float64(e.atNS-p.startNS) / 1e9,
		CPUSeconds:  float64(max(0, e.usage.Utime.Nano()+e.usage.Stime.Nano()-p.launcherNS)) / 1e9,
		MaxRSSBytes: p.maxRSS(e.usage), Terminal: p.term != nil,
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	u.Interrupted = p.interrupted || exit.Signal == "SIGINT"
	u.Notes = p.notes
	if p.ctx.Err() == context.DeadlineExceeded {
		u.Notes = append(u.Notes, Note{Code: "run-deadline", Level: "info", Text: "the run was ended by its deadline"})
	}
	return exit, u, nil
}

// endLeftovers ends what is left of the command's group after we have ended its leader: a shell's background jobs, for
// one, do not listen to SIGINT. The group's number cannot be another's while it has members.
func (p *Process) endLeftovers(sig unix.Signal) {
	if !p.forced || p.job.shared || unix.Kill(-p.pid, sig) != nil || sig == unix.SIGKILL {
		return
	}
	p.note("run-leftovers-ended", "info", "processes that the command had left behind were ended too")
}

func exitOf(ws unix.WaitStatus) Exit {
	if ws.Signaled() {
		return Exit{Code: 128 + int(ws.Signal()), Signal: unix.SignalName(ws.Signal())}
	}
	return Exit{Code: ws.ExitStatus()}
}

// maxRSS is the peak of the command. The kernel counts the memory that a child shares with its parent between fork
// and exec (exec_mmap, fs/exec.c), so a peak that is not above our own says nothing about the command.
func (p *Process) maxRSS(ru unix.Rusage) maybe.Value[int64] {
	if b := ru.Maxrss << 10; b > p.ownRSS {
		return maybe.Some(b)
	}
	return maybe.Nonef[int64]("below %d bytes, the peak of corewise itself, which hides a smaller one", p.ownRSS)
}
