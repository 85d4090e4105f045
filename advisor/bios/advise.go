package bios

import (
	"fmt"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/host"
)

// Advice is one setting, the value that fits the goal, and how that compares with what can be seen.
type Advice struct {
	Token    string `json:"token"`
	Title    string `json:"title"`
	Want     string `json:"want"`
	State    string `json:"state"` // right, wrong, ask: nothing shows it
	Evidence string `json:"evidence"`
	Words    string `json:"words,omitempty"` // in this machine's vocabulary
	Check    string `json:"check"`
	Why      string `json:"why"`
}

// wish is what the goal asks of a setting, on which processors.
type wish struct {
	token, cpu string
	latency    string // value for latency; "" no opinion
	throughput string
	why        string
}

// wishes leave out what depends on the workload's shape (nodes per socket) or has no source for either goal.
var wishes = []wish{
	{"profile", "", "performance", "performance", "a balanced profile saves power at the cost of wake-up time and frequency"},
	{"c_states", "", "off", "", "leaving a deep idle state takes tens to hundreds of microseconds"},
	{"c1e", "intel", "off", "", "enhanced C1 lowers voltage and frequency when a core halts"},
	{"determinism", "amd", "performance", "power", "performance determinism makes all parts behave alike, power determinism lets each run as fast as it can"},
	{"apbdis", "amd", "on", "on", "the fabric's P-state follows the load of the cores, which a poller's packets do not show"},
	{"df_c_states", "amd", "off", "", "the data fabric sleeps when the whole host is idle between messages"},
	{"aspm", "", "off", "off", "leaving a link power state delays the first transfer"},
	{"uncore", "intel", "max", "max", "uncore frequency scaling delays cache and PCIe at low load"},
	{"energy_efficient_turbo", "intel", "off", "off", "it lowers turbo while cores wait for memory"},
	{"jitter_control", "intel", "auto", "", "turbo transitions stall the core"},
	{"collaborative_power", "", "off", "off", "the firmware changes frequencies by itself"},
	{"patrol_scrub", "", "off", "", "memory scrubbing shows in the far tail"},
	{"memory_speed", "", "max", "max", "memory below its rated speed costs bandwidth"},
	{"l3_as_numa", "amd", "off", "off", "tools find too few local cores, and huge pages are spread over many nodes"},
}

// Advise lists the settings that matter for a goal on this machine. A setting that is shown to be right says so; one that
// nothing shows is a question. Virtual machines and containers get none: their firmware is not the machine's.
func Advise(h host.Host, goal bench.Goal) []Advice {
	if kind := h.Identity.Kind.Or("bare"); kind != "bare" {
		return nil
	}
	vendor, cpu := Vendor(h.Firmware.SysVendor.Or("")), h.CPU.Vendor.Or("")
	var out []Advice
	for _, w := range wishes {
		value := w.latency
		if goal == bench.GoalThroughput {
			value = w.throughput
		}
		s, _ := Find(w.token)
		if value == "" || w.cpu != "" && w.cpu != cpu || vendorOnly(s, vendor) {
			continue
		}
		out = append(out, judge(h, s, value, w.why, vendor, cpu))
	}
	return out
}

// vendorOnly: a setting that only one vendor has is not asked for on other machines.
func vendorOnly(s Setting, vendor string) bool {
	return len(s.Names) == 1 && s.Names[vendor] == ""
}

func judge(h host.Host, s Setting, value, why, vendor, cpu string) Advice {
	a := Advice{Token: s.Token, Title: s.Title, Want: value, State: "ask", Check: s.Check, Why: why}
	a.Words, _ = s.Words(vendor, cpu, value)
	seen := See(h, s.Token)
	got, ok := seen.Get()
	switch {
	case !ok:
		a.Evidence = seen.Why()
	case got.Value == value:
		a.State, a.Evidence = "right", got.Evidence
	default:
		a.State, a.Evidence = "wrong", fmt.Sprintf("it is %s: %s", got.Value, got.Evidence)
	}
	return a
}
