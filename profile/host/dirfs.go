package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dirFS is a directory that stands for "/". Every link that leaves it is refused.
//
// Note: os.Root alone gives the same safety with three system calls for each component of a path; a tree of 256 CPUs is
// 20,000 files seven levels deep, and openat2 opens each with one. os.Root remains for kernels before 5.6 and sandboxes.
type dirFS struct {
	root *os.Root
	top  *os.File // the same directory, for openat2; nil where that is not allowed
}

func openDir(dir string) (dirFS, error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return dirFS{}, err
	}
	d := dirFS{root: r}
	if d.top, err = r.Open("."); err != nil {
		return dirFS{}, errors.Join(err, r.Close())
	}
	fd, err := d.openAt(".", unix.O_PATH)
	if err != nil {
		d.top.Close()
		d.top = nil
		return d, nil
	}
	return d, unix.Close(fd)
}

func (d dirFS) openAt(p string, flags uint64) (int, error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS}
	return retry(func() (int, error) { return unix.Openat2(int(d.top.Fd()), p, &how) })
}

// open opens for reading. Without O_NONBLOCK a fifo in somebody's tree would hold the program for ever.
func (d dirFS) open(p string, flags int) (int, error) {
	flags |= unix.O_NONBLOCK
	if d.top != nil {
		return d.openAt(p, uint64(flags))
	}
	f, err := d.root.OpenFile(p, flags, 0)
	if err != nil {
		return -1, err
	}
	defer f.Close()
	return unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
}

func (d dirFS) read(p string) ([]byte, error) {
	fd, err := d.open(p, unix.O_RDONLY)
	if err != nil {
		return nil, shown(p, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, shown(p, err)
	}
	switch {
	case st.Mode&unix.S_IFMT == unix.S_IFDIR:
		return nil, shown(p, syscall.EISDIR)
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, shown(p, errors.New("not a regular file"))
	case st.Size > maxFile:
		return nil, shown(p, fmt.Errorf("larger than %d MiB", maxFile>>20))
	}
	return readAll(fd, p, st.Size)
}

func (d dirFS) names(p string) ([]string, error) {
	fd, err := d.open(p, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, shown(p, err)
	}
	f := os.NewFile(uintptr(fd), p)
	defer f.Close()
	return f.Readdirnames(-1)
}

func (d dirFS) readlink(p string) (string, error) {
	if d.top == nil {
		t, err := d.root.Readlink(p)
		if err != nil {
			return "", shown(p, err)
		}
		return t, nil
	}
	fd, err := d.openAt(p, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return "", shown(p, err)
	}
	defer unix.Close(fd)
	var buf [unix.PathMax]byte
	n, err := unix.Readlinkat(fd, "", buf[:])
	if err != nil {
		return "", shown(p, err)
	}
	return string(buf[:n]), nil
}

func (d dirFS) exists(p string) bool {
	if d.top == nil {
		_, err := d.root.Stat(p)
		return err == nil
	}
	fd, err := d.openAt(p, unix.O_PATH)
	if err != nil {
		return false
	}
	return unix.Close(fd) == nil
}

func (d dirFS) mode(p string) (fs.FileMode, bool) { return modeOf(d.root.Stat(p)) }

func (d dirFS) close() error {
	if d.top == nil {
		return d.root.Close()
	}
	return errors.Join(d.top.Close(), d.root.Close())
}
