package host

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// bigHost makes a host of two sockets with SMT, sub-NUMA nodes, NICs and NVMe disks, as files below root/.
type bigHost struct {
	cpus, nodes, irqs int
	files             map[string]string
	links             map[string]string
}

func newBigHost(cpus, nodes, irqs int) *bigHost {
	b := &bigHost{cpus: cpus, nodes: nodes, irqs: irqs, files: map[string]string{}, links: map[string]string{}}
	b.system()
	for c := range cpus {
		b.cpu(c)
	}
	for n := range nodes {
		b.node(n)
	}
	b.devices()
	return b
}

func (b *bigHost) put(p, format string, args ...any) {
	b.files[p] = fmt.Sprintf(format, args...) + "\n"
}

func (b *bigHost) system() {
	all := fmt.Sprintf("0-%d", b.cpus-1)
	for _, f := range []string{"online", "present", "possible"} {
		b.put("sys/devices/system/cpu/"+f, "%s", all)
	}
	b.put("sys/devices/system/cpu/offline", "")
	b.put("sys/devices/system/cpu/isolated", "")
	b.put("sys/devices/system/cpu/smt/active", "1")
	b.put("sys/devices/system/node/online", "0-%d", b.nodes-1)
	b.put("proc/sys/kernel/osrelease", "6.8.0-45-generic")
	b.put("proc/version", "Linux version 6.8.0-45-generic (builder@build) #45-Ubuntu SMP PREEMPT_DYNAMIC")
	b.put("proc/meminfo", "MemTotal: 1056964608 kB\nMemAvailable: 1000000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB")
	b.put("proc/irq/default_smp_affinity", "%s", strings.TrimSuffix(strings.Repeat("ffffffff,", (b.cpus+31)/32), ","))
	var stat, info, softnet strings.Builder
	stat.WriteString("cpu  1 2 3 4 5 6 7 8 9 0\n")
	for c := range b.cpus {
		fmt.Fprintf(&stat, "cpu%d 17280 0 8640 8614080 10 0 200 0 0 0\n", c)
		fmt.Fprintf(&softnet, "%08x 00000000 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 %08x 00000000 00000000\n", c*1000, c)
		fmt.Fprintf(&info, "processor\t: %d\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763 64-Core Processor\nphysical id\t: %d\ncore id\t\t: %d\nflags\t\t: %s\n\n",
			c, b.socket(c), b.core(c), strings.Repeat("fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat ", 8)+"lm")
	}
	b.put("proc/stat", "%sintr 1", stat.String())
	b.put("proc/cpuinfo", "%s", info.String())
	b.put("proc/net/softnet_stat", "%s", strings.TrimSpace(softnet.String()))
	b.put("proc/softirqs", "%s\n%s", b.header(), b.row("NET_RX:", 7)+"\n"+b.row("TIMER:", 9))
}

func (b *bigHost) cores() int       { return b.cpus / 2 }
func (b *bigHost) core(c int) int   { return c % b.cores() }
func (b *bigHost) socket(c int) int { return b.core(c) * 2 / b.cores() }
func (b *bigHost) nodeOf(c int) int { return b.core(c) * b.nodes / b.cores() }

func (b *bigHost) header() string {
	var h strings.Builder
	h.WriteString("      ")
	for c := range b.cpus {
		fmt.Fprintf(&h, "%11s", fmt.Sprintf("CPU%d", c))
	}
	return h.String()
}

func (b *bigHost) row(label string, n int) string {
	return label + strings.Repeat(fmt.Sprintf(" %10d", n), b.cpus)
}

func (b *bigHost) cpu(c int) {
	d := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", c)
	sibling := (c + b.cores()) % b.cpus
	first := b.core(c) / 8 * 8
	b.put(d+"topology/physical_package_id", "%d", b.socket(c))
	b.put(d+"topology/core_id", "%d", b.core(c))
	b.put(d+"topology/die_id", "%d", b.socket(c))
	b.put(d+"topology/thread_siblings_list", "%d,%d", min(c, sibling), max(c, sibling))
	b.put(d+"cache/index3/level", "3")
	b.put(d+"cache/index3/shared_cpu_list", "%d-%d,%d-%d", first, first+7, first+b.cores(), first+b.cores()+7)
	b.put(d+"power/pm_qos_resume_latency_us", "0")
	b.put(d+"thermal_throttle/core_throttle_count", "0")
	b.put(d+"thermal_throttle/package_throttle_count", "0")
	for i, st := range []struct {
		name    string
		latency int
	}{{"POLL", 0}, {"C1", 1}, {"C2", 400}} {
		s := fmt.Sprintf("%scpuidle/state%d/", d, i)
		b.put(s+"name", "%s", st.name)
		b.put(s+"latency", "%d", st.latency)
		b.put(s+"residency", "%d", st.latency*2)
		b.put(s+"disable", "0")
		b.put(s+"usage", "%d", 100000+c)
		b.put(s+"time", "%d", 900000+c)
	}
	p := fmt.Sprintf("sys/devices/system/cpu/cpufreq/policy%d/", c)
	for f, v := range map[string]string{
		"related_cpus": fmt.Sprint(c), "scaling_driver": "amd-pstate-epp", "scaling_governor": "performance", "scaling_min_freq": "400000",
		"scaling_max_freq": "3500000", "cpuinfo_max_freq": "3500000", "scaling_cur_freq": "3400000", "energy_performance_preference": "performance",
	} {
		b.put(p+f, "%s", v)
	}
}

