package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/corewise/corewise/"

// allowed lists, for every package of the module, which packages of the module it may import. Data flows one way.
func allowed() map[string][]string {
	leaf := []string{"profile/maybe", "profile/cpulist"}
	measured := append([]string{"profile", "profile/host", "bpf", "bench"}, leaf...)
	facts := append([]string{"advisor/facts", "advisor/plan", "advisor/kargs", "advisor/bios", "advisor/action", "advisor/explain"}, measured...)
	return map[string][]string{
		"profile/maybe":   {},
		"profile/cpulist": {},
		"bpf":             leaf,
		"bench":           leaf,
		"rules":           {},
		"profile/host":    leaf,
		"profile":         append([]string{"profile/host", "bpf", "bench"}, leaf...),
		"advisor/bios":    measured,
		"advisor/action":  append([]string{"advisor/kargs", "advisor/bios"}, measured...),
		"advisor/explain": measured,
		"advisor/kargs":   leaf,
		"advisor/plan":    append([]string{"advisor/action", "advisor/kargs"}, measured...),
		"advisor/facts":   append([]string{"advisor/plan", "advisor/kargs", "advisor/bios"}, measured...),
		"advisor":         facts,
		"advisor/report":  append([]string{"advisor"}, facts...),
		"advisor/remedy":  append([]string{"advisor"}, facts...),
		"advisor/fleet":   append([]string{"advisor"}, facts...),
	}
}

// owners says which package alone may import a library.
func owners() map[string][]string {
	return map[string][]string{
		"github.com/cilium/ebpf":            {"bpf"},
		"github.com/prometheus/procfs":      {"profile/host"},
		"github.com/safchain/ethtool":       {"profile/host"},
		"github.com/jaypipes/ghw":           {"profile/host"},
		"github.com/spf13/cobra":            {"cmd/corewise"},
		"github.com/olekukonko/tablewriter": {"advisor/report"},
		"cel.dev/cel-go":                    {"advisor"},
	}
}

type listed struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

func TestImportDirection(t *testing.T) {
	rules := allowed()
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "testdata/") {
			continue
		}
		may, known := rules[name]
		if !known {
			t.Errorf("%s has no place in the import table", name)
		}
		for _, i := range p.Imports {
			if own, ok := strings.CutPrefix(i, module); ok && !slices.Contains(may, own) {
				t.Errorf("%s imports %s", name, own)
			}
		}
	}
}

func TestLibrariesStayInOnePackage(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		for _, i := range p.Imports {
			for lib, may := range owners() {
				if i != lib && !strings.HasPrefix(i, lib+"/") {
					continue
				}
				used[lib] = true
				if !slices.Contains(may, name) {
					t.Errorf("%s imports %s, which belongs to %v", name, i, may)
				}
			}
		}
	}
	for lib := range owners() {
		if !used[lib] {
			t.Errorf("%s is not used", lib)
		}
	}
}
