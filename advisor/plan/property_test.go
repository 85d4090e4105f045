package plan

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/corewise/corewise/bench"
	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// randomInput makes a machine, a workload and their circumstances; some of it deliberately odd.
func randomInput(r *rand.Rand) Input {
	pick := func(list ...int) int { return list[r.IntN(len(list))] }
	s := shape{Sockets: pick(1, 1, 2, 2, 4), Cores: pick(1, 2, 3, 4, 6, 8, 16, 28), SMT: pick(1, 2, 2, 4), NPS: pick(1, 1, 2, 4), L3: pick(0, 1, 3, 4, 8),
		Numbering: []string{"linear", "adjacent", "evenodd"}[r.IntN(3)]}
	s.NPS = min(s.NPS, s.Cores)
	in := s.input()
	all := len(in.Possible)
	if r.IntN(3) == 0 {
		in.Online = in.Online.Minus(subset(r, all, 0.3))
	}
	if len(in.Online) == 0 {
		in.Online = cpulist.Of(r.IntN(all))
	}
	in.Boot = in.Online[0]
	if r.IntN(3) == 0 {
		in.Allowed = maybe.Some(subset(r, all, 0.6))
	}
	if r.IntN(6) == 0 {
		in.Foreign = subset(r, all, 0.2)
	}
	if r.IntN(4) == 0 {
		in.Isolated = subset(r, all, 0.7)
	}
	if r.IntN(5) == 0 {
		in.ManagedIRQ = subset(r, all, 0.2)
	}
	if r.IntN(6) == 0 {
		in.Reserved = subset(r, all, 0.1)
	}
	if r.IntN(5) == 0 {
		for i := range in.CPUs {
			in.CPUs[i].Capacity = []int{400, 1024}[in.CPUs[i].ID%2]
		}
	}
	in.Kind = []string{"bare", "bare", "vm", "container", "dpu-arm"}[r.IntN(5)]
	in.Datapath = []string{"bypass", "kernel", "storage", "cpu"}[r.IntN(4)]
	in.Goal = []bench.Goal{bench.GoalLatency, bench.GoalThroughput}[r.IntN(2)]
	in.SMT, in.Scope = []string{"one", "both"}[r.IntN(2)], []string{"", "minimal", "node", "all"}[r.IntN(4)]
	if r.IntN(2) == 0 {
		in.SoftirqBusy = maybe.Some(r.Float64() * 4)
	}
	for i := range r.IntN(4) {
		in.Devices = append(in.Devices, Device{Name: fmt.Sprintf("eth%d", i), PCI: fmt.Sprintf("0000:%02x:00.0", i+1), Node: r.IntN(in.NodeCount+2) - 1})
	}
	in.Roles = randomRoles(r, in)
	return in
}

func randomRoles(r *rand.Rand, in Input) []Role {
	var roles []Role
	for i := range 1 + r.IntN(4) {
		role := Role{Name: []string{"rx", "tx", "worker", "pmd", "client"}[r.IntN(5)], Data: true, Count: r.IntN(7), Port: r.IntN(3), Device: r.IntN(5) - 1}
		if r.IntN(3) == 0 {
			for range role.Count {
				role.Now = append(role.Now, r.IntN(len(in.Possible)+2))
			}
		}
		if i > 0 && r.IntN(5) == 0 {
			role.Shares = 1
		}
		roles = append(roles, role)
	}
	for range r.IntN(3) {
		roles = append(roles, Role{Name: "main", Count: r.IntN(3)})
	}
	return roles
}

func subset(r *rand.Rand, n int, p float64) cpulist.Set {
	s := cpulist.Set{}
	for c := range n {
		if r.Float64() < p {
			s = append(s, c)
		}
	}
	return s
}

func TestProperties(t *testing.T) {
	for seed := range uint64(1000) {
		in := randomInput(rand.New(rand.NewPCG(seed, 1)))
		p := Make(in)
		if again := Make(in); !reflect.DeepEqual(p, again) {
			t.Fatalf("seed %d: two plans of one input differ", seed)
		}
		for _, bad := range violations(in, p) {
			t.Errorf("seed %d: %s\nsets H=%s IRQ=%s I=%s W=%s reuse=%v kept=%v limited=%q steps=%q\nroles %+v\ninput %+v", seed, bad,
				p.Sets.Housekeeping, p.Sets.IRQ, p.Sets.Isolated, p.Sets.Workload, p.Reuse, p.Kept, p.Limited, p.Steps, p.Roles, in)
		}
		if t.Failed() {
			return
		}
	}
}

