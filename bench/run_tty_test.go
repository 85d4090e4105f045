package bench

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestTerminalForTheCommand(t *testing.T) {
	dir := t.TempDir()
	r := run(t, Spec{Argv: []string{"sh", "-c", "test -t 0 && test -t 1 && test -t 2 && echo tty; stty size; exit 4"}, Terminal: TerminalAlways, SaveDir: dir})
	if got := string(r.out.Mixed); !regexp.MustCompile(`^tty\r\n\d+ \d+\r\n$`).MatchString(got) || r.exit.Code != 4 || !r.use.Terminal {
		t.Errorf("%q %+v", got, r)
	}
	saved, err := ReadOutput(dir)
	if err != nil || string(saved.Mixed) != string(r.out.Mixed) {
		t.Errorf("saved %q, %v", saved.Mixed, err)
	}
	for _, s := range []Spec{{}, {WantsTerminal: true, Terminal: TerminalNever}} {
		s.Argv = []string{"sh", "-c", "test -t 1 || echo pipe"}
		if r := run(t, s); string(r.out.Stdout) != "pipe\n" {
			t.Errorf("%+v: %+v", s, r.out)
		}
	}
	if r := run(t, Spec{Argv: []string{"test", "-t", "1"}, WantsTerminal: true}); r.exit.Code != 0 {
		t.Errorf("WantsTerminal: %+v", r)
	}
}

func TestTerminalInput(t *testing.T) {
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w.WriteString("line\n")
	w.Close()
	r := run(t, Spec{Argv: []string{"sh", "-c", "read a; echo got $a; cat; echo end"}, Terminal: TerminalAlways, Stdin: in})
	if got := string(r.out.Mixed); !strings.Contains(got, "got line\r\n") || !strings.HasSuffix(got, "end\r\n") {
		t.Errorf("got %q", got)
	}
}

func TestTerminalSignals(t *testing.T) {
	r := run(t, Spec{Argv: self(t, "polite"), Terminal: TerminalAlways, Duration: 200 * time.Millisecond})
	if got := string(r.out.Mixed); r.exit != (Exit{}) || !r.use.Interrupted || !strings.Contains(got, "result after SIGINT") {
		t.Errorf("%q %+v", got, r)
	}
	r = run(t, Spec{Argv: []string{"sh", "-c", "trap '' HUP; sleep 60 & exec sleep 0.1"}, Terminal: TerminalAlways, Drain: 200 * time.Millisecond})
	if r.use.ElapsedS > 5 || r.codes() != "run-output-held-open" {
		t.Errorf("held open: %+v", r)
	}
}

// session is a user at a terminal: a program on a terminal of its own, and the keyboard.
type session struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	seen   strings.Builder
}

func newSession(t *testing.T, argv ...string) *session {
	t.Helper()
	master, slave, err := openPTY()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.Env = append(os.Environ(), "PS1=$ ")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	s := &session{t: t, master: master, cmd: cmd}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		master.Close()
	})
	return s
}

// expect reads until the text appears in what is new.
func (s *session) expect(text string) {
	s.t.Helper()
	s.master.SetReadDeadline(time.Now().Add(10 * time.Second))
	buf := make([]byte, 4096)
	for {
		if _, after, ok := strings.Cut(s.seen.String(), text); ok {
			s.seen.Reset()
			s.seen.WriteString(after)
			return
		}
		n, err := s.master.Read(buf)
		s.seen.Write(buf[:n])
		if err != nil {
			s.t.Fatalf("waiting for %q: %v; seen %q", text, err, s.seen.String())
		}
	}
}

func (s *session) keys(text string) {
	s.t.Helper()
	if _, err := s.master.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

const ctrlC, ctrlZ = "\x03", "\x1a"

func TestCtrlCReachesTheCommand(t *testing.T) {
	s := newSession(t, self(t, append([]string{"under"}, self(t, "polite")...)...)...)
	s.expect("ready")
	s.keys(ctrlC)
	s.expect("result after SIGINT")
	s.expect("under: code=0 signal= interrupted=")
	s = newSession(t, self(t, "under", "sleep", "60")...)
	time.Sleep(300 * time.Millisecond)
	s.keys(ctrlC)
	s.expect("under: code=130 signal=SIGINT interrupted=true")
}

func TestKeyboardGoesToTheCommand(t *testing.T) {
	s := newSession(t, self(t, "under", "sh", "-c", "read x </dev/tty; echo got $x")...)
	time.Sleep(300 * time.Millisecond)
	s.keys("hello\n")
	s.expect("got hello")
	s.expect("under: code=0")
}

func TestTerminalInATerminal(t *testing.T) {
	s := newSession(t, self(t, append([]string{"under-terminal"}, "sh", "-c", "stty size; read x; echo got $x; stty size; exec "+strings.Join(self(t, "polite"), " "))...)...)
	(&ownTerminal{master: s.master}).control(func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 33, Col: 77})
	})
	s.expect("\n")
	time.Sleep(200 * time.Millisecond)
	s.keys("hello\n")
	s.expect("got hello")
	s.expect("33 77")
	s.expect("ready")
	s.keys(ctrlC)
	s.expect("result after SIGINT")
	s.expect("under: code=0 signal= interrupted=false")
	modes, err := unix.IoctlGetTermios(int(s.master.Fd()), unix.TCGETS)
	if err != nil || modes.Lflag&unix.ICANON == 0 || modes.Lflag&unix.ECHO == 0 {
		t.Errorf("the user's terminal was left raw: %+v, %v", modes, err)
	}
}

// In a pipeline the command stays in the group of the pipeline: both get the keyboard's signal.
func TestCtrlCInPipeline(t *testing.T) {
	under := strings.Join(self(t, append([]string{"under"}, self(t, "polite")...)...), " ")
	s := newSession(t, "bash", "--norc", "--noediting", "-i")
	s.expect("$ ")
	s.keys(under + " | (trap '' INT; exec cat)\n")
	s.expect("ready")
	s.keys(ctrlC)
	s.expect("result after SIGINT")
	s.expect("under: code=0 signal= interrupted=true")
}

// With a real shell's job control: Ctrl-Z gives the prompt back, fg goes on.
func TestCtrlZAndForeground(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("needs bash")
	}
	s := newSession(t, "bash", "--norc", "--noediting", "-i")
	s.expect("$ ")
	s.keys(strings.Join(self(t, append([]string{"under"}, self(t, "polite")...)...), " ") + "\n")
	s.expect("ready")
	s.keys(ctrlZ)
	s.expect("Stopped")
	s.keys("echo at the prom''pt; fg\n")
	s.expect("at the prompt")
	time.Sleep(300 * time.Millisecond)
	s.keys(ctrlC)
	s.expect("result after SIGINT")
	s.expect("notes=[run-was-stopped]")
	s.keys("echo st''ill there\n")
	s.expect("still there")
	if unix.Kill(s.cmd.Process.Pid, 0) != nil {
		t.Error("the shell is gone")
	}
}
