package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
	"github.com/corewise/corewise/profile/maybe"
)

func deriveMem(v *view, f *Facts) {
	m, u, b := &f.Mem, &f.Mem.Unknown, &v.b.Memory
	take(u, "total_bytes", &m.TotalBytes, asInt(b.TotalBytes))
	take(u, "available_bytes", &m.AvailableBytes, asInt(v.a.Memory.AvailableBytes))
	take(u, "swap_total_bytes", &m.SwapTotalBytes, asInt(b.SwapTotalBytes))
	take(u, "swap_used_bytes", &m.SwapUsedBytes, asInt(v.a.Memory.SwapUsedBytes))
	v.hugepages(m)
	take(u, "hugepage_default_bytes", &m.HugepageDefault, asInt(b.DefaultHugepageBytes))
	m.HugetlbfsMounts = []string{}
	for _, mount := range b.HugetlbfsMounts {
		m.HugetlbfsMounts = append(m.HugetlbfsMounts, mount.Path)
	}
	m.HugetlbfsMounted = len(m.HugetlbfsMounts) > 0
	if !b.MountsKnown {
		u.missAll("/proc/mounts was not readable", "hugetlbfs_mounted", "hugetlbfs_mounts")
	}
	take(u, "thp", &m.THP, b.THP)
	take(u, "thp_defrag", &m.THPDefrag, b.THPDefrag)
	take(u, "ksm_run", &m.KSMRun, b.KSMRun)
	take(u, "ksm_pages_sharing", &m.KSMSharing, asInt(b.KSMPagesSharing))
	v.memRates(m)
	v.memThreads(m)
	v.dimms(f)
	m.AllocFailures = slices.Contains(f.Kernel.LogCodes, "page-allocation-failure")
	if !f.Kernel.LogRead && !m.AllocFailures {
		u.miss("alloc_failures", "no kernel log was readable")
	}
}

func (v *view) hugepages(m *Mem) {
	u := &m.Unknown
	pools := v.b.Memory.Hugepages
	if len(pools) == 0 {
		u.missAll("/sys/kernel/mm/hugepages was not readable", "hugepages_bytes", "hugepages_free_bytes", "hugepages_2m", "hugepages_2m_free", "hugepages_1g", "hugepages_1g_free", "hugepages_none")
		return
	}
	for _, p := range pools {
		total, ok := p.Total.Get()
		free, ok2 := p.Free.Get()
		if !ok || !ok2 {
			u.missAll(first(p.Total.Why(), p.Free.Why()), "hugepages_bytes", "hugepages_free_bytes", "hugepages_none")
			continue
		}
		m.HugepagesTotal += int(total * p.SizeBytes)
		m.HugepagesFree += int(free * p.SizeBytes)
		switch p.SizeBytes {
		case 2 << 20:
			m.Hugepages2M, m.Hugepages2MFree = int(total), int(free)
		case 1 << 30:
			m.Hugepages1G, m.Hugepages1GFree = int(total), int(free)
		}
	}
	m.HugepagesNone = m.HugepagesTotal == 0
}

func (v *view) memRates(m *Mem) {
	u := &m.Unknown
	for _, e := range []struct {
		field, line string
		dst         *float64
	}{
		{"swap_in_per_s", "pswpin", &m.SwapInPerS},
		{"swap_out_per_s", "pswpout", &m.SwapOutPerS},
		{"major_faults_per_s", "pgmajfault", &m.MajorFaultsPerS},
		{"thp_fault_alloc_per_s", "thp_fault_alloc", &m.THPFaultPerS},
		{"thp_collapse_per_s", "thp_collapse_alloc", &m.THPCollapsePerS},
		{"thp_split_per_s", "thp_split_page", &m.THPSplitPerS},
		{"compact_stall_per_s", "compact_stall", &m.CompactStallPerS},
		{"compact_daemon_wake_per_s", "compact_daemon_wake", &m.CompactDaemonPerS},
		{"direct_reclaim_per_s", "pgscan_direct", &m.DirectReclaimPerS},
	} {
		take(u, e.field, e.dst, v.vmstatPerS(e.line))
	}
	take(u, "tlb_shootdown_per_s", &m.TLBShootdownsPerS, v.tlbPerS())
}

// tlbPerS prefers /proc/interrupts; vmstat has the line only with CONFIG_DEBUG_TLBFLUSH.
func (v *view) tlbPerS() maybe.Value[float64] {
	var rates []maybe.Value[float64]
	for _, c := range v.online {
		rates = append(rates, v.localPerS("ipi.tlb", c))
	}
	if total := sumKnown(rates...); total.Ok() {
		return total
	}
	return v.vmstatPerS("nr_tlb_remote_flush_received")
}

