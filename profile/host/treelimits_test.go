package host

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// tarOf makes an archive of headers; a file's body is its name.
func tarOf(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(h.Name))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte(h.Name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func file(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644} }
func link(name, target string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target}
}

func TestTarForms(t *testing.T) {
	plain := tarOf(t, file("host1/root/proc/stat"), link("host1/root/proc/self", "stat"), file("host1/cmd/dmesg"),
		tar.Header{Name: "host1/root/proc/empty/", Typeflag: tar.TypeDir, Mode: 0o755})
	var gz, zst bytes.Buffer
	g := gzip.NewWriter(&gz)
	g.Write(plain)
	g.Close()
	z, _ := zstd.NewWriter(&zst)
	z.Write(plain)
	z.Close()
	for name, b := range map[string][]byte{"plain.tar": plain, "x.tar.gz": gz.Bytes(), "x.tar.zst": zst.Bytes(), "named-wrongly.txt": zst.Bytes()} {
		s := openTree(t, writeFile(t, name, string(b))).First()
		wantFile(t, s, "/proc/self", "host1/root/proc/stat")
		if out, err := s.ReadExtra("cmd/dmesg"); err != nil || string(out) != "host1/cmd/dmesg" {
			t.Errorf("%s: cmd/dmesg %q, %v", name, out, err)
		}
		if names, err := s.Dir("/proc/empty"); err != nil || len(names) != 0 {
			t.Errorf("%s: empty directory %v, %v", name, names, err)
		}
	}
}

// Archives of other collectors: files at their own paths, commands below sos_commands; their own links are left out.
func TestForeignArchives(t *testing.T) {
	sos := tarOf(t, file("sosreport-db7-2026/version.txt"), file("sosreport-db7-2026/proc/stat"), file("sosreport-db7-2026/sos_commands/networking/ethtool_-c_eth0"),
		file("sosreport-db7-2026/sos_commands/pci/lspci_-nnvv"), file("sosreport-db7-2026/sos_commands/kernel/dmesg"),
		link("sosreport-db7-2026/proc/link", "stat"), link("sosreport-db7-2026/dmesg", "sos_commands/kernel/dmesg"), link("sosreport-db7-2026/etc/out", "/usr/lib/x"))
	s := openTree(t, writeFile(t, "sos.tar", string(sos))).First()
	wantFile(t, s, "/proc/link", "sosreport-db7-2026/proc/stat")
	if names, _ := s.DirExtra("cmd"); strings.Join(names, " ") != "dmesg ethtool-c-eth0 lspci-vvv" {
		t.Errorf("commands %q", names)
	}
	snapshot := tarOf(t, file("sysinfo-snapshot-v3.7-x/commands_txt_output/interrupts"), file("sysinfo-snapshot-v3.7-x/pcie_files/lspci_vvvxxxxx"), file("sysinfo-snapshot-v3.7-x/x.html"))
	s = openTree(t, writeFile(t, "sysinfo.tgz", string(snapshot))).First()
	wantFile(t, s, "/proc/interrupts", "sysinfo-snapshot-v3.7-x/commands_txt_output/interrupts")
	if _, err := s.ReadExtra("cmd/lspci-vvv"); err != nil {
		t.Error(err)
	}
}

