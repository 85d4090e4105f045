package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// Names of the files in Spec.SaveDir. With a terminal there is one stream, in StdoutName.
const (
	StdoutName = "workload.stdout"
	StderrName = "workload.stderr"
)

// TerminalMode says when the command gets a terminal of its own.
type TerminalMode int

// The modes; TerminalAuto leaves it to Spec.WantsTerminal.
const (
	TerminalAuto TerminalMode = iota
	TerminalAlways
	TerminalNever
)

// Spec says how to run a command. Only Argv is needed.
type Spec struct {
	Argv []string // the user's command; leading NAME=VALUE words go into its environment
	Env  []string // nil: corewise's own
	Dir  string   // working directory; "": corewise's own
	// Stdin is passed on as it is; nil: os.Stdin.
	Stdin *os.File
	// Live gets the command's output as it comes, both streams, unchanged. nil: nothing is shown.
	Live io.Writer
	// SaveDir keeps the output in StdoutName and StderrName; "": it is kept in memory only.
	SaveDir string
	// KeepBytes is how much of each stream is kept; of more the beginning and the end. 0: 32 MiB.
	KeepBytes int64
	Terminal  TerminalMode
	// WantsTerminal is what the adapter says; see WantsTerminal.
	WantsTerminal bool
	// Duration ends an open-ended command: SIGINT, after Grace SIGTERM, after Grace SIGKILL. 0: it ends by itself.
	Duration time.Duration
	Grace    time.Duration // 0: 10 s
	// Drain is how long Wait waits, once the command has ended, for output that others still may write. 0: 1 s.
	Drain time.Duration
	// CPUs is the affinity that the command starts with, for a caller that has pinned itself. nil: inherited.
	CPUs cpulist.Set
}

// Usage is what a command took. Times are CLOCK_MONOTONIC.
type Usage struct {
	StartNS     int64              `json:"start_ns"` // just before the exec of the command
	EndNS       int64              `json:"end_ns"`   // just after its end
	ElapsedS    float64            `json:"elapsed_s"`
	CPUSeconds  float64            `json:"cpu_s"` // user and system, with its children that it waited for
	MaxRSSBytes maybe.Value[int64] `json:"max_rss_bytes,omitzero"`
	Interrupted bool               `json:"interrupted,omitempty"` // ended by a signal that asked for it: Ctrl-C, Duration
	Notes       []Note             `json:"notes,omitempty"`       // what went wrong around the command, not in it
	Terminal    bool               `json:"terminal,omitempty"`    // it ran on a terminal of its own
}

// Process is one command, parked, running or ended. Its methods are for one goroutine, but for Interrupt.
type Process struct {
	spec   Spec
	name   string
	file   string
	pid    int
	hold   *os.File      // a byte on it lets the child go
	status *os.File      // what the parked child says
	says   *bufio.Reader // of status
	ctx    context.Context

	launcherNS int64 // CPU time that is the launcher's
	ownRSS     int64 // peak of corewise when it forked
	startNS    int64

	streams []*stream // stdout and stderr, or the terminal
	copied  sync.WaitGroup
	term    *ownTerminal
	job     job
	events  events
	forced  bool // we ended it: Duration or ctx

	mu          sync.Mutex
	interrupted bool
	over        bool // reaped: no more signals to its PID
	notes       []Note
}

// Prepare starts the command parked in front of its first instruction: PID is known, nothing of it has run. Release
// lets it go; Abort gives up. A command that cannot start is an error here where that can be known (ErrNotFound,
// ErrNotExecutable), else of Release.
//
// When ctx ends, the command is ended as by Duration. A ctx must not be tied to SIGINT: signals that reach corewise
// during the run are passed on to the command.
func Prepare(ctx context.Context, spec Spec) (*Process, error) {
	spec = spec.defaults()
	cmd := Command{}
	argv := cmd.takeAssignments(spec.Argv)
	if len(argv) == 0 {
		return nil, errors.New("start command: it is empty")
	}
	spec.Argv, spec.Env = argv, setEnv(spec.Env, cmd.Env)
	file, err := findProgram(argv[0], spec.Env, spec.Dir)
	if err != nil {
		return nil, err
	}
	p := &Process{spec: spec, name: argv[0], file: file, ctx: ctx, ownRSS: peakRSS()}
	if err := p.park(); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	return p, nil
}

