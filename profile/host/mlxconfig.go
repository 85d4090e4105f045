package host

import (
	"regexp"
	"strings"
)

// maxParams bounds the parameters of one device.
const maxParams = 2000

// readDeviceParams joins what mlxconfig and devlink printed with the functions that it is about.
func readDeviceParams(_ *Source, h *Host) {
	byMST := parseMST(command(h, "mst-status-v").Or(""))
	for device, params := range parseMlxconfig(command(h, "mlxconfig-q").Or("")) {
		if bdf, ok := byMST[device]; ok {
			device = bdf
		}
		if p := h.PCIFunction(fullBDF(device)); p != nil {
			p.FirmwareParams = params
		}
	}
	for bdf, params := range parseDevlinkParams(command(h, "devlink-dev-param-show").Or("")) {
		if p := h.PCIFunction(bdf); p != nil {
			p.DevlinkParams = params
		}
	}
}

// fullBDF adds the domain that NVIDIA's tools leave out when it is 0.
func fullBDF(text string) string {
	if isBDF("0000:" + text) {
		return "0000:" + text
	}
	return text
}

var (
	reMlxDevice = regexp.MustCompile(`^(?:Pci device|PCI device|Device):\s+(\S+)$`)
	reMlxParam  = regexp.MustCompile(`^\*?\s*([A-Z][A-Z0-9_]+(?:\[[0-9.]+\])?)\s+(?:\S+\s+)*?(\S+)$`)
	reMSTRow    = regexp.MustCompile(`(/dev/mst/\S+)\s+((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\b`)
)

// parseMlxconfig reads `mlxconfig -d DEV q` of one or more devices: DEV -> parameter -> value in force at the next boot,
// such as "BALANCED(0)". The tool is of the NVIDIA firmware tools; DEV is an address or a /dev/mst path.
func parseMlxconfig(text string) map[string]map[string]string {
	devices, device, inTable := map[string]map[string]string{}, "", false
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch m := reMlxDevice.FindStringSubmatch(line); {
		case m != nil:
			device, inTable = m[1], false
		case strings.HasPrefix(line, "Configurations:"):
			inTable = device != ""
		case !inTable:
		default:
			addParam(devices, device, line)
		}
	}
	return devices
}

func addParam(devices map[string]map[string]string, device, line string) {
	m := reMlxParam.FindStringSubmatch(line)
	if m == nil || len(devices[device]) == maxParams {
		return
	}
	if devices[device] == nil {
		devices[device] = map[string]string{}
	}
	devices[device][m[1]] = m[2]
}

// parseMST reads `mst status -v`: the address behind each /dev/mst path.
func parseMST(text string) map[string]string {
	found := map[string]string{}
	for _, m := range reMSTRow.FindAllStringSubmatch(text, maxParams) {
		if _, seen := found[m[1]]; !seen {
			found[m[1]] = m[2]
		}
	}
	return found
}

var (
	reDevlinkDevice = regexp.MustCompile(`^pci/([0-9a-f:.]+):`)
	reDevlinkName   = regexp.MustCompile(`\bname (\S+)`)
	reDevlinkValue  = regexp.MustCompile(`\bcmode (\S+) value (\S+)`)
)

// parseDevlinkParams reads `devlink dev param show`: address -> parameter -> value. The value in force counts before the
// one for the next driver load and the permanent one.
func parseDevlinkParams(text string) map[string]map[string]string {
	devices, device, name := map[string]map[string]string{}, "", ""
	rank := map[string]int{"permanent": 1, "driverinit": 2, "runtime": 3}
	best := 0
	for _, line := range strings.Split(text, "\n") {
		if m := reDevlinkDevice.FindStringSubmatch(line); m != nil {
			device, name = m[1], ""
		}
		if m := reDevlinkName.FindStringSubmatch(line); m != nil {
			name, best = m[1], 0
		}
		m := reDevlinkValue.FindStringSubmatch(line)
		if m == nil || device == "" || name == "" || rank[m[1]] <= best {
			continue
		}
		if devices[device] == nil {
			devices[device] = map[string]string{}
		}
		if len(devices[device]) < maxParams {
			best = rank[m[1]]
			devices[device][name] = m[2]
		}
	}
	return devices
}
