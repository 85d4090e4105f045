package host

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/corewise/corewise/profile/maybe"
)

// treeOf makes a source of txtar entries of a whole host tree: "-- root/proc/stat --", "-- cmd/dmesg --".
func treeOf(t testing.TB, text string) *Source {
	t.Helper()
	list, err := readTxtar(strings.NewReader("-- root/proc/x --\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := fromEntries("test", list)
	if err != nil {
		t.Fatal(err)
	}
	return tree.First()
}

// is compares a value that must be present.
func is[T comparable](t testing.TB, what string, got maybe.Value[T], want T) {
	t.Helper()
	if v, ok := got.Get(); !ok || v != want {
		t.Errorf("%s = %v (missing: %q), want %v", what, v, got.Why(), want)
	}
}

// isMissing wants a missing value whose reason holds the text.
func isMissing[T any](t testing.TB, what string, got maybe.Value[T], reason string) {
	t.Helper()
	if v, ok := got.Get(); ok {
		t.Errorf("%s = %v, want it missing", what, v)
	} else if !strings.Contains(got.Why(), reason) {
		t.Errorf("%s is missing because %q, want a reason with %q", what, got.Why(), reason)
	}
}

// configOf lays words of hex digits into an otherwise empty configuration space of the given size.
func configOf(t testing.TB, size int, at map[int]string) []byte {
	t.Helper()
	b := make([]byte, size)
	for off, text := range at {
		raw, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		copy(b[off:], raw)
	}
	return b
}

// skip skips a test that this machine cannot run. In continuous integration, where it can, that is a failure.
func skip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}
