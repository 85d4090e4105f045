package advisor

import (
	"fmt"
	"strings"
	"testing"
)

// syntheticRules makes n rules of the usual shape: one third once a host, two thirds once a NIC; with tests and doc of
// the usual size, since reading them is part of loading.
func syntheticRules(n int) []string {
	var files []string
	for i := range n {
		text := strings.Replace(ringRule, "it.drops > 0", fmt.Sprintf("it.drops > %d", i), 1)
		if i%3 == 0 {
			text = fmt.Sprintf("title: Host rule\ndomain: numa\nunless: host.nodes < 2\nwhen: host.smt && host.nodes > %d\nseverity: medium\nfinding: \"${host.nodes} nodes, ${list(host.cpus)}\"\n", i)
		}
		text += "doc: |\n" + strings.Repeat("  A sentence that explains why this matters and when it does not.\n", 8) + "tests:\n" +
			strings.Repeat("  - {name: a case, facts: {host: {kind: bare, nodes: 2}, nics: [{name: eth0, ring: 512, ring_max: 4096, drops: 12, node: 0}]}, want: fires, says: [eth0]}\n", 5)
		files = append(files, fmt.Sprintf("rule-%d", i), text)
	}
	return files
}

func typicalFacts() *tFacts {
	f := &tFacts{Host: tHost{Nodes: 2, SMT: true, Kind: "bare", CPUs: []int{0, 1, 2, 3}}, Result: tResult{Unknown: unk("at_target")}}
	for i := range 4 {
		n := tNIC{Name: fmt.Sprintf("eth%d", i), Ring: 4096, RingMax: 4096, Drops: i * 100}
		if i == 3 {
			n.Unknown = unk("ring", "ring_max")
		}
		f.NICs = append(f.NICs, n)
	}
	return f
}

// BenchmarkEvaluate is one host against 250 rules, warm. The budget is 2 ms: 500 evaluations a second and core.
func BenchmarkEvaluate(b *testing.B) {
	rs := load(b, syntheticRules(250)...)
	f := typicalFacts()
	for b.Loop() {
		bd, err := rs.schema.bind(f, "latency")
		if err != nil {
			b.Fatal(err)
		}
		rs.evaluate(bd)
	}
}

// BenchmarkLoad is what every start of the program pays: reading 250 rule files, without compiling expressions.
func BenchmarkLoad(b *testing.B) {
	dir, s := ruleFiles(syntheticRules(250)...), testSchema(b)
	for b.Loop() {
		if _, err := loadRules(s, dir); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirstEvaluate is a start of the program: load, compile what is needed, evaluate one host.
func BenchmarkFirstEvaluate(b *testing.B) {
	dir, s, f := ruleFiles(syntheticRules(250)...), testSchema(b), typicalFacts()
	for b.Loop() {
		rs, err := loadRules(s, dir)
		if err != nil {
			b.Fatal(err)
		}
		bd, err := rs.schema.bind(f, "latency")
		if err != nil {
			b.Fatal(err)
		}
		rs.evaluate(bd)
	}
}

// BenchmarkCheck compiles every expression of 250 rules: rules lint and user rules.
func BenchmarkCheck(b *testing.B) {
	dir, s := ruleFiles(syntheticRules(250)...), testSchema(b)
	for b.Loop() {
		rs, err := loadRules(s, dir)
		if err != nil {
			b.Fatal(err)
		}
		if err := rs.Check(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBuiltinStart is what the built-in rules add to every start: reading them and judging one run.
func BenchmarkBuiltinStart(b *testing.B) {
	p := latencyRun()
	for b.Loop() {
		Judge(p, Options{Rules: builtin(b), Goal: "latency"})
	}
}

// BenchmarkBuiltinJudge is a further judgement with rules that are loaded: fleet and live views.
func BenchmarkBuiltinJudge(b *testing.B) {
	p, rs := latencyRun(), builtin(b)
	for b.Loop() {
		Judge(p, Options{Rules: rs, Goal: "latency"})
	}
}
