package facts

import (
	"reflect"
	"regexp"
	"testing"
)

func TestVocabularyFollowsTheConventions(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	types := map[string]bool{"bool": true, "string": true, "int": true, "double": true, "list of string": true, "list of int": true}
	seen := map[string]bool{}
	for _, e := range Vocabulary() {
		key := e.Group + "." + e.Name
		if seen[key] {
			t.Errorf("%s is declared twice", key)
		}
		seen[key] = true
		if e.Name != "" && !snake.MatchString(e.Name) || !snake.MatchString(e.Group) {
			t.Errorf("%s is not snake case", key)
		}
		if e.Name != "" && !types[e.Type] {
			t.Errorf("%s has type %s", key, e.Type)
		}
		if e.Doc == "" {
			t.Errorf("%s has no doc tag", key)
		}
	}
	if len(seen) < 500 {
		t.Errorf("vocabulary has only %d entries", len(seen))
	}
}

func TestEveryStructHasUnknown(t *testing.T) {
	root := reflect.TypeFor[Facts]()
	for i := range root.NumField() {
		f := root.Field(i)
		typ := f.Type
		if typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct {
			continue
		}
		u, ok := typ.FieldByName("Unknown")
		if !ok || u.Type != reflect.TypeFor[Unknown]() || u.Tag.Get("json") != "-" {
			t.Errorf("%s has no field Unknown with json:\"-\"", typ)
		}
	}
}
