package bench

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// adapterFiles are the sources whose codes the table explains.
var adapterFiles = []string{"doca*.go", "eal*.go", "fio*.go", "iperf3*.go", "kpktgen.go", "netlat.go", "ovs*.go", "perftest*.go", "pktgen*.go", "qperf.go", "rt*.go", "rtla.go", "spdk*.go", "testpmd*.go", "xdp.go"}

var (
	emitted   = regexp.MustCompile(`(?:code: |\bnote\(|\bwarn\(|\bremark\(|MapError\{|code := |code = )"([a-z]+[0-9]*-[a-z0-9-]+)"`)
	docaTable = regexp.MustCompile("(?:`\\), |return )\"(doca-[a-z-]+)\"(?:}|, nil)")
)

func TestNoteCodesExplained(t *testing.T) {
	seen := map[string]bool{}
	for _, pattern := range adapterFiles {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, re := range []*regexp.Regexp{emitted, docaTable} {
				for _, m := range re.FindAllSubmatch(text, -1) {
					seen[string(m[1])] = true
					if NoteMeaning(string(m[1])) == "" {
						t.Errorf("%s: code %s is not in the table", file, m[1])
					}
				}
			}
		}
	}
	for code := range noteMeanings {
		if !seen[code] {
			t.Errorf("no adapter emits %s", code)
		}
	}
}