func (s Spec) defaults() Spec {
	if s.Env == nil {
		s.Env = os.Environ()
	}
	if s.Stdin == nil {
		s.Stdin = os.Stdin
	}
	if s.KeepBytes <= 0 {
		s.KeepBytes = 32 << 20
	}
	if s.Grace <= 0 {
		s.Grace = 10 * time.Second
	}
	if s.Drain <= 0 {
		s.Drain = time.Second
	}
	if s.Live == nil {
		s.Live = io.Discard
	}
	return s
}

// park opens the streams, forks the launcher and waits until it says that it is ready.
func (p *Process) park() error {
	child, err := p.openStreams()
	if err != nil {
		return err
	}
	defer child.close()
	if err := p.fork(child); err != nil {
		p.closeStreams()
		return err
	}
	p.copyStreams()
	p.listen()
	line, err := p.says.ReadString('\n')
	kind, value, _ := strings.Cut(strings.TrimSpace(line), " ")
	n, convErr := strconv.ParseInt(value, 10, 64)
	if err == nil && convErr == nil && kind == "ready" {
		p.launcherNS = n
		return nil
	}
	p.Abort()
	if kind == "error" {
		return fmt.Errorf("set affinity to %s: %w", p.spec.CPUs, unix.Errno(n))
	}
	return errors.New("the launcher ended before the command began; does main call bench.LaunchMain?")
}

// PID is the process that is, or will be, the command.
func (p *Process) PID() int { return p.pid }

// Release lets the parked child become the command. An error means that it never ran.
func (p *Process) Release() error {
	p.job.toForeground(p.pid)
	p.startNS = monotonicNS()
	_, err := p.hold.Write([]byte{1})
	if err != nil {
		p.Abort()
		return fmt.Errorf("start %s: release the parked child: %w", p.name, err)
	}
	line, _ := p.says.ReadString('\n')
	value, failed := strings.CutPrefix(strings.TrimSpace(line), "error ")
	if !failed {
		return nil
	}
	p.Abort()
	n, _ := strconv.Atoi(value)
	return startError(p.name, p.file, unix.Errno(n))
}

// Abort ends a child that was not released, or whose run is to be thrown away, and frees everything.
func (p *Process) Abort() {
	unix.Kill(p.pid, unix.SIGKILL)
	<-p.events.exited
	p.letGo()
	p.drain(0)
}

// letGo gives terminal and signals back.
func (p *Process) letGo() {
	p.hold.Close()
	p.status.Close()
	p.events.stop()
	p.job.toBackground(p.pid)
	p.job.close()
	p.term.stopInput()
}

// Output returns what the command printed, bounded by KeepBytes. After Wait.
func (p *Process) Output() Output {
	if p.term != nil {
		return Output{Mixed: p.streams[0].bytes()}
	}
	return Output{Stdout: p.streams[0].bytes(), Stderr: p.streams[1].bytes()}
}

// ReadOutput reads the output that Prepare saved in dir.
func ReadOutput(dir string) (Output, error) {
	stdout, err := os.ReadFile(filepath.Join(dir, StdoutName))
	if err != nil {
		return Output{}, fmt.Errorf("read output of the workload: %w", err)
	}
	stderr, err := os.ReadFile(filepath.Join(dir, StderrName))
	if errors.Is(err, os.ErrNotExist) {
		return Output{Mixed: stdout}, nil
	}
	if err != nil {
		return Output{}, fmt.Errorf("read output of the workload: %w", err)
	}
	return Output{Stdout: stdout, Stderr: stderr}, nil
}

func (p *Process) note(code, level, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, Note{Code: code, Level: level, Text: fmt.Sprintf(format, args...)})
}

// monotonicNS is CLOCK_MONOTONIC, the clock of bpf_ktime_get_ns.
func monotonicNS() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return ts.Nano()
}

// peakRSS is the largest resident set of corewise so far, in bytes.
func peakRSS() int64 {
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &ru) != nil {
		return 0
	}
	return ru.Maxrss << 10
}
