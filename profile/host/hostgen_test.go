package host

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
)

// hostSpec describes an invented host from which a whole tree is made: testdata/hosts. What is left empty is not in the tree.
type hostSpec struct {
	name, note                                string
	info                                      func(c specCPU) string // block of /proc/cpuinfo
	cpus                                      []specCPU              // online ones
	present, possible, isolated, nohz         string
	smtActive, smtControl                     string
	nodes                                     []specNode
	release, version, cmdline, os, osID       string
	dmi                                       [6]string // vendor, product, BIOS vendor, version, date, chassis type
	clock, clocks, thp                        string
	driver, governor, epp, pstate, idleDriver string
	maxKHz                                    int
	states                                    []specState
	nics                                      []specNIC
	sysctl                                    map[string]string
	housekeeping                              string // default_smp_affinity, workqueue and watchdog masks
	config                                    string
	extra                                     map[string]string // more files, by path below host/
	links                                     map[string]string
	memKB                                     int64
	intController                             string // chip of MSI rows: "IR-PCI-MSIX-", "ITS-PCI-MSIX-"; a trailing dash takes the BDF
}

type specCPU struct {
	id, pkg, core, node int
	siblings, l3        string
}

type specNode struct {
	id                             int
	cpus, distance                 string
	memKB, freeKB                  int64
	huge2M, free2M, huge1G, free1G int
}

type specState struct {
	name               string
	latency, residency int
	disabled           bool
}

type specNIC struct {
	name, bdf, bridge, rootBus string
	vendor, device, driver     string
	node                       int
	localCPUs                  string
	gts                        string // link speed of both ends
	gen, width                 int
	speed, rings, ringsMax     int
	queues                     []specQueue
	action                     func(q int) string
	firmware                   string
	adaptive                   bool
	noMSI                      bool
	iommuType                  string
}

// specQueue is one vector: who may take it, who takes it, interrupts a second there.
type specQueue struct {
	irq                 int
	affinity, effective string
	perS                int
}

// genTree is the tree in the making.
type genTree struct {
	spec  *hostSpec
	files map[string]string
	links map[string]string
}

func (s *hostSpec) tree() *genTree {
	g := &genTree{spec: s, files: map[string]string{}, links: map[string]string{}}
	g.files["times.json"] = "{\"t0\": 1764590400.0, \"t1\": 1764590410.0}\n"
	g.kernel()
	g.topology()
	g.memory()
	g.power()
	g.interrupts()
	for i := range s.nics {
		g.nic(&s.nics[i], i)
	}
	g.misc()
	maps.Copy(g.files, s.extra)
	maps.Copy(g.links, s.links)
	return g
}

// txtar is the tree as one file, without the prefix host/.
func (g *genTree) txtar() []byte {
	var b strings.Builder
	b.WriteString(g.spec.note + "\n")
	entries := map[string]string{}
	for p, text := range g.files {
		entries["-- "+p+" --\n"] = text
	}
	for p, target := range g.links {
		entries["-- "+p+" -> "+target+" --\n"] = ""
	}
	for _, head := range slices.Sorted(maps.Keys(entries)) {
		b.WriteString(head + entries[head])
	}
	return []byte(b.String())
}

func (g *genTree) root(p, format string, args ...any) {
	g.files["root/"+p] = fmt.Sprintf(format, args...) + "\n"
}

// given writes a file when there is something to write.
func (g *genTree) given(p, text string) {
	if text != "" {
		g.root(p, "%s", text)
	}
}

func (g *genTree) online() cpulist.Set {
	var s cpulist.Set
	for _, c := range g.spec.cpus {
		s = append(s, c.id)
	}
	return cpulist.Of(s...)
}

func list(text string) cpulist.Set {
	set, err := cpulist.Parse(text)
	if err != nil {
		panic(err) // a mistake in a table of this file
	}
	return set
}

func (g *genTree) width() int { return len(list(g.spec.possible)) }

