package advisor

import (
	"slices"

	"github.com/corewise/corewise/bench"
)

// Rule is one piece of knowledge: when it applies, what it says, what to do. It is immutable and safe for concurrent use.
type Rule struct {
	ID         string       `json:"id"`
	Title      string       `json:"title"`
	Domain     string       `json:"domain"`
	Severity   Severity     `json:"severity"` // the highest it may have
	Tier       int          `json:"tier"`
	Goals      []bench.Goal `json:"goals"` // empty: both
	Stage      Stage        `json:"stage"`
	Structural string       `json:"structural,omitempty"` // condition under which configuration alone is enough
	DependsOn  []string     `json:"depends_on"`
	Sources    []string     `json:"sources"`
	Doc        string       `json:"doc"`
	File       string       `json:"file"` // as loaded

	spec       spec                     // tests left out: see complete
	complete   func() (*Rule, Problems) // the rule with its tests
	src        *source
	each       *group // nil: evaluated once
	eachName   text
	subject    *expr
	structural *expr // nil: never
	unless     []*expr
	when       *expr
	severity   []severityCase
	evidence   []evidenceCase
	explains   *expr
	finding    *template
	effect     *template
	remedy     remedyTexts
}

type severityCase struct {
	when *expr // nil: always
	is   Severity
}

type evidenceCase struct {
	when       *expr // nil: always
	text       *template
	supports   bool
	measured   bool
	correlated bool
}

type remedyTexts struct {
	actions                    []actionCase
	run, persist, undo, verify *template
	risk, choice               *template
	reboot                     string
}

// Stage is a rule's place in the order of root causes: what lies higher explains what lies lower.
type Stage int

// The stages, highest first (knowledge: a hard ceiling cannot be tuned away, a wrong node outweighs any interrupt).
const (
	StageValidity     Stage = iota // the run itself: failed, too short, wrong arguments
	StageCeiling                   // PCIe, link, NIC packet rate, cloud allowance, pause frames
	StagePlacement                 // node, CPU 0, SMT, two threads on one CPU, memory policy
	StageInterference              // interrupts, preemption, ticks, IPIs, idle states
	StageSettings                  // NIC, driver, tool and kernel settings
	StageHygiene                   // firmware settings and versions
)

// stageNames are the words of a rule file, in order.
var stageNames = []string{"validity", "ceiling", "placement", "interference", "settings", "hygiene"}

// String returns the stage's word.
func (s Stage) String() string {
	if s < 0 || int(s) >= len(stageNames) {
		return "settings"
	}
	return stageNames[s]
}

// domains maps each domain to the stage of its rules; a rule may say otherwise with `stage`.
var domains = map[string]Stage{
	"bench": StageValidity, "pcie": StageCeiling,
	"numa": StagePlacement, "scheduler": StagePlacement,
	"irq": StageInterference, "isolation": StageInterference, "power": StageInterference, "kernel": StageInterference, "virt": StageInterference,
	"nic": StageSettings, "memory": StageSettings, "sockperf": StageSettings, "dpdk": StageSettings, "doca": StageSettings, "ovs": StageSettings, "storage": StageSettings,
	"bios": StageHygiene,
}

// MarshalText implements encoding.TextMarshaler.
func (s Stage) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// appliesTo reports whether the rule is evaluated for a goal; an undecided goal takes all rules.
func (r *Rule) appliesTo(goal bench.Goal) bool {
	return len(r.Goals) == 0 || goal == bench.GoalAuto || goal == "" || slices.Contains(r.Goals, goal)
}

// exprs lists every expression of the rule.
func (r *Rule) exprs() []*expr {
	out := append([]*expr{r.subject, r.when, r.explains, r.structural}, r.unless...)
	for _, s := range r.severity {
		out = append(out, s.when)
	}
	texts := []*template{r.finding, r.effect, r.remedy.run, r.remedy.persist, r.remedy.undo, r.remedy.verify, r.remedy.risk, r.remedy.choice}
	for _, e := range r.evidence {
		out, texts = append(out, e.when), append(texts, e.text)
	}
	for _, a := range r.remedy.actions {
		out = append(out, a.exprs()...)
	}
	for _, t := range texts {
		if t != nil {
			out = append(out, t.exprs()...)
		}
	}
	return slices.DeleteFunc(out, func(e *expr) bool { return e == nil })
}
