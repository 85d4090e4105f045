package host

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// maxBundled bounds one file of a bundle; of a longer one (a daemon's log) the end is kept.
const maxBundled = 8 << 20

// write makes the archive: host/root, host/t1, host/ethtool, host/cmd, host/times.json, host/manifest.json.
func (c *collected) write(dst io.Writer) (Manifest, error) {
	z, err := zstd.NewWriter(dst, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return Manifest{}, err
	}
	b := &bundle{tar: tar.NewWriter(z), when: time.Unix(int64(c.times.T0), 0), clean: func(_ string, data []byte) []byte { return data }, rename: func(p string) string { return p }}
	b.m = Manifest{Format: bundleFormat, Created: b.when.UTC().Format(time.RFC3339), Modes: true, Redacted: c.redact, Samples: 1, Commands: c.commands}
	if c.redact {
		r := c.redactor()
		b.clean, b.rename = r.file, r.path
	}
	b.root("host/root/", c.t0.files, nil)
	b.extra("host/", c.extra0, nil)
	if c.t1 != nil {
		b.m.Samples = 2
		b.root("host/t1/", c.t1.files, c.t0.files)
		b.extra("host/t1/", c.extra1, c.extra0)
		b.json("host/times.json", c.times)
	} else {
		b.json("host/times.json", map[string]float64{"t0": c.times.T0})
	}
	b.json("host/manifest.json", b.m)
	if b.err == nil {
		b.err = b.tar.Close()
	}
	if err := z.Close(); b.err == nil {
		b.err = err
	}
	return b.m, b.err
}

// bundle writes entries until the first error.
type bundle struct {
	tar    *tar.Writer
	when   time.Time
	clean  func(p string, data []byte) []byte
	rename func(p string) string
	used   budget
	m      Manifest
	err    error
}

// root writes recorded files; of a second sample, those that are not as in the first.
func (b *bundle) root(prefix string, files, before map[string]recorded) {
	for _, p := range slices.Sorted(maps.Keys(files)) {
		f := files[p]
		old, had := before[p]
		switch {
		case had && (f.kind != isRegular || f.err != nil || bytes.Equal(f.data, old.data)):
		case f.err != nil && before == nil:
			b.m.Skipped = append(b.m.Skipped, skipped(p, f.err))
		case f.err != nil:
		case f.kind == isLink:
			b.link(prefix+p, f.link)
		case f.kind == isDirectory:
			b.put(&tar.Header{Typeflag: tar.TypeDir, Name: b.rename(prefix+p) + "/", Mode: 0o755}, nil)
		default:
			b.file(prefix, p, f)
		}
	}
}

func (b *bundle) file(prefix, p string, f recorded) {
	data := f.data
	if strings.HasPrefix(p, "proc/") && path.Base(p) == "environ" {
		data = keptEnviron(data)
	}
	if strings.HasPrefix(p, "proc/") && path.Base(p) == "cmdline" {
		data = hideSecrets(data)
	}
	if len(data) > maxBundled {
		data = data[len(data)-maxBundled:]
		b.note(p, fmt.Sprintf("only the last %d of %d bytes", maxBundled, len(f.data)))
	}
	mode := f.mode
	if mode == 0 {
		mode = 0o644
	}
	b.regular(prefix+p, b.clean(p, data), mode)
}

func (b *bundle) note(p, text string) {
	if b.m.Notes == nil {
		b.m.Notes = map[string]string{}
	}
	b.m.Notes[p] = text
}

func (b *bundle) link(name, target string) {
	inTree := name[strings.Index(name, "/")+1:]
	if err := checkLink(inTree[strings.Index(inTree, "/")+1:], target); err != nil {
		b.note(name, err.Error())
		return
	}
	b.put(&tar.Header{Typeflag: tar.TypeSymlink, Name: b.rename(name), Linkname: b.rename(target), Mode: 0o777}, nil)
}

func (b *bundle) extra(prefix string, files, before map[string][]byte) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if old, had := before[name]; !had || !bytes.Equal(old, files[name]) {
			b.regular(prefix+name, b.clean(name, files[name]), 0o644)
		}
	}
}

func (b *bundle) json(name string, v any) {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil && b.err == nil {
		b.err = err
	}
	b.regular(name, append(data, '\n'), 0o644)
}

func (b *bundle) regular(name string, data []byte, mode fs.FileMode) {
	b.m.Files++
	b.m.Bytes += int64(len(data))
	b.put(&tar.Header{Typeflag: tar.TypeReg, Name: b.rename(name), Mode: int64(mode.Perm()), Size: int64(len(data))}, data)
}

func (b *bundle) put(h *tar.Header, data []byte) {
	if b.err != nil {
		return
	}
	if b.err = b.used.take(h.Name, h.Size); b.err != nil {
		return // the bundle could not be opened again
	}
	h.ModTime, h.Format = b.when, tar.FormatPAX
	if b.err = b.tar.WriteHeader(h); b.err == nil {
		_, b.err = b.tar.Write(data)
	}
}
