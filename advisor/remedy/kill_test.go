package remedy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/corewise/corewise/advisor/action"
)

// The test binary is its own victim: with these in the environment it applies to a scratch tree instead of testing.
const (
	envRoot  = "COREWISE_TEST_ROOT"
	envState = "COREWISE_TEST_STATE"
	envKill  = "COREWISE_TEST_KILL" // number of the operation at which it kills itself; 0: never
	envDry   = "COREWISE_TEST_DRY"  // preview only
)

func TestMain(m *testing.M) {
	if os.Getenv(envRoot) == "" {
		os.Exit(m.Run())
	}
	k := victim(os.Getenv(envRoot))
	if os.Getenv(envDry) != "" {
		if _, err := Preview(k.Machine, fileActions()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	at, n := 0, 0
	at, _ = strconv.Atoi(os.Getenv(envKill))
	k.hook = func() {
		if n++; n == at {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	if _, err := Apply(context.Background(), k, Store{os.Getenv(envState)}, many(), Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(n)
	os.Exit(0)
}

// fileActions are those of many that need no tool.
func fileActions() []action.Action { return append(many()[1:6], many()[9:11]...) }

func victim(root string) *kernel {
	return &kernel{Machine: Machine{Root: root}, tools: startTools(), shared: root + ".tools"}
}

func startTools() map[string]string {
	return map[string]string{"irqbalance is-active": "active", "irqbalance is-enabled": "enabled", "tuned": "balanced", "adaptive-rx": "on", "rx-usecs": "8"}
}

// run starts the victim and reports how it ended and what it printed.
func run(t *testing.T, root, state string, kill int, prefix ...string) (killed bool, out string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := append(prefix, self)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), envRoot+"="+root, envState+"="+state, envKill+"="+strconv.Itoa(kill), "GOMAXPROCS=1")
	var errs strings.Builder
	cmd.Stderr = &errs
	text, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		st := exit.Sys().(syscall.WaitStatus)
		if killed = st.Signaled() && st.Signal() == syscall.SIGKILL || st.ExitStatus() == 128+9; killed {
			return true, ""
		}
	}
	if err != nil {
		t.Fatalf("victim: %v\n%s", err, errs.String())
	}
	return false, strings.TrimSpace(string(text))
}

func scratchVictim(t *testing.T) (k *kernel, st Store, before map[string]string) {
	t.Helper()
	root := filepath.Join(memory(t), "host")
	plant(t, root)
	k = victim(root)
	k.keep()
	return k, Store{filepath.Join(memory(t), "state")}, k.state(t)
}

// expectBack recovers as the next start does, and compares everything.
func expectBack(t *testing.T, what string, k *kernel, st Store, before map[string]string) {
	t.Helper()
	if _, err := Recover(k, st); err != nil {
		t.Errorf("%s: recover: %v", what, err)
	}
	if list, _ := List(k, st); len(list) == 1 && !list[0].Interrupted {
		// Killed after the apply was complete: it stands as a whole, and is taken back as a whole.
		if _, err := Rollback(k, st); err != nil {
			t.Errorf("%s: rollback: %v", what, err)
		}
	}
	k.load()
	if d := differences(before, k.state(t)); len(d) > 0 {
		t.Errorf("%s: %v", what, d)
	}
	if list, err := List(k, st); err != nil || len(list) > 0 {
		t.Errorf("%s: still open: %+v, %v", what, list, err)
	}
}

// Killed before and after every single operation on the host, the next start puts everything back.
func TestKillAtEveryOperation(t *testing.T) {
	k, st, _ := scratchVictim(t)
	_, out := run(t, k.Root, st.Dir, 0)
	total, err := strconv.Atoi(out)
	if err != nil || total < 40 {
		t.Fatalf("victim printed %q", out)
	}
	for n := 1; n <= total; n++ {
		k, st, before := scratchVictim(t)
		if killed, _ := run(t, k.Root, st.Dir, n); !killed {
			t.Fatalf("not killed at operation %d", n)
		}
		expectBack(t, fmt.Sprintf("killed at operation %d of %d", n, total), k, st, before)
	}
	t.Logf("killed at %d operations, everything back each time", total)
}

// Killed by the kernel at the entry of its n-th system call that changes anything: also between the lines of the journal.
func TestKillAtEverySyscall(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	kills := 0
	for _, call := range []string{"write", "fsync", "openat", "renameat", "mkdirat", "flock"} {
		for n, missed := 1, 0; missed < 3 && n < 400; n++ {
			k, st, before := scratchVictim(t)
			inject := fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", call, n)
			killed, _ := run(t, k.Root, st.Dir, 0, strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace="+call, "-e", inject)
			if !killed {
				missed++
			} else {
				kills++
			}
			expectBack(t, fmt.Sprintf("killed at %s %d", call, n), k, st, before)
			if call == "openat" && n%5 != 0 {
				n += 4 // most of them only read
			}
		}
	}
	if kills < 40 {
		t.Errorf("only %d kills", kills)
	}
	t.Logf("killed at %d system calls, everything back each time", kills)
}

// Killed again while it recovers.
func TestKillDuringRecovery(t *testing.T) {
	for n := 1; n <= 12; n++ {
		k, st, before := scratchVictim(t)
		if killed, _ := run(t, k.Root, st.Dir, 30); !killed {
			t.Fatal("not killed")
		}
		if killed, _ := run(t, k.Root, st.Dir, n); !killed { // the second start recovers first, then applies
			t.Fatalf("not killed at operation %d of the second start", n)
		}
		expectBack(t, fmt.Sprintf("second start killed at %d", n), k, st, before)
	}
}

// A preview must not write anything: every system call that could is traced.
func TestPreviewWritesNothing(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	root := memory(t)
	plant(t, root)
	before := snapshot(t, root)
	log := filepath.Join(t.TempDir(), "trace")
	t.Setenv(envDry, "1")
	run(t, root, filepath.Join(t.TempDir(), "absent"), 0, strace, "-f", "-qq", "-o", log,
		"-e", "trace=openat,open,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,rmdir,truncate,ftruncate,link,linkat,symlinkat,chmod,fchmod,fchmodat,mknodat,socket,connect,execve,flock")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	for i, line := range strings.Split(string(text), "\n") {
		_, call, _ := strings.Cut(strings.TrimSpace(line), " ")
		call = strings.TrimSpace(call)
		switch {
		case call == "" || strings.HasPrefix(call, "+++") || strings.HasPrefix(call, "---"), i == 0 && strings.HasPrefix(call, "execve("):
		case strings.HasPrefix(call, "openat(") && !strings.Contains(call, "O_WRONLY") && !strings.Contains(call, "O_RDWR") && !strings.Contains(call, "O_CREAT"):
			if strings.Contains(call, root) {
				opened++
			}
		case strings.Contains(call, "/dev/null"):
		case strings.HasPrefix(call, "<..."): // the rest of a call that was printed before
		default:
			t.Errorf("a preview did: %s", call)
		}
	}
	if opened < 10 {
		t.Errorf("only %d files of the tree were read: the trace is not what it should be", opened)
	}
	if d := differences(before, snapshot(t, root)); len(d) > 0 {
		t.Errorf("changed: %v", d)
	}
}
