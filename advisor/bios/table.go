// Package bios knows firmware settings: one vendor-neutral name each, what vendors call it and its values, what the
// operating system shows of it, and the Redfish document that would change it. Nothing here writes to firmware.
//
// Names: Dell from iDRAC's attribute registries, Supermicro's menus from FD.io CSIT's BIOS tables, HPE and Lenovo from
// excerpts of their published registries. Names and values differ by model and generation: the registry of the machine
// decides, and where the machine's own attributes are known a name that is not among them is not used.
package bios

import "strings"

// Setting is one row: a neutral name and what each vendor calls it.
type Setting struct {
	Token string
	Title string
	// By vendor: alternatives separated by " | ", each "[cpu:]Attribute neutral=Vendor neutral=Vendor". For supermicro and
	// cisco the attribute is a menu entry, with '_' for blanks.
	Names map[string]string
	// Check is what shows the setting after the reboot.
	Check string
}

// Vendors are the keys of Setting.Names with the words of the DMI system vendor.
var vendors = []struct{ key, dmi string }{
	{"dell", "dell"}, {"hpe", "hpe"}, {"hpe", "hewlett"}, {"lenovo", "lenovo"}, {"supermicro", "supermicro"}, {"supermicro", "super micro"}, {"cisco", "cisco"},
}

// Vendor turns the DMI system vendor into a key: dell, hpe, lenovo, supermicro, cisco; "" for any other.
func Vendor(dmi string) string {
	dmi = strings.ToLower(dmi)
	for _, v := range vendors {
		if strings.Contains(dmi, v.dmi) {
			return v.key
		}
	}
	return ""
}

const onOff = " on=Enabled off=Disabled"