func (g *genTree) kernel() {
	s := g.spec
	g.root("proc/version", "%s", s.version)
	g.root("proc/sys/kernel/osrelease", "%s", s.release)
	g.root("proc/sys/kernel/hostname", "%s", s.name)
	g.root("etc/hostname", "%s", s.name)
	g.root("etc/os-release", "NAME=%q\nID=%s\nPRETTY_NAME=%q", s.os, s.osID, s.os)
	g.root("proc/cmdline", "%s", s.cmdline)
	g.root("proc/uptime", "864000.00 %d.00", 860000*len(s.cpus))
	g.root("proc/loadavg", "0.20 0.10 0.09 1/900 4242")
	g.root("proc/modules", "nf_tables 16384 0 - Live 0x0000000000000000")
	g.root("proc/vmstat", "nr_free_pages 11000000\nnuma_hit 91000000\nnuma_miss 0\nnuma_foreign 0\nnuma_pte_updates 0\nnuma_hint_faults 0\nnuma_pages_migrated 0\npswpin 0\npswpout 0\ncompact_stall 0")
	g.files["cmd/dmesg"] = fmt.Sprintf("[    0.000000] %s\n[    0.000000] Command line: %s\n", s.version, s.cmdline)
	g.given("boot/config-"+s.release, s.config)
	g.given("sys/devices/system/clocksource/clocksource0/current_clocksource", s.clock)
	g.given("sys/devices/system/clocksource/clocksource0/available_clocksource", s.clocks)
	for i, f := range []string{"sys_vendor", "product_name", "bios_vendor", "bios_version", "bios_date", "chassis_type"} {
		g.given("sys/devices/virtual/dmi/id/"+f, s.dmi[i])
	}
	sysctl := map[string]string{
		"kernel/numa_balancing": "0", "kernel/timer_migration": "1", "kernel/sched_rt_runtime_us": "950000", "kernel/nmi_watchdog": "0", "kernel/watchdog": "1",
		"kernel/soft_watchdog": "1", "vm/stat_interval": "1", "vm/swappiness": "60", "vm/zone_reclaim_mode": "0", "vm/compaction_proactiveness": "20",
		"vm/max_map_count": "65530", "net/core/busy_poll": "0", "net/core/busy_read": "0", "net/core/netdev_budget": "300", "net/core/netdev_budget_usecs": "2000",
		"net/core/netdev_max_backlog": "1000", "net/core/rmem_max": "212992", "net/core/wmem_max": "212992", "net/core/rps_sock_flow_entries": "0",
	}
	maps.Copy(sysctl, s.sysctl)
	for name, v := range sysctl {
		g.root("proc/sys/"+name, "%s", v)
	}
}

func (g *genTree) topology() {
	s, cpu := g.spec, "sys/devices/system/cpu/"
	online := g.online()
	g.root(cpu+"online", "%s", online)
	g.root(cpu+"present", "%s", s.present)
	g.root(cpu+"possible", "%s", s.possible)
	g.root(cpu+"offline", "%s", list(s.present).Minus(online))
	g.root(cpu+"isolated", "%s", s.isolated)
	nohz := s.nohz
	if nohz == "" {
		nohz = "(null)"
	}
	g.root(cpu+"nohz_full", "%s", nohz)
	g.given(cpu+"smt/active", s.smtActive)
	g.given(cpu+"smt/control", s.smtControl)
	var info strings.Builder
	for _, c := range s.cpus {
		d := fmt.Sprintf("%scpu%d/", cpu, c.id)
		g.root(d+"topology/physical_package_id", "%d", c.pkg)
		g.root(d+"topology/core_id", "%d", c.core)
		g.root(d+"topology/thread_siblings_list", "%s", c.siblings)
		if c.l3 != "" {
			g.root(d+"cache/index3/level", "3")
			g.root(d+"cache/index3/shared_cpu_list", "%s", c.l3)
		}
		info.WriteString(s.info(c) + "\n")
	}
	g.files["root/proc/cpuinfo"] = info.String()
	ids := cpulist.Set{}
	for _, n := range s.nodes {
		ids = append(ids, n.id)
		g.node(n)
	}
	if len(ids) > 0 {
		g.root("sys/devices/system/node/online", "%s", ids)
	}
}

func (g *genTree) node(n specNode) {
	d := fmt.Sprintf("sys/devices/system/node/node%d/", n.id)
	g.root(d+"cpulist", "%s", n.cpus)
	g.given(d+"distance", n.distance)
	g.root(d+"meminfo", "Node %d MemTotal:       %d kB\nNode %d MemFree:        %d kB", n.id, n.memKB, n.id, n.freeKB)
	g.root(d+"numastat", "numa_hit 91000000\nnuma_miss 0\nnuma_foreign 0\ninterleave_hit 2000\nlocal_node 91000000\nother_node 0")
	g.pool(d+"hugepages/hugepages-2048kB/", n.huge2M, n.free2M)
	g.pool(d+"hugepages/hugepages-1048576kB/", n.huge1G, n.free1G)
}

func (g *genTree) pool(d string, total, free int) {
	g.root(d+"nr_hugepages", "%d", total)
	g.root(d+"free_hugepages", "%d", free)
	g.root(d+"surplus_hugepages", "0")
}

