package bench

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

var ovsPair = regexp.MustCompile(`([A-Za-z0-9_.:-]+)=("(?:[^"\\]|\\.)*"|[^,}]*)`)

// ParseOVSMap reads an OVSDB map as ovs-vsctl prints it: {dpdk-init="true", pmd-rxq-assign=roundrobin}. Plain words come
// without quotes.
func ParseOVSMap(text string) map[string]string {
	out := map[string]string{}
	for _, m := range ovsPair.FindAllStringSubmatch(text[:min(len(text), maxLineBytes)], 4096) {
		value := strings.TrimSpace(m[2])
		if len(value) >= 2 && value[0] == '"' {
			value = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(value[1 : len(value)-1])
		}
		out[m[1]] = value
	}
	return out
}

// OVSBridge is one bridge of "ovs-vsctl show".
type OVSBridge struct {
	Name     string    `json:"name"`
	Datapath string    `json:"datapath,omitempty"` // netdev; "" is the kernel's
	Ports    []OVSPort `json:"ports"`
}

// OVSPort is one interface of a bridge.
type OVSPort struct {
	Port    string            `json:"port"`
	Name    string            `json:"name"` // of the interface
	Type    string            `json:"type"` // "" is a kernel interface (system)
	Options map[string]string `json:"options,omitempty"`
	Error   string            `json:"error,omitempty"`
}

// Kernel says that the port is a kernel interface: in a netdev bridge the main thread moves its packets.
func (p OVSPort) Kernel() bool { return p.Type == "" || p.Type == "system" || p.Type == "tap" }

var ovsShowLine = regexp.MustCompile(`^\s+(Bridge|Port|Interface|datapath_type:|type:|options:|error:)\s*(.*)$`)

// ParseOVSShow reads "ovs-vsctl show".
func ParseOVSShow(text []byte) []OVSBridge {
	var out []OVSBridge
	port := ""
	for _, l := range splitLines(text) {
		m := ovsShowLine.FindStringSubmatch(l.S)
		if m == nil || m[1] != "Bridge" && len(out) == 0 {
			continue
		}
		value := strings.Trim(m[2], `"`)
		if m[1] == "Bridge" {
			if len(out) < 1<<12 {
				out = append(out, OVSBridge{Name: value, Ports: []OVSPort{}})
			}
			continue
		}
		b := &out[len(out)-1]
		switch m[1] {
		case "datapath_type:":
			b.Datapath = value
		case "Port":
			port = value
		case "Interface":
			b.Ports = append(b.Ports, OVSPort{Port: port, Name: value})
		default:
			if n := len(b.Ports); n > 0 {
				b.Ports[n-1].set(m[1], value, m[2])
			}
		}
	}
	return out
}

func (p *OVSPort) set(label, value, raw string) {
	switch label {
	case "type:":
		p.Type = value
	case "options:":
		p.Options = ParseOVSMap(raw)
	case "error:":
		p.Error = value
	}
}

// OVSDatapath is one datapath of dpif/show or dpctl/show -s.
type OVSDatapath struct {
	Name       string               `json:"name"` // system@ovs-system, netdev@ovs-netdev
	Hit        maybe.Value[float64] `json:"hit,omitzero"`
	Missed     maybe.Value[float64] `json:"missed,omitzero"` // upcalls
	Lost       maybe.Value[float64] `json:"lost,omitzero"`   // upcalls that found the queue full
	Flows      maybe.Value[float64] `json:"flows,omitzero"`
	Ports      map[string]string    `json:"ports,omitempty"`          // name -> type
	OffloadPct maybe.Value[float64] `json:"offload_pct,omitzero"`     // packets; NVIDIA's fork only, diluted by drops
	Offloaded  maybe.Value[float64] `json:"offloaded_flows,omitzero"` // NVIDIA's fork only
}

var (
	ovsDpName    = regexp.MustCompile(`^([a-z]+@\S+):(.*)$`)
	ovsDpLookups = regexp.MustCompile(`hit:(\d+) missed:(\d+)(?: lost:(\d+))?`)
	ovsDpFlows   = regexp.MustCompile(`^\s+flows: (\d+)$`)
	ovsDpPort    = regexp.MustCompile(`^\s+port \d+: (\S+)(?: \(([a-z0-9-]+))?`)
	ovsIfPort    = regexp.MustCompile(`^\s+(\S+) \d+/(?:\d+|none): \(([a-z0-9-]+)`)
	ovsDpOff     = regexp.MustCompile(`^\s+offloaded flows: (\d+)$`)
	ovsDpOffPct  = regexp.MustCompile(`^\s+offloaded packets: ([0-9.]+)%`)
)

// ParseOVSDatapaths reads dpif/show, dpctl/show and dpctl/show -s.
func ParseOVSDatapaths(text []byte) []OVSDatapath {
	var out []OVSDatapath
	for _, l := range splitLines(text) {
		if m := ovsDpName.FindStringSubmatch(l.S); m != nil && len(out) < 1<<10 {
			none := maybe.None[float64]("not printed")
			out = append(out, OVSDatapath{Name: m[1], Hit: none, Missed: none, Lost: none, Flows: none, OffloadPct: none, Offloaded: none, Ports: map[string]string{}})
			out[len(out)-1].line(m[2])
		} else if len(out) > 0 {
			out[len(out)-1].line(l.S)
		}
	}
	return out
}

