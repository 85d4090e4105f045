package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// maxFile bounds one pseudo-file; larger ones are cut off with an error, never loaded whole.
const maxFile = 64 << 20

// Source is where one moment of a host is read from: the live machine, or a directory that stands for it.
type Source struct {
	Live  bool
	Name  string  // for messages: "live", or what the user typed
	TimeS float64 // seconds since the epoch of this moment; 0: unknown
	Root  string  // directory that stands for "/"; for libraries that want a path
	Extra string  // directory with ethtool/ and cmd/ of a host tree; "" when live

	root  *os.Root // confines a tree: links out of it are refused
	extra *os.Root
}

// LiveSource reads the running machine.
func LiveSource() *Source { return &Source{Live: true, Name: "live", Root: "/"} }

// DirSource reads a directory as "/", with ethtool/ and cmd/ in extra ("" for none). Close it.
func DirSource(name, root, extra string, timeS float64) (*Source, error) {
	s := &Source{Name: name, Root: root, Extra: extra, TimeS: timeS}
	var err error
	if s.root, err = os.OpenRoot(root); err != nil {
		return nil, fmt.Errorf("open host tree %s: %w", name, err)
	}
	if extra == "" {
		return s, nil
	}
	if s.extra, err = os.OpenRoot(extra); err != nil {
		return nil, errors.Join(fmt.Errorf("open host tree %s: %w", name, err), s.root.Close())
	}
	return s, nil
}

// Close releases the directories.
func (s *Source) Close() error {
	var err error
	for _, r := range []*os.Root{s.root, s.extra} {
		if r != nil {
			err = errors.Join(err, r.Close())
		}
	}
	return err
}

// Path is the real path of p ("/proc/stat") for libraries; use Read where possible, which confines links.
func (s *Source) Path(p string) string { return filepath.Join(s.Root, p) }

// Read returns a whole file, such as "/proc/interrupts". Pseudo-files are read without stat: their size lies.
func (s *Source) Read(p string) ([]byte, error) {
	f, err := s.open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f, p)
}

// ReadExtra returns a file of the host tree outside root/, such as "ethtool/eth0.json".
func (s *Source) ReadExtra(p string) ([]byte, error) {
	if s.extra == nil {
		return nil, fs.ErrNotExist
	}
	f, err := s.extra.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f, p)
}

func readBounded(f io.Reader, name string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxFile {
		return nil, fmt.Errorf("read %s: larger than %d MiB", name, maxFile>>20)
	}
	return b, nil
}

func (s *Source) open(p string) (*os.File, error) {
	if s.root == nil {
		return os.Open(p)
	}
	f, err := s.root.Open(inside(p))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: p, Err: cause(err)}
	}
	return f, nil
}

func inside(p string) string { return path.Clean(strings.TrimPrefix(p, "/")) }

func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Dir lists the names in a directory, sorted with numbers in numeric order (node2 before node10).
func (s *Source) Dir(p string) ([]string, error) {
	f, err := s.open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(names, naturalOrder)
	return names, nil
}

// naturalOrder compares names so that a trailing number counts as a number.
func naturalOrder(a, b string) int {
	pa, na := splitNumber(a)
	pb, nb := splitNumber(b)
	if pa == pb && na != nb {
		return na - nb
	}
	return strings.Compare(a, b)
}

func splitNumber(s string) (string, int) {
	i := len(s)
	for i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
		i--
	}
	n, err := strconv.Atoi(s[i:])
	if err != nil {
		return s, -1
	}
	return s[:i], n
}

// Exists reports whether the path is there (links are followed).
func (s *Source) Exists(p string) bool {
	if s.root == nil {
		_, err := os.Stat(p)
		return err == nil
	}
	_, err := s.root.Stat(inside(p))
	return err == nil
}

// Readlink returns the text of a symbolic link.
func (s *Source) Readlink(p string) (string, error) {
	if s.root == nil {
		return os.Readlink(p)
	}
	return s.root.Readlink(inside(p))
}

// Real resolves all links of p and returns the path inside the host, such as
// "/sys/devices/pci0000:30/0000:30:00.0/0000:31:00.0/net/eth0" for "/sys/class/net/eth0".
func (s *Source) Real(p string) (string, error) {
	done, rest := "/", strings.Split(inside(p), "/")
	for hops := 0; len(rest) > 0; {
		next := path.Join(done, rest[0])
		rest = rest[1:]
		target, err := s.Readlink(next)
		if err != nil {
			done = next
			continue
		}
		if hops++; hops > 40 {
			return "", fmt.Errorf("resolve %s: too many links", p)
		}
		if strings.HasPrefix(target, "/") {
			done = "/"
		}
		rest = append(strings.Split(strings.Trim(path.Clean(target), "/"), "/"), rest...)
	}
	if !s.Exists(done) {
		return "", &fs.PathError{Op: "resolve", Path: p, Err: fs.ErrNotExist}
	}
	return done, nil
}

// Text returns the trimmed content of a small file.
func (s *Source) Text(p string) maybe.Value[string] {
	b, err := s.Read(p)
	if err != nil {
		return maybe.None[string](err.Error())
	}
	return maybe.Some(strings.Trim(string(b), " \t\r\n\x00"))
}

// Word is Text, but an empty file, "<unsupported>" and "Unknown" are missing too.
func (s *Source) Word(p string) maybe.Value[string] {
	v := s.Text(p)
	switch t, ok := v.Get(); {
	case !ok:
		return v
	case t == "", t == "<unsupported>", t == "Unknown", t == "(null)":
		return maybe.Nonef[string]("%s reads %q", p, t)
	}
	return v
}

// Int64 reads a decimal or 0x number.
func (s *Source) Int64(p string) maybe.Value[int64] {
	t, ok := s.Text(p).Get()
	if !ok {
		return maybe.None[int64](s.Text(p).Why())
	}
	n, err := strconv.ParseInt(t, 0, 64)
	if err != nil {
		return maybe.Nonef[int64]("%s reads %.40q, not a number", p, t)
	}
	return maybe.Some(n)
}

// Int is Int64 for numbers that fit an int.
func (s *Source) Int(p string) maybe.Value[int] {
	return maybe.Map(s.Int64(p), func(n int64) int { return int(n) })
}

// List reads a CPU or node list such as "0-3,8"; the empty file is the empty set.
func (s *Source) List(p string) maybe.Value[cpulist.Set] {
	return parsed(s, p, cpulist.Parse)
}

// Mask reads a hexadecimal CPU mask such as "0000,0000000f".
func (s *Source) Mask(p string) maybe.Value[cpulist.Set] {
	return parsed(s, p, cpulist.ParseMask)
}

func parsed[T any](s *Source, p string, parse func(string) (T, error)) maybe.Value[T] {
	v := s.Text(p)
	t, ok := v.Get()
	if !ok {
		return maybe.None[T](v.Why())
	}
	x, err := parse(t)
	if err != nil {
		return maybe.Nonef[T]("%s: %v", p, err)
	}
	return maybe.Some(x)
}
