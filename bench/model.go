// Package bench knows the benchmarks: recognises them from argv, runs them, parses what they print.
//
// One adapter a file. An adapter reads text and gives a Result; it never touches the host beyond starting the command.
// Transcripts are untrusted: a value is present, or missing as absent, unsupported or unparsable (maybe.Value), never 0.
package bench

import (
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// Goal is what the user wants of the run; the same knob has two right answers.
type Goal string

// The goals.
const (
	GoalAuto       Goal = "auto"
	GoalLatency    Goal = "latency"
	GoalThroughput Goal = "throughput"
)

// Adapter is one workload family. The list of all adapters stands in adapters.go: explicit, no registration by side effect.
type Adapter interface {
	// Name is the workload's name in reports and directory names, such as "sockperf".
	Name() string
	// Recognise says whether the command (wrappers already taken off) is this workload.
	Recognise(cmd Command) bool
	// Describe reads argv and environment: goal, roles, cores, devices, peer, what is expected. It reads no output.
	Describe(cmd Command) Workload
	// Parse reads everything the command printed.
	Parse(w Workload, out Output) Result
}

// Command is a command line taken apart. Argv is the user's; Wrappers and Env are what stood before the program.
type Command struct {
	Argv         []string                 `json:"argv"`                    // whole, as typed
	Program      string                   `json:"program"`                 // path or name of the benchmark itself
	Args         []string                 `json:"args"`                    // its arguments
	Env          map[string]string        `json:"env,omitempty"`           // from env NAME=VALUE
	Taskset      maybe.Value[cpulist.Set] `json:"taskset,omitzero"`        // CPUs by taskset, numactl -C, chrt --...
	NumaCPUNodes maybe.Value[cpulist.Set] `json:"numa_cpu_nodes,omitzero"` // numactl -N
	NumaMemNodes maybe.Value[cpulist.Set] `json:"numa_mem_nodes,omitzero"` // numactl -m
	MemPolicy    string                   `json:"mem_policy,omitempty"`    // bind, preferred, interleave
	Policy       string                   `json:"policy,omitempty"`        // fifo:50 by chrt
	Netns        string                   `json:"netns,omitempty"`         // ip netns exec NAME
	Wrappers     []string                 `json:"wrappers,omitempty"`      // names of the wrappers, outermost first
	Notes        []Note                   `json:"notes,omitempty"`         // unknown wrapper options and typographic characters in argv

	noEnv []string // variables that wrappers took away; "*": all
}

// Workload is what argv tells before anything ran.
type Workload struct {
	Kind      string               `json:"kind"`           // the adapter's name
	Mode      string               `json:"mode,omitempty"` // ping-pong, under-load, throughput, server; txonly, rxonly, io ...
	Goal      Goal                 `json:"goal"`           // natural goal
	Command   Command              `json:"command"`
	DataPath  string               `json:"data_path"`       // kernel (sockets), bypass (DPDK, VMA, SPDK, verbs), storage, cpu
	PollMode  bool                 `json:"poll_mode"`       // 100 % CPU is normal
	Roles     []Role               `json:"roles,omitempty"` // threads by role with their cores, as argv says
	Devices   Devices              `json:"devices"`
	Peer      maybe.Value[string]  `json:"peer,omitzero"`  // address of the other end
	Local     maybe.Value[string]  `json:"local,omitzero"` // own address, where argv tells
	DurationS maybe.Value[float64] `json:"duration_s,omitzero"`
	Options   map[string]string    `json:"options,omitempty"` // long or short option -> value, by the tool's own name without dashes
	Offered   Offered              `json:"offered"`
	Notes     []Note               `json:"notes,omitempty"` // what argv alone shows to be wrong or suspicious
	EAL       *EAL                 `json:"eal,omitempty"`   // DPDK programs: lcores, memory and devices of the EAL options
}

// Role is one kind of thread of a workload and the cores it is to use.
type Role struct {
	Name  string      `json:"name"` // rx, tx, worker, main, sender, receiver, server, client, pmd, reactor, internal
	Data  bool        `json:"data"` // on the data path: needs a physical core of its own on the device's node
	Count int         `json:"count"`
	CPUs  cpulist.Set `json:"cpus,omitempty"` // empty: argv does not tell
	Port  int         `json:"port,omitempty"` // port or device index
	Fixed bool        `json:"fixed"`          // CPUs come from argv (else: guess)
}

// Devices are the devices that argv names.
type Devices struct {
	PCI     []string `json:"pci,omitempty"` // BDF
	Netdevs []string `json:"netdevs,omitempty"`
	RDMA    []string `json:"rdma,omitempty"`
	Block   []string `json:"block,omitempty"`
}

// Offered is the load that was asked for, where argv tells.
type Offered struct {
	RatePPS   maybe.Value[float64] `json:"rate_pps,omitzero"`   // messages or packets a second
	SizeBytes maybe.Value[int]     `json:"size_bytes,omitzero"` // message, frame or block
	Flows     maybe.Value[int]     `json:"flows,omitzero"`
	Depth     maybe.Value[int]     `json:"depth,omitzero"`  // outstanding requests
	Proto     string               `json:"proto,omitempty"` // udp, tcp, rc, ud ...
}

// Output is everything a command printed.
type Output struct {
	Stdout []byte
	Stderr []byte
	// Mixed is set instead of Stdout and Stderr when a transcript holds both streams.
	Mixed    []byte
	Files    map[string][]byte // side files: full log, CSV, JSON
	Ended    maybe.Value[Exit]
	ElapsedS maybe.Value[float64]
}

// All returns all text, both streams.
func (o Output) All() []byte {
	if o.Mixed != nil {
		return o.Mixed
	}
	all := append([]byte{}, o.Stdout...)
	if len(all) > 0 && all[len(all)-1] != '\n' && len(o.Stderr) > 0 {
		all = append(all, '\n')
	}
	return append(all, o.Stderr...)
}

// Exit is how a command ended.
type Exit struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"` // SIGKILL ...
}

