package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Manifest is manifest.json of a bundle: what it holds, and what it does not and why.
type Manifest struct {
	Format   string            `json:"format"` // corewise-bundle/1
	Created  string            `json:"created"`
	Redacted bool              `json:"redacted"`
	Modes    bool              `json:"modes"` // the archive keeps the permissions that files have on the host
	Files    int               `json:"files"`
	Bytes    int64             `json:"bytes"` // before compression
	Samples  int               `json:"samples"`
	Commands map[string]int    `json:"commands,omitempty"` // name -> exit code
	Skipped  []Skipped         `json:"skipped,omitempty"`
	Notes    map[string]string `json:"notes,omitempty"`
}

// Skipped is a file that is there on the host and not in the bundle.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	Errno  string `json:"errno,omitempty"` // EACCES and the like, so that it reads the same from the bundle
}

const bundleFormat = "corewise-bundle/1"

func skipped(p string, err error) Skipped {
	s := Skipped{Path: "/" + p, Reason: err.Error()}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		s.Errno, s.Reason = unix.ErrnoName(errno), errno.Error()
	}
	return s
}

// applyManifest makes unreadable files of the host unreadable in the tree, for the same reason.
func (s *Source) applyManifest() {
	b, err := s.ReadExtra("manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var m Manifest
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	tree, ok := s.tree.(*memFS)
	if err != nil || !ok || m.Format != bundleFormat {
		s.notes = append(s.notes, Gap{Path: "manifest.json", Reason: fmt.Sprintf("not a manifest of a bundle (%s): %v", bundleFormat, err)})
		return
	}
	s.modes = m.Modes
	for _, k := range m.Skipped[:min(len(m.Skipped), maxEntries)] {
		if tree.exists(inside(k.Path)) {
			continue
		}
		if err := tree.put(inside(k.Path), &memNode{fail: shown(strings.TrimPrefix(k.Path, "/"), k.err())}); err != nil {
			s.notes = append(s.notes, Gap{Path: "manifest.json", Reason: err.Error()})
			return
		}
	}
}

func (k Skipped) err() error {
	for e := syscall.Errno(1); e < 134; e++ {
		if k.Errno != "" && unix.ErrnoName(e) == k.Errno {
			return e
		}
	}
	return errors.New(k.Reason)
}