func (g *genTree) memory() {
	s := g.spec
	var m2, f2, m1, f1 int
	for _, n := range s.nodes {
		m2, f2, m1, f1 = m2+n.huge2M, f2+n.free2M, m1+n.huge1G, f1+n.free1G
	}
	g.root("proc/meminfo", "MemTotal:       %d kB\nMemFree:        %d kB\nMemAvailable:   %d kB\nSwapTotal:             0 kB\nSwapFree:              0 kB\n"+
		"HugePages_Total:   %d\nHugePages_Free:    %d\nHugePages_Rsvd:    0\nHugePages_Surp:    0\nHugepagesize:       2048 kB", s.memKB, s.memKB/2, s.memKB*3/4, m2, f2)
	g.root("proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority")
	for d, v := range map[string][2]int{"2048kB": {m2, f2}, "1048576kB": {m1, f1}} {
		g.pool("sys/kernel/mm/hugepages/hugepages-"+d+"/", v[0], v[1])
		g.root("sys/kernel/mm/hugepages/hugepages-"+d+"/resv_hugepages", "0")
	}
	g.root("proc/mounts", "/dev/sda2 / ext4 rw,relatime 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime 0 0\nhugetlbfs /dev/hugepages hugetlbfs rw,relatime,pagesize=2M 0 0")
	g.given("sys/kernel/mm/transparent_hugepage/enabled", s.thp)
	g.root("sys/kernel/mm/ksm/run", "0")
}

