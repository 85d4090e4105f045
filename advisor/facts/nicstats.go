package facts

import (
	"regexp"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// nicStats is the counters of one interface in both samples: ethtool -S by the driver's names.
type nicStats struct {
	v             *view
	before, after map[string]uint64
	why           string
}

func (v *view) nicStats(at nicAt) nicStats {
	s := nicStats{v: v, why: v.noRate}
	switch {
	case at.before == nil:
		s.why = "the function has no network interface, so its driver's counters are not visible"
	case !v.two:
	case at.after == nil:
		s.why = "the interface is in one sample only"
	default:
		var ok bool
		if s.before, ok = at.before.Stats.Get(); !ok {
			s.why = "ethtool -S: " + at.before.Stats.Why()
		} else if s.after, ok = at.after.Stats.Get(); !ok {
			s.why = "ethtool -S, second sample: " + at.after.Stats.Why()
		}
	}
	return s
}

// grown is the growth of one counter; missing when the driver does not have it.
func (s nicStats) grown(name string) maybe.Value[float64] {
	if s.why != "" {
		return maybe.None[float64](s.why)
	}
	return s.v.diff(counter(s.before, name, "ethtool -S"), counter(s.after, name, "ethtool -S"))
}

// any adds the growth of those counters that the driver has, and names the ones that moved.
func (s nicStats) any(names ...string) (maybe.Value[float64], string) {
	var values []maybe.Value[float64]
	var moved []string
	why := s.why
	for _, name := range names {
		d := s.grown(name)
		values = append(values, d)
		if d.Or(0) > 0 {
			moved = append(moved, name)
		}
		if _, has := s.before[name]; has && !d.Ok() {
			why = d.Why()
		}
	}
	total := sumKnown(values...)
	if !total.Ok() {
		total = maybe.None[float64](first(why, "the driver has none of "+strings.Join(names, ", ")))
	}
	return total, strings.Join(moved, ", ")
}

// matching adds the growth of all counters whose name matches.
func (s nicStats) matching(re *regexp.Regexp) (maybe.Value[float64], string) {
	var names []string
	for name := range s.before {
		if re.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return maybe.None[float64](first(s.why, "the driver has no such counter")), ""
	}
	return s.any(names...)
}

// perS turns growth into a rate.
func (v *view) rate(growth maybe.Value[float64]) maybe.Value[float64] {
	return maybe.Map(growth, func(d float64) float64 { return d / v.spanS })
}

func scaled(x maybe.Value[float64], by float64) maybe.Value[float64] {
	return maybe.Map(x, func(f float64) float64 { return f * by })
}

// largest is the largest of the values that are present.
func largest(values ...maybe.Value[float64]) maybe.Value[float64] {
	best := values[0]
	for _, v := range values[1:] {
		if x, ok := v.Get(); ok && (!best.Ok() || x > best.Or(0)) {
			best = v
		}
	}
	return best
}

// prioPauses are the counters of pause frames by priority.
func prioPauses(dir string) []string {
	names := make([]string, 8)
	for p := range names {
		names[p] = dir + "_prio" + string(rune('0'+p)) + "_pause"
	}
	return names
}
