package advisor

import (
	"fmt"
	"reflect"
	"sync/atomic"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// bound is one host's facts, prepared once for all rules. It only reads the facts, so many rules may run at once.
type bound struct {
	schema *schema
	values map[string]any            // variable -> *struct, CEL list or unknown
	elems  map[string][]any          // list -> its elements as objects
	whole  map[string]*types.Unknown // groups and lists that are missing as a whole
	goal   string
	memo   []atomic.Pointer[ref.Val] // results that are the same for every element, by compiled.id
}

// bind prepares facts, a pointer to a value of the schema's type.
func (s *schema) bind(facts any, goal string) (*bound, error) {
	v := reflect.ValueOf(facts)
	if v.Kind() != reflect.Pointer || v.Type().Elem() != s.root {
		return nil, fmt.Errorf("bind facts: want *%s, have %T", s.root, facts)
	}
	v = v.Elem()
	b := &bound{schema: s, values: map[string]any{"goal": types.String(goal)}, elems: map[string][]any{}, whole: map[string]*types.Unknown{}, goal: goal}
	for _, g := range s.groups {
		b.values[g.name] = object{v.Field(g.index).Addr().Interface(), g.typ}
	}
	for _, g := range s.lists {
		b.bindList(g, v.Field(g.index))
	}
	if s.unknown >= 0 {
		b.bindMissing(v.Field(s.unknown))
	}
	return b, nil
}

func (b *bound) bindList(g *group, list reflect.Value) {
	elems := make([]any, list.Len())
	vals := make([]ref.Val, list.Len())
	for i := range elems {
		vals[i] = object{list.Index(i).Addr().Interface(), g.typ}
		elems[i] = vals[i]
	}
	b.elems[g.name] = elems
	b.values[g.name] = types.NewRefValList(types.DefaultTypeAdapter, vals)
}

func (b *bound) bindMissing(m reflect.Value) {
	for it := m.MapRange(); it.Next(); {
		if g := b.schema.byName[it.Key().String()]; g != nil {
			u := unknownWhole(g, it.Value().String())
			b.values[g.name], b.whole[g.name] = u, u
		}
	}
}

// fact returns one field of a group, for the engine's own decisions; ok is false where it is missing or does not exist.
func fact[T any](b *bound, groupName, fieldName string) (v T, ok bool) {
	g := b.schema.byName[groupName]
	if g == nil || g.list || b.whole[groupName] != nil || g.typ.byName[fieldName] == nil {
		return v, false
	}
	f := g.typ.byName[fieldName]
	s := reflect.ValueOf(b.values[groupName].(object).ptr).Elem()
	if u := g.typ.unknown; u >= 0 && s.Field(u).MapIndex(reflect.ValueOf(fieldName)).IsValid() {
		return v, false
	}
	v, ok = s.Field(f.index).Interface().(T)
	return v, ok
}

// vars is what one evaluation of an expression sees.
type vars struct {
	facts *bound
	it    any // an object, nil without each
	x     any
}

// ResolveName implements cel.Activation.
func (v *vars) ResolveName(name string) (any, bool) {
	if name == "it" && v.it != nil {
		return v.it, true
	}
	if name == "x" && v.x != nil {
		return v.x, true
	}
	value, ok := v.facts.values[name]
	return value, ok
}

// Parent implements cel.Activation.
func (v *vars) Parent() cel.Activation { return nil }
