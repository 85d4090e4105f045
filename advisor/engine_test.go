package advisor

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

// The tests' own vocabulary, so that the engine's tests do not depend on what facts there are.
type (
	tUnknown map[string]string
	tHost    struct {
		Unknown tUnknown `json:"-"`
		Nodes   int      `json:"nodes" doc:"NUMA nodes with CPUs"`
		SMT     bool     `json:"smt"`
		Kind    string   `json:"kind"`
		Load    float64  `json:"load"`
		CPUs    []int    `json:"cpus"`
		Flags   []string `json:"flags"`
	}
	tNIC struct {
		Unknown tUnknown `json:"-"`
		Name    string   `json:"name"`
		Node    int      `json:"node"`
		Ring    int      `json:"ring"`
		RingMax int      `json:"ring_max"`
		Drops   int      `json:"drops"`
		IRQs    []int    `json:"irqs"`
	}
	tResult struct {
		Unknown  tUnknown `json:"-"`
		AtTarget bool     `json:"at_target"`
	}
	tFacts struct {
		Unknown tUnknown `json:"-"`
		Goal    string   `json:"goal"`
		Host    tHost    `json:"host"`
		Result  tResult  `json:"result"`
		NICs    []tNIC   `json:"nics"`
		WNICs   []tNIC   `json:"workload_nics"`
	}
)

