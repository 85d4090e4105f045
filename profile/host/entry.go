package host

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Limits of one host tree. The largest real ones (1024 CPUs, 10,000 interrupts) stay below a tenth of each.
const (
	maxEntries = 300_000
	maxTotal   = 256 << 20 // bytes of all files together
)

// entry is one file, link or directory of an archive.
type entry struct {
	name string // as in the archive, cleaned by checkName
	kind entryKind
	data []byte
	link string
	mode fs.FileMode // permissions; 0: not kept
	fail error       // a file of a directory that could not be read: the reason, for whoever asks for it
}

type entryKind int

const (
	isRegular entryKind = iota
	isLink
	isDirectory
)

// checkName refuses names that leave the tree.
func checkName(name string) (string, error) {
	switch {
	case strings.HasPrefix(name, "/"):
		return "", fmt.Errorf("entry %.200q: absolute path", name)
	case slices.Contains(strings.Split(name, "/"), ".."):
		return "", fmt.Errorf("entry %.200q: path that goes up", name)
	case strings.ContainsRune(name, 0):
		return "", fmt.Errorf("entry %.200q: NUL in the path", name)
	case len(name) > 4096:
		return "", fmt.Errorf("entry %.200q...: path of %d characters", name, len(name))
	}
	return path.Clean(name), nil
}

// checkLink refuses links that lead out of the tree that begins at top ("host/root").
func checkLink(name, target string) error {
	switch {
	case target == "":
		return fmt.Errorf("entry %.200q: link without a target", name)
	case strings.HasPrefix(target, "/"):
		return fmt.Errorf("entry %.200q: link to the absolute path %.200q", name, target)
	case strings.HasPrefix(path.Join(strings.Repeat("d/", strings.Count(name, "/")), target)+"/", "../"):
		return fmt.Errorf("entry %.200q: link out of the tree, to %.200q", name, target)
	}
	return nil
}

// checkLinks refuses an archive with a link that leaves the tree. (In a directory such a link is an error when it is read.)
func checkLinks(list []entry) error {
	at, _ := layoutOf(list)
	for _, e := range list {
		p, area := at.place(e.name)
		if e.kind != isLink || area == nowhere {
			continue
		}
		if err := checkLink(p, e.link); err != nil {
			return err
		}
	}
	return nil
}

// add puts an entry into a tree; its name is relative to the tree's top already.
func (m *memFS) add(e entry) error {
	if e.kind == isDirectory {
		_, err := m.mkdir(e.name)
		return err
	}
	return m.put(e.name, &memNode{data: e.data, link: e.link, mode: e.mode, fail: e.fail})
}

// layout says where in an archive the host lies: the prefix of root/, and of what lies beside it.
type layout struct {
	host string // "", "host/", "name/host/"
	root string // host + "root/"; of a bare copy of a file system: the same as host
}

type area int

const (
	nowhere area = iota
	inRoot
	inLater
	inExtra
)

func (l layout) place(name string) (string, area) {
	if p, ok := strings.CutPrefix(name, l.root); ok && p != "" {
		return p, inRoot
	}
	p, ok := strings.CutPrefix(name, l.host)
	if !ok || l.host == l.root || p == "" {
		return "", nowhere
	}
	if late, ok := strings.CutPrefix(p, "t1/"); ok && late != "" {
		return late, inLater
	}
	return p, inExtra
}

// layoutOf finds the shallowest root/ (or, failing that, proc/) at the top, below host/, or below one directory.
func layoutOf(list []entry) (layout, bool) {
	best, found := layout{}, false
	for _, e := range list {
		parts := strings.SplitN(e.name, "/", 5)
		for i, part := range parts[:min(len(parts), 4)] {
			l, ok := candidate(parts, i, part)
			if ok && (!found || better(l, best)) {
				best, found = l, true
			}
		}
	}
	return best, found
}

func candidate(parts []string, i int, part string) (layout, bool) {
	prefix := strings.Join(parts[:i], "/")
	if i > 0 {
		prefix += "/"
	}
	inTree := len(parts) > i+1 && (parts[i+1] == "proc" || parts[i+1] == "sys")
	switch {
	case part == "root" && inTree:
		return layout{host: prefix, root: prefix + "root/"}, true
	case part == "proc" && len(parts) > i+1 && i <= 1:
		return layout{host: prefix, root: prefix}, true
	}
	return layout{}, false
}

// better prefers a proper host tree to a bare copy, then the one nearer to the top.
func better(a, b layout) bool {
	if properA, properB := a.host != a.root, b.host != b.root; properA != properB {
		return properA
	}
	return len(a.root) < len(b.root)
}

// budget counts what an archive holds against the limits.
type budget struct {
	entries int
	bytes   int64
}

var errTooLarge = errors.New("archive is too large for a host tree")

func (b *budget) take(name string, size int64) error {
	b.entries++
	b.bytes += size
	switch {
	case size > maxFile:
		return fmt.Errorf("entry %.200q: %d bytes, a file may have %d: %w", name, size, maxFile, errTooLarge)
	case b.bytes > maxTotal:
		return fmt.Errorf("entry %.200q: more than %d bytes in all: %w", name, maxTotal, errTooLarge)
	case b.entries > maxEntries:
		return fmt.Errorf("entry %.200q: more than %d entries: %w", name, maxEntries, errTooLarge)
	}
	return nil
}
