package facts

import "reflect"

// Entry documents one fact.
type Entry struct {
	Group string // name of the group or list
	List  bool   // the group is a list: a rule reads it with each
	Name  string // "" for the group itself
	Type  string // bool, string, int, double, list of string, list of int; "" for the group itself
	Doc   string
}

// Vocabulary lists every group and fact in the order of declaration, for documentation.
func Vocabulary() []Entry {
	var out []Entry
	root := reflect.TypeFor[Facts]()
	for i := range root.NumField() {
		f := root.Field(i)
		name := f.Tag.Get("json")
		if name == "-" {
			continue
		}
		g := Entry{Group: name, List: f.Type.Kind() == reflect.Slice, Doc: f.Tag.Get("doc")}
		out = append(out, g)
		t := f.Type
		if g.List {
			t = t.Elem()
		}
		out = append(out, entries(g, t)...)
	}
	return out
}

func entries(g Entry, t reflect.Type) []Entry {
	var out []Entry
	for i := range t.NumField() {
		f := t.Field(i)
		if name := f.Tag.Get("json"); name != "-" {
			out = append(out, Entry{Group: g.Group, List: g.List, Name: name, Type: typeName(f.Type), Doc: f.Tag.Get("doc")})
		}
	}
	return out
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "list of " + typeName(t.Elem())
	case reflect.Float64:
		return "double"
	}
	return t.Kind().String()
}

func typeOf(group any) reflect.Type { return reflect.TypeOf(group) }
