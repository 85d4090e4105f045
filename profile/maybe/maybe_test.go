package maybe

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestJSONRoundTrip(t *testing.T) {
	type s struct {
		A Value[int]            `json:"a,omitzero"`
		B Value[int]            `json:"b,omitzero"`
		C Value[int]            `json:"c,omitzero"`
		D Value[map[string]int] `json:"d,omitzero"`
	}
	in := s{A: Some(0), B: None[int]("EPERM"), D: Some(map[string]int{"missing": 1})}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":0,"b":{"missing":"EPERM"},"d":{"missing":1}}`; string(b) != want {
		t.Fatalf("got %s, want %s", b, want)
	}
	var out s
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	if v, ok := out.A.Get(); !ok || v != 0 {
		t.Errorf("A = %v, %v", v, ok)
	}
	if out.B.Ok() || out.B.Why() != "EPERM" {
		t.Errorf("B = %+v", out.B)
	}
	if out.C.Ok() || out.C.Why() != "not read" {
		t.Errorf("C = %+v", out.C)
	}
	if v, _ := out.D.Get(); v["missing"] != 1 {
		t.Errorf("D = %+v", out.D)
	}
}

func TestFromAndMap(t *testing.T) {
	bad := From(3, errors.New("boom"))
	if bad.Ok() || bad.Why() != "boom" || bad.Or(7) != 7 {
		t.Errorf("bad = %+v", bad)
	}
	if got := Map(Some(2), func(i int) string { return string(rune('a' + i)) }); got.Or("") != "c" {
		t.Errorf("Map = %+v", got)
	}
	if got := Map(bad, func(int) string { return "x" }); got.Why() != "boom" {
		t.Errorf("Map of missing = %+v", got)
	}
}
