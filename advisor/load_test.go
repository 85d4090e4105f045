package advisor

import (
	"strings"
	"testing"
)

// TestProblemsHavePositions: every fault of every file at once, where it stands, with a hint.
func TestProblemsHavePositions(t *testing.T) {
	head := "title: t\ndomain: nic\nseverity: low\nfinding: f\n"
	for _, c := range []struct{ name, file, want string }{
		{"undefined field", head + "when: host.nodez == 2", "a.yaml:5:11: undefined field 'nodez'; did you mean nodes?"},
		{"undefined field of it", head + "each: nics\nsubject: it.name\nwhen: it.rings > 0", "a.yaml:7:9: undefined field 'rings'; did you mean ring"},
		{"undeclared group", head + "when: hosts.nodes == 2", "a.yaml:5:7: undeclared reference to 'hosts'; did you mean host?"},
		{"it without each", head + "when: it.name == ''", "`it` needs `each`"},
		{"has", head + "when: has(host.nodes)", "has() is not needed"},
		{"not a bool", head + "when: host.nodes", "a.yaml:5:7: want bool, have int"},
		{"wrong types", head + "when: host.kind > 3", "found no matching overload for '_>_' applied to '(string, int)'"},
		{"integer division", head + "when: host.nodes / 2 > 0", "a.yaml:5:18: int / int truncates"},
		{"no such list", head + "each: nic\nsubject: it.name\nwhen: 'true'", `a.yaml:5:7: each: no list of facts is named "nic"; did you mean nics`},
		{"each without subject", head + "each: nics\nwhen: 'true'", "subject (needed with each) is missing"},
		{"unknown key", head + "whn: 'true'\nwhen: 'true'", `a.yaml:5:1: unknown key "whn"; did you mean when?`},
		{"unknown key below", head + "when: 'true'\nremedy: {runs: x}", `a.yaml:6:10: unknown key "runs"; did you mean run?`},
		{"template", head + "when: 'true'\neffect: a ${host.nodez} b", "a.yaml:6:17: undefined field 'nodez'"},
		{"template in a block", head + "when: 'true'\neffect: |\n  first\n  then ${host.nodez}", "a.yaml:8:14: undefined field 'nodez'"},
		{"template folded", head + "when: 'true'\neffect: >-\n  first\n\n  then\n  ${host.nodez}", "a.yaml:10:9: undefined field 'nodez'"},
		{"template quoted", head + "when: 'true'\neffect: \"a \\\"q\\\" ${host.nodez}\"", "a.yaml:6:24: undefined field 'nodez'"},
		{"template open", head + "when: 'true'\neffect: a ${host.nodes", "a.yaml:6:11: ${ without its }"},
		{"template type", head + "when: 'true'\neffect: ${nics}", "want string, number, bool or a list of these"},
		{"second line of an expression", head + "when: >-\n  host.nodes == 2 &&\n  host.nodez == 2", "a.yaml:7:7: undefined field 'nodez'"},
		{"two faults", head + "when: host.a == 1 && host.b == 2", "a.yaml:5:26: undefined field 'b'"},
		{"severity", strings.Replace(head, "low", "bad", 1) + "when: 'true'", `a.yaml:3:11: severity "bad" is not`},
		{"severities ascend", strings.Replace(head, "low", "[{when: host.smt, is: low}, {is: high}]", 1) + "when: 'true'", "a.yaml:3:44: severities must descend"},
		{"last severity conditional", strings.Replace(head, "low", "[{when: host.smt, is: low}]", 1) + "when: 'true'", "the last must have none"},
		{"domain", strings.Replace(head, "nic", "nick", 1) + "when: 'true'", `a.yaml:2:9: domain "nick" is not known; did you mean nic?`},
		{"goal", head + "when: 'true'\ngoals: [speed]", `a.yaml:6:9: goal "speed" is not latency or throughput`},
		{"action kind", head + "when: 'true'\nremedy: {actions: [{kind: irq-afinity}]}", `a.yaml:6:27: unknown kind of action "irq-afinity"; did you mean irq-affinity?`},
		{"action field", head + "when: 'true'\nremedy: {actions: [{kind: irq-affinity, irq: '3'}]}", "a.yaml:6:27: irq-affinity needs cpus"},
		{"action type", head + "when: 'true'\nremedy: {actions: [{kind: irq-affinity, irq: host.kind, cpus: host.cpus}]}", "a.yaml:6:46: want int, have string"},
		{"action for", head + "when: 'true'\nremedy: {actions: [{kind: irq-affinity, for: host.flags, irq: x, cpus: host.cpus}]}", "want int, have string"},
		{"reboot", head + "when: 'true'\nremedy: {reboot: maybe}", `reboot "maybe" is not one of`},
		{"depends on nothing", head + "when: 'true'\ndepends_on: [b]", `a.yaml:6:14: depends_on: no rule is named "b"`},
		{"depends on itself", head + "when: 'true'\ndepends_on: [a]", "a.yaml:6:14: depends_on: a depends on a in turn"},
		{"twice", head + "when: 'true'\nwhen: 'false'", `a.yaml:6:1: "when" stands twice`},
		{"alias", head + "when: &x 'true'\neffect: *x", "a.yaml:5:7: anchors and aliases are not accepted"},
		{"broken YAML", head + "when: [", "a.yaml:5:1: did not find expected node content"},
		{"empty", "", "a.yaml:1:1: the file is empty"},
		{"no mapping", "- a", "a.yaml:1:1: want a mapping, have a list"},
		{"bad regexp", head + "when: host.kind.matches('(')", "a.yaml:5:25: invalid matches argument"},
		{"huge file", head + "when: 'true'\ndoc: " + strings.Repeat("x", maxFileBytes), "not a regular file of at most 131072 bytes"},
		{"deep file", head + "when: 'true'\ndoc: " + strings.Repeat("[", 60) + strings.Repeat("]", 60), "nested deeper than 24 levels"},
		{"long expression", head + "when: " + strings.Repeat("host.smt && ", 400) + "host.smt", "a.yaml:5:7: expression code point size exceeds limit"},
		{"deep expression", head + "when: " + strings.Repeat("(", 200) + "true" + strings.Repeat(")", 200), "a.yaml:5:"},
		{"many nodes", head + "when: host.nodes in [" + strings.Repeat("1,", 1500) + "1]", "a.yaml:5:"},
		{"nested loops", head + "when: nics.exists(a, nics.exists(b, nics.exists(c, a.name + b.name == c.name)))", "comprehension exceeds nesting limit"},
		{"slow for each", head + "each: nics\nsubject: it.name\nwhen: nics.exists(a, nics.exists(b, a.name + b.name == it.name))", "could cost"},
		{"slow expression", head + "when: nics.exists(a, nics.exists(b, (a.name + b.name).matches('(a+)+b') && (a.name + b.name).matches('(c+)+d')))", "could cost"},
	} {
		rs, err := loadRules(testSchema(t), ruleFiles("a", c.file))
		if err == nil {
			err = rs.Check()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestAllFilesAtOnceAndReplacing(t *testing.T) {
	s := testSchema(t)
	_, err := loadRules(s, ruleFiles("a", "title: t", "b", "domain: x", "C", "x"))
	for _, want := range []string{"a.yaml:1:1: when is missing", `b.yaml:1:9: domain "x" is not known`, "C.yaml:1:1: the file's name is the rule's id"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	good := "domain: nic\nseverity: low\nfinding: f\nwhen: 'true'\ntitle: "
	rs, err := loadRules(s, ruleFiles("a", good+"mine", "b", good+"b"), ruleFiles("a", good+"yours"))
	if err != nil || len(rs.List()) != 2 || rs.byID["a"].Title != "yours" {
		t.Errorf("replaced: %v %v", err, rs)
	}
	if _, err := rs.Rule("aa"); err == nil || !strings.Contains(err.Error(), "did you mean a") {
		t.Errorf("unknown rule: %v", err)
	}
}

func TestTemplates(t *testing.T) {
	s := testSchema(t)
	b, envs := bindFacts(t, s, &tFacts{Host: tHost{Unknown: unk("kind"), Nodes: 2, Load: 12.3456, SMT: true, CPUs: []int{0, 1, 2, 8}, Flags: []string{"a", "b"}}}), newEnvs(s)
	for in, want := range map[string]string{
		"plain":                             "plain",
		"${host.nodes} nodes":               "2 nodes",
		"${host.load}|${host.smt}":          "12.35|true",
		"${host.cpus}|${list(host.cpus)}":   "0, 1, 2, 8|0-2,8",
		"${host.flags}|${list(host.flags)}": "a, b|a, b",
		"a $${not} b":                       "a ${not} b",
		"$5 and {x}":                        "$5 and {x}",
		"${'}' + \"{\"}":                    "}{",
		"${{'a': 'b'}['a']}":                "b",
		"${host.kind} is":                   "(not known) is",
		"${pct(0.1234)} ${pct(0.0123)} ${pct(0.00012)} ${pct(0.0)} ${pct(1)}": "12 % 1.2 % 0.01 % 0 % 100 %",
		"${us(12.345)} ${us(4100.0)} ${us(2000000)}":                          "12.35 µs 4.1 ms 2 s",
		"${gbps(93.25)} ${0.004} ${1.0} ${1.5}":                               "93.25 Gb/s 0.004 1 1.5",
	} {
		src := &source{name: "t.yaml", lines: []int{0}}
		tp, p := parseTemplate(text{s: in, src: src}, envKey{}, envs)
		if p != nil {
			t.Errorf("%s: %v", in, p)
			continue
		}
		got, ok, err := tp.render(&vars{facts: b})
		if err != nil || got != want || ok == strings.Contains(want, notKnown) {
			t.Errorf("%s = %q, %v, %v; want %q", in, got, ok, err, want)
		}
	}
}

func TestActionsFromRules(t *testing.T) {
	rs := load(t, "a", `title: t
domain: irq
each: nics
subject: it.name
when: it.drops > 0
severity: low
finding: f
remedy:
  actions:
    - {kind: irq-affinity, for: it.irqs, irq: x, cpus: "'2-3'"}
    - {kind: ethtool, iface: it.name, group: "'rings'", key: "'rx'", value: it.ring_max, when: it.ring < it.ring_max}
    - {kind: kernel-cmdline, args: ["'isolcpus=' + list(host.cpus)", host.flags], reboot: "'boot'"}
    - {kind: irqbalance-ban, cpus: host.cpus}
    - {kind: irqbalance-ban, cpus: "''"}
`)
	f := tFacts{Host: tHost{CPUs: []int{2, 3}, Flags: []string{"nohz=on"}}, NICs: []tNIC{
		{Name: "eth0", Drops: 1, IRQs: []int{7, 8}, Ring: 1, RingMax: 4}, {Name: "eth1", Drops: 1, Unknown: unk("irqs", "ring"), RingMax: 4},
	}}
	var got []string
	for _, o := range rs.evaluate(bindFacts(t, rs.schema, &f)) {
		c, err := o.finding()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, said(c.Finding))
	}
	for _, want := range []string{`"irq":7,"cpus":"2-3"`, `"irq":8`, `"key":"rx","value":"4","iface":"eth0"`, `"args":["isolcpus=2-3","nohz=on"],"reboot":"boot"`, `{"kind":"irqbalance-ban","cpus":"2-3"`} {
		if !strings.Contains(got[0], want) {
			t.Errorf("no %s in\n%s", want, got[0])
		}
	}
	if strings.Count(got[0], "irqbalance-ban") != 1 {
		t.Errorf("an action without CPUs was kept:\n%s", got[0])
	}
	if strings.Contains(got[1], "irq-affinity") || strings.Contains(got[1], "ethtool") || !strings.Contains(got[1], "kernel-cmdline") {
		t.Errorf("actions with unknown values:\n%s", got[1])
	}
}
