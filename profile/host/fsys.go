package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// maxFile bounds one file; larger ones are an error, never loaded whole.
const maxFile = 64 << 20

// fsys is what a Source reads from. Paths are clean and relative ("proc/stat", "." for the top).
type fsys interface {
	read(p string) ([]byte, error)
	names(p string) ([]string, error)
	readlink(p string) (string, error)
	exists(p string) bool
	mode(p string) (fs.FileMode, bool)
	close() error
}

// liveFS is the running machine.
type liveFS struct{}

func (liveFS) read(p string) ([]byte, error) {
	f, err := os.OpenFile("/"+p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f, "/"+p)
}

func (liveFS) names(p string) ([]string, error) {
	f, err := os.Open("/" + p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func (liveFS) readlink(p string) (string, error) { return os.Readlink("/" + p) }

func (liveFS) exists(p string) bool {
	_, err := os.Stat("/" + p)
	return err == nil
}

func (liveFS) mode(p string) (fs.FileMode, bool) { return modeOf(os.Stat("/" + p)) }

func modeOf(st fs.FileInfo, err error) (fs.FileMode, bool) {
	if err != nil {
		return 0, false
	}
	return st.Mode().Perm(), true
}

func (liveFS) close() error { return nil }

// dirFS is a directory that stands for "/"; os.Root refuses every link that leaves it.
type dirFS struct{ root *os.Root }

func openDir(dir string) (dirFS, error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return dirFS{}, err
	}
	return dirFS{root: r}, nil
}

func (d dirFS) read(p string) ([]byte, error) {
	// Without O_NONBLOCK a fifo in somebody's tree would hold the program for ever.
	f, err := d.root.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, shown(p, err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, shown(p, err)
	}
	switch {
	case st.IsDir():
		return nil, shown(p, syscall.EISDIR)
	case !st.Mode().IsRegular():
		return nil, shown(p, errors.New("not a regular file"))
	case st.Size() > maxFile:
		return nil, shown(p, fmt.Errorf("larger than %d MiB", maxFile>>20))
	}
	return readBounded(f, "/"+p)
}

func (d dirFS) names(p string) ([]string, error) {
	f, err := d.root.OpenFile(p, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, shown(p, err)
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func (d dirFS) readlink(p string) (string, error) {
	t, err := d.root.Readlink(p)
	if err != nil {
		return "", shown(p, err)
	}
	return t, nil
}

func (d dirFS) exists(p string) bool {
	_, err := d.root.Stat(p)
	return err == nil
}

func (d dirFS) mode(p string) (fs.FileMode, bool) { return modeOf(d.root.Stat(p)) }

func (d dirFS) close() error { return d.root.Close() }

// shown gives an error the path as it is on the host, whatever call it came from.
func shown(p string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &fs.PathError{Op: "open", Path: "/" + p, Err: err}
}
