package bench

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// pktgenRecord is one JSON record of a Lua script: printed as "@@PKTGEN KIND JSON", or a line of a side file.
type pktgenRecord struct {
	kind string
	body json.RawMessage
	line int
}

const recordMark = "@@PKTGEN "

// pktgenRecords finds the records among the screen's and the script's other output.
func pktgenRecords(lines []textLine) []pktgenRecord {
	var out []pktgenRecord
	for _, l := range lines {
		_, rest, ok := strings.Cut(l.S, recordMark)
		if !ok {
			continue
		}
		kind, body, _ := strings.Cut(rest, " ")
		out = append(out, pktgenRecord{kind: kind, body: json.RawMessage(body), line: l.N})
	}
	return out
}

// sideRecords reads a file of one JSON object a line. A record without a kind is the end record when it has "ok", else
// a sample. Lines that are no JSON count as warnings: an error text of Lua may run over several.
func sideRecords(r *Result, file []byte) []pktgenRecord {
	var out []pktgenRecord
	for _, l := range splitLines(file) {
		var head struct {
			Kind string `json:"kind"`
			OK   *bool  `json:"ok"`
		}
		if json.Unmarshal([]byte(l.S), &head) != nil {
			if ok, text := luaFailure(l.S); ok {
				r.note("pktgen-lua-error", "error", text, l.N, "reason", clip(text))
				out = append(out, pktgenRecord{kind: "done", body: json.RawMessage(`{"ok":false}`), line: l.N})
			} else {
				r.ParseWarnings++
			}
			continue
		}
		kind := head.Kind
		switch {
		case kind == "" && head.OK != nil:
			kind = "done"
		case kind == "":
			kind = "flat"
		}
		out = append(out, pktgenRecord{kind: kind, body: json.RawMessage(l.S), line: l.N})
	}
	return out
}

// luaFailure reads an end record whose text Lua's %q wrote, which is no JSON when it runs over lines.
func luaFailure(s string) (bool, string) {
	_, text, ok := strings.Cut(s, `{"ok":false,"err":"`)
	return ok, strings.TrimRight(text, `\"}`)
}

// luaCounters are one port's counters or rates in pktgen.portStats, all versions.
type luaCounters struct {
	Ipackets *float64     `json:"ipackets"`
	Opackets *float64     `json:"opackets"`
	Ibytes   *float64     `json:"ibytes"`
	Obytes   *float64     `json:"obytes"`
	Ierrors  *float64     `json:"ierrors"`
	Oerrors  *float64     `json:"oerrors"`
	RxNombuf *float64     `json:"rx_nombuf"`
	Imissed  *float64     `json:"imissed"`
	PktsRx   *float64     `json:"pkts_rx"`
	PktsTx   *float64     `json:"pkts_tx"`
	Curr     *luaCounters `json:"curr"`
}

// luaPorts decodes a table keyed by port number; "n" and whatever else is not a port is skipped.
func luaPorts[T any](body json.RawMessage) (ids []int, ports map[int]T) {
	var raw map[string]json.RawMessage
	if json.Unmarshal(body, &raw) != nil {
		return nil, nil
	}
	ports = map[int]T{}
	for key, value := range raw {
		id, err := strconv.Atoi(key)
		var v T
		if err != nil || id < 0 || id > maxPktgenPort || json.Unmarshal(value, &v) != nil {
			continue
		}
		ids, ports[id] = append(ids, id), v
	}
	slices.Sort(ids)
	return ids, ports
}

// luaRun is what the records of one run say.
type luaRun struct {
	rates     [][]PortRate
	counters  []PortRate // last
	sent      maybe.Value[float64]
	received  maybe.Value[float64]
	done      bool
	ok        bool
	size      maybe.Value[int]
	link      map[int]maybe.Value[float64]
	uptime    []float64 // of the clocked samples
	clocked   []luaTotals
	startT    maybe.Value[float64]
	stopT     maybe.Value[float64]
	latency   maybe.Value[Latency]
	lastError string
}

// luaTotals are the counters of all ports at one moment.
type luaTotals struct {
	ids   []int
	ports map[int]luaCounters
}

// fromRecords turns the records of a script into a result.
func (r *Result) fromRecords(records []pktgenRecord) {
	run := luaRun{link: map[int]maybe.Value[float64]{}, size: maybe.None[int]("the records do not tell the frame size")}
	for _, rec := range records {
		run.take(r, rec)
	}
	run.clockedRates(r)
	run.finish(r)
}

