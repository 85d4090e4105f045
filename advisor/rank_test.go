package advisor

import (
	"slices"
	"strings"
	"testing"

	"github.com/corewise/corewise/advisor/action"
	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/cpulist"
)

// made is a candidate for the tests of ranking: rule id, stage by domain, severity, confidence.
func made(id, domain string, s Severity, c Confidence, mod ...func(*candidate)) candidate {
	r := &Rule{ID: id, Domain: domain, Stage: domains[domain], severity: []severityCase{{is: s}, {is: Info}}}
	out := candidate{rule: r, merged: 1, Finding: Finding{Rule: id, Subject: "host", Status: Fires, Severity: s, Confidence: c, Domain: domain, Title: id, Text: id}}
	if c != Configuration {
		out.Evidence = []Evidence{{Text: "seen", Supports: true, Measured: c == Measured, Correlated: c == Correlated}}
	}
	for _, m := range mod {
		m(&out)
	}
	return out
}

func structural(c *candidate) { c.structural = true }

func share(x float64) func(*candidate) { return func(c *candidate) { c.ExplainedShare = &x } }

func on(subject string) func(*candidate) { return func(c *candidate) { c.Subject = subject } }

func dependsOn(ids ...string) func(*candidate) {
	return func(c *candidate) { c.rule.DependsOn, c.DependsOn = ids, ids }
}

func does(actions ...action.Action) func(*candidate) {
	return func(c *candidate) { c.Remedy.Actions, c.Remedy.Run = actions, "run of "+c.Rule }
}

func forGoals(g ...bench.Goal) func(*candidate) { return func(c *candidate) { c.rule.Goals = g } }