func (b *bigHost) node(n int) {
	d := fmt.Sprintf("sys/devices/system/node/node%d/", n)
	size := b.cores() / b.nodes
	b.put(d+"cpulist", "%d-%d,%d-%d", n*size, (n+1)*size-1, b.cores()+n*size, b.cores()+(n+1)*size-1)
	var row []string
	for o := range b.nodes {
		distance := 32
		if o == n {
			distance = 10
		} else if o*2/b.nodes == n*2/b.nodes {
			distance = 12
		}
		row = append(row, fmt.Sprint(distance))
	}
	b.put(d+"distance", "%s", strings.Join(row, " "))
	b.put(d+"meminfo", "Node %d MemTotal: 131072000 kB\nNode %d MemFree: 1000 kB", n, n)
	b.put(d+"numastat", "numa_hit 5\nnuma_miss 0")
	b.put(d+"hugepages/hugepages-2048kB/nr_hugepages", "0")
}

// devices gives three of four interrupts to NICs and one to NVMe disks, 64 vectors each.
func (b *bigHost) devices() {
	var table strings.Builder
	table.WriteString(b.header() + "\n")
	for i := range b.irqs {
		dev, vector := i/64, i%64
		bdf := fmt.Sprintf("0000:%02x:00.0", dev+1)
		dir := "sys/devices/pci0000:00/0000:00:01.0/" + bdf
		action := fmt.Sprintf("mlx5_comp%d@pci:%s", vector, bdf)
		if dev%4 == 3 {
			action = fmt.Sprintf("nvme%dq%d", dev, vector)
		}
		if vector == 0 {
			b.device(dev, bdf, dir)
		}
		irq := 100 + i
		b.put(fmt.Sprintf("%s/msi_irqs/%d", dir, irq), "msix")
		fmt.Fprintf(&table, "%s  IR-PCI-MSIX-%s  %d-edge      %s\n", b.sparseRow(irq), bdf, vector, action)
		p := fmt.Sprintf("proc/irq/%d/", irq)
		b.put(p+"smp_affinity_list", "0-%d", b.cpus-1)
		b.put(p+"effective_affinity_list", "%d", i%b.cpus)
		b.put(p+"affinity_hint", "%s", strings.TrimSuffix(strings.Repeat("00000000,", (b.cpus+31)/32), ","))
		b.put(p+"node", "%d", b.nodeOf(i%b.cpus))
	}
	table.WriteString(b.row(" NMI:", 3) + "   Non-maskable interrupts\n" + b.row(" LOC:", 123456789) + "   Local timer interrupts\n" + b.row(" RES:", 77) + "   Rescheduling interrupts\n")
	b.put("proc/interrupts", "%s", strings.TrimSpace(table.String()))
}

// sparseRow counts on eight CPUs, as an interrupt that was moved now and then does.
func (b *bigHost) sparseRow(irq int) string {
	var r strings.Builder
	fmt.Fprintf(&r, "%4d:", irq)
	for c := range b.cpus {
		n := 0
		if c%(b.cpus/8) == irq%(b.cpus/8) {
			n = irq * 1000
		}
		fmt.Fprintf(&r, " %10d", n)
	}
	return r.String()
}

func (b *bigHost) device(dev int, bdf, dir string) {
	class, vendor := "0x020000", "0x15b3"
	if dev%4 == 3 {
		class, vendor = "0x010802", "0x144d"
		b.put(fmt.Sprintf("%s/nvme/nvme%d/transport", dir, dev), "pcie")
	} else {
		name := fmt.Sprintf("eth%d", dev)
		b.put(dir+"/net/"+name+"/mtu", "1500")
		b.put(dir+"/net/"+name+"/operstate", "up")
		b.put(dir+"/net/"+name+"/statistics/rx_packets", "5")
		b.links["sys/class/net/"+name] = "../../" + strings.TrimPrefix(dir, "sys/") + "/net/" + name
		b.links[dir+"/net/"+name+"/device"] = "../../../" + bdf
	}
	for f, v := range map[string]string{"vendor": vendor, "device": "0x1017", "class": class, "numa_node": fmt.Sprint(dev % b.nodes)} {
		b.put(dir+"/"+f, "%s", v)
	}
	b.links["sys/bus/pci/devices/"+bdf] = "../../../" + strings.TrimPrefix(dir, "sys/")
}

