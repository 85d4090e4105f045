package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/corewise/corewise/profile/cpulist"
)

type ran struct {
	exit Exit
	use  Usage
	out  Output
}

func (r ran) codes() string { return strings.Join(codes(r.use.Notes), " ") }

func run(t *testing.T, spec Spec) ran {
	t.Helper()
	return runCtx(t, context.Background(), spec, nil)
}

// runCtx runs to the end; when is called after Release, beside Wait.
func runCtx(t *testing.T, ctx context.Context, spec Spec, when func(*Process)) ran {
	t.Helper()
	p, err := Prepare(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Release(); err != nil {
		t.Fatal(err)
	}
	if when != nil {
		go when(p)
	}
	exit, use, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return ran{exit, use, p.Output()}
}

func TestRunOutputAndExit(t *testing.T) {
	dir := t.TempDir()
	var live bytes.Buffer
	r := run(t, Spec{Argv: []string{"sh", "-c", "echo out; sleep 0.05; echo err >&2; exit 3"}, Live: &live, SaveDir: dir})
	if r.exit.Code != 3 || r.exit.Signal != "" || string(r.out.Stdout) != "out\n" || string(r.out.Stderr) != "err\n" || live.String() != "out\nerr\n" {
		t.Errorf("got %+v, live %q", r, live.String())
	}
	saved, err := ReadOutput(dir)
	if err != nil || string(saved.Stdout) != "out\n" || string(saved.Stderr) != "err\n" {
		t.Errorf("saved %+v, %v", saved, err)
	}
	if r.use.ElapsedS < 0.05 || r.use.ElapsedS > 5 || r.use.EndNS <= r.use.StartNS || len(r.use.Notes) != 0 {
		t.Errorf("usage %+v", r.use)
	}
	if now := monotonicNS(); r.use.EndNS > now || r.use.StartNS < now-int64(time.Minute) {
		t.Errorf("end %d is not on CLOCK_MONOTONIC, now %d", r.use.EndNS, now)
	}
}

func TestRunIsTheUsersCommand(t *testing.T) {
	dir := t.TempDir()
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(w, "typed")
	w.Close()
	r := run(t, Spec{
		Argv: []string{"ADDED=x", "sh", "-c", `cat; pwd; echo "$ADDED $KEPT $0 $*"; ls /proc/self/fd`, "zero", "a b"},
		Env:  []string{"KEPT=1", "PATH=" + os.Getenv("PATH")}, Dir: dir, Stdin: in,
	})
	fds, err := exec.Command("ls", "/proc/self/fd").Output()
	if err != nil {
		t.Fatal(err)
	}
	// The launcher uses descriptors 10 and 11, and leaves none of its own behind.
	inherited := strings.NewReplacer("\n10\n", "\n", "\n11\n", "\n").Replace(string(fds))
	if want := "typed" + dir + "\nx 1 zero a b\n" + inherited; string(r.out.Stdout) != want {
		t.Errorf("got %q, want %q", r.out.Stdout, want)
	}
}

func TestRunParked(t *testing.T) {
	p, err := Prepare(context.Background(), Spec{Argv: []string{"sh", "-c", "echo $$"}})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.PID()))
	if own, _ := os.Executable(); err != nil || exe != own {
		t.Errorf("parked child runs %s, %v", exe, err)
	}
	if err := p.Release(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(p.Output().Stdout)); got != fmt.Sprint(p.PID()) {
		t.Errorf("the command saw PID %s, want %d", got, p.PID())
	}
}

func TestRunAbort(t *testing.T) {
	p, err := Prepare(context.Background(), Spec{Argv: []string{"sh", "-c", "echo ran"}})
	if err != nil {
		t.Fatal(err)
	}
	p.Abort()
	if len(p.Output().Stdout) != 0 || unix.Kill(p.PID(), 0) == nil {
		t.Error("the child is still there, or it ran")
	}
}

func TestRunAffinityRestored(t *testing.T) {
	r := run(t, Spec{Argv: []string{"grep", "Cpus_allowed_list", "/proc/self/status"}, CPUs: cpulist.Of(0)})
	if got := strings.Fields(string(r.out.Stdout)); len(got) != 2 || got[1] != "0" {
		t.Errorf("got %q", r.out.Stdout)
	}
	if _, err := Prepare(context.Background(), Spec{Argv: []string{"true"}, CPUs: cpulist.Of(1000)}); err == nil {
		t.Error("CPU 1000 was accepted")
	}
}