func (d *OVSDatapath) line(s string) {
	if m := ovsDpLookups.FindStringSubmatch(s); m != nil {
		d.Hit, d.Missed = number(m[1]), number(m[2])
		if m[3] != "" {
			d.Lost = number(m[3])
		}
	} else if m := ovsDpFlows.FindStringSubmatch(s); m != nil {
		d.Flows = number(m[1])
	} else if m := ovsDpOff.FindStringSubmatch(s); m != nil {
		d.Offloaded = number(m[1])
	} else if m := ovsDpOffPct.FindStringSubmatch(s); m != nil {
		d.OffloadPct = number(m[1])
	} else if m := firstOfBoth(ovsDpPort, ovsIfPort, s); m != nil && len(d.Ports) < 1<<16 {
		d.Ports[m[1]] = m[2]
	}
}

func firstOfBoth(a, b *regexp.Regexp, s string) []string {
	if m := a.FindStringSubmatch(s); m != nil {
		return m
	}
	return b.FindStringSubmatch(s)
}

// OVSCoverage is one event of coverage/show: rates a second over the last 5 seconds, minute and hour.
type OVSCoverage struct {
	Per5S     float64 `json:"per_5s"`
	PerMinute float64 `json:"per_minute"`
	PerHour   float64 `json:"per_hour"`
	Total     float64 `json:"total"`
}

var ovsCoverageLine = regexp.MustCompile(`^(\w+)\s+([0-9.]+)/sec\s+([0-9.]+)/sec\s+([0-9.]+)/sec\s+total: (\d+)`)

// ParseOVSCoverage reads coverage/show by event name (datapath_drop_upcall_error, upcall_flow_limit_hit ...). Events that
// never happened are not printed.
func ParseOVSCoverage(text []byte) map[string]OVSCoverage {
	out := map[string]OVSCoverage{}
	for _, l := range splitLines(text) {
		m := ovsCoverageLine.FindStringSubmatch(l.S)
		if m == nil || len(out) >= 1<<12 {
			continue
		}
		var c OVSCoverage
		for i, to := range []*float64{&c.Per5S, &c.PerMinute, &c.PerHour, &c.Total} {
			*to, _ = finite(m[i+2])
		}
		out[m[1]] = c
	}
	return out
}

// OVSUpcall is one datapath of upcall/show.
type OVSUpcall struct {
	Name   string  `json:"name"`
	Flows  float64 `json:"flows"`
	Limit  float64 `json:"limit"`
	DumpMS float64 `json:"dump_ms"` // high: the revalidators are late
}

var (
	ovsUpFlows = regexp.MustCompile(`^\s+flows\s*: \(current (\d+)\) \(avg \d+\) \(max \d+\) \(limit (\d+)\)`)
	ovsUpDump  = regexp.MustCompile(`^\s+dump duration\s*: (\d+)ms`)
)

// ParseOVSUpcall reads upcall/show.
func ParseOVSUpcall(text []byte) []OVSUpcall {
	var out []OVSUpcall
	for _, l := range splitLines(text) {
		if m := ovsDpName.FindStringSubmatch(l.S); m != nil && len(out) < 1<<10 {
			out = append(out, OVSUpcall{Name: m[1]})
		} else if m := ovsUpFlows.FindStringSubmatch(l.S); m != nil && len(out) > 0 {
			out[len(out)-1].Flows, _ = finite(m[1])
			out[len(out)-1].Limit, _ = finite(m[2])
		} else if m := ovsUpDump.FindStringSubmatch(l.S); m != nil && len(out) > 0 {
			out[len(out)-1].DumpMS, _ = finite(m[1])
		}
	}
	return out
}

// OVSInterface is what matters of "ovs-vsctl get Interface P status" or "list Interface".
type OVSInterface struct {
	Node     maybe.Value[int]     `json:"node,omitzero"` // numa_id of dpdk ports, numa of vhost ones
	Driver   string               `json:"driver,omitempty"`
	LinkGbps maybe.Value[float64] `json:"link_gbps,omitzero"`
	RxQueues maybe.Value[int]     `json:"rx_queues,omitzero"`
}

var ovsColumn = regexp.MustCompile(`^(\w+)\s*: (\{.*\})$`)

// ParseOVSInterface reads either form.
func ParseOVSInterface(text []byte) OVSInterface {
	fields := map[string]string{}
	for _, l := range splitLines(text) {
		body := l.S
		if m := ovsColumn.FindStringSubmatch(l.S); m != nil {
			if m[1] != "status" && m[1] != "options" {
				continue
			}
			body = m[2]
		} else if !strings.HasPrefix(l.S, "{") {
			continue
		}
		for k, v := range ParseOVSMap(body) {
			fields[k] = v
		}
	}
	out := OVSInterface{Driver: fields["driver_name"], LinkGbps: maybe.None[float64]("the status does not tell")}
	out.Node = ovsInt(fields, "numa_id", "numa")
	out.RxQueues = ovsInt(fields, "n_rxq", "num_of_vrings")
	if g, ok := strings.CutSuffix(fields["link_speed"], "Gbps"); ok {
		out.LinkGbps = number(g)
	}
	return out
}

func ovsInt(fields map[string]string, names ...string) maybe.Value[int] {
	for _, name := range names {
		if n, err := strconv.Atoi(fields[name]); err == nil && n >= 0 {
			return maybe.Some(n)
		}
	}
	return maybe.None[int]("the status does not tell")
}
