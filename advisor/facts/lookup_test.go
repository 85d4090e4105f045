package facts

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// unknown is the expectation that a fact is missing, with a reason that contains the text.
type unknown string

// fact finds "group.field", "list" (its length), "list[2].field" or "list[NAME].field", where NAME is the element's name,
// cpu, id, code or tid.
func fact(f Facts, path string) (value any, why string, err error) {
	group, field, isIndexed := strings.Cut(path, "].")
	if !isIndexed {
		group, field, _ = strings.Cut(path, ".")
	}
	name, index, _ := strings.Cut(group, "[")
	v, ok := byTag(reflect.ValueOf(f), name)
	if !ok {
		return nil, "", fmt.Errorf("there is no group %s", name)
	}
	if v.Kind() == reflect.Slice {
		if !isIndexed {
			if why, missing := f.Unknown[name]; missing {
				return nil, why, nil
			}
			return v.Len(), "", nil
		}
		if v, ok = element(v, index); !ok {
			return nil, "", fmt.Errorf("%s has no element %s", name, index)
		}
	}
	x, ok := byTag(v, field)
	if !ok {
		return nil, "", fmt.Errorf("%s has no field %s", name, field)
	}
	u, _ := v.FieldByName("Unknown").Interface().(Unknown)
	return x.Interface(), u[field], nil
}

func byTag(v reflect.Value, name string) (reflect.Value, bool) {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("json") == name {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func element(list reflect.Value, index string) (reflect.Value, bool) {
	for i := range list.Len() {
		e := list.Index(i)
		for _, key := range []string{"name", "cpu", "id", "code", "tid", "number", "actor", "core"} {
			if k, ok := byTag(e, key); ok && fmt.Sprint(k.Interface()) == index {
				return e, true
			}
		}
	}
	if n, err := strconv.Atoi(index); err == nil && n < list.Len() {
		return list.Index(n), true
	}
	return reflect.Value{}, false
}

// check compares facts with what is expected: unknown, ranges for doubles, or the value itself.
func check(t *testing.T, f Facts, want map[string]any) {
	t.Helper()
	for path, w := range want {
		got, why, err := fact(f, path)
		switch {
		case err != nil:
			t.Errorf("%s: %v", path, err)
		case matches(got, why, w):
		case why != "":
			t.Errorf("%s is unknown (%s), want %v", path, why, w)
		default:
			t.Errorf("%s = %v, want %v", path, got, w)
		}
	}
}

// between is a range of a double.
type between [2]float64

func matches(got any, why string, want any) bool {
	if u, ok := want.(unknown); ok {
		return why != "" && strings.Contains(why, string(u))
	}
	if why != "" {
		return false
	}
	switch w := want.(type) {
	case between:
		x, ok := got.(float64)
		return ok && x >= w[0] && x <= w[1]
	case float64:
		x, ok := got.(float64)
		return ok && x > w-1e-6 && x < w+1e-6
	case []int:
		x, ok := got.([]int)
		return ok && fmt.Sprint(x) == fmt.Sprint(w)
	case []string:
		x, ok := got.([]string)
		return ok && fmt.Sprint(x) == fmt.Sprint(w)
	}
	return reflect.DeepEqual(got, want)
}