func TestRunCannotStart(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		argv []string
		want error
		says string
	}{
		{nil, nil, "empty"},
		{[]string{"A=1"}, nil, "empty"},
		{[]string{""}, nil, "empty"},
		{[]string{"no-such-benchmark-here"}, ErrNotFound, "in PATH"},
		{[]string{filepath.Join(dir, "absent")}, ErrNotFound, "not found"},
		{[]string{dir}, ErrNotExecutable, "directory"},
		{[]string{file("plain", "x", 0o644)}, ErrNotExecutable, "permission"},
		{[]string{file("garbage", "\x00\x01\x02", 0o755)}, ErrExecFormat, "#!"},
		{[]string{file("noterp", "#!/no/such/interpreter\n", 0o755)}, ErrNotFound, "interpreter"},
	} {
		p, err := Prepare(context.Background(), Spec{Argv: c.argv})
		if err == nil {
			err = p.Release()
		}
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v", c.argv, err)
		}
	}
}

func TestRunPathLookup(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\necho here\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"PATH=/nonexistent:" + dir, "PATH=/nonexistent:", "PATH=."} {
		r := run(t, Spec{Argv: []string{"tool"}, Env: []string{path}, Dir: dir})
		if string(r.out.Stdout) != "here\n" {
			t.Errorf("%s: %q", path, r.out.Stdout)
		}
	}
	r := run(t, Spec{Argv: []string{"PATH=" + dir, "tool"}})
	if string(r.out.Stdout) != "here\n" {
		t.Errorf("PATH as an assignment: %q", r.out.Stdout)
	}
}

func TestRunSignalled(t *testing.T) {
	r := run(t, Spec{Argv: []string{"sh", "-c", "kill -SEGV $$"}})
	if r.exit.Signal != "SIGSEGV" || r.exit.Failure() != "ended by signal SIGSEGV" || r.use.Interrupted {
		t.Errorf("got %+v", r)
	}
}

func TestRunDuration(t *testing.T) {
	r := run(t, Spec{Argv: self(t, "polite"), Duration: 200 * time.Millisecond})
	if r.exit != (Exit{}) || !r.use.Interrupted || string(r.out.Stdout) != "ready\nresult after SIGINT\n" {
		t.Errorf("polite: %+v %s", r, r.out.Stdout)
	}
	r = run(t, Spec{Argv: self(t, "stubborn"), Duration: 200 * time.Millisecond, Grace: 100 * time.Millisecond})
	if r.exit.Signal != "SIGKILL" || r.codes() != "run-forced-end run-forced-end" || r.use.ElapsedS > 3 {
		t.Errorf("stubborn: %+v", r)
	}
	// The whole group: the shell's child too, which alone would hold the output open.
	r = run(t, Spec{Argv: []string{"sh", "-c", "sleep 60 & wait"}, Duration: 100 * time.Millisecond, Grace: 200 * time.Millisecond})
	if r.use.ElapsedS > 2 || r.codes() != "run-leftovers-ended" {
		t.Errorf("group: %+v", r)
	}
}

func TestRunInterruptAndContext(t *testing.T) {
	soon := func(p *Process) { time.Sleep(150 * time.Millisecond); p.Interrupt() }
	r := runCtx(t, context.Background(), Spec{Argv: []string{"sleep", "60"}}, soon)
	if r.exit.Signal != "SIGINT" || !r.use.Interrupted {
		t.Errorf("Interrupt: %+v", r)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 150*time.Millisecond)
	defer cancel()
	r = runCtx(t, ctx, Spec{Argv: []string{"sleep", "60"}}, nil)
	if r.exit.Signal != "SIGINT" || !strings.Contains(r.codes(), "run-deadline") {
		t.Errorf("context: %+v", r)
	}
	// A signal that reaches corewise alone is passed on.
	r = runCtx(t, context.Background(), Spec{Argv: []string{"sleep", "60"}}, func(*Process) {
		time.Sleep(150 * time.Millisecond)
		unix.Kill(os.Getpid(), unix.SIGTERM)
	})
	if r.exit.Signal != "SIGTERM" || !r.use.Interrupted {
		t.Errorf("passed on: %+v", r)
	}
}

