package bench

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// codeTables are the tables of codes with the sources that emit them and how a code looks there.
func codeTables() []codeTable {
	return []codeTable{
		{
			meanings: coreNoteMeanings,
			files:    []string{"command.go", "wrapper*.go", "generic.go", "run*.go", "sockperf*.go", "vma*.go", "pingpong*.go"},
			literals: []*regexp.Regexp{regexp.MustCompile(`"((?:pg|wrapper|run|bench|sockperf|vma|xlio|pingpong)-[a-z-]+[a-z])"`)},
		},
		{
			meanings: noteMeanings,
			files:    []string{"doca*.go", "eal*.go", "fio*.go", "iperf3*.go", "kpktgen.go", "netlat.go", "ovs*.go", "perftest*.go", "pktgen*.go", "qperf.go", "rt*.go", "rtla.go", "spdk*.go", "testpmd*.go", "xdp.go"},
			literals: []*regexp.Regexp{
				regexp.MustCompile(`(?:code: |\bnote\(|\bwarn\(|\bremark\(|MapError\{|code := |code = )"([a-z]+[0-9]*-[a-z0-9-]+)"`),
				regexp.MustCompile("(?:`\\), |return )\"(doca-[a-z-]+)\"(?:}|, nil)"),
			},
		},
	}
}

type codeTable struct {
	meanings map[string]string
	files    []string
	literals []*regexp.Regexp
}

// TestNoteCodesExplained compares the tables with the sources: every code that is emitted has a meaning, and every meaning
// belongs to a code that is emitted.
func TestNoteCodesExplained(t *testing.T) {
	for _, table := range codeTables() {
		emitted := map[string]bool{}
		for _, pattern := range table.files {
			files, err := filepath.Glob(pattern)
			if err != nil || len(files) == 0 {
				t.Fatal(pattern, err)
			}
			for _, file := range files {
				table.scan(t, file, emitted)
			}
		}
		for code := range table.meanings {
			if !emitted[code] {
				t.Errorf("nothing emits %s", code)
			}
		}
	}
}

func (c codeTable) scan(t *testing.T, file string, emitted map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, re := range c.literals {
		for _, m := range re.FindAllSubmatch(text, -1) {
			code := string(m[1])
			emitted[code] = true
			if NoteMeaning(code) == "" {
				t.Errorf("%s: code %s is not in the table", file, code)
			}
		}
	}
}
