package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/corewise/corewise/advisor"
	"github.com/corewise/corewise/advisor/explain"
	"github.com/corewise/corewise/advisor/report"
	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile"
	"github.com/corewise/corewise/rules"
)

// judgeFlags are the flags of every command that ends in a report.
type judgeFlags struct {
	format   string
	goal     string
	targets  []string
	failOn   string
	rulesDir string
	waivers  string
	verbose  bool
}

func (f *judgeFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.format, "format", "text", "report format on stdout: "+strings.Join(report.Names(), ", "))
	fs.StringVar(&f.goal, "goal", "auto", "what the run is for: latency, throughput or auto (from the workload)")
	fs.StringArrayVar(&f.targets, "target", nil, "declared target, such as p99.9=20us, gbps=90%, loss=0.01% (repeatable)")
	fs.StringVar(&f.failOn, "fail-on", "none", "exit with 2 on a finding of this severity or above, with 3 when the verdict is not proven: "+strings.Join(severities(), ", "))
	fs.StringVar(&f.rulesDir, "rules", "", "directory with rule files that add to or replace the built-in ones")
	fs.StringVar(&f.waivers, "waivers", "", "YAML file with accepted findings (id, subject, reason, expires)")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "text report: every detail")
}

func severities() []string { return []string{"none", "info", "low", "medium", "high", "critical"} }

// judge is the checked form of judgeFlags.
type judge struct {
	format  report.Format
	name    string
	options report.Options
	goal    bench.Goal
	targets []profile.Target
	failOn  int // index into severities
	rules   *advisor.RuleSet
	waivers []advisor.Waiver
}

// check turns flags into what they name; every mistake in them is reported at once, before anything runs.
func (f judgeFlags) check() (judge, error) {
	j := judge{name: f.format, goal: bench.Goal(f.goal), failOn: slices.Index(severities(), f.failOn)}
	var errs []error
	var err error
	if j.format, err = report.Lookup(f.format); err != nil {
		errs = append(errs, fmt.Errorf("--format: %w", err))
	}
	if !slices.Contains([]bench.Goal{bench.GoalAuto, bench.GoalLatency, bench.GoalThroughput}, j.goal) {
		errs = append(errs, fmt.Errorf("--goal %q is not known; accepted: auto, latency, throughput", f.goal))
	}
	if j.failOn < 0 {
		errs = append(errs, fmt.Errorf("--fail-on %q is not known; accepted: %s", f.failOn, strings.Join(severities(), ", ")))
	}
	for _, text := range f.targets {
		t, err := profile.ParseTarget(text)
		errs, j.targets = append(errs, err), append(j.targets, t)
	}
	if j.rules, err = loadRules(f.rulesDir); err != nil {
		errs = append(errs, err)
	}
	if j.waivers, err = loadWaivers(f.waivers); err != nil {
		errs = append(errs, err)
	}
	j.options.Verbose = f.verbose
	return j, errors.Join(errs...)
}

// loadRules compiles the built-in rules and those of dir, if any.
func loadRules(dir string) (*advisor.RuleSet, error) {
	if dir == "" {
		return advisor.LoadRules(rules.FS)
	}
	st, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("--rules: %w", err)
	}
	if !st.IsDir() {
		return nil, fmt.Errorf("--rules: %s is not a directory", dir)
	}
	return advisor.LoadRules(rules.FS, os.DirFS(dir))
}

func loadWaivers(file string) ([]advisor.Waiver, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--waivers: %w", err)
	}
	return advisor.ParseWaivers(filepath.Base(file), b)
}

// answer judges the profile, prints the report and turns the verdict into an exit code. dir is the run directory, where
// messages and timeline lie; "" when there is none.
func (j judge) answer(cmd *cobra.Command, p profile.Profile, dir string) (advisor.Report, error) {
	r := j.report(p, dir)
	if err := j.print(cmd.OutOrStdout(), r); err != nil {
		return r, fmt.Errorf("write report: %w", err)
	}
	return r, j.exit(r)
}

func (j judge) report(p profile.Profile, dir string) advisor.Report {
	p.Goal = j.goalOf(p)
	if len(j.targets) > 0 {
		p.Targets = j.targets
	}
	tail, err := explainTail(dir)
	if err != nil {
		p.Notices = append(slices.Clone(p.Notices), "outliers are not explained: "+err.Error())
	}
	return advisor.Judge(p, advisor.Options{Rules: j.rules, Goal: p.Goal, Waivers: j.waivers, NowS: nowS(), Tail: tail})
}

// explainTail joins messages and timeline of a run; nil when it has none.
func explainTail(dir string) (*explain.Tail, error) {
	if dir == "" {
		return nil, nil
	}
	log, tl, ok, err := profile.LoadSamples(dir)
	if !ok || err != nil {
		return nil, err
	}
	tail := explain.Join(log.Samples, tl, explain.Options{})
	return &tail, nil
}

// goalOf prefers what the user says now over what was said when the run was recorded.
func (j judge) goalOf(p profile.Profile) bench.Goal {
	if j.goal != bench.GoalAuto || p.Goal == "" {
		return j.goal
	}
	return p.Goal
}

func (j judge) print(w io.Writer, r advisor.Report) error {
	o := j.options
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		o.Color = os.Getenv("NO_COLOR") == ""
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width >= 60 {
			o.Width = min(width, 140)
		}
	}
	return j.format(w, r, o)
}

// exit is the exit code of design: 2 finding or missed target, 3 not proven, when the user asked for a judgement at all.
func (j judge) exit(r advisor.Report) error {
	asked := j.failOn > 0 || len(r.Targets) > 0
	switch {
	case asked && (r.Verdict.Status == "missed" || j.failOn > 0 && worst(r.Findings) >= j.failOn):
		return exitFinding
	case asked && r.Verdict.Status == "not_proven":
		return exitNotProven
	}
	return nil
}

// worst is the index in severities of the most severe finding, 0 without any.
func worst(findings []advisor.Finding) int {
	w := 0
	for _, f := range findings {
		w = max(w, slices.Index(severities(), string(f.Severity)))
	}
	return w
}
