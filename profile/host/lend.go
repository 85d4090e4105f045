package host

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
)

// A hostile tree must not fill the disk with copies: no file that is lent has more than a few kilobytes on a real host.
const (
	maxLent      = 256
	maxLentBytes = 1 << 20
)

// reSerial are DMI files that identify the very machine.
var reSerial = regexp.MustCompile(`_(serial|uuid|asset_tag)$`)

// lend returns a directory that stands for "/" for libraries that only read paths. On the live host it is "/" itself. For a
// tree it is a directory with copies of files (of a directory: of the files in it), by their path in the tree and where
// the library expects them: a library would follow a hostile tree's links, and a tree in memory has no path.
func (s *Source) lend(files map[string]string) (dir string, done func(), err error) {
	if s.Live && !s.copies {
		return "/", func() {}, nil
	}
	dir, err = os.MkdirTemp("", "corewise-host-")
	if err != nil {
		return "", nil, fmt.Errorf("lend files of %s: %w", s.Name, err)
	}
	done = func() { os.RemoveAll(dir) }
	for from, to := range files {
		if err = s.copyTo(from, dir, to); err != nil {
			done()
			return "", nil, fmt.Errorf("lend files of %s: %w", s.Name, err)
		}
	}
	return dir, done, nil
}

// copyTo copies a file, or the files of a directory; what cannot be read is left out.
func (s *Source) copyTo(from, dir, to string) error {
	names, err := s.Dir(from)
	if err != nil {
		return s.copyFile(from, filepath.Join(dir, inside(to)))
	}
	for _, name := range names[:min(len(names), maxLent)] {
		if reSerial.MatchString(name) {
			continue // nobody's business, and no rule's
		}
		if err := s.copyFile(path.Join(from, name), filepath.Join(dir, inside(to), name)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Source) copyFile(from, to string) error {
	b, err := s.Read(from)
	if err != nil || len(b) > maxLentBytes {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600)
}
