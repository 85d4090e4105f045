package advisor

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// notGiven is the reason of every fact that a rule's test does not give.
const notGiven = "not given in the test"

// testFacts makes facts from the `facts` of a test: only what is given is known. facts: {group: {field: value},
// list: [{field: value}]}; a list that is not given is missing, [] is known to be empty.
func (s *schema) testFacts(src *source, n *yaml.Node) (any, Problems) {
	root := reflect.New(s.root)
	d := &decoder{src: src}
	t := &testDecoder{decoder: d, schema: s}
	given := map[string]*yaml.Node{}
	if n != nil && n.Kind != yaml.MappingNode {
		d.fault(n, "facts: want a mapping, have %s", kindName(n))
		n = nil
	}
	for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if s.byName[key.Value] == nil {
			d.fault(key, "no group or list of facts is named %q%s", key.Value, didYouMean(key.Value, s.names()))
			continue
		}
		given[key.Value] = n.Content[i+1]
	}
	for _, g := range s.groups {
		t.fields(given[g.name], g.typ, root.Elem().Field(g.index))
	}
	missing := map[string]string{}
	for _, g := range s.lists {
		if given[g.name] == nil {
			missing[g.name] = notGiven
			continue
		}
		t.list(given[g.name], g, root.Elem().Field(g.index))
	}
	setUnknown(root.Elem(), s.unknown, missing)
	return root.Interface(), d.problems
}

type testDecoder struct {
	*decoder
	schema *schema
}

func (t *testDecoder) list(n *yaml.Node, g *group, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		t.fault(n, "%s: want a list, have %s", g.name, kindName(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, e := range n.Content {
		t.fields(e, g.typ, v.Index(i))
	}
}

// fields sets the given fields of one struct and marks all others as missing.
func (t *testDecoder) fields(n *yaml.Node, st *structType, v reflect.Value) {
	missing := map[string]string{}
	for _, f := range st.fields {
		missing[f.name] = notGiven
	}
	if n != nil && n.Kind != yaml.MappingNode {
		t.fault(n, "want a mapping of facts, have %s", kindName(n))
		n = nil
	}
	for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		f := st.byName[key.Value]
		if f == nil {
			t.fault(key, "%s has no fact %q%s", st.name, key.Value, didYouMean(key.Value, st.fieldNames()))
			continue
		}
		delete(missing, f.name)
		t.fact(value, f, v.Field(f.index))
	}
	setUnknown(v, st.unknown, missing)
}

// fact sets one value; YAML's own type must be the fact's, an int may stand for a float.
func (t *testDecoder) fact(n *yaml.Node, f *field, v reflect.Value) {
	items := []*yaml.Node{n}
	elem := v.Type()
	if v.Kind() == reflect.Slice {
		if n.Kind != yaml.SequenceNode {
			t.fault(n, "%s: want a list, have %s", f.name, kindName(n))
			return
		}
		items, elem = n.Content, elem.Elem()
		v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	}
	for i, item := range items {
		if !slices.Contains(yamlTags(elem), item.Tag) {
			t.fault(item, "%s: want %s, have %s", f.name, elem, kindName(item))
			continue
		}
		to := v
		if v.Kind() == reflect.Slice {
			to = v.Index(i)
		}
		t.scalar(item, to)
	}
}

func yamlTags(t reflect.Type) []string {
	switch t.Kind() {
	case reflect.Bool:
		return []string{"!!bool"}
	case reflect.Int, reflect.Int64:
		return []string{"!!int"}
	case reflect.Float64:
		return []string{"!!int", "!!float"}
	}
	return []string{"!!str"}
}

func setUnknown(v reflect.Value, index int, missing map[string]string) {
	if index < 0 || len(missing) == 0 {
		return
	}
	m := v.Field(index)
	m.Set(reflect.MakeMapWithSize(m.Type(), len(missing)))
	for name, why := range missing {
		m.SetMapIndex(reflect.ValueOf(name).Convert(m.Type().Key()), reflect.ValueOf(why).Convert(m.Type().Elem()))
	}
}

// TestFailure is one test of a rule that does not hold, or one that is lacking.
type TestFailure struct {
	Problem
	Rule string `json:"rule"`
	Test string `json:"test,omitempty"` // "" when a test is lacking
}

// Error returns "file:line:col: rule: test: text".
func (f TestFailure) Error() string {
	name := f.Rule
	if f.Test != "" {
		name += ": " + f.Test
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", f.File, f.Line, f.Col, name, strings.TrimSpace(f.Text))
}
