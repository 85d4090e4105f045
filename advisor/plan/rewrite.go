package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/cpulist"
)

// rewrite is the workload's own command line with the planned cores; nil where the cores stay, or where the program takes
// its cores from a configuration and not from its command line.
func (b *builder) rewrite() []string {
	w := b.in.Workload
	if w == nil || b.keep || len(b.p.Sets.Workload) == 0 || w.Command.Program == "" || b.kind() == "ovs" {
		return nil
	}
	if flexible := []string{"pktgen", "testpmd", "doca_bench"}; b.crowded() && !slices.Contains(flexible, b.kind()) {
		return nil
	}
	args := slices.Clone(w.Command.Args)
	self := true
	switch b.kind() {
	case "pktgen", "testpmd":
		args = b.rewriteDPDK(args)
	case "doca_bench":
		args = replace(drop(args, "--core-mask"), b.p.Sets.Workload.String(), "--core-list")
	case "fio":
		args = replace(args, b.p.Sets.Workload.String(), "--cpus_allowed")
	case "oslat":
		args = b.rewriteOslat(args)
	case "sockperf":
		args, self = b.rewriteSockperf(args), false
	default:
		self = false
	}
	line := append(b.wrappers(w.Command, self), append([]string{w.Command.Program}, args...)...)
	if slices.Equal(line, w.Command.Argv) {
		return nil
	}
	return line
}

// crowded reports that there are more threads than planned cores, or that their number is not known: then a narrow list
// would only make them queue.
func (b *builder) crowded() bool {
	for _, r := range b.in.Roles {
		if r.Data && r.Guess {
			return true
		}
	}
	return len(b.p.Sets.Workload) < b.need()
}

// wrappers are environment and placement in front of the program; self: the program pins its threads itself.
func (b *builder) wrappers(c bench.Command, self bool) []string {
	out := environment(c.Env, b.control())
	if c.Netns != "" {
		out = append(out, "ip", "netns", "exec", c.Netns)
	}
	if policy, prio, ok := strings.Cut(c.Policy, ":"); ok {
		out = append(out, "chrt", "--"+policy, prio)
	}
	if len(b.t.nodes) > 1 {
		out = append(out, "numactl", "-N", b.p.Nodes.String(), "-m", b.memNodes().String())
	}
	if !self {
		out = append(out, "taskset", "-c", b.p.Sets.Workload.String())
	}
	return out
}

// environment keeps what was set, with the internal thread of VMA or XLIO on the planned control core.
func environment(env map[string]string, control int) []string {
	set := map[string]string{}
	for k, v := range env {
		set[k] = v
	}
	for lib, key := range map[string]string{"libvma": "VMA_INTERNAL_THREAD_AFFINITY", "libxlio": "XLIO_INTERNAL_THREAD_AFFINITY"} {
		if strings.Contains(env["LD_PRELOAD"], lib) && control >= 0 {
			set[key] = fmt.Sprint(control)
		}
	}
	var words []string
	for k, v := range set {
		words = append(words, k+"="+v)
	}
	if len(words) == 0 {
		return nil
	}
	slices.Sort(words)
	return append([]string{"env"}, words...)
}

// rewriteDPDK replaces the core options of EAL, and behind "--" the map of pktgen or the core count of testpmd.
func (b *builder) rewriteDPDK(args []string) []string {
	eal, app := args, []string{}
	if i := slices.Index(args, "--"); i >= 0 {
		eal, app = args[:i], args[i:]
	}
	for _, o := range []string{"-l", "-c", "--lcores", "--corelist", "--coremask", "--main-lcore", "--master-lcore", "--socket-mem"} {
		eal = drop(eal, o)
	}
	words := strings.Fields(strings.ReplaceAll(b.p.Syntaxes["eal"], `"`, ""))
	if !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--socket-mem") }) && len(b.t.nodes) < 2 {
		words = words[:len(words)-2]
	}
	eal = append(words, eal...)
	if b.kind() == "pktgen" {
		value := strings.Trim(strings.TrimPrefix(b.p.Syntaxes["pktgen-map"], "-m "), `"`)
		return append(eal, replace(drop(app, "--map"), value, "-m")...)
	}
	if len(app) > 0 {
		app = replace(app, fmt.Sprint(len(b.threadsOf())), "--nb-cores")
	}
	return append(eal, app...)
}

func (b *builder) rewriteOslat(args []string) []string {
	args = replace(drop(args, "-c"), b.p.Sets.Workload.String(), "--cpu-list")
	if c := b.control(); c >= 0 {
		args = replace(drop(args, "-C"), fmt.Sprint(c), "--cpu-main-thread")
	}
	return args
}

// rewriteSockperf pins sender and receiver of an under-load run each to its core.
func (b *builder) rewriteSockperf(args []string) []string {
	for _, role := range []string{"sender", "receiver"} {
		if cpus := b.threadsOf(role); len(cpus) > 0 {
			args = replace(args, cpulist.Of(cpus...).String(), "--"+role+"-affinity")
		}
	}
	if has(args, "--cpu-affinity") {
		args = replace(args, b.p.Sets.Workload.String(), "--cpu-affinity")
	}
	return args
}

func has(args []string, option string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return a == option || strings.HasPrefix(a, option+"=") })
}

// replace sets the value of an option at its place, in its style, or appends it.
func replace(args []string, value, option string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		switch {
		case strings.HasPrefix(a, option+"="):
			out[i] = option + "=" + value
			return out
		case a == option && i+1 < len(out):
			out[i+1] = value
			return out
		}
	}
	if strings.HasPrefix(option, "--") {
		return append(out, option+"="+value)
	}
	return append(out, option, value)
}

// drop removes an option with its value, also a short option with the value in the same word.
func drop(args []string, option string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == option:
			i++
		case strings.HasPrefix(args[i], option+"="), len(option) == 2 && strings.HasPrefix(args[i], option):
		default:
			out = append(out, args[i])
		}
	}
	return out
}