// Result is what the benchmark measured.
type Result struct {
	Tool    string              `json:"tool"`
	Version maybe.Value[string] `json:"version,omitzero"`
	Mode    string              `json:"mode,omitempty"`
	// Failed says that there is no valid result, in the tool's own words; "" otherwise.
	Failed  string   `json:"failed,omitempty"`
	Metrics []Metric `json:"metrics"`
	// Latency is in microseconds. OneWay: half the round trip (sockperf's default).
	Latency       maybe.Value[Latency]    `json:"latency,omitzero"`
	Throughput    maybe.Value[Throughput] `json:"throughput,omitzero"`
	Loss          maybe.Value[Loss]       `json:"loss,omitzero"`
	Intervals     []Interval              `json:"intervals,omitempty"`
	DurationS     maybe.Value[float64]    `json:"duration_s,omitzero"` // valid part
	WarmupS       maybe.Value[float64]    `json:"warmup_s,omitzero"`
	Notes         []Note                  `json:"notes"`                    // warnings and errors with a code each
	ParseWarnings int                     `json:"parse_warnings,omitempty"` // rows that were not understood
	// Threads are those that the tool names by their kernel id, so that the report can name them too.
	Threads []ThreadRole `json:"threads,omitempty"`
	// Accel is the socket library (VMA, XLIO) under the workload, where its banner tells.
	Accel *Accel `json:"accel,omitempty"`
}

// Metric is one number with its unit, by the names of the field: p99_us, rx_mpps, gbps ...
type Metric struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Latency is a distribution in microseconds.
type Latency struct {
	// Kind is rtt, half_rtt, one_way, service (one request), batch (of requests), wakeup (timer to thread) or noise (the
	// longest time that a spinning thread was kept from running).
	Kind        string               `json:"kind"`
	AvgUS       maybe.Value[float64] `json:"avg_us,omitzero"`
	StddevUS    maybe.Value[float64] `json:"stddev_us,omitzero"`
	MinUS       maybe.Value[float64] `json:"min_us,omitzero"`
	MaxUS       maybe.Value[float64] `json:"max_us,omitzero"`
	Percentiles []Percentile         `json:"percentiles"` // ascending
	Samples     maybe.Value[int64]   `json:"samples,omitzero"`
}