func line(cs []candidate) string {
	var parts []string
	for _, c := range cs {
		s := c.Rule + ":" + string(c.Severity)
		if c.Cause != "" {
			s += "<" + c.Cause
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

func TestScoreAndCaps(t *testing.T) {
	single := func(c *candidate) { c.rule.severity = c.rule.severity[:1] }
	against := func(n int) func(*candidate) { return func(c *candidate) { c.against = n } }
	for _, c := range []struct {
		name string
		in   candidate
		at   known
		want Severity
	}{
		{"configuration only", made("a", "nic", High, Configuration), no, Low},
		{"configuration only, info stays", made("a", "nic", Info, Configuration), no, Info},
		{"structural", made("a", "nic", High, Configuration, structural), no, High},
		{"measured, listed severity", made("a", "nic", Medium, Measured), no, Medium},
		{"measured, single severity", made("a", "nic", Medium, Measured, single), no, High},
		{"never up to critical", made("a", "nic", High, Measured, single), no, High},
		{"correlated", made("a", "nic", High, Correlated, single), no, High},
		{"evidence against", made("a", "nic", High, Measured, against(1)), no, Medium},
		{"for and against", made("a", "nic", Medium, Measured, single, against(1)), no, Medium},
		{"never below info", made("a", "nic", Low, Measured, against(5)), no, Info},
		{"at target", made("a", "nic", Critical, Measured), yes, Low},
		{"at target, structural", made("a", "nic", Critical, Measured, structural), yes, Low},
		{"target not known", made("a", "nic", Critical, Measured), notTold, Critical},
	} {
		got := c.in
		got.score(judged{atTarget: c.at})
		if got.Severity != c.want {
			t.Errorf("%s: %s, want %s (%v)", c.name, got.Severity, c.want, got.why)
		}
		if got.Severity != c.in.Severity && len(got.why) == 0 {
			t.Errorf("%s: moved without saying why", c.name)
		}
	}
}

func TestRank(t *testing.T) {
	for _, c := range []struct {
		name           string
		in             []candidate
		at             known
		findings, also string
	}{
		{"severity, confidence, stage, id", []candidate{
			made("z-bios", "bios", Medium, Measured), made("b-nic", "nic", Medium, Correlated), made("a-nic", "nic", Medium, Measured), made("m-irq", "irq", High, Measured),
		}, notTold, "m-irq:high a-nic:medium z-bios:medium b-nic:medium", ""},
		{"explained share first", []candidate{
			made("big", "irq", Medium, Measured, share(0.4)), made("small", "irq", High, Measured, share(0.02)), made("none", "irq", High, Measured),
		}, notTold, "big:medium none:high small:high", ""},
		{"a run that failed comes first", []candidate{
			made("big", "irq", High, Measured, share(0.9)), made("failed", "bench", Critical, Configuration, structural),
		}, notTold, "failed:critical big:high", ""},
		{"a ceiling demotes what is below", []candidate{
			made("pcie", "pcie", Critical, Measured), made("irq", "irq", High, Measured), made("ring", "nic", Medium, Configuration, structural),
		}, no, "pcie:critical irq:medium", "ring:low"},
		{"not while the target is not known to be missed", []candidate{
			made("pcie", "pcie", Critical, Measured), made("irq", "irq", High, Measured),
		}, notTold, "pcie:critical irq:high", ""},
		{"a share of half explains by itself", []candidate{
			made("numa", "numa", Medium, Measured, share(0.6)), made("irq", "irq", High, Measured, share(0.2)),
		}, notTold, "numa:medium irq:medium", ""},
		{"a lower one with the larger share is not demoted", []candidate{
			made("numa", "numa", Medium, Measured, share(0.6)), made("irq", "irq", High, Measured, share(0.7)),
		}, notTold, "irq:high numa:medium", ""},
		{"validity explains nothing about the host", []candidate{
			made("short", "bench", High, Correlated), made("irq", "irq", High, Measured),
		}, no, "irq:high short:high", ""},
		{"configuration beside something measured", []candidate{
			made("irq", "irq", Medium, Measured), made("mtu", "nic", Medium, Configuration),
		}, no, "irq:medium", "mtu:low"},
		{"configuration alone stays", []candidate{made("mtu", "nic", Medium, Configuration), made("note", "nic", Info, Measured)}, no, "mtu:low", "note:info"},
		{"consequences are folded, chains too", []candidate{
			made("c", "irq", High, Measured, dependsOn("b")), made("b", "irq", Medium, Measured, dependsOn("a")), made("a", "irq", Medium, Configuration),
		}, notTold, "a:high", "b:high<a c:high<b"},
		{"a configuration consequence lifts nothing", []candidate{
			made("b", "irq", High, Configuration, structural, dependsOn("a")), made("a", "irq", Medium, Measured),
		}, notTold, "a:medium", "b:high<a"},
		{"no cause fired", []candidate{made("b", "irq", High, Measured, dependsOn("a"))}, notTold, "b:high", ""},
		{"at target", []candidate{made("a", "irq", Critical, Measured), made("b", "nic", Low, Configuration)}, yes, "a:low b:low", ""},
	} {
		r := rank(c.in, judged{atTarget: c.at}, bench.GoalLatency, nil, 0)
		if line(r.findings) != c.findings || line(r.also) != c.also {
			t.Errorf("%s:\n got %q also %q\nwant %q also %q", c.name, line(r.findings), line(r.also), c.findings, c.also)
		}
	}
}

func TestFoldLendsEvidenceToTheCause(t *testing.T) {
	r := rank([]candidate{
		made("irq-on-core", "irq", High, Measured, on("eth0"), dependsOn("balance"), share(0.3)),
		made("balance", "irq", Medium, Configuration, on("other")), made("balance", "irq", Medium, Configuration, on("eth0")),
	}, judged{}, bench.GoalLatency, nil, 0)
	got := r.findings[0]
	if got.Subject != "eth0" || got.Confidence != Measured || got.Severity != High || *got.ExplainedShare != 0.3 || len(got.Evidence) != 1 || !got.Evidence[0].Measured {
		t.Errorf("cause: %+v", got.Finding)
	}
	if f := got.finish(); !strings.Contains(f.Why, "raised from low to high by its consequence irq-on-core") {
		t.Errorf("why: %s", f.Why)
	}
}

func TestMergeOneFindingForDeviceAndCause(t *testing.T) {
	queue := func(text string, s Severity, irq int) candidate {
		return made("irq-far", "irq", s, Measured, on("eth0"), does(action.Action{Kind: action.IRQAffinity, IRQ: irq, CPUs: cpulist.Of(1)}), func(c *candidate) { c.Text = text })
	}
	r := rank([]candidate{queue("q0", Medium, 5), queue("q1", High, 6), queue("q2", Medium, 5), queue("q3", Medium, 7), made("irq-far", "irq", Medium, Measured, on("eth1"))}, judged{}, bench.GoalLatency, nil, 0)
	if line(r.findings) != "irq-far:high irq-far:medium" {
		t.Fatalf("got %s", line(r.findings))
	}
	f := r.findings[0].finish()
	if f.Text != "q1; q0; q2; 1 more like it" || len(f.Remedy.Actions) != 3 || len(f.Evidence) != 1 || !strings.HasSuffix(f.Remedy.Run, "\nrun of irq-far") || strings.Count(f.Remedy.Run, "smp_affinity_list") != 3 {
		t.Errorf("merged: %+v", f)
	}
}

func cmdline(args ...string) action.Action {
	return action.Action{Kind: action.KernelCmdline, Args: args}
}

func TestConflicts(t *testing.T) {
	coalesce := func(v string) action.Action {
		return action.Action{Kind: action.Ethtool, Iface: "eth0", Group: "coalesce", Key: "adaptive-rx", Value: v}
	}
	stop := action.Action{Kind: action.Service, Name: "irqbalance", Value: "stop"}
	ban := action.Action{Kind: action.IrqbalanceBan, CPUs: cpulist.Of(2, 3)}
	for _, c := range []struct {
		name      string
		in        []candidate
		kept      string // rule:number of actions
		why       string
		conflicts bool
	}{
		{"same value", []candidate{made("a", "nic", Low, Measured, does(coalesce("off"))), made("b", "nic", Low, Measured, does(coalesce("off")))}, "a:1 b:1", "", false},
		{"goal decides", []candidate{made("a", "nic", High, Measured, does(coalesce("on"))), made("b", "nic", Medium, Measured, does(coalesce("off")), forGoals(bench.GoalLatency))}, "a:0 b:1", "the goal is latency", true},
		{"severity decides", []candidate{made("a", "nic", Medium, Measured, does(coalesce("on"))), made("b", "nic", High, Measured, does(coalesce("off")))}, "b:1 a:0", "the more severe", true},
		{"a choice", []candidate{made("a", "nic", Medium, Measured, does(coalesce("on"))), made("b", "nic", Medium, Measured, does(coalesce("off")))}, "a:1 b:0", "it is a choice", true},
		{"stop and ban", []candidate{made("a", "irq", Medium, Measured, does(stop)), made("b", "irq", High, Measured, does(ban))}, "b:1 a:0", "the more severe", true},
		{"a file and a sysctl are one knob", []candidate{
			made("a", "nic", Medium, Measured, does(action.Action{Kind: action.WriteFile, Path: "/proc/sys/net/core/busy_poll", Value: "0"})),
			made("b", "nic", High, Measured, does(action.Action{Kind: action.Sysctl, Key: "net.core.busy_poll", Value: "50"})),
		}, "b:1 a:0", "the more severe", true},
		{"set and removed", []candidate{made("a", "kernel", Medium, Measured, does(cmdline("idle=poll"))), made("b", "kernel", High, Measured, does(action.Action{Kind: action.KernelCmdline, Drop: []string{"idle"}}))}, "b:1 a:0", "the more severe", true},
		{"only the action that clashes", []candidate{made("a", "nic", Medium, Measured, does(coalesce("on"), cmdline("quiet="))), made("b", "nic", High, Measured, does(coalesce("off")))}, "b:1 a:1", "the more severe", true},
		{"huge pages of two sizes", []candidate{made("a", "memory", Medium, Measured, does(cmdline("hugepagesz=1G", "hugepages=8"))), made("b", "memory", High, Measured, does(cmdline("hugepagesz=2M", "hugepages=512")))}, "b:1 a:1", "", false},
		{"governors of other CPUs", []candidate{
			made("a", "power", Medium, Measured, does(action.Action{Kind: action.Governor, CPUs: cpulist.Of(1), Value: "performance"})),
			made("b", "power", High, Measured, does(action.Action{Kind: action.Governor, CPUs: cpulist.Of(2), Value: "powersave"})),
		}, "b:1 a:1", "", false},
		{"governors of a common CPU", []candidate{
			made("a", "power", Medium, Measured, does(action.Action{Kind: action.Governor, CPUs: cpulist.Of(1, 2), Value: "performance"})),
			made("b", "power", High, Measured, does(action.Action{Kind: action.Governor, CPUs: cpulist.Of(2, 3), Value: "powersave"})),
		}, "b:1 a:0", "the more severe", true},
	} {
		r := rank(c.in, judged{}, bench.GoalLatency, nil, 0)
		var kept []string
		for _, f := range r.findings {
			kept = append(kept, f.Rule+":"+string('0'+rune(len(f.Remedy.Actions))))
			if (f.Remedy.Choice != "") != c.conflicts || !strings.Contains(f.Remedy.Choice, c.why) {
				t.Errorf("%s: %s says %q", c.name, f.Rule, f.Remedy.Choice)
			}
			if dropped := strings.HasPrefix(f.Remedy.Run, "# only instead"); dropped && len(f.Remedy.Actions) > 1 {
				t.Errorf("%s: %s is marked", c.name, f.Rule)
			}
		}
		slices.Sort(kept)
		want := strings.Split(c.kept, " ")
		slices.Sort(want)
		if !slices.Equal(kept, want) {
			t.Errorf("%s: kept %v, want %v", c.name, kept, want)
		}
	}
}

func TestNotCheckedIsOneLineForManySubjects(t *testing.T) {
	r := &Rule{ID: "ring"}
	var outcomes []outcome
	for _, s := range []string{"eth0", "eth1", "eth2", "eth3", "eth4"} {
		outcomes = append(outcomes, outcome{rule: r, status: Unknown, subject: s, missing: []MissingFact{{"nics.ring", "EPERM"}}})
	}
	outcomes = append(outcomes, outcome{rule: r, status: Unknown, subject: "eth5", missing: []MissingFact{{"nics.ring", "ENODEV"}}}, outcome{rule: r, status: Holds})
	got := notChecked(outcomes)
	if len(got) != 2 || got[0].Subject != "eth0, eth1, eth2 and 2 more" || got[1].Subject != "eth5" {
		t.Errorf("got %+v", got)
	}
}
