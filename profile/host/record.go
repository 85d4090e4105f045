package host

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// recorder is the running machine that remembers what was read from it. A bundle is made of exactly that, so a Host taken
// from the bundle is the one taken from the machine.
type recorder struct {
	liveFS
	files map[string]recorded // by path without links, relative to "/"
	links map[string]string   // what readlink says of a path, "" for none: a cache
}

// recorded is a file, link or directory, or the reason why a file could not be read.
type recorded struct {
	kind entryKind
	data []byte
	link string
	mode fs.FileMode
	err  error
}

func newRecorder() *recorder {
	return &recorder{files: map[string]recorded{}, links: map[string]string{}}
}

// source reads the machine through the recorder.
func (r *recorder) source() *Source {
	return &Source{Live: true, Name: "live", tree: r, modes: true, copies: true}
}

func (r *recorder) read(p string) ([]byte, error) {
	b, err := r.liveFS.read(p)
	if real := r.real(p); err == nil {
		r.files[real] = recorded{data: b}
	} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.EISDIR) && !errors.Is(err, syscall.ENOTDIR) {
		r.files[real] = recorded{err: err}
	}
	return b, err
}

// names keeps the directories and links in a directory, since a reader may ask for nothing but their names. Files it did not
// read are left out, except the interrupt numbers in msi_irqs.
func (r *recorder) names(p string) ([]string, error) {
	f, err := os.Open("/" + p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	real := r.real(p)
	r.keep(real, recorded{kind: isDirectory})
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
		r.child(real, path.Base(p), e)
	}
	return names, nil
}

func (r *recorder) child(dir, base string, e fs.DirEntry) {
	p := path.Join(dir, e.Name())
	switch {
	case dir == "proc" || strings.HasPrefix(dir, "proc/") && base == "fd":
		// thousands of processes and descriptors; those that matter are read or followed
	case e.IsDir():
		r.keep(p, recorded{kind: isDirectory})
	case e.Type()&fs.ModeSymlink != 0:
		r.followed(p)
	case base == "msi_irqs":
		r.read(p)
	}
}

func (r *recorder) readlink(p string) (string, error) {
	t, err := r.liveFS.readlink(p)
	if err == nil {
		dir := r.real(path.Dir(p))
		r.keep(path.Join(dir, path.Base(p)), recorded{kind: isLink, link: relative(path.Join(dir, path.Base(p)), t)})
	}
	return t, err
}

func (r *recorder) exists(p string) bool {
	st, err := os.Stat("/" + p)
	if err != nil {
		return false
	}
	kind := isRegular
	if st.IsDir() {
		kind = isDirectory
	}
	r.keep(r.real(p), recorded{kind: kind})
	return true
}

func (r *recorder) mode(p string) (fs.FileMode, bool) {
	m, ok := r.liveFS.mode(p)
	if f, known := r.files[r.real(p)]; ok && known {
		f.mode = m
		r.files[r.real(p)] = f
	}
	return m, ok
}

// keep records something that must not replace what is known better.
func (r *recorder) keep(p string, f recorded) {
	if _, known := r.files[p]; !known && p != "." {
		r.files[p] = f
	}
}

// real resolves the links of a path and records them. Links of /proc lead to processes (net, mounts) and are left alone.
func (r *recorder) real(p string) string {
	if strings.HasPrefix(p, "proc/") || p == "." {
		return p
	}
	done, rest := ".", strings.Split(p, "/")
	for hops := 0; len(rest) > 0 && hops <= 40; rest = rest[1:] {
		next := path.Join(done, rest[0])
		target := r.followed(next)
		if target == "" {
			done = next
			continue
		}
		hops++
		rest = append([]string{""}, append(strings.Split(target, "/"), rest[1:]...)...)
	}
	return done
}

// followed records the link at p, whose parents are no links, and returns its target relative to p; "" when it is none.
func (r *recorder) followed(p string) string {
	if t, known := r.links[p]; known {
		return t
	}
	t, err := os.Readlink("/" + p)
	if err != nil {
		r.links[p] = ""
		return ""
	}
	r.links[p] = relative(p, t)
	r.files[p] = recorded{kind: isLink, link: r.links[p]}
	return r.links[p]
}

// relative turns an absolute link target into one relative to the link, as host trees want it.
func relative(p, target string) string {
	if !strings.HasPrefix(target, "/") {
		return target
	}
	rel, err := filepath.Rel("/"+path.Dir(p), target)
	if err != nil {
		return target
	}
	return rel
}

// pickProcs drops the processes and threads that Host does not hold: /proc/PID/stat of every process was read to choose.
func (r *recorder) pickProcs(h *Host) {
	threads := map[string]bool{}
	for _, p := range h.Procs {
		pid := strconv.Itoa(p.PID)
		threads[pid] = true
		for _, t := range p.Threads {
			threads[pid+"/"+strconv.Itoa(t.TID)] = true
		}
	}
	for p := range r.files {
		if !keepsProc(p, threads) {
			delete(r.files, p)
		}
	}
}

// keepsProc decides about one path. Processes 1 and 2 tell containers from machines, an open cpu_dma_latency who holds it.
func keepsProc(p string, threads map[string]bool) bool {
	parts := strings.Split(p, "/")
	if len(parts) < 2 || parts[0] != "proc" {
		return true
	}
	pid := parts[1]
	if _, err := strconv.Atoi(pid); err != nil {
		return true
	}
	switch file := parts[len(parts)-1]; {
	case len(parts) > 4 && parts[2] == "task":
		return threads[pid+"/"+parts[3]]
	case threads[pid]:
		return true
	case pid == "1":
		return file == "cgroup" || file == "environ"
	case pid == "2":
		return file == "comm"
	}
	return false
}
