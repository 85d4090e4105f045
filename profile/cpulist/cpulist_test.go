package cpulist

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"0-2,4-23", "0-2,4-23"}, {"", ""}, {"(null)\n", ""}, {"0-23,96-119\n", "0-23,96-119"}, {"3,1,2,2", "1-3"},
		{"0-31:2/4", "0-1,4-5,8-9,12-13,16-17,20-21,24-25,28-29"}, {"0,1", "0-1"},
	} {
		got, err := Parse(c.in)
		if err != nil || got.String() != c.want {
			t.Errorf("Parse(%q) = %v, %v; want %s", c.in, got, err, c.want)
		}
	}
	for _, bad := range []string{"1-", "-3", "4-N", "all", "a", "3-1", "1,,2", "0-9:0/4", "0-9:5/4", "99999999999", "70000", "+1"} {
		if got, err := Parse(bad); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", bad, got)
		}
	}
}

func TestParseKernel(t *testing.T) {
	for _, c := range []struct{ in, want string }{{"4-N", "4-15"}, {"all", "0-15"}, {"N", "15"}, {"0,2-N:1/2", "0,2,4,6,8,10,12,14"}} {
		got, err := ParseKernel(c.in, 15)
		if err != nil || got.String() != c.want {
			t.Errorf("ParseKernel(%q) = %v, %v; want %s", c.in, got, err, c.want)
		}
	}
}

func TestMasks(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"0000,00000001", "0"}, {"3e0f", "0-3,9-13"}, {"0000c1f0", "4-8,14-15"}, {"00000000,00000002", "1"}, {"0xff", "0-7"},
		{"80000000,00000000,00000000,00000000,00000000", "159"}, {"1,0", "32"}, {"0", ""}, {"3e00000000", "33-37"},
	} {
		got, err := ParseMask(c.in)
		if err != nil || got.String() != c.want {
			t.Errorf("ParseMask(%q) = %v, %v; want %s", c.in, got, err, c.want)
		}
	}
	for _, bad := range []string{"", "xyz", "1,", "123456789,0", "-1", "1_0", strings.Repeat("f", 1<<20)} {
		if _, err := ParseMask(bad); err == nil {
			t.Errorf("ParseMask(%.20q) gives no error", bad)
		}
	}
	if got := Range(33, 37).KernelMask(40); got != "0000003e,00000000" {
		t.Errorf("KernelMask = %s", got)
	}
	if got := (Set{}).KernelMask(8); got != "00000000" {
		t.Errorf("empty KernelMask = %s", got)
	}
}

func TestAlgebra(t *testing.T) {
	a, b := Range(0, 5), Of(4, 5, 6)
	if a.And(b).String() != "4-5" || a.Or(b).String() != "0-6" || a.Minus(b).String() != "0-3" || !Of(4).Within(a) || b.Within(a) {
		t.Error("set algebra")
	}
	if got := Of(2, 4, 6, 8, 9, 10).Join("/", "-"); got != "2/4/6/8-10" {
		t.Errorf("Join = %s", got)
	}
}

func TestJSON(t *testing.T) {
	b, err := json.Marshal(map[string]Set{"cpus": Of(0, 1, 2, 9)})
	if err != nil || string(b) != `{"cpus":"0-2,9"}` {
		t.Fatalf("%s %v", b, err)
	}
	var m map[string]Set
	if err := json.Unmarshal(b, &m); err != nil || !m["cpus"].Equal(Of(0, 1, 2, 9)) {
		t.Fatalf("%v %v", m, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0-3,8", "4-N", "0-31:2/4", "(null)", "ff,00000001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := ParseKernel(text, 63); err == nil {
			again, err := Parse(s.String())
			if err != nil || !again.Equal(s) {
				t.Fatalf("%q -> %v -> %v %v", text, s, again, err)
			}
		}
		if s, err := ParseMask(text); err == nil {
			again, err := ParseMask(s.KernelMask(1))
			if err != nil || !again.Equal(s) {
				t.Fatalf("mask %q -> %v -> %v %v", text, s, again, err)
			}
		}
	})
}
