// Package remedy changes a host and puts it back: the one part of the right half of the program that touches anything, and
// only when asked. Originals are on disk, fsynced, before the first write; a failure, an interrupt or the next start after
// a kill puts everything back; a rollback leaves alone what somebody else has changed since.
package remedy

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
	"syscall"
	"time"
)

// Host is what remedies need of a machine. Paths are absolute, as on the machine itself.
type Host interface {
	// Read returns a file's whole text; it is an error when it is longer than a setting ever is.
	Read(path string) (string, error)
	// Write gives an existing file a value by one write(2).
	Write(path, value string) error
	// Replace exchanges a configuration file in one step, keeping its mode.
	Replace(path, text string) error
	// Clean removes what a Replace that was killed may have left beside the file.
	Clean(path string)
	Mkdir(path string) error
	Rmdir(path string) error
	// Glob lists the existing files that match, sorted.
	Glob(pattern string) ([]string, error)
	// Run executes one of the tools that remedies need, never a shell, and returns what it printed.
	Run(argv ...string) (string, error)
}

// maxRead bounds what is read as a setting; irqbalance's configuration is the largest.
const maxRead = 1 << 20

// Machine is a host below a root directory; Root "" is this machine.
type Machine struct {
	Root string
	// Tools maps names to programs for tests; nil: the usual directories.
	Tools map[string]string
}

func (m Machine) path(p string) string { return filepath.Join(m.Root, "/", p) }

// ErrNotRoot says that changing this machine needs root.
var ErrNotRoot = errors.New("changing this machine needs root")

// Check refuses early what would fail at the first write.
func (m Machine) Check() error {
	if m.Root == "" && os.Geteuid() != 0 {
		return ErrNotRoot
	}
	return nil
}

// Read implements Host.
func (m Machine) Read(path string) (string, error) {
	f, err := os.Open(m.path(path))
	if err != nil {
		return "", fmt.Errorf("read: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRead+1))
	if err != nil {
		return "", fmt.Errorf("read: %w", err)
	}
	if len(b) > maxRead {
		return "", fmt.Errorf("read %s: longer than %d bytes", path, maxRead)
	}
	return string(b), nil
}

// Write implements Host. The file must exist: nothing is created in sysfs, and a new file elsewhere would be an accident.
func (m Machine) Write(path, value string) error {
	f, err := os.OpenFile(m.path(path), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	_, err = f.WriteString(value)
	if err == nil && m.Root != "" {
		err = f.Truncate(int64(len(value))) // below a root files are ordinary ones and keep the rest of a longer text
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// Replace implements Host.
func (m Machine) Replace(path, text string) error {
	name, err := filepath.EvalSymlinks(m.path(path)) // a link stays a link
	if err != nil {
		return fmt.Errorf("replace: %w", err)
	}
	st, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("replace: %w", err)
	}
	tmp, err := os.OpenFile(besides(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, st.Mode().Perm())
	if err != nil {
		return fmt.Errorf("replace: %w", err)
	}
	_, err = tmp.WriteString(text)
	err = errors.Join(err, tmp.Chmod(st.Mode().Perm()), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		os.Remove(tmp.Name())
		return fmt.Errorf("replace: %w", err)
	}
	return nil
}

// besides is the one name under which a new text waits for its rename, so that a kill leaves nothing unknown behind.
func besides(name string) string {
	return filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".corewise")
}

// Clean implements Host.
func (m Machine) Clean(path string) {
	if name, err := filepath.EvalSymlinks(m.path(path)); err == nil {
		os.Remove(besides(name))
	}
}

// Mkdir implements Host.
func (m Machine) Mkdir(path string) error { return os.Mkdir(m.path(path), 0o755) }

// Rmdir implements Host. It removes only an empty directory; a control group's files do not count, as rmdir(2) has it.
func (m Machine) Rmdir(path string) error { return os.Remove(m.path(path)) }

// Glob implements Host.
func (m Machine) Glob(pattern string) ([]string, error) {
	names, err := filepath.Glob(m.path(pattern))
	for i, n := range names {
		if m.Root != "" {
			names[i] = "/" + strings.TrimPrefix(strings.TrimPrefix(n, filepath.Clean(m.Root)), "/")
		}
	}
	return names, err
}

// tools are the programs that remedies may run.
var tools = []string{"ethtool", "systemctl", "tuned-adm"}

// toolDirs is where they are looked for, whatever PATH says.
var toolDirs = []string{"/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// toolTimeout bounds one command; restarting a service is the slowest.
const toolTimeout = 60 * time.Second

// Run implements Host.
func (m Machine) Run(argv ...string) (string, error) {
	program, err := m.tool(argv[0])
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), toolTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, argv[1:]...)
	cmd.Env = []string{"LC_ALL=C", "PATH=" + strings.Join(toolDirs, ":")}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("run %s: %w: %.200s", strings.Join(argv, " "), err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

func (m Machine) tool(name string) (string, error) {
	if p, ok := m.Tools[name]; ok {
		return p, nil
	}
	if m.Root != "" {
		return "", fmt.Errorf("run %s: a tool would change this machine, not the one below %s", name, m.Root)
	}
	for _, t := range tools {
		for _, dir := range toolDirs {
			p := filepath.Join(dir, name)
			if st, err := os.Stat(p); t == name && err == nil && st.Mode().IsRegular() {
				return p, nil
			}
		}
	}
	return "", fmt.Errorf("run %s: %w", name, exec.ErrNotFound)
}

// bootID names the boot of the kernel; "" where it cannot be read.
func bootID(h Host) string {
	id, err := h.Read("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(id)
}
