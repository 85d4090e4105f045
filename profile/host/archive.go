package host

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/tools/txtar"
)

// openTreeFile opens a txtar file or a tar archive; the content decides which, not the name.
func openTreeFile(name string) (*Tree, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, errors.Join(errors.New("neither a directory nor a regular file"), err)
	}
	list, err := readArchive(f)
	if err != nil {
		return nil, err
	}
	list = foreign(list)
	if err := checkLinks(list); err != nil {
		return nil, err
	}
	return fromEntries(name, list)
}

func readArchive(f io.Reader) ([]entry, error) {
	r := bufio.NewReaderSize(f, 64<<10)
	head, _ := r.Peek(512)
	switch {
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return readTar(z)
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		return readTar(z)
	case bytes.HasPrefix(head, []byte("\xfd7zXZ")):
		return nil, errors.New("xz-compressed archives are not read: unpack it first (tar -xJf) and name the directory")
	case len(head) >= 262 && string(head[257:262]) == "ustar":
		return readTar(r)
	}
	return readTxtar(r)
}

// readTar reads every entry. Special files are refused: nobody's host tree needs one.
func readTar(r io.Reader) ([]entry, error) {
	var list []entry
	var used budget
	// The reader below skips what it does not hand out, so a bomb must be bounded here too.
	tr := tar.NewReader(io.LimitReader(r, maxTotal+maxEntries*2048))
	for {
		h, err := tr.Next()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("after %d entries: %w", len(list), err)
		}
		if reBulk.MatchString(h.Name) {
			continue
		}
		e, err := readTarEntry(tr, h, &used)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
}

func readTarEntry(tr *tar.Reader, h *tar.Header, used *budget) (entry, error) {
	name, err := checkName(h.Name)
	if err != nil {
		return entry{}, err
	}
	if err := used.take(name, h.Size); err != nil {
		return entry{}, err
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return entry{name: name, kind: isDirectory}, nil
	case tar.TypeSymlink:
		return entry{name: name, kind: isLink, link: h.Linkname}, nil
	case tar.TypeReg:
		b, err := io.ReadAll(tr)
		if err != nil {
			return entry{}, fmt.Errorf("entry %.200q: %w", name, err)
		}
		return entry{name: name, data: b, mode: fs.FileMode(h.Mode).Perm()}, nil
	}
	return entry{}, fmt.Errorf("entry %.200q: neither file, directory nor symbolic link (type %q)", name, h.Typeflag)
}

// readTxtar reads the txtar form of a host tree with its three conventions: "a -> b" is a link, .hex is hexadecimal,
// .nul has a line for each NUL-terminated string.
func readTxtar(r io.Reader) ([]entry, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxTotal+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxTotal {
		return nil, fmt.Errorf("more than %d bytes: %w", maxTotal, errTooLarge)
	}
	files := txtar.Parse(b).Files
	if len(files) == 0 {
		return nil, errors.New("neither a tar archive (plain, gzip or zstd) nor a txtar file")
	}
	list := make([]entry, 0, len(files))
	var used budget
	for _, f := range files {
		e, err := txtarEntry(f)
		if err == nil {
			err = used.take(e.name, int64(len(e.data)))
		}
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

func txtarEntry(f txtar.File) (entry, error) {
	name, target, link := strings.Cut(f.Name+" ", " -> ")
	name, err := checkName(strings.TrimSpace(name))
	if err != nil {
		return entry{}, err
	}
	if link {
		return entry{name: name, kind: isLink, link: strings.TrimSpace(target)}, nil
	}
	switch base := path.Base(name); {
	case strings.HasSuffix(base, ".hex") && base != ".hex":
		b, err := hex.DecodeString(strings.Join(strings.Fields(string(f.Data)), ""))
		if err != nil {
			return entry{}, fmt.Errorf("entry %.200q: %w", name, err)
		}
		return entry{name: strings.TrimSuffix(name, ".hex"), data: b}, nil
	case strings.HasSuffix(base, ".nul") && base != ".nul":
		return entry{name: strings.TrimSuffix(name, ".nul"), data: bytes.ReplaceAll(f.Data, []byte("\n"), []byte{0})}, nil
	}
	return entry{name: name, data: f.Data}, nil
}

// listDir reads a whole directory below the same limits as an archive.
func listDir(dir string) ([]entry, error) {
	d, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	defer d.close()
	var list []entry
	var used budget
	err = fs.WalkDir(d.root.FS(), ".", func(p string, de fs.DirEntry, err error) error {
		if de == nil || p == "." {
			return err
		}
		e := d.entry(p, de.Type()) // a directory that cannot be listed comes a second time, with err: it stays empty
		list = append(list, e)
		return used.take(p, int64(len(e.data)))
	})
	return list, err
}

func (d dirFS) entry(p string, mode fs.FileMode) entry {
	e := entry{name: p}
	switch {
	case mode.IsDir():
		e.kind = isDirectory
	case mode&fs.ModeSymlink != 0:
		e.kind = isLink
		e.link, e.fail = d.readlink(p)
	default:
		e.data, e.fail = d.read(p)
	}
	return e
}