// Percentile is one point. Reliable: at least ten samples lie above it.
type Percentile struct {
	P        float64 `json:"p"` // 99.9
	US       float64 `json:"us"`
	Reliable bool    `json:"reliable"`
}

// At returns the value at percentile p, where the tool printed it.
func (l Latency) At(p float64) maybe.Value[float64] {
	for _, q := range l.Percentiles {
		if q.P > p-1e-6 && q.P < p+1e-6 {
			return maybe.Some(q.US)
		}
	}
	return maybe.Nonef[float64]("the tool printed no %gth percentile", p)
}

// Throughput is rates over the valid part. Gb/s are decimal bits.
type Throughput struct {
	RxMpps     maybe.Value[float64] `json:"rx_mpps,omitzero"`
	TxMpps     maybe.Value[float64] `json:"tx_mpps,omitzero"`
	RxGbps     maybe.Value[float64] `json:"rx_gbps,omitzero"` // L2 as the tool counts; see Basis
	TxGbps     maybe.Value[float64] `json:"tx_gbps,omitzero"`
	MsgPerS    maybe.Value[float64] `json:"msg_per_s,omitzero"`
	IOPS       maybe.Value[float64] `json:"iops,omitzero"`
	OpsPerS    maybe.Value[float64] `json:"ops_per_s,omitzero"`
	Basis      string               `json:"basis,omitempty"` // wire, l2, l2+crc, payload
	Ports      []PortRate           `json:"ports,omitempty"`
	FrameBytes maybe.Value[int]     `json:"frame_bytes,omitzero"`
}

// PortRate is the rate of one port of a packet generator.
type PortRate struct {
	Port     int                  `json:"port"`
	RxMpps   maybe.Value[float64] `json:"rx_mpps,omitzero"`
	TxMpps   maybe.Value[float64] `json:"tx_mpps,omitzero"`
	RxGbps   maybe.Value[float64] `json:"rx_gbps,omitzero"`
	TxGbps   maybe.Value[float64] `json:"tx_gbps,omitzero"`
	RxMissed maybe.Value[float64] `json:"rx_missed,omitzero"`
	RxErrors maybe.Value[float64] `json:"rx_errors,omitzero"`
	RxNombuf maybe.Value[float64] `json:"rx_nombuf,omitzero"`
	TxErrors maybe.Value[float64] `json:"tx_errors,omitzero"`
	LinkGbps maybe.Value[float64] `json:"link_gbps,omitzero"`
}

// Loss is messages or packets that did not arrive.
type Loss struct {
	Sent        maybe.Value[float64] `json:"sent,omitzero"`
	Received    maybe.Value[float64] `json:"received,omitzero"`
	Dropped     maybe.Value[float64] `json:"dropped,omitzero"`
	Duplicated  maybe.Value[float64] `json:"duplicated,omitzero"`
	OutOfOrder  maybe.Value[float64] `json:"out_of_order,omitzero"`
	Retransmits maybe.Value[float64] `json:"retransmits,omitzero"`
}

// Interval is one periodic value, StartS and EndS in seconds from the start of the run.
type Interval struct {
	StartS  float64  `json:"start_s"`
	EndS    float64  `json:"end_s"`
	Metrics []Metric `json:"metrics"`
}

// Note is a warning, error or remark that a rule may turn into a finding.
type Note struct {
	Code  string            `json:"code"`           // kebab-case, stable: eal-no-hugepages, sockperf-no-server ...
	Level string            `json:"level"`          // info, warning, error
	Text  string            `json:"text"`           // the tool's own words, or ours
	Args  map[string]string `json:"args,omitempty"` // what the text names: node, core, device, pci ...
	Line  int               `json:"line,omitempty"` // of the transcript, from 1
}

// ThreadRole is a thread that the tool itself names.
type ThreadRole struct {
	TID  int    `json:"tid"`
	Role string `json:"role"` // the Name of a Role
}