func TestHostileArchives(t *testing.T) {
	ok := file("root/proc/stat")
	for _, c := range []struct {
		name    string
		archive []byte
		want    string // part of the error, with the entry's name
	}{
		{"absolute path", tarOf(t, ok, file("/etc/passwd")), `"/etc/passwd": absolute path`},
		{"dot dot", tarOf(t, ok, file("root/../../evil")), `"root/../../evil": path that goes up`},
		{"absolute link", tarOf(t, ok, link("root/proc/x", "/etc/passwd")), `"proc/x": link to the absolute path "/etc/passwd"`},
		{"link out of the tree", tarOf(t, ok, link("root/proc/x", "../../secret")), `"proc/x": link out of the tree`},
		{"link from root/ to its neighbours", tarOf(t, ok, link("root/x", "../cmd/dmesg")), `"x": link out of the tree`},
		{"empty link", []byte("-- root/proc/x --\n-- root/proc/y ->  --\n"), "link without a target"},
		{"device node", tarOf(t, ok, tar.Header{Name: "root/dev/sda", Typeflag: tar.TypeBlock}), `"root/dev/sda": neither file`},
		{"fifo", tarOf(t, ok, tar.Header{Name: "root/proc/fifo", Typeflag: tar.TypeFifo}), `"root/proc/fifo": neither file`},
		{"hard link", tarOf(t, ok, tar.Header{Name: "root/proc/hard", Typeflag: tar.TypeLink, Linkname: "root/proc/stat"}), `"root/proc/hard": neither file`},
		{"file and directory", tarOf(t, ok, file("root/proc/stat/x")), "both a file and a directory"},
		{"directory and file", tarOf(t, file("root/proc/a/b"), file("root/proc/a")), "both a directory and a file"},
		{"4 GiB file", hugeHeader(t, 4<<30), `"root/proc/huge": 4294967296 bytes`},
		{"cut off", tarOf(t, ok, file("root/proc/b"))[:1200], "unexpected EOF"},
		{"xz", []byte("\xfd7zXZ\x00 and more"), "xz"},
		{"neither", []byte("hello"), "neither a tar archive"},
		{"empty", nil, "neither a tar archive"},
		{"no root", tarOf(t, file("a/b/c")), "neither root/"},
		{"txtar dot dot", []byte("-- root/proc/x --\n-- ../evil --\n"), `"../evil": path that goes up`},
		{"txtar link out", []byte("-- host/root/proc/x --\n-- host/root/sys/class/net/eth0 -> ../../../../../etc --\n"), `link out of the tree`},
		{"txtar bad hex", []byte("-- root/proc/x --\n-- root/dev/y.hex --\n0g\n"), `"root/dev/y.hex"`},
		{"NUL in a name", []byte("-- root/proc/x\x00y --\n"), "NUL"},
	} {
		_, err := Open(writeFile(t, "x", string(c.archive)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// hugeHeader is an archive that says it holds a large file, without the file.
func hugeHeader(t *testing.T, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "root/proc/huge", Typeflag: tar.TypeReg, Size: size, Format: tar.FormatGNU}); err != nil {
		t.Fatal(err)
	}
	return append(b.Bytes(), make([]byte, 4096)...)
}

// endless writes an archive of n files of a size, made as it is read.
func endless(n int, size int64) io.Reader {
	r, w := io.Pipe()
	go func() {
		tw := tar.NewWriter(w)
		var err error
		for i := 0; i < n && err == nil; i++ {
			err = tw.WriteHeader(&tar.Header{Name: fmt.Sprintf("root/proc/%d", i), Typeflag: tar.TypeReg, Size: size})
			if err == nil && size > 0 {
				_, err = io.CopyN(tw, zeros{}, size)
			}
		}
		w.CloseWithError(errors.Join(err, io.EOF))
	}()
	return r
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

func TestArchiveLimits(t *testing.T) {
	if _, err := readTar(endless(1_000_000, 0)); !errors.Is(err, errTooLarge) || !strings.Contains(err.Error(), "300000 entries") {
		t.Errorf("a million entries: %v", err)
	}
	var used budget
	var err error
	for i := 0; err == nil && i < 100; i++ {
		err = used.take(fmt.Sprintf("root/proc/%d", i), 60<<20)
	}
	if !errors.Is(err, errTooLarge) || !strings.Contains(err.Error(), `"root/proc/4"`) || !strings.Contains(err.Error(), "in all") {
		t.Errorf("6 GB in all: %v", err)
	}
}

// A zstd bomb unpacks to much more than it is; what counts is what comes out.
func TestCompressedBomb(t *testing.T) {
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(z, endless(1_000_000, 0), 160<<20); err != nil {
		t.Fatal(err)
	}
	z.Close()
	if b.Len() > 20<<20 {
		t.Fatalf("no bomb: %d bytes", b.Len())
	}
	if _, err := readArchive(&b); !errors.Is(err, errTooLarge) {
		t.Errorf("%v", err)
	}
}

// dirTree writes a small host tree and returns its directory.
func dirTree(t *testing.T, extra map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"root/proc/stat": "cpu 1 2 3 4\n", "root/proc/version": "x"}
	for name, text := range extra {
		files[name] = text
	}
	for name, text := range files {
		p := filepath.Join(dir, "host", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "host")
}

func TestDirectories(t *testing.T) {
	one := dirTree(t, map[string]string{"cmd/dmesg": "log"})
	two := dirTree(t, map[string]string{"times.json": `{"t0": 1, "t1": 3}`, "t1/proc/stat": "later", "ethtool/eth0.json": "{}"})
	for _, name := range []string{one, filepath.Dir(one), filepath.Join(one, "root")} {
		tree := openTree(t, name)
		wantFile(t, tree.First(), "/proc/stat", "cpu 1 2 3 4\n")
		if _, ok := tree.Second(); ok {
			t.Errorf("%s has a second sample", name)
		}
	}
	tree := openTree(t, filepath.Dir(two))
	later, ok := tree.Second()
	if !ok || later.TimeS != 3 {
		t.Fatal("no second sample")
	}
	wantFile(t, later, "/proc/stat", "later")
	wantFile(t, later, "/proc/version", "x")
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("an empty directory is a tree")
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("nothing is a tree")
	}
}

// A directory may hold anything: links out of it, a fifo that blocks, files nobody may read. Each is a reason, not a failure.
func TestOddDirectories(t *testing.T) {
	for name, extra := range map[string]map[string]string{"one sample": nil, "two samples": {"times.json": `{"t0": 1, "t1": 3}`, "t1/proc/stat": "later"}} {
		host := dirTree(t, extra)
		secret := writeFile(t, "secret", "secret")
		err := errors.Join(os.Symlink(secret, filepath.Join(host, "root/proc/abs")), os.Symlink("../../times.json", filepath.Join(host, "root/proc/up")),
			os.Symlink("loop", filepath.Join(host, "root/proc/loop")), syscall.Mkfifo(filepath.Join(host, "root/proc/fifo"), 0o644))
		if err != nil {
			t.Fatal(err)
		}
		s := openTree(t, host).First()
		if d, ok := s.tree.(dirFS); ok {
			checkConfined(t, name+", without openat2", &Source{tree: dirFS{root: d.root}})
		}
		checkConfined(t, name, s)
	}
}

func checkConfined(t *testing.T, name string, s *Source) {
	t.Helper()
	wantFile(t, s, "/proc/stat", "cpu 1 2 3 4\n")
	if !s.Exists("/proc/version") || s.Exists("/proc/up") || s.Exists("/proc/none") {
		t.Errorf("%s: Exists", name)
	}
	if names, err := s.Dir("/proc"); err != nil || len(names) < 6 {
		t.Errorf("%s: Dir %v, %v", name, names, err)
	}
	if l, err := s.Readlink("/proc/loop"); err != nil || l != "loop" {
		t.Errorf("%s: Readlink %q, %v", name, l, err)
	}
	if _, err := s.Real("/proc/abs"); err == nil {
		t.Errorf("%s: /proc/abs resolves", name)
	}
	for _, p := range []string{"/proc/abs", "/proc/up", "/proc/loop", "/proc/fifo", "/proc", "/proc/none", "/../../etc/passwd"} {
		if b, err := s.Read(p); err == nil {
			t.Errorf("%s: %s reads %q", name, p, b)
		}
	}
}

func TestBrokenTimes(t *testing.T) {
	for _, text := range []string{"{", `{"t0": 5, "t1": 5}`, `{"t0": 5, "t1": 1}`} {
		tree := openTree(t, dirTree(t, map[string]string{"times.json": text, "t1/proc/stat": "later"}))
		if _, ok := tree.Second(); ok || len(Take(t.Context(), tree.First()).Gaps) == 0 {
			t.Errorf("%s: a second sample, or no word about it", text)
		}
	}
}

func FuzzTxtar(f *testing.F) {
	f.Add([]byte(smallTree))
	f.Add([]byte("-- root/proc/x --\n-- root/a/b -> ../proc/x --\n-- root/c.hex --\n00ff\n-- t1/a/b/c --\n"))
	f.Fuzz(func(t *testing.T, b []byte) { openFuzzed(t, b) })
}

func FuzzTar(f *testing.F) {
	f.Add(tarOf(f, file("host/root/proc/stat"), link("host/root/proc/self", "stat"), file("host/t1/proc/stat"), file("host/times.json")))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := readTar(bytes.NewReader(b))
		if err == nil && checkLinks(list) == nil {
			fromEntries("fuzz", list)
		}
	})
}

func openFuzzed(t *testing.T, b []byte) {
	list, err := readTxtar(bytes.NewReader(b))
	if err != nil || checkLinks(list) != nil {
		return
	}
	tree, err := fromEntries("fuzz", list)
	if err != nil {
		return
	}
	for _, e := range list {
		for _, s := range []*Source{tree.first, tree.second} {
			if s == nil {
				continue
			}
			s.Read(e.name)
			s.Dir("/" + e.name)
			if r, err := s.Real(e.name); err == nil && (!strings.HasPrefix(r, "/") || strings.Contains(r, "..")) {
				t.Fatalf("%q resolves to %q", e.name, r)
			}
		}
	}
}
