package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
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
	// Without O_NONBLOCK a log device would wait for more.
	fd, err := retry(func() (int, error) { return unix.Open("/"+p, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0) })
	if err != nil {
		return nil, shown(p, err)
	}
	defer unix.Close(fd)
	return readAll(fd, p, -1)
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

func (liveFS) exists(p string) bool { return unix.Access("/"+p, unix.F_OK) == nil }

func (liveFS) mode(p string) (fs.FileMode, bool) { return modeOf(os.Stat("/" + p)) }

func modeOf(st fs.FileInfo, err error) (fs.FileMode, bool) {
	if err != nil {
		return 0, false
	}
	return st.Mode().Perm(), true
}

func (liveFS) close() error { return nil }

// readAll reads a descriptor to its end. Of a pseudo-file, size (-1: not known) is a lie and a short read is not the end.
func readAll(fd int, p string, size int64) ([]byte, error) {
	var first [4096]byte
	buf, n := first[:], 0
	for {
		if n == len(buf) {
			grown := make([]byte, 4*len(buf))
			copy(grown, buf)
			buf = grown
		}
		got, err := retry(func() (int, error) { return unix.Read(fd, buf[n:]) })
		if err != nil {
			return nil, shown(p, err)
		}
		n += got
		switch {
		case n > maxFile:
			return nil, shown(p, fmt.Errorf("larger than %d MiB", maxFile>>20))
		case got == 0, size > 0 && int64(n) == size:
			return append(make([]byte, 0, n), buf[:n]...), nil
		}
	}
}

func retry(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); err != unix.EINTR {
			return n, err
		}
	}
}

// shown gives an error the path as it is on the host, whatever call it came from.
func shown(p string, err error) error {
	var pe *fs.PathError
	switch {
	case errors.As(err, &pe):
		err = pe.Err
	case err == syscall.EXDEV:
		err = errOutside // openat2's word for it
	}
	return &fs.PathError{Op: "open", Path: "/" + p, Err: err}
}
