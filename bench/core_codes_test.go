package bench

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// coreFiles are the sources whose codes coreNoteMeanings explains.
var coreFiles = []string{"command.go", "wrapper*.go", "generic.go", "run*.go", "sockperf*.go", "vma*.go", "pingpong*.go"}

// codeLiteral is a code in the source; options and file names of that form are sorted out below.
var codeLiteral = regexp.MustCompile(`"((?:pg|wrapper|run|bench|sockperf|vma|xlio|pingpong)-[a-z-]+[a-z])"`)

func TestCoreCodesExplained(t *testing.T) {
	emitted := map[string]bool{}
	for _, pattern := range coreFiles {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range codeLiteral.FindAllSubmatch(text, -1) {
				emitted[string(m[1])] = true
				if NoteMeaning(string(m[1])) == "" {
					t.Errorf("%s: code %s is not in the table", file, m[1])
				}
			}
		}
	}
	for code := range coreNoteMeanings {
		if !emitted[code] {
			t.Errorf("nothing emits %s", code)
		}
	}
}
