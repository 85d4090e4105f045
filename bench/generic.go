package bench

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// Generic is the adapter of any command: how long it took, how it ended, and the numbers that Metrics pick.
type Generic struct {
	Metrics []MetricPattern
}

// MetricPattern picks one number from a command's output.
type MetricPattern struct {
	Name    string
	Pattern *regexp.Regexp
}

// ParseMetric reads NAME=REGEXP. The number is the group called "value", else the first group, else the whole match.
func ParseMetric(text string) (MetricPattern, error) {
	name, expr, ok := strings.Cut(text, "=")
	if !ok || name == "" || expr == "" {
		return MetricPattern{}, fmt.Errorf("metric %q is not NAME=REGEXP", text)
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return MetricPattern{}, fmt.Errorf("metric %s: %w", name, err)
	}
	return MetricPattern{Name: name, Pattern: re}, nil
}

// Name implements Adapter.
func (Generic) Name() string { return "command" }

// Recognise implements Adapter: every command.
func (Generic) Recognise(Command) bool { return true }

// Describe implements Adapter: only the placement by wrappers is known.
func (g Generic) Describe(cmd Command) Workload {
	role := Role{Name: "main", Data: true, Count: 1}
	if cpus, ok := cmd.Taskset.Get(); ok {
		role.CPUs, role.Fixed = cpus, true
	}
	return Workload{Kind: g.Name(), Goal: GoalAuto, Command: cmd, DataPath: "cpu", Roles: []Role{role}, Notes: cmd.Notes}
}

// Parse implements Adapter.
func (g Generic) Parse(w Workload, out Output) Result {
	r := Result{Tool: w.Command.Name(), Metrics: []Metric{}, Notes: []Note{}, DurationS: out.ElapsedS}
	if s, ok := out.ElapsedS.Get(); ok {
		r.Metrics = append(r.Metrics, Metric{Name: "elapsed_s", Value: s, Unit: "s"})
	}
	for _, m := range g.Metrics {
		r.pick(m, out.All())
	}
	if exit, ok := out.Ended.Get(); ok {
		r.Failed = exit.Failure()
	}
	if r.Failed != "" {
		r.Notes = append(r.Notes, Note{Code: "bench-failed", Level: "error", Text: r.Failed})
	}
	return r
}

// pick adds the last match of the pattern: programs print interim values first and the result at the end.
func (r *Result) pick(m MetricPattern, text []byte) {
	all := m.Pattern.FindAllSubmatch(text, -1)
	if len(all) == 0 {
		r.Notes = append(r.Notes, Note{Code: "bench-metric-absent", Level: "warning",
			Text: fmt.Sprintf("the output has nothing that matches the pattern of metric %s", m.Name), Args: map[string]string{"metric": m.Name}})
		return
	}
	last := string(all[len(all)-1][m.group()])
	v := number(strings.ReplaceAll(last, ",", ""))
	x, ok := v.Get()
	if !ok {
		r.Notes = append(r.Notes, Note{Code: "bench-metric-unparsable", Level: "warning",
			Text: fmt.Sprintf("metric %s: %s", m.Name, v.Why()), Args: map[string]string{"metric": m.Name, "value": last}})
		return
	}
	r.Metrics = append(r.Metrics, Metric{Name: m.Name, Value: x, Unit: unitOf(m.Name)})
}

func (m MetricPattern) group() int {
	if i := m.Pattern.SubexpIndex("value"); i > 0 {
		return i
	}
	return min(m.Pattern.NumSubexp(), 1)
}

// unitOf reads the unit from the end of a metric's name, "" when the name has none.
func unitOf(name string) string {
	_, last, _ := cutLast(name, "_")
	switch last {
	case "ns", "us", "ms", "s", "pct", "bytes":
		return last
	case "gbps", "mbps":
		return strings.ToUpper(last[:1]) + "b/s"
	case "mpps", "kpps", "pps":
		return last
	}
	return ""
}

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

// number reads a finite decimal number.
func number(text string) maybe.Value[float64] {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || x != x || x > 1e300 || x < -1e300 {
		return maybe.Nonef[float64]("unparsable: %.60q is not a finite number", text)
	}
	return maybe.Some(x)
}

// Failure says in words how a command failed, "" when it ended with status 0.
func (e Exit) Failure() string {
	switch {
	case e.Signal != "":
		return "ended by signal " + e.Signal
	case e.Code != 0:
		return fmt.Sprintf("ended with exit status %d", e.Code)
	}
	return ""
}
