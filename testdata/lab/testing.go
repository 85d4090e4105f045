package lab

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Debian fetches Debian's standard kernel, or fails the test.
func Debian(tb testing.TB) Kernel {
	tb.Helper()
	cache, err := CacheDir()
	if err != nil {
		tb.Fatal(err)
	}
	k, err := FetchKernel(tb.Context(), cache, "linux-image-amd64")
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

// Self is this test's own program where a lab machine sees it.
func Self(tb testing.TB) string {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(VisibleDir(tb), "program")
	if err := os.WriteFile(path, program, 0o755); err != nil {
		tb.Fatal(err)
	}
	return path
}

// VisibleDir is a directory that a lab machine sees, for any user: below /tmp and /run it has file systems of its own.
func VisibleDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "corewise-lab-*")
	if err := errors.Join(err, os.Chmod(dir, 0o755)); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
