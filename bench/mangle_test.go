package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// transcriptDirs are the fixtures that adapters parse.
var transcriptDirs = []string{"pktgen", "testpmd", "perftest", "rt", "iperf3", "fio", "doca_bench", "spdk", "netlat", "kpktgen", "rtla", "xdp", "cases"}

// finiteNumber is a number of a transcript.
var finiteNumber = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)?`)

// mangled is what happens to a transcript on its way: cut off, other line ends, colours, numbers that are none.
var mangled = map[string]func([]byte) []byte{
	"first half":  func(b []byte) []byte { return b[:len(b)/2] },
	"most":        func(b []byte) []byte { return b[:len(b)*9/10] },
	"second half": func(b []byte) []byte { return b[len(b)/2:] },
	"crlf":        func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) },
	"ansi":        func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\x1b[0;31m\n\x1b[K")) },
	"nan":         func(b []byte) []byte { return replaceNumbers(b, "nan") },
	"inf":         func(b []byte) []byte { return replaceNumbers(b, "-inf") },
	"huge":        func(b []byte) []byte { return replaceNumbers(b, "99999999999999999999999999999999") },
	"exponent":    func(b []byte) []byte { return replaceNumbers(b, "1e999") },
	"negative":    func(b []byte) []byte { return replaceNumbers(b, "-7") },
	"comma":       func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("."), []byte(",")) },
	"reversed":    reverseLines,
	"binary":      func(b []byte) []byte { return append([]byte{0, 0xff, 0xfe, 0x1b, '[', '9'}, b...) },
	"interleaved": func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte(": "), []byte(": \nwarning: something else\n"))
	},
}

// replaceNumbers puts text in the place of every third number.
func replaceNumbers(b []byte, text string) []byte {
	n := 0
	return finiteNumber.ReplaceAllFunc(b, func(m []byte) []byte {
		if n++; n%3 == 0 {
			return []byte(text)
		}
		return m
	})
}

func reverseLines(b []byte) []byte {
	lines := strings.Split(string(b), "\n")
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return []byte(strings.Join(lines, "\n"))
}

// TestMangledTranscripts: whatever happened to the text, the result can be written down (no NaN, no infinity), and a
// result without numbers says why.
func TestMangledTranscripts(t *testing.T) {
	for _, dir := range transcriptDirs {
		for _, tr := range loadTranscripts(t, dir) {
			if tr.out.Mixed == nil {
				continue
			}
			for name, mangle := range mangled {
				bad := tr
				bad.out.Mixed = mangle(bytes.Clone(tr.out.Mixed))
				p := bad.parse(t)
				if err := sane(p.Result); err != nil {
					t.Errorf("%s, %s: %v", tr.path, name, err)
				}
			}
		}
	}
}

// sane checks what holds for every result.
func sane(r Result) error {
	if _, err := json.Marshal(r); err != nil {
		return err
	}
	if l, ok := r.Latency.Get(); ok {
		for i, p := range l.Percentiles {
			if p.P <= 0 || p.P > 100 || i > 0 && p.P <= l.Percentiles[i-1].P {
				return fmt.Errorf("percentiles out of order: %v", l.Percentiles)
			}
		}
	}
	if r.Metrics == nil || r.Notes == nil {
		return fmt.Errorf("a list is missing")
	}
	for _, n := range r.Notes {
		if n.Code == "" || n.Text == "" || n.Level != "info" && n.Level != "warning" && n.Level != "error" {
			return fmt.Errorf("note %+v", n)
		}
	}
	if len(r.Notes) > maxNotes {
		return fmt.Errorf("%d notes", len(r.Notes))
	}
	return nil
}

func TestNotesAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "EAL: lcore %d unavailable\n", i)
	}
	r := Testpmd{}.Parse(describe(t, "testpmd -l 0-9 -- -i"), Output{Mixed: []byte(text.String())})
	if len(r.Notes) != maxNotes || r.ParseWarnings == 0 || r.Failed == "" {
		t.Errorf("%d notes, %d warnings", len(r.Notes), r.ParseWarnings)
	}
}

// addTranscripts seeds a fuzz target with the fixtures of a directory, the long ones cut.
func addTranscripts(f *testing.F, dir string) {
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*"))
	if err != nil || len(files) == 0 {
		f.Fatal(dir, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".golden") || strings.HasSuffix(file, "ARGV") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 8<<10)])
	}
}

// fuzzAdapter parses arbitrary text as the output of a command.
func fuzzAdapter(f *testing.F, dir, line string) {
	addTranscripts(f, dir)
	argv, err := SplitShell(line)
	if err != nil {
		f.Fatal(err)
	}
	cmd := ParseCommand(argv)
	a := Identify(cmd)
	w := a.Describe(cmd)
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, out := range []Output{{Mixed: text}, {Stdout: []byte("x"), Files: map[string][]byte{"side": text}}} {
			if err := sane(a.Parse(w, out)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzPktgen(f *testing.F)     { fuzzAdapter(f, "pktgen", "pktgen -l 0-3 -a 81:00.0 -- -m [1:2].0") }
func FuzzTestpmd(f *testing.F)    { fuzzAdapter(f, "testpmd", "testpmd -l 0-3 -- --stats-period=1") }
func FuzzPerftest(f *testing.F)   { fuzzAdapter(f, "perftest", "ib_write_bw --report_gbits 192.0.2.2") }
func FuzzOslat(f *testing.F)      { fuzzAdapter(f, "rt", "oslat -c 1,2 -D 10") }
func FuzzCyclictest(f *testing.F) { fuzzAdapter(f, "rt", "cyclictest -t2 -a0-1 -h 60") }
func FuzzIperf3(f *testing.F)     { fuzzAdapter(f, "iperf3", "iperf3 -c 192.0.2.2 -J") }
func FuzzFio(f *testing.F)        { fuzzAdapter(f, "fio", "fio --name=a --rw=randrw --output-format=json") }
func FuzzDOCA(f *testing.F)       { fuzzAdapter(f, "doca_bench", "doca_bench --device mlx5_0 --core-list 2") }
func FuzzDOCAQuery(f *testing.F) {
	fuzzAdapter(f, "doca_bench", "doca_bench --query device-capabilities")
}
func FuzzSPDK(f *testing.F) {
	fuzzAdapter(f, "spdk", "bdevperf -m 0x6 -q 64 -o 4096 -w randread -t 10")
}
func FuzzNetperf(f *testing.F) { fuzzAdapter(f, "netlat", "netperf -H 192.0.2.2 -t TCP_RR") }
func FuzzQperf(f *testing.F)   { fuzzAdapter(f, "netlat", "qperf 192.0.2.2 tcp_lat") }
func FuzzKernelPktgen(f *testing.F) {
	fuzzAdapter(f, "kpktgen", "pktgen_sample01_simple.sh -i eth0")
}
func FuzzRTLA(f *testing.F)     { fuzzAdapter(f, "rtla", "rtla timerlat hist -c 0-1") }
func FuzzXDPBench(f *testing.F) { fuzzAdapter(f, "xdp", "xdp-bench drop eth0 -i 1") }

func FuzzOVS(f *testing.F) {
	addTranscripts(f, "ovs")
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, p := range ovsParsers {
			if _, err := json.Marshal(p.parse(text)); err != nil {
				t.Fatal(p.part, err)
			}
		}
		OVSStatsDelta(ParseOVSStats(text), ParseOVSStats(text))
	})
}

func FuzzPortMap(f *testing.F) {
	for _, s := range []string{"[1:2-17].0", "[2/4/6:8-10].0", "{33:34-37}.0,[40-43].1", "1.[0-1]", "[1,2].0", "1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		maps, err := ParsePortMap(text)
		if err == nil && len(maps) == 0 {
			t.Fatal("no map and no error")
		}
		for _, m := range maps {
			if len(m.Rx) == 0 || len(m.Tx) == 0 || m.Port < 0 || m.Port > maxPktgenPort {
				t.Fatalf("%+v", m)
			}
		}
		portableMap(text)
	})
}

func FuzzLcores(f *testing.F) {
	for _, s := range []string{"0-3", "1,2@(5-7),(3-5)@(0,2),(0,6),7-8", "((1", "0@128"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lcores, err := ParseLcores(text)
		for i, l := range lcores {
			if err != nil || len(l.CPUs) == 0 || i > 0 && lcores[i-1].ID >= l.ID {
				t.Fatalf("%+v %v", lcores, err)
			}
		}
	})
}

// FuzzArgv describes arbitrary command lines with every adapter.
func FuzzArgv(f *testing.F) {
	for _, dir := range transcriptDirs {
		if table, err := os.ReadFile(filepath.Join("testdata", dir, "ARGV")); err == nil {
			for line := range strings.Lines(string(table)) {
				_, cmd, _ := strings.Cut(strings.TrimSpace(line), "\t")
				f.Add(cmd)
			}
		}
	}
	f.Add(`pktgen -l 32–46 —socket-mem “0,1024” -c ff -S 1 -- -m “[33:34–37].0” -m`)
	f.Fuzz(func(t *testing.T, line string) {
		argv, err := SplitShell(line)
		if err != nil {
			return
		}
		cmd := ParseCommand(argv)
		for _, a := range []Adapter{Pktgen{}, Testpmd{}, Perftest{}, Oslat{}, Cyclictest{}, Iperf3{}, Fio{}, XDPBench{}, DOCABench{}, SPDK{}, Netperf{}, Qperf{}, KernelPktgen{}, RTLA{}} {
			w := a.Describe(cmd)
			if _, err := json.Marshal(w); err != nil {
				t.Fatal(a.Name(), err)
			}
			for _, r := range w.Roles {
				if r.Count < 0 {
					t.Fatalf("%s: %+v", a.Name(), r)
				}
			}
		}
	})
}