// memThreads are memory-management threads of the kernel that took time from the workload.
func (v *view) memThreads(m *Mem) {
	m.KhugepagedCPUs = []int{}
	if v.wl.cap == nil {
		m.Unknown.miss("khugepaged_workload_cpus", v.wl.capWhy)
		return
	}
	for i := range v.wl.cap.Hits {
		h := &v.wl.cap.Hits[i]
		switch name := strings.TrimRight(h.Actor.Name, "0123456789"); name {
		case "khugepaged", "ksmd", "kcompactd", "kswapd":
			if !slices.Contains(m.KhugepagedCPUs, h.CPU) {
				m.KhugepagedCPUs = append(m.KhugepagedCPUs, h.CPU)
			}
		}
	}
	slices.Sort(m.KhugepagedCPUs)
}

// dimm is one memory module of dmidecode.
type dimm struct {
	channel, socket string
	sizeMB          int
	speed, rated    int
}

// dimms reads dmidecode's memory devices. Channel names are free text of the vendor: where they cannot be told apart the
// facts stay unknown.
func (v *view) dimms(f *Facts) {
	m := &f.Mem
	fields := []string{"channels_populated", "channels_per_socket", "dimms", "channels_expected", "dimm_speed_mts", "dimm_rated_mts", "dimm_mixed", "channels_unbalanced"}
	text, ok := v.command("dmidecode")
	if !ok {
		text, ok = v.command("dmidecode-t-17")
	}
	list := parseDIMMs(text)
	if !ok || len(list) == 0 {
		m.Unknown.missAll("dmidecode was not readable, or lists no memory module", fields...)
		return
	}
	m.DIMMs = len(list)
	m.DIMMSpeedMTs, m.DIMMRatedMTs, m.DIMMMixed = dimmSpeeds(list)
	if m.DIMMSpeedMTs == 0 {
		m.Unknown.missAll("dmidecode gives no speeds", "dimm_speed_mts", "dimm_rated_mts")
	}
	channels := map[string]map[string]bool{}
	for _, d := range list {
		if d.channel == "" {
			m.Unknown.missAll("the vendor's slot names do not tell the channel", "channels_populated", "channels_per_socket", "channels_unbalanced", "channels_expected")
			return
		}
		if channels[d.socket] == nil {
			channels[d.socket] = map[string]bool{}
		}
		channels[d.socket][d.channel] = true
	}
	most := 0
	for _, set := range channels {
		m.ChannelsPopulated += len(set)
		most = max(most, len(set))
		if m.ChannelsPerSocket == 0 || len(set) < m.ChannelsPerSocket {
			m.ChannelsPerSocket = len(set)
		}
	}
	m.ChannelsUnbalanced = most != m.ChannelsPerSocket || f.Host.Sockets > len(channels)
	take(&m.Unknown, "channels_expected", &m.ChannelsExpected, channelsOf(f))
}

func parseDIMMs(text string) []dimm {
	var list []dimm
	for _, block := range strings.Split(text, "\n\n") {
		if !strings.Contains(block, "Memory Device\n") {
			continue
		}
		var d dimm
		for _, line := range strings.Split(block, "\n") {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch key {
			case "Size":
				d.sizeMB = sizeMB(value)
			case "Speed":
				fmt.Sscanf(value, "%d", &d.rated)
			case "Configured Memory Speed", "Configured Clock Speed":
				fmt.Sscanf(value, "%d", &d.speed)
			case "Locator", "Bank Locator":
				d.locate(value)
			}
		}
		if d.sizeMB > 0 {
			list = append(list, d)
		}
	}
	return list
}

func sizeMB(text string) int {
	n := 0
	if _, err := fmt.Sscanf(text, "%d", &n); err != nil {
		return 0
	}
	if strings.HasSuffix(text, "GB") || strings.HasSuffix(text, "GiB") {
		n *= 1024
	}
	return n
}

