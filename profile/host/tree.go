package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Tree is a host that is not this machine: a directory, a txtar file or an archive, with one or two moments.
type Tree struct {
	first, second *Source
}

// Open opens a host tree: a directory HOST with root/, a directory that contains host/, a directory with proc/ and sys/ of
// somebody's host, a txtar file, or a tar archive (plain, .gz or .zst) of any of them; also an sosreport or
// sysinfo-snapshot, of which it takes what is there. Close it.
// Archives are untrusted: entries that leave the tree, special files and sizes beyond the limits of this package are
// errors that name the entry.
func Open(name string) (*Tree, error) {
	st, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("open host tree: %w", err)
	}
	var t *Tree
	if st.IsDir() {
		t, err = openTreeDir(name)
	} else {
		t, err = openTreeFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("open host tree %s: %w", name, err)
	}
	return t, nil
}

// First is the first moment.
func (t *Tree) First() *Source { return t.first }

// Second is the second moment: the first with t1/ laid over it. False when the tree has no t1/ or no times.json.
func (t *Tree) Second() (*Source, bool) { return t.second, t.second != nil }

// Close releases what Open opened.
func (t *Tree) Close() error { return t.first.Close() }

type times struct {
	T0 float64 `json:"t0"`
	T1 float64 `json:"t1"`
}

// openTreeDir opens a directory. One with a second sample is read into memory, since the second moment is a mixture of
// two directories; one without is read where it lies.
func openTreeDir(name string) (*Tree, error) {
	host, root := treeDirs(name)
	if root == "" {
		return nil, errors.New("neither root/ nor host/root/ nor proc/ in it")
	}
	if host != root && isDir(filepath.Join(host, "t1")) && isFile(filepath.Join(host, "times.json")) {
		list, err := listDir(host)
		if err != nil {
			return nil, err
		}
		return fromEntries(name, list)
	}
	extra := host
	if host == root {
		extra = ""
	}
	s, err := DirSource(name, root, extra, 0)
	if err != nil {
		return nil, err
	}
	tm := s.readTimes()
	s.TimeS = tm.T0
	return &Tree{first: s}, nil
}

// treeDirs finds the directory HOST and the one that stands for "/".
func treeDirs(name string) (host, root string) {
	for _, h := range []string{name, filepath.Join(name, "host")} {
		if r := filepath.Join(h, "root"); isDir(filepath.Join(r, "proc")) || isDir(filepath.Join(r, "sys")) {
			return h, r
		}
	}
	if isDir(filepath.Join(name, "proc")) {
		return name, name
	}
	return "", ""
}

func isDir(p string) bool {
	st, err := os.Stat(p)
	return err == nil && st.IsDir()
}

func isFile(p string) bool {
	st, err := os.Lstat(p)
	return err == nil && st.Mode().IsRegular()
}

// readTimes reads times.json; a broken one is a note and counts as absent.
func (s *Source) readTimes() times {
	var t times
	b, err := s.ReadExtra("times.json")
	if errors.Is(err, fs.ErrNotExist) {
		return t
	}
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	if err == nil && t.T1 != 0 && t.T1 <= t.T0 {
		err = fmt.Errorf("t1 %v is not after t0 %v", t.T1, t.T0)
	}
	if err != nil {
		s.notes = append(s.notes, Gap{Path: "times.json", Reason: err.Error()})
		return times{}
	}
	return t
}

// fromEntries makes a tree of what an archive, a txtar file or a directory held.
func fromEntries(name string, list []entry) (*Tree, error) {
	at, ok := layoutOf(list)
	if !ok {
		return nil, errors.New("neither root/ nor host/root/ nor proc/ in it")
	}
	root, extra, late := newMemFS(), newMemFS(), []entry{}
	for _, e := range list {
		switch p, area := at.place(e.name); area {
		case inRoot:
			e.name = p
			if err := root.add(e); err != nil {
				return nil, err
			}
		case inLater:
			e.name = p
			late = append(late, e)
		case inExtra:
			e.name = p
			if err := extra.add(e); err != nil {
				return nil, err
			}
		}
	}
	first := &Source{Name: name, tree: root, extra: extra}
	first.applyManifest()
	tm := first.readTimes()
	first.TimeS = tm.T0
	t := &Tree{first: first}
	if tm.T1 == 0 || len(late) == 0 {
		return t, nil
	}
	return t, t.overlay(late, tm.T1)
}

// overlay makes the second moment.
func (t *Tree) overlay(late []entry, timeS float64) error {
	root, extra := t.first.tree.(*memFS).clone(), t.first.extra.(*memFS).clone()
	for _, e := range late {
		to := root
		if strings.HasPrefix(e.name, "ethtool/") || strings.HasPrefix(e.name, "cmd/") {
			to = extra
		}
		if err := to.add(e); err != nil {
			return err
		}
	}
	t.second = &Source{Name: t.first.Name, TimeS: timeS, tree: root, extra: extra, modes: t.first.modes}
	return nil
}
