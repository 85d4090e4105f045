// Package facts turns a Profile into the typed vocabulary that rules read. Everything computed lies here: ratios, joins,
// rates and deltas are facts; a rule only compares.
//
// Conventions (they carry the three-valued logic, so keep them):
//   - Facts is a flat set of groups (structs: host, cpu, nic ...) and lists of flat structs (nics, irq_devices ...).
//     The json tag is the name in CEL, in YAML tests and in the documentation; units are in the name (_us, _gbps, _share).
//   - Field types are bool, string, int, float64, []string, []int only. No pointers, no nesting.
//   - A field whose value is not known keeps its zero value AND is named in the group's Unknown map with the reason.
//     Use take() to copy a maybe.Value, so that it cannot be forgotten.
//   - A list that could not be read at all is named in Facts.Unknown.
package facts

import "github.com/corewise/corewise/profile/maybe"

// Unknown maps the json name of a field to the reason why its value is not known.
type Unknown map[string]string

// take copies a present value into dst, or records why field is missing.
func take[T any](u *Unknown, field string, dst *T, v maybe.Value[T]) {
	if x, ok := v.Get(); ok {
		*dst = x
		return
	}
	u.miss(field, v.Why())
}

// notHeld stands for values that nobody tried to read, in samples of other versions or made by hand.
const notHeld = "the sample does not hold it"

// miss records why a field is not known.
func (u *Unknown) miss(field, why string) {
	if *u == nil {
		*u = Unknown{}
	}
	if why == "" || why == "not read" {
		why = notHeld
	}
	(*u)[field] = why
}

// reword gives values that nobody read a better reason.
func (u *Unknown) reword(why string) {
	for field, old := range *u {
		if old == notHeld {
			(*u)[field] = why
		}
	}
}