func (run *luaRun) take(r *Result, rec pktgenRecord) {
	base, suffix, _ := strings.Cut(rec.kind, ".")
	switch {
	case suffix == "error":
		r.note("pktgen-lua-error", "error", rec.kind+" "+string(rec.body), rec.line, "reason", clip(string(rec.body)))
	case base == "info":
		takeVersion(r, rec)
	case base == "done":
		run.takeDone(rec)
	case base == "start", base == "stop":
		run.takeClock(base, rec)
	case base == "linkState":
		run.takeLink(rec)
	case base == "portInfo":
		run.takeInfo(rec)
	case base == "pktStats", base == "latency":
		run.takeLatency(rec)
	case base == "sample" && suffix == "":
		run.takeSample(rec)
	case rec.kind == "flat":
		run.takeFlat(rec)
	case suffix == "rate" || rec.kind == "rate":
		if base != "final" && base != "after" {
			run.takeRates(rec)
		}
	case suffix == "port", suffix == "v26", rec.kind == "port", rec.kind == "final":
		run.takeCounters(rec)
	}
}

// takeVersion: a side file has what the screen may have lost.
func takeVersion(r *Result, rec pktgenRecord) {
	var info struct {
		Version string `json:"Pktgen_Version"`
	}
	if json.Unmarshal(rec.body, &info) != nil || r.Version.Ok() {
		return
	}
	if v, ok := strings.CutPrefix(info.Version, "Pktgen "); ok {
		r.Version = maybe.Some(v)
	}
}

func (run *luaRun) takeDone(rec pktgenRecord) {
	var d struct {
		OK  bool   `json:"ok"`
		Err string `json:"err"`
	}
	if json.Unmarshal(rec.body, &d) == nil {
		run.done, run.ok, run.lastError = true, d.OK, d.Err
	}
}

func (run *luaRun) takeClock(base string, rec pktgenRecord) {
	var c struct {
		T *float64 `json:"t"`
	}
	if json.Unmarshal(rec.body, &c) != nil || c.T == nil {
		return
	}
	if base == "start" {
		run.startT = maybe.Some(*c.T)
	} else {
		run.stopT = maybe.Some(*c.T)
	}
}

func (run *luaRun) takeLink(rec pktgenRecord) {
	_, ports := luaPorts[string](rec.body)
	for id, text := range ports {
		run.link[id] = linkGbps([]string{text}, 0)
	}
}

func (run *luaRun) takeInfo(rec pktgenRecord) {
	ids, ports := luaPorts[struct {
		Info struct {
			PktSize *int `json:"pkt_size"`
		} `json:"info"`
	}](rec.body)
	sizes := make([]int, 0, len(ids))
	for _, id := range ids {
		if p := ports[id].Info.PktSize; p != nil {
			sizes = append(sizes, *p)
		}
	}
	if len(sizes) > 0 {
		run.size = oneSize(sizes)
	}
}

// takeRates reads a "rate" record: packets and bytes of the last second.
func (run *luaRun) takeRates(rec pktgenRecord) {
	ids, ports := luaPorts[luaCounters](rec.body)
	var sample []PortRate
	for _, id := range ids {
		c := ports[id]
		p := PortRate{Port: id, RxMpps: million(c.PktsRx), TxMpps: million(c.PktsTx)}
		p.RxGbps, p.TxGbps = wireFrom(c.PktsRx, c.Ibytes), wireFrom(c.PktsTx, c.Obytes)
		sample = append(sample, p)
	}
	if len(sample) > 0 {
		run.rates = append(run.rates, sample)
	}
}

func (run *luaRun) takeCounters(rec pktgenRecord) {
	ids, ports := luaPorts[luaCounters](rec.body)
	if len(ids) == 0 {
		return
	}
	run.setTotals(luaTotals{ids, ports})
}

// setTotals keeps the latest counters.
func (run *luaRun) setTotals(t luaTotals) {
	run.counters = nil
	var sent, received float64
	for _, id := range t.ids {
		c := t.ports[id].current()
		run.counters = append(run.counters, PortRate{Port: id, RxMissed: number64(c.Imissed), RxErrors: number64(c.Ierrors), RxNombuf: number64(c.RxNombuf), TxErrors: number64(c.Oerrors)})
		if c.Opackets == nil || c.Ipackets == nil {
			return
		}
		sent, received = sent+*c.Opackets, received+*c.Ipackets
	}
	run.sent, run.received = maybe.Some(sent), maybe.Some(received)
}

// takeSample reads a sample of corewise's own script: a monotonic clock and the counters of all ports.
func (run *luaRun) takeSample(rec pktgenRecord) {
	var s struct {
		Uptime *float64        `json:"uptime_s"`
		Ports  json.RawMessage `json:"ports"`
	}
	if json.Unmarshal(rec.body, &s) != nil || s.Uptime == nil {
		return
	}
	ids, ports := luaPorts[luaCounters](s.Ports)
	if len(ids) == 0 {
		return
	}
	run.uptime, run.clocked = append(run.uptime, *s.Uptime), append(run.clocked, luaTotals{ids, ports})
	run.setTotals(luaTotals{ids, ports})
}

// takeFlat reads a side-file line that has the counters of one port and no wall clock.
func (run *luaRun) takeFlat(rec pktgenRecord) {
	var c luaCounters
	if json.Unmarshal(rec.body, &c) == nil && c.Opackets != nil {
		run.setTotals(luaTotals{[]int{0}, map[int]luaCounters{0: c}})
	}
}
