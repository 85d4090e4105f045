package advisor

import (
	"fmt"
	"strings"
)

// notChecked lists the rules that could not be decided, one line for each rule and set of missing facts: a rule that is
// unknown for forty interfaces for the same reason is one line that names some of them.
func notChecked(outcomes []outcome) []NotChecked {
	at := map[string]int{}
	subjects := map[int][]string{}
	out := []NotChecked{}
	for _, o := range outcomes {
		if o.status != Unknown {
			continue
		}
		key := o.rule.ID
		for _, m := range o.missing {
			key += trailSep + m.Path + trailSep + m.Reason
		}
		i, seen := at[key]
		if !seen {
			i = len(out)
			at[key] = i
			out = append(out, NotChecked{Rule: o.rule.ID, Missing: o.missing})
		}
		if o.subject != "" && o.subject != "host" {
			subjects[i] = append(subjects[i], o.subject)
		}
	}
	for i, names := range subjects {
		out[i].Subject = someOf(names)
	}
	return out
}

// someOf names the first few and counts the rest.
func someOf(names []string) string {
	if n := len(names) - maxSubjects; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxSubjects], ", "), n)
	}
	return strings.Join(names, ", ")
}
