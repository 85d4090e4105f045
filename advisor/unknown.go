package advisor

import (
	"cmp"
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// The trail of an unknown value carries "path NUL reason". A field's path begins with '@' and its struct type, because
// the value does not know by which list it was reached; missing puts the list's name there.
const (
	trailSep   = "\x00"
	trailField = "@"
)

func unknownField(st *structType, f *field, why string) *types.Unknown {
	return types.NewUnknown(f.id, types.NewAttributeTrail(trailField+st.name+trailSep+f.name+trailSep+why))
}

// unknownWhole is a group or list that could not be read at all. id must differ from the fields' ids: it is negative.
func unknownWhole(g *group, why string) *types.Unknown {
	return types.NewUnknown(-1-int64(g.index), types.NewAttributeTrail(g.name+trailSep+why))
}

// missing lists the facts that made v unknown, sorted by path. each is the list bound to `it`, nil if none.
func (s *schema) missing(v ref.Val, each *group) []MissingFact {
	u, ok := v.(*types.Unknown)
	if !ok {
		return nil
	}
	var out []MissingFact
	for _, id := range u.IDs() {
		trails, _ := u.GetAttributeTrails(id)
		for _, t := range trails {
			out = append(out, s.missingFact(t.Variable(), each))
		}
	}
	return dedupMissing(out)
}

func (s *schema) missingFact(trail string, each *group) MissingFact {
	path, why, _ := strings.Cut(trail, trailSep)
	typeName, isField := strings.CutPrefix(path, trailField)
	if !isField {
		return MissingFact{Path: path, Reason: why}
	}
	name, why, _ := strings.Cut(why, trailSep)
	return MissingFact{Path: s.groupOf(typeName, each) + "." + name, Reason: why}
}

// groupOf names the group or list of a struct type; `it` wins where a type is used by several lists.
func (s *schema) groupOf(typeName string, each *group) string {
	if each != nil && each.typ.name == typeName {
		return each.name
	}
	for _, g := range append(slices.Clone(s.groups), s.lists...) {
		if g.typ.name == typeName {
			return g.name
		}
	}
	return typeName
}

func dedupMissing(facts []MissingFact) []MissingFact {
	slices.SortFunc(facts, func(a, b MissingFact) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Reason, b.Reason))
	})
	return slices.Compact(facts)
}