func (g *genTree) power() {
	s, cpu := g.spec, "sys/devices/system/cpu/"
	g.given(cpu+"cpuidle/current_driver", s.idleDriver)
	switch s.driver {
	case "intel_pstate":
		g.root(cpu+"intel_pstate/status", "%s", s.pstate)
		g.root(cpu+"intel_pstate/no_turbo", "0")
	case "amd-pstate-epp":
		g.root(cpu+"amd_pstate/status", "%s", s.pstate)
	}
	for _, c := range s.cpus {
		for i, st := range s.states {
			g.idle(fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpuidle/state%d/", c.id, i), st)
		}
		if s.driver == "" {
			continue
		}
		p := fmt.Sprintf("%scpufreq/policy%d/", cpu, c.id)
		g.root(p+"related_cpus", "%d", c.id)
		g.root(p+"scaling_driver", "%s", s.driver)
		g.root(p+"scaling_governor", "%s", s.governor)
		g.root(p+"cpuinfo_max_freq", "%d", s.maxKHz)
		g.given(p+"energy_performance_preference", s.epp)
	}
}

func (g *genTree) idle(d string, st specState) {
	disabled := 0
	if st.disabled {
		disabled = 1
	}
	g.root(d+"name", "%s", st.name)
	g.root(d+"latency", "%d", st.latency)
	g.root(d+"residency", "%d", st.residency)
	g.root(d+"disable", "%d", disabled)
	g.root(d+"usage", "1000")
	g.root(d+"time", "90000")
}

// interrupts writes the tables of both moments.
func (g *genTree) interrupts() {
	online := g.online()
	for moment, span := range map[string]int{"root": 0, "t1": 10} {
		var t, stat, softirqs, softnet strings.Builder
		for _, c := range online {
			fmt.Fprintf(&t, "%11s", fmt.Sprintf("CPU%d", c))
		}
		head := "    " + t.String() + "\n"
		t.Reset()
		t.WriteString(head)
		for i := range g.spec.nics {
			g.rows(&t, &g.spec.nics[i], online, span)
		}
		for _, l := range g.localRows() {
			t.WriteString(rowOf(l[0], online, func(int) int { return 5000 + 10*span }) + "   " + l[1] + "\n")
		}
		t.WriteString(" ERR:          0\n")
		softirqs.WriteString("                " + strings.TrimLeft(head, " "))
		for _, name := range []string{"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "SCHED", "RCU"} {
			softirqs.WriteString(rowOf(name, online, func(int) int { return 900 + span }) + "\n")
		}
		fmt.Fprintf(&stat, "cpu  %d 0 %d %d 0 0 0 0 0 0\n", 100*len(online), 50*len(online), (8000000+100*span)*len(online))
		for _, c := range online {
			fmt.Fprintf(&stat, "cpu%d 100 0 50 %d 0 0 0 0 0 0\n", c, 8000000+100*span)
			fmt.Fprintf(&softnet, "%08x 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 %08x 00000000 00000000\n", 1000+span, c)
		}
		g.files[moment+"/proc/interrupts"], g.files[moment+"/proc/softirqs"] = t.String(), softirqs.String()
		g.files[moment+"/proc/stat"], g.files[moment+"/proc/net/softnet_stat"] = stat.String(), softnet.String()
	}
	g.root("proc/irq/default_smp_affinity", "%s", list(g.spec.housekeeping).KernelMask(g.width()))
}

func (g *genTree) localRows() [][2]string {
	if strings.HasPrefix(g.spec.intController, "ITS") {
		return [][2]string{{"IPI0", "Rescheduling interrupts"}, {"IPI1", "Function call interrupts"}, {"IPI2", "CPU stop interrupts"}, {"IPI4", "Timer broadcast interrupts"}, {"IPI5", "IRQ work interrupts"}}
	}
	return [][2]string{{"NMI", "Non-maskable interrupts"}, {"LOC", "Local timer interrupts"}, {"RES", "Rescheduling interrupts"}, {"CAL", "Function call interrupts"}, {"TLB", "TLB shootdowns"}}
}

func rowOf(label string, online cpulist.Set, count func(int) int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%4s:", label)
	for _, c := range online {
		fmt.Fprintf(&b, " %10d", count(c))
	}
	return b.String()
}

func (g *genTree) rows(t *strings.Builder, n *specNIC, online cpulist.Set, span int) {
	for q, v := range n.queues {
		effective := list(v.effective)
		row := rowOf(fmt.Sprint(v.irq), online, func(c int) int {
			if effective.Has(c) && c == effective[0] {
				return 1000 + v.perS*span
			}
			return 0
		})
		chip, trigger := g.spec.intController, "edge"
		if strings.HasSuffix(chip, "-") {
			chip += n.bdf
		}
		if strings.HasPrefix(chip, "ITS") {
			trigger = "Edge"
			fmt.Fprintf(t, "%s  %s %4d %s      %s\n", row, chip, q, trigger, n.action(q))
			continue
		}
		fmt.Fprintf(t, "%s  %s %4d-%s      %s\n", row, chip, q, trigger, n.action(q))
	}
}

func (g *genTree) nic(n *specNIC, index int) {
	dir := "sys/devices/" + n.rootBus + "/"
	if n.bridge != "" {
		g.pci(dir+n.bridge, n.bridge, n, true)
		dir += n.bridge + "/"
	}
	dir += n.bdf
	g.pci(dir, n.bdf, n, false)
	net := dir + "/net/" + n.name
	g.links["root/sys/class/net/"+n.name] = "../../" + strings.TrimPrefix(net, "sys/")
	g.links["root/"+net+"/device"] = "../.."
	for f, v := range map[string]string{
		"address": fmt.Sprintf("02:00:00:00:%02x:%02x", index, len(n.queues)), "carrier": "1", "carrier_changes": "2", "duplex": "full", "mtu": "1500", "operstate": "up", "speed": fmt.Sprint(n.speed),
		"type": "1", "threaded": "0", "gro_flush_timeout": "0", "napi_defer_hard_irqs": "0", "ifindex": fmt.Sprint(index + 2), "iflink": fmt.Sprint(index + 2),
	} {
		g.root(net+"/"+f, "%s", v)
	}
	for _, f := range []string{"rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "rx_dropped", "rx_errors"} {
		g.root(net+"/statistics/"+f, "1000")
	}
	for q, v := range n.queues {
		g.root(fmt.Sprintf("%s/queues/rx-%d/rps_cpus", net, q), "0")
		g.root(fmt.Sprintf("%s/queues/tx-%d/xps_cpus", net, q), "0")
		if !n.noMSI {
			g.root(fmt.Sprintf("%s/msi_irqs/%d", dir, v.irq), "msix")
		}
		p := fmt.Sprintf("proc/irq/%d/", v.irq)
		g.root(p+"smp_affinity_list", "%s", v.affinity)
		g.root(p+"effective_affinity_list", "%s", v.effective)
		g.root(p+"affinity_hint", "%s", cpulist.Set{}.KernelMask(g.width()))
		g.root(p+"node", "%d", n.node)
	}
	g.files["ethtool/"+n.name+".json"] = n.ethtool(g.spec.release)
}

func (g *genTree) pci(dir, bdf string, n *specNIC, bridge bool) {
	vendor, device, class, driver := n.vendor, n.device, "0x020000", n.driver
	if bridge {
		vendor, device, class, driver = "0x1022", "0x1483", "0x060400", "pcieport"
	}
	for f, v := range map[string]string{"vendor": vendor, "device": device, "class": class, "numa_node": fmt.Sprint(n.node), "local_cpulist": n.localCPUs, "irq": "0",
		"current_link_speed": n.gts, "max_link_speed": n.gts, "current_link_width": fmt.Sprint(n.width), "max_link_width": fmt.Sprint(n.width)} {
		g.root(dir+"/"+f, "%s", v)
	}
	if !bridge {
		g.root(dir+"/aer_dev_correctable", "RxErr 0\nBadTLP 0\nBadDLLP 0\nTOTAL_ERR_COR 0")
		g.files["root/"+dir+"/config.hex"] = pciConfig(n)
	}
	up := strings.Repeat("../", strings.Count(dir, "/"))
	g.links["root/"+dir+"/driver"] = up + "bus/pci/drivers/" + driver
	g.links["root/sys/bus/pci/devices/"+bdf] = "../../../" + strings.TrimPrefix(dir, "sys/")
	if n.iommuType != "" && !bridge {
		g.links["root/"+dir+"/iommu_group"] = up + "kernel/iommu_groups/7"
		g.root("sys/kernel/iommu_groups/7/type", "%s", n.iommuType)
	}
}

// pciConfig is a configuration space with a PCI Express capability at 0x60: payload 512, read request 4096 bytes, relaxed ordering.
func pciConfig(n *specNIC) string {
	b := make([]byte, 256)
	id := func(text string) []byte {
		raw, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
		if err != nil {
			panic(err) // a mistake in a table of this file
		}
		return []byte{raw[1], raw[0]}
	}
	copy(b[0:], id(n.vendor))
	copy(b[2:], id(n.device))
	copy(b[4:], []byte{0x06, 0x04, 0x10, 0x00})
	b[11], b[0x34] = 0x02, 0x60
	link := uint16(n.gen | n.width<<4)
	le := binary.LittleEndian
	le.PutUint16(b[0x60:], 0x0010)       // capability id; the last one
	le.PutUint16(b[0x62:], 0x0002)       // version 2, endpoint
	le.PutUint32(b[0x64:], 0x8002)       // device: payload up to 512 bytes
	le.PutUint16(b[0x68:], 0x595f)       // in force: payload 512, read request 4096, relaxed ordering, extended tags
	le.PutUint32(b[0x6c:], uint32(link)) // link: speed and width it can
	le.PutUint16(b[0x70:], 0x0040)       // common clock, no ASPM
	le.PutUint16(b[0x72:], link)         // and has
	var out strings.Builder
	for i := 0; i < len(b); i += 32 {
		out.WriteString(hex.EncodeToString(b[i:i+32]) + "\n")
	}
	return out.String()
}

func (n *specNIC) ethtool(release string) string {
	f := map[string]any{
		"driver":   map[string]any{"driver": n.driver, "version": release, "firmware_version": n.firmware, "bus_info": n.bdf},
		"link":     map[string]any{"detected": true, "speed_mbps": n.speed, "max_speed_mbps": n.speed, "duplex": "full", "autoneg": true, "port": "dac"},
		"rings":    map[string]any{"rx": n.rings, "rx_max": n.ringsMax, "tx": n.rings, "tx_max": n.ringsMax},
		"coalesce": map[string]any{"adaptive_rx": n.adaptive, "adaptive_tx": n.adaptive, "rx_usecs": 8, "rx_frames": 128, "tx_usecs": 8, "tx_frames": 128},
		"pause":    map[string]any{"autoneg": false, "rx": false, "tx": false},
		"channels": map[string]any{"combined": len(n.queues), "combined_max": 2 * len(n.queues), "rx": 0, "tx": 0, "other": 0},
		"features": map[string]any{"generic_receive_offload": true, "large_receive_offload": false, "tcp_segmentation_offload": true},
		"rss":      map[string]any{"rings": len(n.queues), "hash_function": "toeplitz"},
		"stats":    map[string]any{"rx_packets": 1000, "tx_packets": 1000},
	}
	b, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		panic(err) // a mistake in this function
	}
	return string(b) + "\n"
}

func (g *genTree) misc() {
	mask := list(g.spec.housekeeping).KernelMask(g.width())
	g.root("sys/devices/virtual/workqueue/cpumask", "%s", mask)
	g.root("sys/devices/virtual/workqueue/writeback/cpumask", "%s", mask)
	g.root("proc/sys/kernel/watchdog_cpumask", "%s", g.spec.housekeeping)
	g.root("proc/net/route", "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT")
}
