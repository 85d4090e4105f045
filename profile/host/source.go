package host

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// Source is where one moment of a host is read from: the live machine, or a tree that stands for it.
// Safe for concurrent reading.
type Source struct {
	Live  bool
	Name  string  // for messages: "live", or what the user typed
	TimeS float64 // seconds since the epoch of this moment; 0: unknown

	tree       fsys
	extra      fsys  // ethtool/ and cmd/ of a host tree; nil when there are none
	notes      []Gap // what was found wrong while opening; part of Host.Gaps
	copies     bool  // lend copies also of the live host, so that a recorder sees what libraries read
	noCommands bool  // Take runs no external command
	modes      bool  // file permissions are the host's own: live, and bundles that say so

	mu   sync.Mutex
	sets map[string]cpulist.Set // CPU sets by text: a host with thousands of interrupts repeats a few
}

// LiveSource reads the running machine.
func LiveSource() *Source { return &Source{Live: true, Name: "live", tree: liveFS{}, modes: true} }

// DirSource reads a directory as "/", with ethtool/ and cmd/ in extra ("" for none). Close it.
func DirSource(name, root, extra string, timeS float64) (*Source, error) {
	s := &Source{Name: name, TimeS: timeS}
	d, err := openDir(root)
	if err != nil {
		return nil, fmt.Errorf("open host tree %s: %w", name, err)
	}
	s.tree = d
	if extra == "" {
		return s, nil
	}
	e, err := openDir(extra)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open host tree %s: %w", name, err), d.close())
	}
	s.extra = e
	return s, nil
}

// Close releases the directories.
func (s *Source) Close() error {
	err := s.tree.close()
	if s.extra != nil {
		err = errors.Join(err, s.extra.close())
	}
	return err
}

// Read returns a whole file, such as "/proc/interrupts". Pseudo-files are read without stat: their size lies.
// Do not change the bytes: two sources of one tree share them.
func (s *Source) Read(p string) ([]byte, error) { return s.tree.read(inside(p)) }

// ReadExtra returns a file of the host tree outside root/, such as "ethtool/eth0.json".
func (s *Source) ReadExtra(p string) ([]byte, error) {
	if s.extra == nil {
		return nil, fs.ErrNotExist
	}
	return s.extra.read(inside(p))
}

// DirExtra lists a directory of the host tree outside root/, such as "cmd".
func (s *Source) DirExtra(p string) ([]string, error) {
	if s.extra == nil {
		return nil, fs.ErrNotExist
	}
	names, err := s.extra.names(inside(p))
	slices.SortFunc(names, naturalOrder)
	return names, err
}

// inside turns a path of the host into a clean relative one; ".." cannot climb above the top.
func inside(p string) string { return strings.TrimPrefix(path.Clean("/"+p), "/") + dotIfTop(p) }

func dotIfTop(p string) string {
	if path.Clean("/"+p) == "/" {
		return "."
	}
	return ""
}

// Dir lists the names in a directory, sorted with numbers in numeric order (node2 before node10).
func (s *Source) Dir(p string) ([]string, error) {
	names, err := s.tree.names(inside(p))
	slices.SortFunc(names, naturalOrder)
	return names, err
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
func (s *Source) Exists(p string) bool { return s.tree.exists(inside(p)) }

// Readlink returns the text of a symbolic link.
func (s *Source) Readlink(p string) (string, error) { return s.tree.readlink(inside(p)) }

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
	v := s.Text(p)
	t, ok := v.Get()
	if !ok {
		return maybe.None[int64](v.Why())
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

// Bool reads a file that holds 0 or 1 (a larger number counts as 1).
func (s *Source) Bool(p string) maybe.Value[bool] {
	return maybe.Map(s.Int64(p), func(n int64) bool { return n != 0 })
}

// List reads a CPU or node list such as "0-3,8"; the empty file is the empty set. Do not change the set: it is shared.
func (s *Source) List(p string) maybe.Value[cpulist.Set] { return s.set(p, "l", cpulist.Parse) }

// Mask reads a hexadecimal CPU mask such as "0000,0000000f". Do not change the set: it is shared.
func (s *Source) Mask(p string) maybe.Value[cpulist.Set] { return s.set(p, "m", cpulist.ParseMask) }

func (s *Source) set(p, kind string, parse func(string) (cpulist.Set, error)) maybe.Value[cpulist.Set] {
	v := s.Text(p)
	t, ok := v.Get()
	if !ok {
		return maybe.None[cpulist.Set](v.Why())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if set, ok := s.sets[kind+t]; ok {
		return maybe.Some(set)
	}
	set, err := parse(t)
	if err != nil {
		return maybe.Nonef[cpulist.Set]("%s: %v", p, err)
	}
	if s.sets == nil {
		s.sets = map[string]cpulist.Set{}
	}
	s.sets[kind+t] = set
	return maybe.Some(set)
}

// mode is the file's permission on the host, where the source keeps it.
func (s *Source) mode(p string) (fs.FileMode, bool) {
	if !s.modes {
		return 0, false
	}
	return s.tree.mode(inside(p))
}