// locate understands "P0 CHANNEL A", "CPU1_DIMM_A1", "P1_Node0_Channel3_Dimm0", "PROC 1 DIMM 3" does not tell channels.
func (d *dimm) locate(text string) {
	t := strings.ToUpper(text)
	for _, prefix := range []string{"CPU", "PROC ", "PROC", "P"} {
		if i := strings.Index(t, prefix); i >= 0 && i+len(prefix) < len(t) && t[i+len(prefix)] >= '0' && t[i+len(prefix)] <= '9' && d.socket == "" {
			d.socket = t[i+len(prefix) : i+len(prefix)+1]
		}
	}
	if i := strings.Index(t, "CHANNEL"); i >= 0 {
		d.channel = strings.Trim(strings.SplitN(t[i+len("CHANNEL"):], "_", 2)[0], " _")
		return
	}
	if i := strings.Index(t, "DIMM_"); i >= 0 && i+6 <= len(t) && d.channel == "" && t[i+5] >= 'A' && t[i+5] <= 'Z' {
		d.channel = t[i+5 : i+6]
	}
}

func dimmSpeeds(list []dimm) (lowest, rated int, mixed bool) {
	for _, d := range list {
		if d.speed > 0 && (lowest == 0 || d.speed < lowest) {
			lowest = d.speed
		}
		rated = max(rated, d.rated)
		mixed = mixed || d.speed != list[0].speed || d.sizeMB != list[0].sizeMB
	}
	return lowest, rated, mixed
}

// channelsOf is the memory channels of a socket, for generations whose number is the same in all server models.
func channelsOf(f *Facts) maybe.Value[int] {
	m := f.CPU.Model
	switch {
	case f.Host.Vendor == "amd" && strings.Contains(m, "EPYC") && (f.CPU.Zen >= 1 && f.CPU.Zen <= 3):
		return maybe.Some(8)
	case f.Host.Vendor == "amd" && strings.Contains(m, "EPYC 9"):
		return maybe.Some(12)
	case f.Host.Vendor == "intel" && f.CPU.Family == 6 && f.CPU.ModelNumber == 0x55:
		return maybe.Some(6) // Skylake and Cascade Lake SP
	case f.Host.Vendor == "intel" && f.CPU.Family == 6 && slices.Contains([]int{0x6a, 0x8f, 0xcf}, f.CPU.ModelNumber):
		return maybe.Some(8) // Ice Lake, Sapphire Rapids, Emerald Rapids SP
	}
	return maybe.None[int]("the number of channels of this CPU is not in the table")
}

func deriveTuned(v *view, f *Facts) {
	t, u, sv := &f.Tuned, &f.Tuned.Unknown, &v.b.Services
	take(u, "profile", &t.Profile, sv.TunedProfile)
	take(u, "active", &t.Active, sv.TunedActive)
	t.OwnedKeys, t.Isolated = []string{}, []int{}
	for key := range sv.TunedConf {
		if !strings.HasPrefix(key, "variables.") && !strings.HasPrefix(key, "main.") {
			t.OwnedKeys = append(t.OwnedKeys, key)
		}
	}
	slices.Sort(t.OwnedKeys)
	t.ForceLatency = sv.TunedConf["cpu.force_latency"]
	t.Isolated = v.tunedCores(sv)
	if !sv.TunedProfile.Ok() {
		u.missAll(sv.TunedProfile.Why(), "low_latency_profile", "throughput_profile", "saving_profile", "force_latency", "isolated_cpus", "owned_keys", "node_operator")
		return
	}
	if len(sv.TunedConf) == 0 {
		u.missAll("tuned.conf of the profile was not readable", "force_latency", "isolated_cpus", "owned_keys")
	}
	for _, p := range strings.Fields(t.Profile) {
		low, fast := profileClass(p)
		t.LowLatency, t.Throughput = t.LowLatency || low, t.Throughput || fast
		t.NodeOperator = t.NodeOperator || strings.HasPrefix(p, "openshift-")
	}
	t.Saving = !t.LowLatency && !t.Throughput
}

// profileClass sorts the profiles that tuned ships by what they are for; any other is taken as one that saves power or does
// not care.
func profileClass(p string) (low, fast bool) {
	for _, prefix := range []string{"network-latency", "latency-performance", "cpu-partitioning", "realtime", "openshift-node-performance", "sap-hana"} {
		if strings.HasPrefix(p, prefix) {
			return true, true
		}
	}
	for _, prefix := range []string{"throughput-performance", "network-throughput", "accelerator-performance", "hpc-compute", "mssql", "oracle", "postgresql", "intel-sst", "virtual-host"} {
		if strings.HasPrefix(p, prefix) {
			return false, true
		}
	}
	return false, false
}

func (v *view) tunedCores(sv *host.Services) []int {
	for _, key := range []string{"variables.isolated_cores", "variables.isolated_cpus"} {
		if text := sv.TunedConf[key]; text != "" {
			if set, err := cpulist.Parse(text); err == nil {
				return ints(set)
			}
		}
	}
	return []int{}
}
