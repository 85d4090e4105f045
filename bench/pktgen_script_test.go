package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// standIn is a Pktgen for the script: counters that grow by 1,000,000 packets of 60 bytes a second, one link. OLD makes
// it answer as versions before 26.x do.
const standIn = `
local t = 0
local function port() return {ipackets=0, opackets=1000000*t, ibytes=0, obytes=60000000*t, ierrors=0, oerrors=0, imissed=0, rx_nombuf=0} end
pktgen = {
  info = {Pktgen_Version = "Pktgen 26.02.4"},
  screen = function() end, clr = function() end, start = function() end, stop = function() end, set = function() end,
  quit = function() print("quit") end,
  linkState = function() return {[0] = "<UP-10000-FD>", n = 1} end,
  portInfo = function() return {[0] = {info = {pkt_size = 64}}, n = 1} end,
  delay = function(ms) t = t + ms / 1000 end,
  portStats = function(list, kind)
    if OLD then return {[0] = port(), n = 1} end
    if kind then error("wrong number of arguments") end
    return {[0] = {curr = port(), sizes = {}}, n = 1}
  end,
}
local real = io.open
io.open = function(name, mode)
  if name == "/proc/uptime" then
    return {read = function() return string.format("%.2f 0.00", 500 + t) end, close = function() end}
  end
  return real(name, mode)
end
`

func TestPktgenScriptRuns(t *testing.T) {
	lua, err := exec.LookPath("lua5.3")
	if err != nil {
		t.Skip("Lua is not installed: ", err)
	}
	for _, old := range []string{"OLD = true\n", ""} {
		dir := t.TempDir()
		out := filepath.Join(dir, `re"cords\.jsonl`)
		script, err := PktgenRun{Out: out, SizeBytes: 64, RatePct: 100, Seconds: 5}.Script()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "run.lua")
		if err := os.WriteFile(file, []byte(old+standIn+script), 0o644); err != nil {
			t.Fatal(err)
		}
		if said, err := exec.Command(lua, file).CombinedOutput(); err != nil || string(said) != "quit\n" {
			t.Fatalf("%v: %s", err, said)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		checkScriptRun(t, text)
	}
}

// checkScriptRun: 1 Mpps of 64 B is 0.672 Gb/s on the wire.
func checkScriptRun(t *testing.T, text []byte) {
	t.Helper()
	r := Pktgen{}.Parse(describe(t, "pktgen -l 0-1 -- -m 1.0 -f run.lua"), Output{Files: map[string][]byte{"records": text}})
	tp := r.Throughput.Or(Throughput{})
	if r.Failed != "" || tp.TxMpps.Or(0) != 1 || tp.TxGbps.Or(0) < 0.6719 || tp.TxGbps.Or(0) > 0.6721 || tp.FrameBytes.Or(0) != 64 {
		t.Errorf("%q %+v\n%s", r.Failed, tp, text)
	}
	if r.DurationS.Or(0) != 5 || len(r.Intervals) != 5 || r.Version.Or("") != "26.02.4" || r.ParseWarnings != 0 || tp.Ports[0].LinkGbps.Or(0) != 10 {
		t.Errorf("%+v", r)
	}
	if sent := r.Loss.Or(Loss{}).Sent.Or(0); sent != 7.5e6 {
		t.Errorf("sent %g", sent)
	}
}

// TestPktgenScriptRecords is the same without Lua: what the script writes, a failing script, and one that was killed.
func TestPktgenScriptRecords(t *testing.T) {
	sample := `{"kind":"sample","uptime_s":UP,"ports":{"0":{"opackets":N,"ipackets":0,"obytes":N,"ibytes":0,"imissed":0}}}` + "\n"
	first := strings.NewReplacer("UP", "100.00", "N", "0").Replace(sample)
	second := strings.NewReplacer("UP", "101.50", "N", "3000000").Replace(sample)
	w := describe(t, "pktgen -l 0-1 -- -m 1.0 -f run.lua")
	parse := func(text string) Result {
		return Pktgen{}.Parse(w, Output{Files: map[string][]byte{"records": []byte(text)}})
	}
	if r := parse(first + second + `{"kind":"done","ok":true,"err":""}` + "\n"); r.Failed != "" || r.Throughput.Or(Throughput{}).TxMpps.Or(0) != 2 {
		t.Errorf("%+v", r)
	}
	if r := parse(first + second); r.Failed == "" || !hasCode(r.Notes, "pktgen-run-incomplete") {
		t.Errorf("%+v", r)
	}
	if r := parse(first + `{"kind":"done","ok":false,"err":"run.lua:60: set does not support bogus"}`); !strings.Contains(r.Failed, "bogus") || !hasCode(r.Notes, "pktgen-lua-error") {
		t.Errorf("%+v", r)
	}
	if r := parse(first + first + `{"kind":"done","ok":true}`); r.Throughput.Ok() || r.ParseWarnings == 0 {
		t.Errorf("two samples at one time give no rate: %+v", r)
	}
}

func TestPktgenScriptBounds(t *testing.T) {
	good := PktgenRun{Out: "/tmp/r", SizeBytes: 64, RatePct: 0.5, Seconds: 2}
	if s, err := good.Script(); err != nil || strings.Contains(s, "@OUT@") || !strings.Contains(s, `"rate", 0.5`) {
		t.Error(err)
	}
	for _, change := range []func(*PktgenRun){
		func(p *PktgenRun) { p.Out = "a\nb" }, func(p *PktgenRun) { p.SizeBytes = 63 }, func(p *PktgenRun) { p.RatePct = 0 }, func(p *PktgenRun) { p.RatePct = 101 }, func(p *PktgenRun) { p.Seconds = 1 },
	} {
		bad := good
		change(&bad)
		if _, err := bad.Script(); err == nil {
			t.Errorf("%+v is no run", bad)
		}
	}
}
