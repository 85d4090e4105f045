package host

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
)

// lend returns a directory that stands for "/" for libraries that only read paths. On the live host it is "/" itself. For a
// tree it is a directory with copies of the named files (a directory: of the files in it): a library would follow a
// hostile tree's links, and a tree in memory has no path. Call done when the library is.
func (s *Source) lend(names ...string) (dir string, done func(), err error) {
	if s.Live {
		return "/", func() {}, nil
	}
	dir, err = os.MkdirTemp("", "corewise-host-")
	if err != nil {
		return "", nil, fmt.Errorf("lend files of %s: %w", s.Name, err)
	}
	done = func() { os.RemoveAll(dir) }
	for _, name := range names {
		if err = s.copyTo(dir, name); err != nil {
			done()
			return "", nil, fmt.Errorf("lend files of %s: %w", s.Name, err)
		}
	}
	return dir, done, nil
}

// copyTo copies a file, or the files of a directory; what cannot be read is left out.
func (s *Source) copyTo(dir, name string) error {
	if below, err := s.Dir(name); err == nil {
		for _, b := range below {
			if _, err := s.Dir(path.Join(name, b)); err == nil {
				continue
			}
			if err := s.copyTo(dir, path.Join(name, b)); err != nil {
				return err
			}
		}
		return nil
	}
	b, err := s.Read(name)
	if err != nil {
		return nil
	}
	to := filepath.Join(dir, inside(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600)
}