// txtar is the host as one file.
func (b *bigHost) txtar() []byte {
	var t strings.Builder
	for _, p := range slices.Sorted(maps.Keys(b.files)) {
		fmt.Fprintf(&t, "-- root/%s --\n%s", p, b.files[p])
	}
	for _, p := range slices.Sorted(maps.Keys(b.links)) {
		fmt.Fprintf(&t, "-- root/%s -> %s --\n", p, b.links[p])
	}
	return []byte(t.String())
}

// write makes a directory of it.
func (b *bigHost) write(dir string) error {
	var errs []error
	for p, text := range b.files {
		to := filepath.Join(dir, "root", p)
		errs = append(errs, os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, []byte(text), 0o644))
	}
	for p, target := range b.links {
		to := filepath.Join(dir, "root", p)
		errs = append(errs, os.MkdirAll(filepath.Dir(to), 0o755), os.Symlink(target, to))
	}
	return errors.Join(errs...)
}

// The host with 256 CPUs and 2,000 interrupts: everything is found, in memory that does not grow with CPUs x interrupts.
func TestBigHost(t *testing.T) {
	name := writeFile(t, "big.txtar", string(newBigHost(256, 8, 2000).txtar()))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	tree := openTree(t, name)
	h := Take(t.Context(), tree.First())
	runtime.GC()
	runtime.ReadMemStats(&after)
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > 40<<20 {
		t.Errorf("the tree and its Host hold %d MiB", held>>20)
	}
	if len(h.CPU.CPUs) != 256 || len(h.NUMA.Nodes) != 8 || len(h.IRQ.IRQs) != 2000 || len(h.Gaps) != 0 {
		t.Fatalf("%d CPUs, %d nodes, %d interrupts, gaps %v", len(h.CPU.CPUs), len(h.NUMA.Nodes), len(h.IRQ.IRQs), h.Gaps)
	}
	c := h.CPU.CPUs[200]
	if c.Siblings.String() != "72,200" || c.L3.String() != "72-79,200-207" || c.Node != 4 || c.Package.Or(-1) != 1 {
		t.Errorf("CPU 200: %+v", c)
	}
	managed, owned := 0, 0
	for _, irq := range h.IRQ.IRQs {
		if irq.Managed.Or(false) {
			managed++
		}
		if irq.PCI != "" && (irq.Netdev != "") != (irq.NVMe != "") && irq.Queue.Ok() && len(irq.Counts) == 8 {
			owned++
		}
	}
	if managed != 7*63+15 || owned != 2000 { // 7 whole NVMe disks and a quarter of one, each with an admin queue
		t.Errorf("%d managed, %d owned", managed, owned)
	}
	if len(h.Power.Idle) != 256 || h.Power.Idle[255][2].LatencyUS != 400 || len(h.Power.Governors) != 256 || len(h.Softirq.Softnet) != 256 {
		t.Errorf("power %d %d, softnet %d", len(h.Power.Idle), len(h.Power.Governors), len(h.Softirq.Softnet))
	}
}

func BenchmarkTakeLive(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Take(b.Context(), LiveSource())
	}
}

func BenchmarkTakeBigDirectory(b *testing.B) {
	dir := b.TempDir()
	if err := newBigHost(256, 8, 2000).write(dir); err != nil {
		b.Fatal(err)
	}
	benchmarkTree(b, dir)
}

func BenchmarkTakeBigTxtar(b *testing.B) {
	name := filepath.Join(b.TempDir(), "big.txtar")
	if err := os.WriteFile(name, newBigHost(256, 8, 2000).txtar(), 0o644); err != nil {
		b.Fatal(err)
	}
	benchmarkTree(b, name)
}

func benchmarkTree(b *testing.B, name string) {
	b.ReportAllocs()
	for b.Loop() {
		tree, err := Open(name)
		if err != nil {
			b.Fatal(err)
		}
		if h := Take(b.Context(), tree.First()); len(h.IRQ.IRQs) != 2000 {
			b.Fatal(len(h.IRQ.IRQs))
		}
		tree.Close()
	}
}
