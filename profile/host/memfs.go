package host

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"
	"syscall"
)

// memFS is a host tree held in memory: what a txtar file or an archive holds. Nothing is unpacked to disk, so an archive
// cannot write anywhere, and a link can only lead to another entry.
type memFS struct {
	nodes map[string]*memNode // by clean relative path without links in it; "." is the top
}

// memNode is a file, a link (link is set) or a directory (children is set).
type memNode struct {
	data     []byte
	link     string
	children map[string]bool
	fail     error
	mode     fs.FileMode // permissions; 0 where the tree does not keep them
}

func newMemFS() *memFS {
	return &memFS{nodes: map[string]*memNode{".": {children: map[string]bool{}}}}
}

// put adds a file or a link. Parents are made; a parent that is a link is followed, which is what a second sample needs
// whose files lie below sys/class/net/eth0.
func (m *memFS) put(p string, n *memNode) error {
	if p == "." {
		return fmt.Errorf("entry has no name")
	}
	dir, err := m.mkdir(path.Dir(p))
	if err != nil {
		return err
	}
	p = path.Join(dir, path.Base(p))
	if old := m.nodes[p]; old != nil && old.children != nil {
		return fmt.Errorf("%s is both a directory and a file", p)
	}
	m.nodes[p] = n
	m.nodes[dir].children[path.Base(p)] = true
	return nil
}

// mkdir makes the directory and returns its path without links.
func (m *memFS) mkdir(p string) (string, error) {
	if n := m.nodes[p]; n != nil && n.children != nil {
		return p, nil
	}
	if r, err := m.resolve(p); err == nil {
		if m.nodes[r].children == nil {
			return "", fmt.Errorf("%s is both a file and a directory", p)
		}
		return r, nil
	}
	dir, err := m.mkdir(path.Dir(p))
	if err != nil {
		return "", err
	}
	p = path.Join(dir, path.Base(p))
	if m.nodes[p] != nil {
		return "", fmt.Errorf("%s is a link to nothing, and a directory", p)
	}
	m.nodes[p] = &memNode{children: map[string]bool{}}
	m.nodes[dir].children[path.Base(p)] = true
	return p, nil
}

// resolve follows the links in p.
func (m *memFS) resolve(p string) (string, error) {
	if n := m.nodes[p]; n != nil && n.link == "" {
		return p, nil
	}
	done, rest := ".", strings.Split(p, "/")
	for hops := 0; len(rest) > 0; rest = rest[1:] {
		if rest[0] == ".." && done == "." {
			return "", errOutside
		}
		next := path.Join(done, rest[0])
		n := m.nodes[next]
		switch {
		case n == nil:
			return "", syscall.ENOENT
		case n.link == "":
			done = next
			continue
		case strings.HasPrefix(n.link, "/"):
			return "", errOutside
		}
		if hops++; hops > 40 {
			return "", syscall.ELOOP
		}
		rest = append([]string{""}, append(strings.Split(n.link, "/"), rest[1:]...)...)
	}
	return done, nil
}

var errOutside = fmt.Errorf("link leaves the tree")

func (m *memFS) node(p string) (*memNode, error) {
	r, err := m.resolve(p)
	if err != nil {
		return nil, shown(p, err)
	}
	return m.nodes[r], nil
}

func (m *memFS) read(p string) ([]byte, error) {
	n, err := m.node(p)
	if err != nil {
		return nil, err
	}
	if n.children != nil {
		return nil, shown(p, syscall.EISDIR)
	}
	return n.data, n.fail
}

func (m *memFS) names(p string) ([]string, error) {
	n, err := m.node(p)
	if err != nil {
		return nil, err
	}
	if n.children == nil {
		return nil, shown(p, syscall.ENOTDIR)
	}
	names := make([]string, 0, len(n.children))
	for name := range n.children {
		names = append(names, name)
	}
	return names, nil
}

func (m *memFS) readlink(p string) (string, error) {
	dir, err := m.resolve(path.Dir(p))
	if err != nil {
		return "", shown(p, err)
	}
	n := m.nodes[path.Join(dir, path.Base(p))]
	switch {
	case n == nil:
		return "", shown(p, syscall.ENOENT)
	case n.link == "":
		return "", shown(p, syscall.EINVAL)
	}
	return n.link, nil
}

func (m *memFS) exists(p string) bool {
	_, err := m.resolve(p)
	return err == nil
}

func (m *memFS) mode(p string) (fs.FileMode, bool) {
	n, err := m.node(p)
	if err != nil || n.mode == 0 {
		return 0, false
	}
	return n.mode, true
}

func (m *memFS) close() error { return nil }

// clone is a copy to lay a second sample over; file contents are shared, directories are not.
func (m *memFS) clone() *memFS {
	c := &memFS{nodes: make(map[string]*memNode, len(m.nodes))}
	for p, n := range m.nodes {
		if n.children != nil {
			n = &memNode{children: maps.Clone(n.children)}
		}
		c.nodes[p] = n
	}
	return c
}