// violations names the properties that a plan breaks.
func violations(in Input, p Plan) []string {
	var bad []string
	check := func(ok bool, format string, args ...any) {
		if !ok {
			bad = append(bad, fmt.Sprintf(format, args...))
		}
	}
	tp := newTopo(in)
	avail := in.Online.Minus(in.Foreign)
	if a, ok := in.Allowed.Get(); ok {
		avail = avail.And(a)
	}
	if len(avail) == 0 {
		check(p.Limited != "" && len(p.Sets.Workload) == 0, "no CPU to use, but a plan")
		return bad
	}
	s := p.Sets
	for name, set := range map[string]cpulist.Set{"housekeeping": s.Housekeeping, "irq": s.IRQ, "isolated": s.Isolated, "workload": s.Workload} {
		check(set.Within(avail), "%s has CPUs that are offline or forbidden", name)
		back, err := cpulist.Parse(set.String())
		check(err == nil && back.Equal(set), "%s: list does not round-trip", name)
		if len(set) > 0 {
			mask, err := cpulist.ParseMask(set.KernelMask(len(in.Possible)))
			check(err == nil && mask.Equal(set), "%s: mask does not round-trip", name)
		}
	}
	check(len(s.Housekeeping.And(s.Isolated)) == 0, "housekeeping and isolated overlap")
	check(len(s.Isolated) == 0 || s.Workload.Within(s.Isolated), "workload is not within isolated")
	check(!s.Isolated.Has(tp.boot), "the boot CPU is isolated")
	check(len(p.Args) == 0 || p.Limited == "" && !p.Reuse && in.Kind != "vm" && in.Kind != "container", "a kernel command line where none belongs")
	check(p.Limited == "" || len(p.Args) == 0, "limited, but kernel arguments")
	bad = append(bad, roleViolations(in, p, tp, avail)...)
	return append(bad, coreViolations(in, p, tp, avail)...)
}

func roleViolations(in Input, p Plan, tp *topo, avail cpulist.Set) []string {
	var bad []string
	seen, want, shared := map[int]string{}, 0, len(tp.cores(avail)) == 1
	for i, r := range p.Roles {
		if len(r.CPUs) > in.Roles[i].Count && in.Roles[i].Shares == 0 {
			bad = append(bad, fmt.Sprintf("%s has more CPUs than threads", r.Role))
		}
		if !r.Data || in.Roles[i].Shares > 0 {
			continue
		}
		want += in.Roles[i].Count
		for _, c := range r.CPUs {
			if seen[c] != "" {
				bad = append(bad, fmt.Sprintf("CPU %d has two data threads", c))
			}
			seen[c] = r.Role
		}
	}
	for _, r := range p.Roles {
		for _, c := range r.CPUs {
			if !r.Data && seen[c] != "" && len(p.Sets.Workload) > 1 && !shared {
				bad = append(bad, fmt.Sprintf("%s shares CPU %d with a data thread", r.Role, c))
			}
		}
	}
	if len(seen) < want && len(p.Steps) == 0 {
		bad = append(bad, "fewer CPUs than threads, and no step says so")
	}
	if want > 0 && len(seen) == 0 {
		bad = append(bad, "data threads, but no CPU for them")
	}
	return bad
}

func coreViolations(in Input, p Plan, tp *topo, avail cpulist.Set) []string {
	var bad []string
	boot := tp.cpu[tp.boot].Siblings
	others := avail.Minus(boot)
	if hit := p.Sets.Workload.And(boot); len(hit) > 0 && len(others) > 0 && !(p.Kept && in.Kind == "dpu-arm") && len(p.Sets.Workload) <= len(tp.cores(others)) {
		bad = append(bad, fmt.Sprintf("data threads on boot core %s", hit))
	}
	if in.SMT == "one" && !p.Kept && len(tp.cores(p.Sets.Workload)) < len(p.Sets.Workload) {
		bad = append(bad, "two data threads on one core though siblings are not wanted")
	}
	if p.Limited == "" && !p.Reuse {
		if !tp.whole(p.Sets.Isolated).Equal(p.Sets.Isolated) {
			bad = append(bad, "isolation splits a physical core")
		}
		if len(p.Sets.Isolated) > 0 && !tp.whole(p.Sets.Housekeeping).Equal(p.Sets.Housekeeping) {
			bad = append(bad, "housekeeping splits a physical core")
		}
		for _, n := range tp.nodes {
			cpus := tp.on(tp.online, n)
			if len(tp.cores(cpus)) > 1 && len(tp.cores(tp.online)) > 2 && !tp.l3Nodes() && len(cpus.Minus(p.Sets.Isolated)) == 0 {
				bad = append(bad, fmt.Sprintf("node %d keeps no housekeeping CPU", n))
			}
		}
	}
	if p.Limited != "" && in.Kind != "vm" && len(p.Args) > 0 {
		bad = append(bad, "limited, but arguments")
	}
	return bad
}