// table is every setting, in the order of the menus of most vendors.
var table = []Setting{
	{"profile", "system profile", names{
		"dell": "SysProfile performance=PerfOptimized custom=Custom", "hpe": "WorkloadProfile performance=LowLatency throughput=I/OThroughput custom=Custom",
		"lenovo": "OperatingModes_ChooseOperatingMode performance=MaximumPerformance", "supermicro": "Power_Technology custom=Custom", "cisco": "CPUPerformance"},
		"the profile's name in the Redfish dump; busy CPUs at full frequency (turbostat)"},
	{"power_management", "CPU power management", names{
		"dell": "ProcPwrPerf performance=MaxPerf", "hpe": "PowerRegulator performance=StaticHighPerf", "lenovo": "Power_PowerPerformanceBias",
		"supermicro": "SpeedStep_(P-States) off=Disable on=Enable"},
		"cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_driver; busy CPUs at full frequency (turbostat)"},
	{"c_states", "C-states", names{
		"dell": "ProcCStates" + onOff, "hpe": "MinProcIdlePower off=NoCStates", "lenovo": "intel:Processors_CStates off=Disable | amd:Processors_GlobalC_stateControl off=Disable",
		"supermicro": "intel:CPU_C6_Report off=Disable on=Enable | amd:Global_C-state_Control off=Disabled on=Enabled"},
		"grep . /sys/devices/system/cpu/cpu0/cpuidle/state*/name: no deeper state than C1"},
	{"package_c_states", "package C-states", names{"hpe": "MinProcIdlePkgState off=NoState", "supermicro": "intel:Package_C_State off=C0/C1"}, "turbostat: no time in Pkg%pc2 and deeper"},
	{"c1e", "enhanced C1", names{
		"dell": "ProcC1E" + onOff, "lenovo": "intel:Processors_C1EnhancedMode", "supermicro": "intel:Enhanced_Halt_State_(C1E) off=Disable on=Enable"},
		"grep . /sys/devices/system/cpu/cpu0/cpuidle/state*/name: no C1E"},
	{"turbo", "turbo or boost", names{
		"dell": "ProcTurboMode" + onOff, "hpe": "ProcTurbo" + onOff, "lenovo": "amd:Processors_CorePerformanceBoost | intel:Processors_TurboMode", "supermicro": "Turbo_Mode off=Disable on=Enable"},
		"cat /sys/devices/system/cpu/intel_pstate/no_turbo /sys/devices/system/cpu/cpufreq/boost"},
	{"smt", "SMT or Hyper-Threading", names{
		"dell": "LogicalProc" + onOff, "hpe": "intel:ProcHyperthreading" + onOff + " | amd:ProcSMT" + onOff, "lenovo": "intel:Processors_HyperThreading | amd:Processors_SMTMode",
		"supermicro": "intel:Hyper-Threading_[ALL] off=Disable on=Enable | amd:SMT_Control off=Disabled on=Enabled", "cisco": "IntelHyperThread"},
		"cat /sys/devices/system/cpu/smt/active"},
	{"snc", "sub-NUMA clustering", names{
		"dell": "intel:SubNumaCluster" + onOff, "hpe": "intel:SubNumaClustering" + onOff, "lenovo": "intel:Processors_SNC off=Disabled 2=SNC2 4=SNC4", "supermicro": "intel:SNC_(Sub_NUMA) off=Disable on=Enable", "cisco": "SNC"},
		"numactl --hardware: nodes per socket"},
	{"nps", "NUMA nodes per socket", names{
		"dell": "amd:NumaNodesPerSocket 0=0 1=1 2=2 4=4", "hpe": "amd:NumaMemoryDomainsPerSocket", "lenovo": "amd:Memory_NUMANodesperSocket", "supermicro": "amd:NUMA_nodes_per_socket 1=NPS1 2=NPS2 4=NPS4"},
		"numactl --hardware: nodes per socket"},
	{"l3_as_numa", "L3 cache as NUMA node", names{
		"dell": "amd:CcxAsNumaDomain" + onOff, "hpe": "amd:LastLevelCacheAsNUMANode" + onOff, "supermicro": "amd:ACPI_SRAT_L3_Cache_as_NUMA_Domain" + onOff},
		"numactl --hardware: nodes per socket"},
	{"determinism", "determinism slider", names{
		"dell": "amd:DeterminismSlider performance=PerformanceDeterminism power=PowerDeterminism", "hpe": "amd:PerformanceDeterminism", "lenovo": "amd:Processors_DeterminismSlider",
		"supermicro": "amd:Determinism_Slider performance=Performance power=Power"},
		"turbostat: spread of the busy CPUs' frequencies"},
	{"apbdis", "fixed fabric P-state", names{
		"dell": "amd:ApbDis" + onOff, "hpe": "amd:InfinityFabricPstate on=P0 off=Auto", "supermicro": "amd:APBDIS on=1 off=0"},
		"the benchmark at low load: no slower than at high load"},
	{"df_c_states", "data fabric C-states", names{
		"dell": "amd:DfCState" + onOff, "hpe": "amd:DataFabricCStateEnable" + onOff, "lenovo": "amd:Processors_DFC_States off=Disable on=Enable", "supermicro": "amd:DF_Cstates" + onOff},
		"a ping-pong at low rate"},
	{"xgmi_width", "link width between sockets", names{"dell": "amd:DlwmForcedWidth x16=x16", "hpe": "amd:XGMIForceLinkWidth", "supermicro": "amd:xGMI_Link_Width"}, "the benchmark across sockets, repeated"},
	{"preferred_io", "preferred IO bus", names{
		"dell": "amd:PciePreferredIoBus", "hpe": "amd:PreferredIOBusEnable" + onOff, "supermicro": "amd:Preferred_IO on=Manual off=Auto"},
		"ethtool -S: outbound_pci_stalled_* does not grow (the setting itself cannot be seen)"},
	{"preferred_io_bus", "number of the preferred IO bus", names{"hpe": "amd:PreferredIOBusNumber"}, "lspci -s BUS:"},
	{"enhanced_preferred_io", "enhanced preferred IO", names{"dell": "amd:PcieEnhancedPreferredIo" + onOff, "hpe": "amd:EnhancedPreferredIOBusEnable" + onOff}, "ethtool -S: outbound_pci_stalled_* does not grow"},
	{"aspm", "PCIe power states (ASPM)", names{"dell": "PcieAspmL1" + onOff, "supermicro": "PCI-E_ASPM_Support off=Disable on=Auto"}, "lspci -vv: ASPM Disabled in LnkCtl"},
	{"pcie_speed", "PCIe link speed", names{"dell": "PcieSpeedPmmControl"}, "cat /sys/bus/pci/devices/BDF/current_link_speed"},
	{"relaxed_ordering", "PCIe relaxed ordering", names{"lenovo": "Processors_CPUPCIeRelaxedOrdering"}, "lspci -vv: RlxdOrd+ in DevCtl"},
	{"iommu", "IOMMU, VT-d, AMD-Vi", names{
		"dell": "amd:IommuSupport" + onOff + " | intel:ProcVirtualization" + onOff, "hpe": "amd:ProcAmdIOMMU" + onOff + " | intel:IntelProcVtd" + onOff, "lenovo": "amd:DevicesandIOPorts_IOMMU",
		"supermicro": "amd:IOMMU" + onOff + " | intel:VT-d off=Disable on=Enable"},
		"ls /sys/kernel/iommu_groups"},
	{"virtualization", "CPU virtualisation", names{"dell": "ProcVirtualization" + onOff}, "grep -c -w 'vmx\\|svm' /proc/cpuinfo"},
	{"x2apic", "x2APIC", names{"dell": "ProcX2Apic" + onOff, "hpe": "ProcX2Apic" + onOff, "supermicro": "amd:Local_APIC_Mode on=x2APIC"}, "dmesg | grep -i x2apic; grep -c -w x2apic /proc/cpuinfo"},
	{"sriov", "SR-IOV", names{"dell": "SriovGlobalEnable" + onOff, "hpe": "Sriov" + onOff, "supermicro": "SR-IOV_Support" + onOff}, "cat /sys/bus/pci/devices/BDF/sriov_totalvfs"},
	{"uncore", "uncore frequency", names{"dell": "intel:UncoreFrequency max=MaxUFS", "hpe": "intel:UncoreFreqScaling max=Maximum"}, "turbostat: UncMHz"},
	{"energy_efficient_turbo", "energy efficient turbo", names{"hpe": "intel:EnergyEfficientTurbo" + onOff}, "turbostat"},
	{"jitter_control", "processor jitter control", names{"hpe": "intel:ProcessorJitterControl auto=AutoTuned manual=ManualTuned off=Disabled"}, "turbostat: spread of frequencies"},
	{"jitter_optimization", "goal of jitter control", names{"hpe": "intel:ProcessorJitterControlOptimization latency=ZeroLatency"}, "turbostat: spread of frequencies"},
	{"collaborative_power", "collaborative power control", names{"hpe": "CollabPowerControl" + onOff}, "cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_driver: not pcc_cpufreq"},
	{"patrol_scrub", "memory patrol scrubbing", names{"dell": "MemPatrolScrub off=Disabled", "hpe": "MemPatrolScrubbing" + onOff}, "the dump (the OS does not see it)"},
	{"memory_speed", "memory frequency", names{"dell": "MemFrequency max=MaxPerf"}, "dmidecode -t memory: Configured Memory Speed"},
	{"memory_refresh", "memory refresh rate", names{"dell": "MemRefreshRate 1x=1x", "hpe": "MemRefreshRate 1x=Refreshx1"}, "the dump (the OS does not see it)"},
	{"corrected_ecc_smi", "SMI on corrected memory errors", names{"dell": "CorrEccSmi" + onOff}, "turbostat: SMI does not grow (Intel)"},
	{"llc_prefetch", "last-level cache prefetch", names{"dell": "LlcPrefetch" + onOff, "supermicro": "LLC_Prefetch off=Disable on=Enable", "cisco": "LLCPrefetch"}, "the dump (the OS does not see it)"},
	{"vmd", "Intel volume management device", names{"hpe": "intel:IntelVmdSupport", "supermicro": "intel:VMD"}, "lspci | grep -i 'volume management'"},
	{"cooling", "cooling", names{"hpe": "ThermalConfig max=IncreasedCooling"}, "no growth of thermal_throttle/core_throttle_count"},
}

