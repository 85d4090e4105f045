package facts

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

func deriveNotes(v *view, f *Facts) {
	f.Notes, f.LogHits = []Note{}, []LogHit{}
	w, ok := v.p.Workload.Get()
	if ok {
		f.addNotes("argv", w.Notes)
	}
	if r, has := v.p.Result.Get(); has {
		f.addNotes("output", r.Notes)
	} else if ok && len(w.Notes) == 0 {
		f.Unknown.miss("notes", first(v.p.Result.Why(), "there is no output of the benchmark"))
	}
	v.logHits(f)
}

func (f *Facts) addNotes(origin string, notes []bench.Note) {
	for _, b := range notes {
		n := Note{Code: b.Code, Level: b.Level, Text: b.Text, Origin: origin, Line: b.Line, Device: first(b.Args["device"], b.Args["netdev"], b.Args["iface"]),
			PCI: b.Args["pci"], Option: first(b.Args["option"], b.Args["name"]), Value: b.Args["value"], Correct: first(b.Args["correct"], b.Args["nearest"])}
		if origin == "argv" && slices.ContainsFunc(f.Notes, func(o Note) bool { return o.Code == n.Code && o.Text == n.Text }) {
			continue
		}
		u := &n.Unknown
		take(u, "node", &n.Node, noteInt(b.Args, "node", "socket", "port_node"))
		take(u, "core", &n.Core, noteInt(b.Args, "core", "lcore", "cpu"))
		take(u, "port", &n.Port, noteInt(b.Args, "port"))
		if b.Line == 0 {
			u.miss("line", "the note is not about a line of the output")
		}
		f.Notes = append(f.Notes, n)
	}
}

func noteInt(args map[string]string, keys ...string) maybe.Value[int] {
	for _, k := range keys {
		if n, err := strconv.Atoi(args[k]); err == nil && n >= 0 {
			return maybe.Some(n)
		}
	}
	return maybe.Nonef[int]("the note names no %s", keys[0])
}

var (
	logCPU = regexp.MustCompile(`(?:CPU ?#?|cpus=|cpu=|on cpu )(\d+)`)
	logPCI = regexp.MustCompile(`\b([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\b`)
)

// logHits compares both samples: a pattern that is in the first already is old news.
func (v *view) logHits(f *Facts) {
	known := v.b.Log.Known.Or(false) || v.a.Log.Known.Or(false)
	if !known && len(v.b.Log.Hits) == 0 {
		f.Unknown.miss("log_hits", first(v.b.Log.Known.Why(), "no kernel log was readable"))
	}
	before := map[string]host.LogHit{}
	for _, h := range v.b.Log.Hits {
		before[h.Code] = h
	}
	for _, h := range v.a.Log.Hits {
		l := LogHit{Code: h.Code, Count: h.Count, First: h.First}
		u := &l.Unknown
		take(u, "first_s", &l.FirstS, h.FirstS)
		take(u, "last_s", &l.LastS, h.LastS)
		v.hitInRun(&l, h, before[h.Code])
		l.CPU, l.PCI = -1, logPCI.FindString(h.First)
		if m := logCPU.FindStringSubmatch(h.First); m != nil {
			l.CPU, _ = strconv.Atoi(m[1])
		}
		if l.CPU < 0 {
			l.CPU = 0
			u.missAll("the line names no CPU", "cpu", "on_workload")
		}
		_, noCPU := (*u)["cpu"]
		l.OnWL = !noCPU && v.wl.data.Has(l.CPU)
		f.LogHits = append(f.LogHits, l)
	}
}

// hitInRun goes by the kernel's own time of the last line where both are known, else by the growth of the count.
func (v *view) hitInRun(l *LogHit, h, old host.LogHit) {
	u := &l.Unknown
	if !v.two {
		u.missAll(v.noRate, "during_run", "new")
		return
	}
	l.Fresh = max(0, h.Count-old.Count)
	last, ok := h.LastS.Get()
	up, ok2 := v.b.Kernel.UptimeS.Get()
	switch {
	case l.Fresh > 0:
		l.InRun = true
	case ok && ok2:
		l.InRun = last >= up && last <= up+v.spanS
	}
}

// codes are the distinct codes of the notes.
func codes(notes []Note) []string {
	out := []string{}
	for _, n := range notes {
		if !slices.Contains(out, n.Code) {
			out = append(out, n.Code)
		}
	}
	return out
}

// noted reports a note with one of the codes; a code may end in "*".
func noted(notes []Note, names ...string) bool {
	return slices.ContainsFunc(notes, func(n Note) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			prefix, glob := strings.CutSuffix(name, "*")
			return n.Code == name || glob && strings.HasPrefix(n.Code, prefix)
		})
	})
}
