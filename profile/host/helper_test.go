package host

import (
	"strings"
	"testing"
)

// sourceOf makes a source of txtar entries below root/, such as "-- proc/stat --". proc/x is added so that it
// is never empty.
func sourceOf(t testing.TB, text string) *Source {
	t.Helper()
	list, err := readTxtar(strings.NewReader("-- proc/x --\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		list[i].name = "root/" + list[i].name
	}
	tree, err := fromEntries("test", list)
	if err != nil {
		t.Fatal(err)
	}
	return tree.First()
}

// readAreas reads some areas of a source.
func readAreas(s *Source, areas ...func(*Source, *Host)) Host {
	var h Host
	for _, read := range areas {
		read(s, &h)
	}
	return h
}
