package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
)

// present is the CPUs that data threads are pinned to now.
func (b *builder) present() cpulist.Set {
	var all []int
	for _, r := range b.in.Roles {
		if r.Data {
			all = append(all, r.Now...)
		}
	}
	return cpulist.Of(all...)
}

// judgePresent collects what is wrong with the present cores. With nothing wrong they are kept: a list that is right is
// not exchanged for another that is right.
func (b *builder) judgePresent() {
	b.unpinned()
	now := b.present()
	if len(now) > 0 {
		b.unusable(now)
		b.onBootCore(now.And(b.avail))
		b.wrongNode()
		b.shared(now.And(b.avail))
		b.outsideIsolation(now)
		b.besideControl(now)
	}
	b.keep = len(b.defects) == 0 && len(now) > 0
}

func (b *builder) defect(format string, args ...any) {
	b.defects = append(b.defects, fmt.Sprintf(format, args...))
}

// unpinned names data threads without a CPU of their own.
func (b *builder) unpinned() {
	for _, r := range b.in.Roles {
		switch {
		case !r.Data || r.Count == 0 || r.Shares > 0 || len(r.Now) == r.Count:
		case r.Guess && len(r.Mask) == 0:
			b.step("how many threads %s has is not known: planned for %d", r.Name, r.Count)
		case len(r.Now) > 0:
			b.defect("%s: %d threads on %d CPUs (%s)", r.Name, r.Count, len(cpulist.Of(r.Now...)), cpulist.Of(r.Now...))
		case len(r.Mask) > 0 && len(r.Mask) < len(b.t.online):
			b.defect("%s: %s may run anywhere on CPUs %s, not on one each", r.Name, threads(r.Count), r.Mask)
		default:
			b.defect("%s: %s not pinned", r.Name, threads(r.Count))
		}
	}
}

func threads(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", n)
}

func (b *builder) unusable(now cpulist.Set) {
	if off := now.Minus(b.t.online); len(off) > 0 {
		b.defect("CPUs %s are not online", off)
	}
	if out := now.And(b.t.online).Minus(b.avail); len(out) > 0 {
		b.defect("CPUs %s do not belong to the workload's control group, or to another one exclusively", out)
	}
	if hit := b.t.whole(now.And(b.t.online)).And(b.in.Reserved); len(hit) > 0 {
		b.defect("cores of CPUs %s are reserved for the system by kubelet", hit)
	}
}

// onBootCore allows a data plane on the boot core of a DPU: there any one reserved core is fine.
func (b *builder) onBootCore(now cpulist.Set) {
	hit := now.And(b.bootCore())
	if len(hit) == 0 || b.in.Kind == "dpu-arm" && len(b.t.cores(b.t.online)) > len(b.t.cores(now)) {
		return
	}
	if len(b.t.cores(b.avail)) > len(b.t.cores(now)) || len(b.t.cores(b.avail)) > len(hit) {
		b.defect("CPUs %s are on the boot core, where the kernel's own work runs", hit)
	}
}

// wrongNode compares each role with its own device. Another node of the same socket is second best, not wrong.
func (b *builder) wrongNode() {
	for _, r := range b.in.Roles {
		at := b.placeOf(r)
		if !r.Data || !at.known || len(b.in.Devices) == 0 {
			continue
		}
		far := where(cpulist.Of(r.Now...).And(b.t.online), func(c int) bool { return !b.t.near(b.t.cpu[c].Node, at.node) })
		if len(far) > 0 && b.roomNear(at.node, len(far)) {
			b.defect("%s on CPUs %s of node %s, the device is on node %d", r.Name, far, b.t.nodesOf(far), at.node)
		}
	}
}

// roomNear reports whether the socket of node has usable cores that the workload does not use yet.
func (b *builder) roomNear(node, want int) bool {
	free := where(b.avail, func(c int) bool { return b.t.near(b.t.cpu[c].Node, node) })
	free = free.Minus(b.t.whole(b.present().And(b.t.online))).Minus(b.bootCore())
	return len(b.t.cores(free)) >= min(want, 1)
}

// shared names CPUs with two data threads, and SMT siblings that both have one where a free core is near.
func (b *builder) shared(now cpulist.Set) {
	var all []int
	for _, r := range b.in.Roles {
		if r.Data && r.Shares == 0 {
			all = append(all, r.Now...)
		}
	}
	if twice := duplicates(all); len(twice) > 0 {
		b.defect("CPUs %s have more than one data thread", twice)
	}
	var pairs cpulist.Set
	for _, c := range now {
		if len(b.t.cpu[c].Siblings.And(now)) > 1 {
			pairs = append(pairs, c)
		}
	}
	if len(pairs) > 0 && !(b.throughput() && len(b.t.cores(b.avail.Minus(b.bootCore()))) < b.need()) && !b.pairsByDesign() {
		b.defect("CPUs %s are SMT siblings of each other and both have a data thread", pairs)
	}
}

// pairsByDesign: poll-mode switches serve a port with both siblings of a core.
func (b *builder) pairsByDesign() bool {
	for _, r := range b.in.Roles {
		if r.Data && r.Name != "pmd" {
			return false
		}
	}
	return true
}

func duplicates(cpus []int) cpulist.Set {
	seen, twice := map[int]bool{}, []int{}
	for _, c := range cpus {
		if seen[c] {
			twice = append(twice, c)
		}
		seen[c] = true
	}
	return cpulist.Of(twice...)
}

func (b *builder) outsideIsolation(now cpulist.Set) {
	if out := now.And(b.avail).Minus(b.in.Isolated); b.reuse && len(out) > 0 {
		b.defect("CPUs %s are not isolated, while %s are", out, b.in.Isolated)
	}
}

// besideControl names data CPUs that a control thread is pinned to as well, or to the sibling of.
func (b *builder) besideControl(now cpulist.Set) {
	whole := b.t.whole(now.And(b.t.online))
	for _, r := range b.in.Roles {
		if hit := cpulist.Of(r.Now...).And(whole); !r.Data && len(hit) > 0 {
			b.defect("%s on CPUs %s shares a core with data threads", r.Name, hit)
		}
	}
}

// difference is the text of Plan.Current.
func (b *builder) difference() string {
	if len(b.defects) == 0 {
		return ""
	}
	from := "now " + b.nowText()
	return fmt.Sprintf("%s: %s. Planned: %s", from, strings.Join(b.defects, "; "), b.rolesText())
}

func (b *builder) nowText() string {
	if now := b.present(); len(now) > 0 {
		return "on CPUs " + now.String()
	}
	mask := cpulist.Set{}
	for _, r := range b.in.Roles {
		mask = mask.Or(r.Mask)
	}
	if len(mask) > 0 {
		return "on any of CPUs " + mask.String()
	}
	return "without pinning"
}

// rolesText is "rx 33, tx 34-37, main 32".
func (b *builder) rolesText() string {
	var parts []string
	for _, r := range b.p.Roles {
		if len(r.CPUs) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", r.Role, cpulist.Of(r.CPUs...)))
		}
	}
	return strings.Join(slices.Compact(parts), ", ")
}