func TestRunHeldOpen(t *testing.T) {
	start := time.Now()
	r := run(t, Spec{Argv: []string{"sh", "-c", "echo a; setsid sleep 20 & echo b"}, Drain: 200 * time.Millisecond})
	if time.Since(start) > 5*time.Second || r.codes() != "run-output-held-open" || string(r.out.Stdout) != "a\nb\n" {
		t.Errorf("after %v: %+v %q", time.Since(start), r, r.out.Stdout)
	}
}

func TestRunBounded(t *testing.T) {
	dir := t.TempDir()
	r := run(t, Spec{Argv: []string{"sh", "-c", "echo first; yes 1234567 | head -c 50000000; echo; echo last"}, SaveDir: dir, KeepBytes: 1 << 20})
	out := string(r.out.Stdout)
	if !strings.HasPrefix(out, "first\n123") || !strings.HasSuffix(out, "\nlast\n") || !strings.Contains(out, "bytes of output left out here") ||
		len(out) > 1<<20+100 || r.codes() != "run-output-bounded" {
		t.Errorf("%d bytes, %s", len(out), r.codes())
	}
	saved, err := ReadOutput(dir)
	if err != nil || string(saved.Stdout) != out {
		t.Errorf("the file differs: %d bytes, %v", len(saved.Stdout), err)
	}
}

func TestRunRingOrder(t *testing.T) {
	s := stream{live: io.Discard, head: 4, tail: 5}
	for _, part := range []string{"ab", "cdef", "gh", "ij", "klmnopqrs", "t"} {
		s.take([]byte(part))
	}
	if got, want := string(s.bytes()), "abcd\n[corewise: 11 bytes of output left out here]\npqrst"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s = stream{live: io.Discard, head: 4, tail: 5}
	s.take([]byte("abcdefghi"))
	if got := string(s.bytes()); got != "abcdefghi" {
		t.Errorf("got %q", got)
	}
}

// shut is a terminal that was closed.
type shut struct{}

func (shut) Write([]byte) (int, error) { return 0, unix.EPIPE }

func TestRunNowhereToWrite(t *testing.T) {
	argv := []string{"sh", "-c", "echo result"}
	r := run(t, Spec{Argv: argv, Live: shut{}, SaveDir: filepath.Join(t.TempDir(), "absent")})
	if string(r.out.Stdout) != "result\n" || r.codes() != "run-output-not-saved run-output-not-saved run-output-not-shown" {
		t.Errorf("%q %s", r.out.Stdout, r.codes())
	}
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(dir, StdoutName)); err != nil {
		t.Fatal(err)
	}
	r = run(t, Spec{Argv: argv, SaveDir: dir})
	if string(r.out.Stdout) != "result\n" || r.codes() != "run-output-not-saved" {
		t.Errorf("full disk: %q %s", r.out.Stdout, r.codes())
	}
}

// corewise's own stderr is a pipe that nobody reads any more, which would kill a Go program at its first write.
func TestRunSurvivesClosedStderr(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	argv := self(t, "under", "sh", "-c", "echo one; sleep 0.1; echo two; exit 5")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = w
	out, err := cmd.Output()
	w.Close()
	if err != nil || !strings.Contains(string(out), "under: code=5") || !strings.Contains(string(out), "run-output-not-shown") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestRunUsage(t *testing.T) {
	r := run(t, Spec{Argv: self(t, "burn")})
	if r.use.CPUSeconds < 0.1 || r.use.CPUSeconds > 1 {
		t.Errorf("burn took %v CPU seconds", r.use.CPUSeconds)
	}
	r = run(t, Spec{Argv: self(t, "memory")})
	if b, ok := r.use.MaxRSSBytes.Get(); !ok || b < 400<<20 || b > 700<<20 {
		t.Errorf("memory: %v %v %s", b, ok, r.use.MaxRSSBytes.Why())
	}
	r = run(t, Spec{Argv: []string{"true"}})
	if b, ok := r.use.MaxRSSBytes.Get(); ok && b > 100<<20 || r.use.CPUSeconds > 0.05 {
		t.Errorf("true: %v bytes, %v s", b, r.use.CPUSeconds)
	}
}

func TestRunNoOutput(t *testing.T) {
	r := run(t, Spec{Argv: []string{"true"}, SaveDir: t.TempDir()})
	if r.exit != (Exit{}) || len(r.out.All()) != 0 || len(r.use.Notes) != 0 {
		t.Errorf("%+v", r)
	}
}
