package bench

import (
	"regexp"
	"slices"
	"strings"
)

// ealLog is the log lines of EAL and of the poll-mode drivers, DPDK 20.11 to 25.11.
var ealLog = []logPattern{
	{re: regexp.MustCompile(`EAL: No free (?P<size_kb>\d+) kB hugepages reported on node (?P<node>\d+)`), code: "eal-no-free-hugepages", level: "warning"},
	{re: regexp.MustCompile(`EAL: No (?:free|available) hugepages reported in hugepages-(?P<size_kb>\d+)kB`), code: "eal-no-free-hugepages", level: "info"},
	{re: regexp.MustCompile(`EAL: (?P<pages>\d+) hugepages of size (?P<size_bytes>\d+) reserved, but no mounted hugetlbfs found for that size`), code: "eal-hugetlbfs-not-mounted", level: "warning"},
	{re: regexp.MustCompile(`EAL: (?:FATAL: )?Cannot get hugepage information`), code: "eal-no-hugepages", level: "error", fails: true},
	{re: regexp.MustCompile(`EAL: Not enough memory available on socket (?P<node>\d+)! Requested: (?P<requested_mb>\d+)MB, available: (?P<available_mb>\d+)MB`), code: "eal-hugepages-insufficient", level: "error", fails: true},
	{re: regexp.MustCompile(`EAL: Not enough memory available! Requested: (?P<requested_mb>\d+)MB, available: (?P<available_mb>\d+)MB`), code: "eal-hugepages-insufficient", level: "error", fails: true},
	{re: regexp.MustCompile(`EAL: lcore (?P<lcore>\d+) unavailable`), code: "eal-lcore-absent", level: "error", fails: true},
	{re: regexp.MustCompile(`EAL: lcore (?P<lcore>\d+) >= RTE_MAX_LCORE \((?P<max>\d+)\)`), code: "eal-lcore-too-large", level: "error"},
	{re: regexp.MustCompile(`EAL: [Ii]nvalid (?:core ?list|core ?mask)[^,]*(?:, please check specified cores are part of (?P<available>\S+))?`), code: "eal-core-list-invalid", level: "error", fails: true},
	{re: regexp.MustCompile(`EAL: (?:Main|Master) lcore is not enabled`), code: "eal-main-lcore-absent", level: "error", fails: true},
	{re: regexp.MustCompile(`EAL: Cannot create lock on '(?P<path>[^']*)'\. Is another primary process running`), code: "eal-prefix-in-use", level: "error", fails: true},
	{re: regexp.MustCompile(`EAL: (?:FATAL: )?Cannot init (?P<what>.*?)\.?$`), code: "eal-init-failed", level: "error", fails: true},
	{re: regexp.MustCompile(`ARGPARSE: unknown argument (?P<option>\S+?)!?$`), code: "eal-unknown-option", level: "error", fails: true},
	{re: regexp.MustCompile(`EAL: failed to parse device "(?P<device>[^"]*)"`), code: "eal-device-unparsable", level: "error", fails: true},
	{re: regexp.MustCompile(`EAL: Error, directory path (?P<path>\S+) is world-writable and insecure`), code: "eal-plugin-dir-insecure", level: "error", fails: true},
	{re: regexp.MustCompile(`EAL: Probe PCI driver: (?P<driver>\S+) \((?P<id>[0-9a-fA-F]+:[0-9a-fA-F]+)\) device: (?P<pci>\S+) \(socket (?P<node>-?\d+)\)`), code: "eal-pci-probed", level: "info"},
	{re: regexp.MustCompile(`EAL: Requested device (?P<pci>\S+) cannot be used`), code: "eal-pci-unusable", level: "error"},
	{re: regexp.MustCompile(`EAL: +(?P<pci>\S+) VFIO group is not viable`), code: "eal-vfio-group-not-viable", level: "error"},
	{re: regexp.MustCompile(`EAL: Bus \((?P<bus>\w+)\) probe failed`), code: "eal-bus-probe-failed", level: "error"},
	{re: regexp.MustCompile(`EAL: Invalid NUMA socket, default to 0`), code: "eal-pci-node-unknown", level: "info"},
	{re: regexp.MustCompile(`EAL: set_mempolicy failed: (?P<reason>.*)`), code: "eal-mempolicy-failed", level: "warning"},
	{re: regexp.MustCompile(`EAL: WARNING: cpu flags constant_tsc=(?P<constant_tsc>\w+) nonstop_tsc=(?P<nonstop_tsc>\w+) -> using unreliable clock`), code: "bench-clock-suspect", level: "warning"},
	{re: regexp.MustCompile(`EAL: Detected (?:CPU lcores: )?(?P<lcores>\d+)(?: lcore\(s\))?$`), code: "eal-detected", level: "info"},
	{re: regexp.MustCompile(`EAL: Detected (?:NUMA nodes: )?(?P<nodes>\d+)(?: NUMA nodes)?$`), code: "eal-detected", level: "info"},
	{re: regexp.MustCompile(`EAL: Selected IOVA mode '(?P<mode>PA|VA)'`), code: "eal-iova-mode", level: "info"},
	{re: regexp.MustCompile(`(?:vdev_probe\(\): |VDEV_BUS: .*)failed to initialize (?P<device>\S+) device`), code: "dpdk-vdev-failed", level: "error"},
	{re: regexp.MustCompile(`(?P<device>\w+): ioctl failed \(SIOCGIFINDEX\): ?(?P<reason>.*)`), code: "dpdk-netdev-absent", level: "error"},
	{re: regexp.MustCompile(`Could not open AF_PACKET socket`), code: "dpdk-no-privilege", level: "error"},
	{re: regexp.MustCompile(`mlx5_\w+: .*(?P<pci>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) aborted after encountering an error: (?P<reason>.*)`), code: "dpdk-port-probe-failed", level: "error"},
	{re: regexp.MustCompile(`mlx5_\w+: .*queue allocation failed: (?P<reason>.*)`), code: "dpdk-queue-allocation-failed", level: "error"},
	{re: regexp.MustCompile(`Frame size \((?P<frame>\d+)\) > device max frame size \((?P<max>\d+)\) for port_id (?P<port>\d+)`), code: "dpdk-frame-size", level: "error"},
	{re: regexp.MustCompile(`port (?P<port>\d+) socket ID (?P<port_node>-?\d+) has different socket ID than lcore (?P<lcore>\d+) socket ID (?P<lcore_node>-?\d+)`), code: "dpdk-cross-node", level: "warning"},
	{re: regexp.MustCompile(`(?i)warning.{0,4}port (?P<port>\d+) is on remote NUMA node to polling thread`), code: "dpdk-cross-node", level: "warning"},
	{re: regexp.MustCompile(`EAL: (?:FATAL: |Error parsing command line arguments|Invalid 'command line' arguments)`), code: "eal-fatal", level: "error", fails: true},
}

