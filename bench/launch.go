package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/corewise/corewise/profile/cpulist"
)

// Errors of a command that cannot start. A shell would exit with status 127 for the first and 126 for the other two.
var (
	ErrNotFound      = errors.New("command not found")
	ErrNotExecutable = errors.New("not an executable file")
	ErrExecFormat    = errors.New("exec format error: neither a program for this machine nor a script with #! in front")
)

// LaunchArg is the first argument of the parked child; no user types it. Behind it stand the CPUs to restore, the file
// and its argv.
const LaunchArg = "__launch"

// launchCPUs stands before the CPU list.
const launchCPUs = "cpus="

// Descriptors of the parked child. Those below belong to the user's command.
const (
	firstExtraFD = 3
	holdFD       = 10
	statusFD     = 11
)

// LaunchMain is the parked child's main. args is os.Args, or what follows LaunchArg in it. It returns -1 at once when
// args are not those of a parked child; main calls it before anything else and exits with any other value.
//
// The child says that it is ready, waits for one byte on a pipe, and becomes the user's command in place, under the
// same PID: whoever attaches probes to that PID in between misses no instruction of it.
func LaunchMain(args []string) int {
	if len(args) > 1 && args[1] == LaunchArg {
		args = args[2:]
	}
	if len(args) < 3 || !strings.HasPrefix(args[0], launchCPUs) {
		return -1
	}
	runtime.LockOSThread()
	unix.CloseOnExec(holdFD)
	unix.CloseOnExec(statusFD)
	if err := restoreAffinity(strings.TrimPrefix(args[0], launchCPUs)); err != nil {
		return launchFailed(err)
	}
	if err := say(fmt.Sprintf("ready %d\n", ownCPUNS())); err != nil {
		return 125
	}
	var one [1]byte
	n, err := unix.Read(holdFD, one[:])
	for err == unix.EINTR {
		n, err = unix.Read(holdFD, one[:])
	}
	if n != 1 || err != nil {
		return 125 // corewise is gone, or gave up
	}
	return launchFailed(unix.Exec(args[1], args[2:], os.Environ()))
}

func launchFailed(err error) int {
	var errno unix.Errno
	errors.As(err, &errno)
	if say(fmt.Sprintf("error %d\n", int(errno))) != nil || errno != unix.ENOENT {
		return 126
	}
	return 127
}

func say(text string) error {
	_, err := unix.Write(statusFD, []byte(text))
	return err
}

// ownCPUNS is the CPU time of this process so far, which is not the user's command's.
func ownCPUNS() int64 {
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &ru) != nil {
		return 0
	}
	return ru.Utime.Nano() + ru.Stime.Nano()
}

func restoreAffinity(list string) error {
	if list == "" {
		return nil
	}
	cpus, err := cpulist.Parse(list)
	if err != nil {
		return unix.EINVAL
	}
	return pinThread(cpus)
}

// pinThread sets the affinity of the calling thread, which has to be locked to its goroutine.
func pinThread(cpus cpulist.Set) error {
	var set unix.CPUSet
	for _, c := range cpus {
		set.Set(c)
	}
	return unix.SchedSetaffinity(0, &set)
}

// startError says in words why the kernel did not start file.
func startError(name, file string, errno unix.Errno) error {
	switch errno {
	case unix.ENOENT:
		return fmt.Errorf("start %s: %s exists, but the interpreter or dynamic loader that it names does not: %w", name, file, ErrNotFound)
	case unix.ENOEXEC:
		return fmt.Errorf("start %s: %w", name, ErrExecFormat)
	case unix.EACCES, unix.EPERM:
		return fmt.Errorf("start %s: %s: %w: %w", name, file, ErrNotExecutable, errno)
	}
	return fmt.Errorf("start %s: exec %s: %w", name, file, errno)
}

// findProgram resolves a command name as a shell with this environment and working directory would.
func findProgram(name string, env []string, dir string) (string, error) {
	if name == "" {
		return "", errors.New("start command: it is empty")
	}
	if strings.Contains(name, "/") {
		return name, checkProgram(name, within(dir, name))
	}
	var denied error
	for _, d := range filepath.SplitList(lookupEnv(env, "PATH")) {
		if d == "" {
			d = "."
		}
		file := filepath.Join(d, name)
		if d == "." {
			file = "./" + name
		}
		err := checkProgram(name, within(dir, file))
		if err == nil {
			return file, nil
		}
		if errors.Is(err, ErrNotExecutable) {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", fmt.Errorf("start %s: %w in PATH", name, ErrNotFound)
}

func within(dir, file string) string {
	if dir == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

func checkProgram(name, file string) error {
	st, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("start %s: %w", name, ErrNotFound)
	case err != nil:
		return fmt.Errorf("start %s: %w", name, err)
	case st.IsDir():
		return fmt.Errorf("start %s: %s is a directory: %w", name, file, ErrNotExecutable)
	case unix.Access(file, unix.X_OK) != nil:
		return fmt.Errorf("start %s: %s has no permission to execute: %w", name, file, ErrNotExecutable)
	}
	return nil
}

// lookupEnv returns the last value of a variable, as exec'd programs see it.
func lookupEnv(env []string, name string) string {
	for _, e := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// setEnv returns env with the variables of set in place of its own.
func setEnv(env []string, set map[string]string) []string {
	if len(set) == 0 {
		return env
	}
	out := slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		_, replaced := set[name]
		return replaced
	})
	for name, value := range set {
		out = append(out, name+"="+value)
	}
	slices.Sort(out[len(out)-len(set):])
	return out
}
