package advisor

import (
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decoder fills structs from a source strictly: an unknown key, a missing value or a wrong type is a problem with its
// position, and it goes on, so that all problems of a file are told at once.
//
// Note: yaml.Decoder with KnownFields knows lines but no columns, and does not say which keys there are.
type decoder struct {
	src      *source
	problems Problems
}

// decodable is a type that reads its node itself.
type decodable interface {
	decode(d *decoder, n *yaml.Node)
}

func (d *decoder) fault(n *yaml.Node, format string, args ...any) {
	d.problems = append(d.problems, *d.src.problem(n, format, args...))
}

// value fills v from n.
func (d *decoder) value(n *yaml.Node, v reflect.Value) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if x, ok := v.Addr().Interface().(decodable); ok {
		x.decode(d, n)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.mapping(n, v)
	case reflect.Slice:
		d.sequence(n, v)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem())
	default:
		d.scalar(n, v)
	}
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.fault(n, "want a mapping, have %s", kindName(n))
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		f, ok := fieldByKey(v, key.Value)
		if !ok {
			keys := yamlKeys(v.Type())
			d.fault(key, "unknown key %q%s", key.Value, orList(key.Value, keys))
			continue
		}
		d.value(n.Content[i+1], f)
	}
}

// orList hints at the nearest keys, or lists all of them.
func orList(name string, names []string) string {
	if hint := didYouMean(name, names); hint != "" {
		return hint
	}
	return "; known are " + strings.Join(names, ", ")
}

func (d *decoder) sequence(n *yaml.Node, v reflect.Value) {
	items := n.Content
	if n.Kind == yaml.ScalarNode { // one value stands for a list of one
		items = []*yaml.Node{n}
	} else if n.Kind != yaml.SequenceNode {
		d.fault(n, "want a list, have %s", kindName(n))
		return
	}
	for _, item := range items {
		e := reflect.New(v.Type().Elem()).Elem()
		d.value(item, e)
		v.Set(reflect.Append(v, e))
	}
}

func (d *decoder) scalar(n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.ScalarNode {
		d.fault(n, "want %s, have %s", v.Kind(), notScalar(n))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Value)
	case reflect.Bool:
		b, err := strconv.ParseBool(n.Value)
		if err != nil || n.Tag != "!!bool" {
			d.fault(n, "want true or false, have %q", n.Value)
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int64:
		i, err := strconv.ParseInt(n.Value, 10, 64)
		if err != nil {
			d.fault(n, "want a whole number, have %q", n.Value)
		}
		v.SetInt(i)
	case reflect.Float64:
		f, err := strconv.ParseFloat(n.Value, 64)
		if err != nil {
			d.fault(n, "want a number, have %q", n.Value)
		}
		v.SetFloat(f)
	}
}

// decode implements decodable: an expression or a template is any scalar, as written.
func (t *text) decode(d *decoder, n *yaml.Node) {
	if n.Kind != yaml.ScalarNode {
		d.fault(n, "want a text, have %s", notScalar(n))
		return
	}
	*t = text{s: n.Value, node: n, src: d.src}
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return strconv.Quote(n.Value)
}

// notScalar is kindName, with the usual reason why a text turned into a mapping.
func notScalar(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode {
		return "a mapping (a text that holds \": \" needs quotes)"
	}
	return kindName(n)
}

func fieldByKey(v reflect.Value, key string) (reflect.Value, bool) {
	for i := range v.NumField() {
		if name := v.Type().Field(i).Tag.Get("yaml"); name == key && name != "" {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func yamlKeys(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("yaml"); name != "" {
			keys = append(keys, name)
		}
	}
	return keys
}
