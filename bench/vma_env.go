package bench

import (
	_ "embed" // the table of parameters
	"maps"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// vmaParamTable lists every variable of VMA 9.8.84: name, description in the banner, default, and the value under each
// VMA_SPEC (named in the first row) where it differs. It was obtained by running the library.
//
//go:embed vma_params.tsv
var vmaParamTable string

// accelInfo is one row of the table.
type accelInfo struct {
	description, value string
	spec               map[string]string // by name of the spec
}

// accelParams reads the table; XLIO's variables are not in it.
func accelParams() map[string]accelInfo {
	params := map[string]accelInfo{}
	var specs []string
	for line := range strings.Lines(vmaParamTable) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		switch {
		case f[0] == "parameter" && len(f) > 3:
			specs = f[3:]
		case strings.HasPrefix(f[0], "VMA_"):
			params[f[0]] = accelRow(f, specs)
		}
	}
	return params
}

func accelRow(f, specs []string) accelInfo {
	info := accelInfo{spec: map[string]string{}}
	if len(f) > 2 {
		info.description, info.value = f[1], f[2]
	}
	for i := 3; i < len(f) && i-3 < len(specs); i++ {
		if f[i] != "" {
			info.spec[specs[i-3]] = f[i]
		}
	}
	return info
}

// vmaSpecs maps what VMA_SPEC takes to the name of the spec.
var vmaSpecs = map[string]string{
	"latency": "latency", "15": "latency", "ultra-latency": "ultra-latency", "10": "ultra-latency",
	"multi_ring_latency": "multi_ring_latency", "29west": "29west", "29": "29west", "wombat_fh": "wombat_fh", "554": "wombat_fh",
	"mcd": "mcd", "623": "mcd", "mcd-irq": "mcd-irq", "624": "mcd-irq", "rti": "rti", "784": "rti", "7750": "7750",
}

// CheckAccelEnv finds what is wrong with the VMA and XLIO variables of an environment. Both libraries ignore names and
// specs that they do not know, without a word. loaded: the program loads the library by other means than LD_PRELOAD.
func CheckAccelEnv(env map[string]string, loaded bool) []Note {
	var notes []Note
	note := func(code, text string, pairs ...string) {
		notes = append(notes, Note{Code: code, Level: "warning", Text: text, Args: noteArgs(pairs)})
	}
	known := accelParams()
	lib := accelInPreload(env["LD_PRELOAD"])
	set := ""
	for _, name := range slices.Sorted(maps.Keys(env)) {
		isVMA, isXLIO := strings.HasPrefix(name, "VMA_"), strings.HasPrefix(name, "XLIO_")
		if !isVMA && !isXLIO || strings.Contains(env[name], "lib"+strings.ToLower(strings.SplitN(name, "_", 2)[0])) {
			continue
		}
		set = name
		twin := "VMA_" + strings.TrimPrefix(strings.TrimPrefix(name, "VMA_"), "XLIO_")
		_, ok := known[twin]
		near, distance := nearestName(twin, known)
		switch {
		case ok:
		case distance <= 2:
			near = strings.SplitN(name, "_", 2)[0] + strings.TrimPrefix(near, "VMA")
			note("vma-unknown-variable", name+" is no variable that the library knows, and it ignores it; "+near+" is", "name", name, "value", clip(env[name]), "nearest", near)
		case isVMA:
			note("vma-unknown-variable", name+" is no variable that VMA 9.8 knows; the library ignores unknown names", "name", name, "value", clip(env[name]))
		}
	}
	if spec, ok := env["VMA_SPEC"]; ok && vmaSpecs[strings.ToLower(spec)] == "" {
		note("vma-unknown-spec", "VMA_SPEC="+clip(spec)+" is no spec of VMA: it runs with its defaults and does not say so; known are latency, ultra-latency, multi_ring_latency, 29west, wombat_fh, mcd, mcd-irq, rti, 7750", "spec", clip(spec))
	}
	if set != "" && lib == "" && !loaded {
		note("vma-not-loaded", set+" is set, but nothing loads the library: LD_PRELOAD does not name it", "name", set)
	}
	return notes
}

// nearestName returns the known name with the least edits.
func nearestName(name string, known map[string]accelInfo) (string, int) {
	best, least := "", 1<<30
	if len(name) > 64 {
		return best, least
	}
	for _, k := range slices.Sorted(maps.Keys(known)) {
		if d := editDistance(name, k); d < least {
			best, least = k, d
		}
	}
	return best, least
}

// editDistance is Levenshtein's.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		previous := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := previous
			if a[i] != b[j] {
				cost = 1 + min(previous, row[j], row[j+1])
			}
			previous, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// AccelEffective returns the value that a VMA variable has under an environment: the user's own, else the spec's,
// else the default. The variable must be known.
func AccelEffective(env map[string]string, name string) maybe.Value[string] {
	info, ok := accelParams()[name]
	if !ok {
		return maybe.Nonef[string]("%s is not a known VMA variable", name)
	}
	if v, ok := env[name]; ok {
		return maybe.Some(v)
	}
	if v, ok := info.spec[vmaSpecs[strings.ToLower(env["VMA_SPEC"])]]; ok {
		return maybe.Some(v)
	}
	return maybe.Some(info.value)
}

// internalThread is the role of VMA's own thread. Its affinity is a CPU list or, with 0x, a mask; -1 is none.
func internalThread(env map[string]string) Role {
	r := Role{Name: "internal", Count: 1}
	text, ok := env["XLIO_INTERNAL_THREAD_AFFINITY"]
	if !ok {
		text = AccelEffective(env, "VMA_INTERNAL_THREAD_AFFINITY").Or("-1")
	}
	parse := cpulist.Parse
	if strings.HasPrefix(text, "0x") {
		parse = cpulist.ParseMask
	}
	if cpus, err := parse(text); err == nil && len(cpus) > 0 {
		r.CPUs, r.Fixed = cpus, true
	}
	return r
}