func testSchema(t testing.TB) *schema {
	t.Helper()
	s, err := newSchema(reflect.TypeFor[tFacts]())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ruleFiles makes a rules directory: name, text, name, text ...
func ruleFiles(pairs ...string) fstest.MapFS {
	dir := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		dir[pairs[i]+".yaml"] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return dir
}

func load(t testing.TB, pairs ...string) *RuleSet {
	t.Helper()
	rs, err := loadRules(testSchema(t), ruleFiles(pairs...))
	if err == nil {
		err = rs.Check()
	}
	if err != nil {
		t.Fatalf("load:\n%v", err)
	}
	return rs
}

func bindFacts(t testing.TB, s *schema, f *tFacts) *bound {
	t.Helper()
	b, err := s.bind(f, "latency")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// unk marks fields as missing because of EPERM.
func unk(fields ...string) tUnknown {
	u := tUnknown{}
	for _, f := range fields {
		u[f] = "EPERM"
	}
	return u
}

func TestThreeValuedLogicInEveryPosition(t *testing.T) {
	f := tFacts{
		Unknown: tUnknown{"workload_nics": "no workload"},
		Host:    tHost{Unknown: unk("load", "kind", "cpus"), Nodes: 2, Flags: []string{"a"}},
		NICs:    []tNIC{{Name: "eth0", Ring: 512, RingMax: 4096}, {Name: "eth1", Unknown: unk("ring", "irqs"), RingMax: 4096}},
	}
	s := testSchema(t)
	b, envs := bindFacts(t, s, &f), newEnvs(s)
	for _, c := range []struct{ expr, want string }{
		{"host.load > 1.0", "unknown host.load"},
		{"!(host.load > 1.0)", "unknown host.load"},
		{"host.nodes == 1 && host.load > 1.0", "false"},
		{"host.load > 1.0 && host.nodes == 1", "false"},
		{"host.load > 1.0 && host.nodes == 2", "unknown host.load"},
		{"host.load > 1.0 || host.nodes == 2", "true"},
		{"host.nodes == 2 || host.load > 1.0", "true"},
		{"host.load > 1.0 || host.nodes == 1", "unknown host.load"},
		{"host.load > 1.0 || host.kind == 'vm'", "unknown host.kind host.load"},
		{"host.load > 1.0 ? true : false", "unknown host.load"},
		{"host.nodes == 2 ? true : host.load > 1.0", "true"},
		{"host.nodes == 1 ? true : host.load > 1.0", "unknown host.load"},
		{"host.kind == 'vm' || host.kind != 'vm'", "unknown host.kind"},
		{"host.kind in ['vm', 'bare']", "unknown host.kind"},
		{"'vm' in [host.kind]", "unknown host.kind"},
		{"host.kind.startsWith('v')", "unknown host.kind"},
		{"'v'.startsWith(host.kind)", "unknown host.kind"},
		{"host.kind.matches('^v')", "unknown host.kind"},
		{"size(host.cpus) > 0", "unknown host.cpus"},
		{"3 in host.cpus", "unknown host.cpus"},
		{"host.cpus.exists(c, c == 3)", "unknown host.cpus"},
		{"host.cpus.all(c, c == 3)", "unknown host.cpus"},
		{"host.cpus[0] == 3", "unknown host.cpus"},
		{"host.flags.exists(x, x == 'a' || host.load > 1.0)", "true"},
		{"host.flags.exists(x, x == 'b' || host.load > 1.0)", "unknown host.load"},
		{"sets.contains(host.cpus, [1])", "unknown host.cpus"},
		{"sets.contains([1], host.cpus)", "unknown host.cpus"},
		{"list(host.cpus) == ''", "unknown host.cpus"},
		{"'%s'.format([host.kind]) == 'vm'", "unknown host.kind"},
		{"pct(host.load) == ''", "unknown host.load"},
		{"string(host.load) == ''", "unknown host.load"},
		{"[host.load] == [1.0]", "unknown host.load"},
		{"{'a': host.load}['a'] == 1.0", "unknown host.load"},
		// One element's missing value leaves the others decided.
		{"nics.exists(n, n.ring == 512)", "true"},
		{"nics.exists(n, n.ring == 1)", "unknown nics.ring"},
		{"nics.all(n, n.ring == 1)", "false"},
		{"nics.all(n, n.ring == 512)", "unknown nics.ring"},
		{"nics.all(n, n.ring_max == 4096)", "true"},
		{"nics.exists_one(n, n.ring == 512)", "unknown nics.ring"},
		{"nics.filter(n, n.ring == 512).size() == 1", "unknown nics.ring"},
		{"nics.map(n, n.ring_max) == [4096, 4096]", "true"},
		{"nics.map(n, n.ring).size() == 2", "unknown nics.ring"},
		{"nics[0].ring == 512", "true"},
		{"nics[1].ring == 512", "unknown nics.ring"},
		{"nics.exists(n, n.irqs.exists(i, i == 4))", "unknown nics.irqs"},
		// A list that is missing as a whole.
		{"workload_nics.exists(n, n.ring == 1)", "unknown workload_nics"},
		{"workload_nics.size() == 0", "unknown workload_nics"},
		{"workload_nics[0].ring == 1", "unknown workload_nics"},
		{"workload_nics.size() == 0 && host.nodes == 1", "false"},
		{"sum([host.load, 1.0]) > 0.5", "unknown host.load"},
		{"sum(host.cpus) > 0", "unknown host.cpus"},
		{"sum(nics.map(n, n.ring)) > 0", "unknown nics.ring"},
		{"sum(nics.filter(n, n.name == 'eth0').map(n, n.ring)) == 512", "true"},
		{"sum([0.25, 0.5]) == 0.75", "true"},
		// Comparisons across number types.
		{"host.nodes > 1.5", "true"},
	} {
		src, p := parseSource("t.yaml", []byte(c.expr))
		if p != nil {
			src = &source{name: "t.yaml"}
		}
		e := newExpr(text{s: c.expr, src: src}, wantBool(), envKey{}, envs)
		if ps := e.compile(); len(ps) > 0 {
			t.Errorf("%s: %v", c.expr, ps)
			continue
		}
		yes, u, err := e.truth(&vars{facts: b})
		got := "false"
		switch {
		case err != nil:
			got = err.Error()
		case u != nil:
			got = "unknown"
			for _, m := range s.missing(u, nil) {
				got += " " + m.Path
			}
		case yes:
			got = "true"
		}
		if got != c.want {
			t.Errorf("%s = %s, want %s", c.expr, got, c.want)
		}
	}
}

const ringRule = `title: Ring smaller than the hardware allows
domain: nic
each: nics
subject: it.name
unless: [it.ring_max == 0, host.kind == 'vm']
when: it.drops > 0 && it.ring < it.ring_max
severity: [{when: it.drops > 100, is: high}, {is: medium}]
structural: true
evidence:
  - {when: it.drops > 10, text: "${it.drops} drops", supports: true, measured: true}
  - {when: host.load > 2.0, text: "busy", supports: false}
finding: "${it.name} has ${it.ring} of ${it.ring_max}; load ${host.load}"
remedy:
  run: ethtool -G ${it.name} rx ${it.ring_max}
  undo: ethtool -G ${it.name} rx ${it.ring}
  verify: ethtool -g ${it.name}; load was ${host.load}
`

func TestRuleOutcomes(t *testing.T) {
	rs := load(t, "nic-ring", ringRule)
	f := tFacts{
		Host: tHost{Unknown: unk("load"), Kind: "bare"},
		NICs: []tNIC{
			{Name: "fires", Drops: 11, Ring: 512, RingMax: 4096},
			{Name: "holds", Drops: 0, Ring: 512, RingMax: 4096},
			{Name: "guarded", Drops: 5, Ring: -1},
			{Name: "unknown", Drops: 5, Unknown: unk("ring"), RingMax: 4096},
			{Name: "decided", Drops: 0, Unknown: unk("ring", "ring_max")},
			{Unknown: unk("name", "ring"), Drops: 5, RingMax: 9},
		},
	}
	var got []string
	outcomes := rs.rules[0].evaluate(bindFacts(t, rs.schema, &f), true)
	for _, o := range outcomes {
		line := o.subject + " " + string(o.status)
		for _, m := range o.missing {
			line += " " + m.Path + "=" + m.Reason
		}
		got = append(got, line)
	}
	want := []string{"fires fires", " holds", " holds", "unknown unknown nics.ring=EPERM", " holds", "nics[5] unknown nics.ring=EPERM"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	c, err := outcomes[0].finding()
	if err != nil {
		t.Fatal(err)
	}
	if c.Text != "fires has 512 of 4096; load (not known)" || c.Remedy.Run != "ethtool -G fires rx 4096" || c.Remedy.Verify != "" {
		t.Errorf("texts: %+v", c.Finding)
	}
	if c.Confidence != Measured || c.Severity != Medium || len(c.Evidence) != 1 {
		t.Errorf("finding: %+v", c.Finding)
	}
	if why := strings.Join(c.why, "; "); why != "1 piece of evidence is not available for the lack of host.load (EPERM)" {
		t.Errorf("why: %s", why)
	}
}

func TestMissingListIsOneUnknown(t *testing.T) {
	rs := load(t, "nic-ring", ringRule)
	f := tFacts{Unknown: tUnknown{"nics": "no sysfs"}}
	got := rs.evaluate(bindFacts(t, rs.schema, &f))
	if len(got) != 1 || got[0].status != Unknown || got[0].missing[0] != (MissingFact{"nics", "no sysfs"}) {
		t.Errorf("got %+v", got)
	}
}

func TestSeverityWithMissingConditionFallsToTheNext(t *testing.T) {
	rs := load(t, "a", `{title: t, domain: nic, when: "host.nodes == 2", severity: [{when: host.load > 5.0, is: critical}, {is: medium}], finding: f}`)
	c, err := rs.evaluate(bindFacts(t, rs.schema, &tFacts{Host: tHost{Nodes: 2, Unknown: unk("load")}}))[0].finding()
	if err != nil || c.Severity != Medium || !strings.Contains(strings.Join(c.why, ";"), "not critical for the lack of host.load (EPERM)") {
		t.Errorf("%v %v %v", c.Severity, c.why, err)
	}
}
