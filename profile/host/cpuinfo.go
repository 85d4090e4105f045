package host

import (
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// cpuinfo is what /proc/cpuinfo tells. procfs is not used: its parser is chosen when the program is built, so an x86
// binary cannot read an Arm host's tree.
type cpuinfo struct {
	first  map[string]string // fields of the first processor, and lines before and after the blocks
	cpus   cpulist.Set       // "processor" lines: the online CPUs
	models []string          // distinct model names in order; on Arm, part numbers with the implementer
	blocks map[int]cpuBlock
}

type cpuBlock struct{ pkg, core string }

func parseCPUInfo(b []byte) cpuinfo {
	c := cpuinfo{first: map[string]string{}, blocks: map[int]cpuBlock{}}
	at := -1
	for line := range strings.SplitSeq(string(b), "\n") {
		k, v, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		k, v = strings.TrimSpace(k), strings.TrimSpace(v)
		if k == "processor" {
			at = c.addCPU(v)
			continue
		}
		if _, seen := c.first[k]; !seen && len(c.cpus) <= 1 {
			c.first[strings.Clone(k)] = strings.Clone(v) // not a slice of the whole file
		}
		c.note(at, k, v)
	}
	c.cpus = cpulist.Of(c.cpus...)
	return c
}

func (c *cpuinfo) addCPU(v string) int {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > cpulist.MaxCPU {
		return -1
	}
	c.cpus = append(c.cpus, n)
	return n
}

func (c *cpuinfo) note(at int, k, v string) {
	block := c.blocks[at]
	switch k {
	case "physical id":
		block.pkg = v
	case "core id":
		block.core = v
	case "model name":
		c.addModel(v)
		return
	case "CPU part":
		c.addModel(armModel(c.first["CPU implementer"], v))
		return
	default:
		return
	}
	if at >= 0 {
		c.blocks[at] = block
	}
}

func (c *cpuinfo) text(key string) maybe.Value[string] {
	if v := c.first[key]; v != "" {
		return maybe.Some(v)
	}
	return maybe.Nonef[string]("/proc/cpuinfo has no %q", key)
}

func (c *cpuinfo) number(key string) maybe.Value[int] {
	v, ok := c.text(key).Get()
	if !ok {
		return maybe.None[int](c.text(key).Why())
	}
	n, err := strconv.ParseInt(v, 0, 32)
	if err != nil {
		return maybe.Nonef[int]("/proc/cpuinfo: %s is %.40q, not a number", key, v)
	}
	return maybe.Some(int(n))
}

// vendor is the vendor in one word: x86 has a name, Arm an implementer code (Arm MIDR_EL1, arch/arm64/include/asm/cputype.h).
func (c *cpuinfo) vendor() maybe.Value[string] {
	x86 := map[string]string{
		"GenuineIntel": "intel", "AuthenticAMD": "amd", "HygonGenuine": "hygon", "CentaurHauls": "centaur", "Shanghai": "zhaoxin",
	}
	arm := map[string]string{
		"0x41": "arm", "0x42": "broadcom", "0x43": "cavium", "0x46": "fujitsu", "0x48": "hisilicon", "0x4e": "nvidia",
		"0x50": "apm", "0x51": "qualcomm", "0x61": "apple", "0x6d": "microsoft", "0x70": "phytium", "0xc0": "ampere",
	}
	if v, ok := c.text("vendor_id").Get(); ok {
		if word := x86[v]; word != "" {
			return maybe.Some(word)
		}
		return maybe.Some(strings.ToLower(v))
	}
	v, ok := c.text("CPU implementer").Get()
	if !ok {
		return maybe.None[string]("/proc/cpuinfo has neither vendor_id nor CPU implementer")
	}
	if word := arm[strings.ToLower(v)]; word != "" {
		return maybe.Some(word)
	}
	return maybe.Some("arm implementer " + v)
}

// addModel notes a kind of core: hybrid and big.LITTLE machines have several.
func (c *cpuinfo) addModel(name string) {
	if name != "" && !slices.Contains(c.models, name) && len(c.models) < 8 {
		c.models = append(c.models, strings.Clone(name))
	}
}

func (c *cpuinfo) model() maybe.Value[string] {
	if len(c.models) == 0 {
		return maybe.None[string](`/proc/cpuinfo has neither "model name" nor "CPU part"`)
	}
	return maybe.Some(strings.Join(c.models, " + "))
}

// armModel names a core by implementer and part number; Arm's cpuinfo has no model name (arch/arm64/include/asm/cputype.h).
func armModel(implementer, part string) string {
	parts := map[string]string{
		"0x41/0xd08": "Cortex-A72", "0x41/0xd42": "Cortex-A78AE", "0x41/0xd4b": "Cortex-A78C", "0x41/0xd0c": "Neoverse-N1",
		"0x41/0xd40": "Neoverse-V1", "0x41/0xd49": "Neoverse-N2", "0x41/0xd4f": "Neoverse-V2", "0x41/0xd41": "Cortex-A78",
		"0x41/0xd84": "Neoverse-V3", "0x41/0xd85": "Cortex-X925", "0x41/0xd87": "Cortex-A725", "0x41/0xd8e": "Neoverse-N3",
		"0xc0/0xac3": "Ampere-1", "0xc0/0xac4": "Ampere-1a", "0x48/0xd01": "Kunpeng-920", "0x46/0x001": "A64FX",
	}
	who, what := strings.ToLower(implementer), strings.ToLower(part)
	if name := parts[who+"/"+what]; name != "" {
		return name
	}
	return "implementer " + who + " part " + what
}

// arch is the architecture, told by which fields there are.
func (c *cpuinfo) arch() string {
	_, x86 := c.first["vendor_id"]
	_, arm := c.first["CPU implementer"]
	switch {
	case arm:
		return "aarch64"
	case x86 && c.first["clflush size"] != "" || strings.Contains(" "+c.first["flags"]+" ", " lm "):
		return "x86_64"
	case c.first["cpu"] != "" && strings.HasPrefix(c.first["cpu"], "POWER"):
		return "ppc64le"
	}
	return ""
}

func (c *cpuinfo) flags() []string {
	if f := c.first["flags"]; f != "" {
		return strings.Fields(f)
	}
	return strings.Fields(c.first["Features"])
}
