package host

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func TestDump(t *testing.T) {
	name := os.Getenv("DUMP")
	s := LiveSource()
	if name != "" {
		tree := openTree(t, filepath.Join("../../testdata/cases", name+".txtar"))
		s = tree.First()
	}
	h := Take(t.Context(), s)
	b, err := json.MarshalIndent(h, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", b)
}
