package remedy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// StateDir is where journals and the lock are on a real machine.
const StateDir = "/var/lib/corewise"

// Store is the directory of journals.
type Store struct{ Dir string }

// ErrLocked says that another corewise is changing this host.
var ErrLocked = errors.New("another corewise is changing this host")

// Lock keeps every other corewise from changing the host until it is released, also when this process dies.
type Lock struct{ f *os.File }

// Lock takes the store's lock; ErrLocked when somebody else has it.
func (s Store) Lock() (*Lock, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make state directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(s.Dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder := make([]byte, 32)
		n, _ := f.ReadAt(holder, 0)
		f.Close()
		return nil, fmt.Errorf("%w (pid %s)", ErrLocked, strings.TrimSpace(string(holder[:n])))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock: %w", err)
	}
	// The number only serves the message above; the lock itself is the kernel's.
	f.Truncate(0)
	fmt.Fprintf(f, "%d\n", os.Getpid())
	return &Lock{f}, nil
}

// Release gives the lock back.
func (l *Lock) Release() { l.f.Close() }

const journalSuffix = ".jsonl"

// journals lists the journals, oldest first.
func (s Store) journals() ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list journals: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "apply-") && strings.HasSuffix(e.Name(), journalSuffix) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// keepClosed is how many finished journals stay, for people who want to know what was done.
const keepClosed = 20

// prune removes the oldest finished journals. It is housekeeping: what cannot be removed stays.
func (s Store) prune() {
	names, err := s.journals()
	if err != nil {
		return
	}
	var closed []string
	for _, name := range names {
		if hist, err := s.load(name); err == nil && hist.closed {
			closed = append(closed, name)
		}
	}
	for _, name := range closed[:max(0, len(closed)-keepClosed)] {
		os.Remove(filepath.Join(s.Dir, name))
	}
}

// newID names an apply so that names sort by time.
func newID(now time.Time) string {
	return fmt.Sprintf("%s-%d", now.UTC().Format("20060102-150405.000000"), os.Getpid())
}

// syncDir makes a new or renamed file durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