type names = map[string]string

// Find returns the row of a neutral name; '-' and '_' are the same.
func Find(token string) (Setting, bool) {
	token = strings.ReplaceAll(token, "-", "_")
	for _, s := range table {
		if s.Token == token {
			return s, true
		}
	}
	return Setting{}, false
}

// Tokens lists the neutral names.
func Tokens() []string {
	out := make([]string, len(table))
	for i, s := range table {
		out[i] = s.Token
	}
	return out
}

// Attribute is what one vendor calls a setting.
type Attribute struct {
	Name   string
	Values map[string]string // neutral value -> vendor's; empty: not known, the machine's registry tells
	Menu   bool              // Name is a menu entry, not an attribute of Redfish
}

// Attribute returns the vendor's name for a processor maker (intel, amd; "" takes the first).
func (s Setting) Attribute(vendor, cpu string) (Attribute, bool) {
	for _, alt := range strings.Split(s.Names[vendor], " | ") {
		words := strings.Fields(alt)
		if len(words) == 0 {
			continue
		}
		maker, name, ok := strings.Cut(words[0], ":")
		if !ok {
			maker, name = "", words[0]
		}
		if maker != "" && cpu != "" && maker != cpu {
			continue
		}
		a := Attribute{Name: name, Values: map[string]string{}}
		if vendor == "supermicro" || vendor == "cisco" {
			a.Name, a.Menu = strings.ReplaceAll(name, "_", " "), true
		}
		for _, w := range words[1:] {
			neutral, own, _ := strings.Cut(w, "=")
			a.Values[neutral] = own
		}
		return a, true
	}
	return Attribute{}, false
}

// Values are the neutral values that any vendor's table has for the setting, with on and off always accepted.
func (s Setting) Values() []string {
	seen := map[string]bool{"on": true, "off": true}
	out := []string{"on", "off"}
	for _, v := range []string{"dell", "hpe", "lenovo", "supermicro"} {
		for _, cpu := range []string{"intel", "amd"} {
			a, _ := s.Attribute(v, cpu)
			for neutral := range a.Values {
				if !seen[neutral] {
					seen[neutral] = true
					out = append(out, neutral)
				}
			}
		}
	}
	return out
}
