package advisor

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"
)

// schema describes the vocabulary of rules, read once from a facts struct by reflection (conventions: advisor/facts).
// Groups are structs bound to a variable, lists are slices of flat structs that a rule ranges over with `each`.
type schema struct {
	root    reflect.Type
	groups  []*group
	lists   []*group
	byName  map[string]*group
	structs map[string]*structType // by CEL type name
	unknown int                    // index of the root's Unknown map, -1: none
	lastID  int64                  // of the fields numbered so far
}

// group is one field of the facts struct: a single struct, or a list of them.
type group struct {
	name  string
	index int
	list  bool
	typ   *structType
	doc   string
}

// structType is one flat struct of facts.
type structType struct {
	name    string // CEL type name, such as facts.NIC
	goType  reflect.Type
	celType *types.Type
	fields  []*field
	byName  map[string]*field
	unknown int // index of the struct's Unknown map, -1: none
}

// field is one fact.
type field struct {
	name    string
	index   int
	id      int64 // distinct over all structs: the expression id of an unknown value
	goType  reflect.Type
	celType *types.Type
	doc     string
	source  string
}

// newSchema reads the vocabulary from a facts struct type. An error names the field that breaks the conventions.
func newSchema(root reflect.Type) (*schema, error) {
	s := &schema{root: root, byName: map[string]*group{}, structs: map[string]*structType{}, unknown: -1}
	for i := range root.NumField() {
		if err := s.addGroup(root.Field(i), i); err != nil {
			return nil, fmt.Errorf("facts.%s: %w", root.Field(i).Name, err)
		}
	}
	return s, nil
}

func (s *schema) addGroup(f reflect.StructField, index int) error {
	if isUnknownMap(f) {
		s.unknown = index
		return nil
	}
	name, ok := jsonName(f)
	if !ok {
		return nil
	}
	g := &group{name: name, index: index, doc: f.Tag.Get("doc")}
	t := f.Type
	if name == "goal" && t.Kind() == reflect.String { // a variable of every environment: the engine sets it
		return nil
	}
	if t.Kind() == reflect.Slice {
		g.list, t = true, t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return fmt.Errorf("is %s, want a struct or a list of structs", f.Type)
	}
	var err error
	if g.typ, err = s.addStruct(t); err != nil {
		return err
	}
	if s.byName[name] != nil || slices.Contains(reserved(), name) {
		return fmt.Errorf("the name %q is taken", name)
	}
	s.byName[name] = g
	if g.list {
		s.lists = append(s.lists, g)
	} else {
		s.groups = append(s.groups, g)
	}
	return nil
}

func (s *schema) addStruct(t reflect.Type) (*structType, error) {
	name := t.String()
	if st := s.structs[name]; st != nil {
		return st, nil
	}
	st := &structType{name: name, goType: t, celType: types.NewObjectType(name), byName: map[string]*field{}, unknown: -1}
	for i := range t.NumField() {
		f := t.Field(i)
		if isUnknownMap(f) {
			st.unknown = i
			continue
		}
		name, ok := jsonName(f)
		if !ok {
			continue
		}
		ct, ok := celType(f.Type)
		if !ok {
			return nil, fmt.Errorf("%s.%s is %s; facts are bool, string, int, float64, []string or []int", t, f.Name, f.Type)
		}
		fd := &field{name: name, index: i, id: s.nextID(), goType: f.Type, celType: ct, doc: f.Tag.Get("doc"), source: f.Tag.Get("source")}
		if st.byName[name] != nil {
			return nil, fmt.Errorf("%s: the name %q is used twice", t, name)
		}
		st.fields, st.byName[name] = append(st.fields, fd), fd
	}
	s.structs[st.name] = st
	return st, nil
}

func (s *schema) nextID() int64 {
	s.lastID++
	return s.lastID
}

// jsonName is the fact's name; false for a field that is hidden or not exported.
func jsonName(f reflect.StructField) (string, bool) {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if !f.IsExported() || name == "-" || name == "" {
		return "", false
	}
	return name, true
}

func isUnknownMap(f reflect.StructField) bool {
	return f.Name == "Unknown" && f.Type.Kind() == reflect.Map && f.Type.Key().Kind() == reflect.String && f.Type.Elem().Kind() == reflect.String
}

func celType(t reflect.Type) (*types.Type, bool) {
	switch t.Kind() {
	case reflect.Bool:
		return types.BoolType, true
	case reflect.String:
		return types.StringType, true
	case reflect.Int, reflect.Int64:
		return types.IntType, true
	case reflect.Float64:
		return types.DoubleType, true
	case reflect.Slice:
		elem, ok := celType(t.Elem())
		return types.NewListType(elem), ok && t.Elem().Kind() != reflect.Slice
	}
	return nil, false
}

// listNames returns the names that `each` may have.
func (s *schema) listNames() []string {
	names := make([]string, len(s.lists))
	for i, g := range s.lists {
		names[i] = g.name
	}
	slices.Sort(names)
	return names
}

// names returns the names of all groups and lists.
func (s *schema) names() []string {
	names := make([]string, 0, len(s.byName))
	for name := range s.byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (t *structType) fieldNames() []string {
	names := make([]string, len(t.fields))
	for i, f := range t.fields {
		names[i] = f.name
	}
	return names
}
