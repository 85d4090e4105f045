package bench

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// Pktgen is the adapter of DPDK Pktgen, 20.x to 26.x.
type Pktgen struct{}

// Name implements Adapter.
func (Pktgen) Name() string { return "pktgen" }

// Recognise implements Adapter.
func (Pktgen) Recognise(cmd Command) bool {
	return programIs(cmd, "pktgen", "pktgen-dpdk", "dpdk-pktgen") || versionedPktgen.MatchString(cmd.Name())
}

// versionedPktgen is a binary that was installed under its version.
var versionedPktgen = regexp.MustCompile(`^pktgen-(?:dpdk-)?\d`)

// WantsTerminal implements TerminalWanter: without one the screen's cursor moves vanish and values lose their labels.
func (Pktgen) WantsTerminal(w Workload) bool { return w.Options["f"] == "" }

// pktgenOptions is what stands behind "--".
var pktgenOptions = optionTable{Arity: map[string]arity{
	"f": oneArg, "l": oneArg, "m": oneArg, "s": oneArg, "g": oneArg, "p": oneArg, "P": noArg, "T": noArg, "N": noArg,
	"j": noArg, "v": noArg, "G": noArg, "h": noArg, "c": noArg, "t": noArg, "crc-strip": noArg, "no-crc-strip": noArg,
	"txd": oneArg, "rxd": oneArg, "help": noArg,
}}

// Describe implements Adapter. Roles are main (display and timer, no packets), rx and tx by port.
func (p Pktgen) Describe(cmd Command) Workload {
	w := Workload{Kind: p.Name(), Mode: "generator", Goal: GoalThroughput, Command: cmd, DataPath: "bypass", PollMode: true}
	w.Notes = slices.Clone(cmd.Notes)
	eal, args := parseEAL(&w, plainArgs(cmd.Args))
	w.EAL, w.Devices = &eal, eal.devices()
	opts := pktgenOptions.read(args)
	w.Options = mergeOptions(w.Options, opts)
	for _, u := range opts.Unknown {
		w.warn("dpdk-app-unknown-option", "Pktgen does not know "+u, "option", u)
	}
	maps := pktgenMaps(&w, opts.values("m"))
	w.Roles = append(w.Roles, eal.mainRole())
	w.Roles = append(w.Roles, mapRoles(eal, maps)...)
	checkMap(&w, eal, maps)
	w.Offered = pktgenOffered(opts)
	w.DurationS = maybe.None[float64]("Pktgen runs until its script or its user ends it")
	return w
}

// pktgenMaps reads the -m options and notes what is wrong with them.
func pktgenMaps(w *Workload, texts []string) []PortMap {
	var maps []PortMap
	for _, text := range texts {
		one, err := ParsePortMap(text)
		var bad *MapError
		switch {
		case errors.As(err, &bad):
			w.warn(bad.Code, bad.Error(), "map", clip(bad.Map))
		default:
			maps = mergeMaps(maps, one)
		}
		if err == nil && !portableMap(text) {
			w.remark("pktgen-map-not-portable", fmt.Sprintf("Pktgen since 24.05.1 reads -m %q otherwise: it takes one map an option, ranges only, one port a map", text), "map", clip(text))
		}
	}
	if len(texts) == 0 {
		w.warn("pktgen-no-map", "without -m no lcore serves a port")
	}
	return maps
}

func mapRoles(eal EAL, maps []PortMap) []Role {
	var roles []Role
	for _, m := range maps {
		for _, side := range []struct {
			name string
			ids  cpulist.Set
		}{{"rx", m.Rx}, {"tx", m.Tx}} {
			if len(side.ids) > 0 {
				roles = append(roles, Role{Name: side.name, Data: true, Count: len(side.ids), CPUs: eal.cpusOfAll(side.ids), Port: m.Port, Fixed: true})
			}
		}
	}
	return roles
}

// checkMap compares the map with the enabled lcores, as Pktgen does (or fails to do) at its start.
func checkMap(w *Workload, eal EAL, maps []PortMap) {
	used := cpulist.Set{}
	for _, m := range maps {
		used = used.Or(m.Rx).Or(m.Tx)
		if shared := m.Rx.And(m.Tx); len(shared) > 0 {
			w.remark("pktgen-lcore-rx-and-tx", fmt.Sprintf("lcores %s receive and send on port %d", shared, m.Port), "lcores", shared.String(), "port", strconv.Itoa(m.Port))
		}
	}
	if len(eal.Lcores) == 0 || len(used) == 0 {
		return
	}
	if m, ok := eal.Main.Get(); ok && used.Has(m) {
		w.warn("pg-main-lcore-in-map", fmt.Sprintf("lcore %d is the main lcore (display, timer, commands) and is in the port map: Pktgen does not start", m), "lcore", strconv.Itoa(m))
	}
	if absent := used.Minus(eal.ids()); len(absent) > 0 {
		w.warn("pktgen-lcore-not-in-eal", fmt.Sprintf("lcores %s of the port map are not in EAL's core list: their queues are never served", absent), "lcores", absent.String())
	}
	if idle := eal.workers().Minus(used); len(idle) > 0 {
		w.remark("pktgen-lcore-idle", fmt.Sprintf("lcores %s are enabled, and no port map uses them", idle), "lcores", idle.String())
	}
}

// pktgenOffered is the load as far as argv tells: sizes and rates are set by commands or scripts.
func pktgenOffered(opts parsedOptions) Offered {
	const byCommand = "set by Pktgen's commands or script, not by argv"
	o := Offered{SizeBytes: maybe.None[int](byCommand), RatePPS: maybe.None[float64](byCommand), Flows: maybe.None[int](byCommand)}
	if opts.has("s") {
		o.SizeBytes = maybe.None[int]("the packets come from a capture file")
		o.Flows = maybe.None[int]("the packets come from a capture file")
	}
	return o
}

// Parse implements Adapter.
func (p Pktgen) Parse(w Workload, out Output) Result {
	r := newResult(p.Name(), w.Mode)
	raw := out.All()
	lines := splitLines(raw)
	parseEALLog(&r, w, lines)
	noteLines(&r, lines, pktgenLog)
	r.Version = pktgenVersion(lines)
	records := pktgenRecords(lines)
	for _, name := range sortedKeys(out.Files) {
		records = append(records, sideRecords(&r, out.Files[name])...)
	}
	switch {
	case len(records) > 0:
		r.fromRecords(records)
	default:
		r.fromScreens(pktgenScreens(raw, lines))
	}
	r.ended(out, r.Throughput.Ok())
	return r
}

// mergeOptions puts the program's own options beside those of EAL.
func mergeOptions(m map[string]string, p parsedOptions) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	p.into(m)
	return m
}

// plainArgs undoes what word processors do to pasted commands, so that the intent can be read: the note about it comes
// with the Command. One long dash stands for the two of a long option or of the separator.
func plainArgs(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		long, isLong := strings.CutPrefix(a, "\u2014")
		if en, ok := strings.CutPrefix(a, "\u2013"); ok && len(en) > 1 && strings.IndexFunc(en[:2], isLetter) == 0 && isLetter(rune(en[1])) {
			long, isLong = en, true
		}
		if isLong {
			a = "--" + long
		}
		plain := strings.Map(asciiRune, a)
		if plain != a {
			plain = strings.Trim(plain, `"'`)
		}
		out[i] = plain
	}
	return out
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
