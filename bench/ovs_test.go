package bench

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var otherConfig = regexp.MustCompile(`(?m)^other_config +: (.*)$`)

// ovsParsers is which function reads which fixture, by what the name contains.
var ovsParsers = []struct {
	part  string
	parse func([]byte) any
}{
	{"pmd-rxq-show", func(b []byte) any { return ParseOVSRxq(b) }},
	{"pmd-stats-show", func(b []byte) any { return ParseOVSStats(b) }},
	{"pmd-perf-show", func(b []byte) any { return ParseOVSPerf(b) }},
	{"dump-flows", func(b []byte) any { f := ParseOVSFlows(b); return []any{f, OffloadOf(f)} }},
	{"dpif-show", func(b []byte) any { return ParseOVSDatapaths(b) }},
	{"dpctl-show", func(b []byte) any { return ParseOVSDatapaths(b) }},
	{"coverage", func(b []byte) any { return ParseOVSCoverage(b) }},
	{"upcall", func(b []byte) any { return ParseOVSUpcall(b) }},
	{"vswitchd-log", func(b []byte) any { return ParseOVSLog(strings.Split(string(b), "\n")) }},
	{"interface", func(b []byte) any { return ParseOVSInterface(b) }},
	{"vsctl-show", func(b []byte) any { return ParseOVSShow(b) }},
	{"other_config", func(b []byte) any { return ParseOVSMap(string(b)) }},
	{"open_vswitch", func(b []byte) any { return ParseOVSMap(firstGroup(otherConfig, string(b))) }},
}

func TestOVSGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/ovs/*.txt")
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, p := range ovsParsers {
			if found || !strings.Contains(file, p.part) {
				continue
			}
			found = true
			got, err := json.MarshalIndent(p.parse(text), "", " ")
			if err != nil {
				t.Fatal(err)
			}
			checkGolden(t, file+".golden", append(got, '\n'))
		}
		if !found {
			t.Errorf("%s: no parser", file)
		}
	}
}