var (
	unrecognized = regexp.MustCompile(`: (?:unrecognized|invalid|unknown) option(?: --)? '(-{0,2}[^']*)'`)
	exitingCode  = regexp.MustCompile(`EAL: Error - exiting with code: (\d+)`)
	panicIn      = regexp.MustCompile(`PANIC in (\w+)\(\):`)
	mbufPool     = regexp.MustCompile(`[Cc]annot create mbuf pool \((?P<pool>[^)]*)\) port (?P<port>\d+), queue (?P<queue>\d+), nb_mbufs (?P<mbufs>\d+), (?:socket_id|NUMA) (?P<socket>-?\d+): (?P<reason>.*)`)
	mbufSocket   = regexp.MustCompile(`Creation of mbuf pool for socket (?P<socket>\d+) failed: (?P<reason>.*)`)
	noPorts      = regexp.MustCompile(`Did not find any ports to use|No probed ethernet devices|No Ethernet ports`)
	bareOption   = regexp.MustCompile(`: option requires an argument -- '(\w)'|option '(--[\w-]+)' requires an argument`)
)

// parseEALLog reads what EAL, the drivers and rte_exit or rte_panic say, and derives what the log only implies.
func parseEALLog(r *Result, w Workload, lines []textLine) {
	noteLines(r, lines, ealLog)
	ealRejected := slices.ContainsFunc(r.Notes, func(n Note) bool { return n.Code == "eal-fatal" })
	for i, l := range lines {
		next := ""
		if i+1 < len(lines) {
			next = strings.TrimSpace(lines[i+1].S)
		}
		parseExit(r, l, next)
		parseUnknownOption(r, l, ealRejected)
		if noPorts.MatchString(l.S) {
			r.note("eal-no-ports", "error", l.S, l.N, "pci", strings.Join(w.Devices.PCI, ","))
			absentPCI(r, w, l.N)
			r.fail(l.S)
		}
	}
	for _, n := range r.Notes {
		if n.Code == "eal-pci-probed" && n.Args["node"] == "-1" {
			r.note("eal-pci-node-unknown", "info", "the kernel tells no NUMA node for "+n.Args["pci"], n.Line, "pci", n.Args["pci"])
		}
	}
}

// parseExit reads the three ways in which DPDK programs give up: a panic, rte_exit, and a failing memory pool inside either.
func parseExit(r *Result, l textLine, next string) {
	if m := panicIn.FindStringSubmatch(l.S); m != nil {
		r.note("dpdk-panic", "error", l.S+" "+next, l.N, "function", m[1], "reason", clip(next))
		r.fail(next)
	}
	if m := exitingCode.FindStringSubmatch(l.S); m != nil {
		cause := strings.TrimPrefix(next, "Cause: ")
		r.note("dpdk-exit", "error", l.S+" "+next, l.N, "code", m[1], "cause", clip(cause))
		r.fail(cause)
	}
	if args, ok := matchNamed(mbufPool, l.S); ok {
		r.note("pktgen-mbuf-pool-failed", "error", l.S, l.N, args...)
		r.fail(l.S)
	}
	if args, ok := matchNamed(mbufSocket, l.S); ok {
		r.note("testpmd-mbuf-pool-failed", "error", l.S, l.N, args...)
		r.fail(l.S)
	}
}

func parseUnknownOption(r *Result, l textLine, ealRejected bool) {
	if m := bareOption.FindStringSubmatch(l.S); m != nil {
		r.note("dpdk-option-without-value", "error", l.S, l.N, "option", m[1]+m[2])
		r.fail(l.S)
	}
	m := unrecognized.FindStringSubmatch(l.S)
	if m == nil {
		return
	}
	code := "dpdk-app-unknown-option"
	if ealRejected {
		code = "eal-unknown-option"
	}
	r.note(code, "error", l.S, l.N, "option", m[1])
	r.fail(l.S)
}

// absentPCI names the devices of -a that no driver took, where the program found no port at all: EAL passes over an
// address that does not exist without a word.
func absentPCI(r *Result, w Workload, line int) {
	for _, bdf := range w.Devices.PCI {
		probed := slices.ContainsFunc(r.Notes, func(n Note) bool { return n.Code == "eal-pci-probed" && n.Args["pci"] == bdf })
		if !probed {
			r.note("eal-pci-absent", "warning", "no driver took "+bdf+": no such device, or one bound to no DPDK driver", line, "pci", bdf)
		}
	}
}
