package bench

import (
	"os"
	"os/exec"
	"testing"
)

// TestDOCAStandIn runs a stand-in that replays a capture: command line to result, help first.
func TestDOCAStandIn(t *testing.T) {
	cmd := ParseCommand([]string{"env", "STANDIN_CAPTURE=testdata/doca_bench/throughput_multi_core_numa_skew.txt", "testdata/standin/doca_bench",
		"--device", "03:00.0", "--pipeline-steps", "doca_dma", "--core-list", "2,18", "--run-limit-seconds", "10", "--duration", "10"})
	a := Identify(cmd)
	prober, ok := a.(HelpProber)
	if !ok {
		t.Fatal("doca_bench is asked for its help first")
	}
	help, err := exec.Command(cmd.Program, prober.HelpArgs()...).Output()
	if err != nil {
		t.Skip("no shell here: ", err)
	}
	w := prober.JudgeOptions(a.Describe(cmd), help)
	if !hasCode(w.Notes, "doca-unknown-option", "option", "--duration") || hasCode(w.Notes, "doca-unknown-option", "option", "--device") {
		t.Errorf("%+v", w.Notes)
	}
	run := exec.Command(cmd.Program, cmd.Args...)
	run.Env = append(os.Environ(), "STANDIN_CAPTURE="+cmd.Env["STANDIN_CAPTURE"])
	out, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	r := a.Parse(w, Output{Stdout: out})
	if r.Failed != "" || !hasCode(r.Notes, "doca-thread-skew", "slow_core", "18") || r.DurationS.Or(0) != 10.000094 {
		t.Errorf("%+v", r)
	}
}

func TestDOCAHelpJudges(t *testing.T) {
	w := describe(t, "doca_bench --device mlx5_0 --pipeline doca_sha --core-list 2 --threads-per-core 1")
	help := []byte("usage: doca_bench [--device D] [--pipeline P]\n  --core-list L, --mode M\n  --query\n  --version")
	got := DOCABench{}.JudgeOptions(w, help)
	if hasCode(got.Notes, "doca-unknown-option", "option", "--pipeline") {
		t.Error("the program lists --pipeline: it is the judge")
	}
	if !hasCode(got.Notes, "doca-unknown-option", "option", "--threads-per-core") {
		t.Error("an option that the program does not list")
	}
	if same := (DOCABench{}).JudgeOptions(w, []byte("Segmentation fault")); len(same.Notes) != len(w.Notes) {
		t.Error("no help, no judgement")
	}
}

func TestDOCACSVCells(t *testing.T) {
	for text, want := range map[string]float64{
		"043.426 Gib/s": 43.426 * (1 << 30), "1 Gb/s": 1e9, "2 kb/s": 2000, "1 KiB/s": 8192, "3 B/s": 24, "001.423 MOperations/s": 1423000, "7 Operations/s": 7,
	} {
		if got := docaCell(map[string]string{"c": text}, "c", 1).Or(-1); got < want*0.999999 || got > want*1.000001 {
			t.Errorf("%s: %g, want %g", text, got, want)
		}
	}
	for _, text := range []string{"-", "", "nan Gib/s", "1 parsec", "1 Xib/s", "12"} {
		if v := docaCell(map[string]string{"c": text}, "c", 1); v.Ok() || v.Why() == "" {
			t.Errorf("%q: %v", text, v)
		}
	}
}
