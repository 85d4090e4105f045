package action

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/corewise/corewise/advisor/kargs"
	"github.com/corewise/corewise/profile/cpulist"
)

// Validate checks an action: the fields that its kind needs are there, every value is of its type's grammar, and files and
// services are on the lists of those that may be touched. Everything that renders or executes calls it first.
func Validate(a Action) error {
	if err := validate(a); err != nil {
		return fmt.Errorf("action %.40q: %w", string(a.Kind), err)
	}
	return nil
}

func validate(a Action) error {
	switch a.Kind {
	case IRQAffinity:
		return errors.Join(inRange("irq", int64(a.IRQ), 0, 1<<20), someCPUs(a.CPUs))
	case WriteFile:
		if !Writable(a.Path) {
			return fmt.Errorf("path %.120q is not one that may be written", a.Path)
		}
		return value("value", a.Value, fileValue.MatchString)
	case Sysctl:
		if !sysctlKey.MatchString(a.Key) || !matches(sysctls, a.Key) {
			return fmt.Errorf("sysctl %.80q is not one that may be set", a.Key)
		}
		return value("value", a.Value, fileValue.MatchString)
	case Ethtool:
		return validateEthtool(a)
	case Service:
		return validateService(a)
	case IrqbalanceBan:
		return someCPUs(a.CPUs)
	case CpusetPartition:
		return errors.Join(value("name", a.Name, groupName.MatchString), someCPUs(a.CPUs))
	}
	return validateRest(a)
}

func validateRest(a Action) error {
	switch a.Kind {
	case Governor:
		return errors.Join(noCPUsOrValid(a.CPUs), oneOf("governor", a.Value, "performance", "powersave", "schedutil", "ondemand", "conservative", "userspace"))
	case IdleState:
		return errors.Join(noCPUsOrValid(a.CPUs), value("state", a.Key, stateName.MatchString), oneOf("value", a.Value, "0", "1"))
	case PMQoS:
		return errors.Join(noCPUsOrValid(a.CPUs), value("limit", a.Value, func(v string) bool { return microsecond.MatchString(v) || v == "n/a" && len(a.CPUs) > 0 }))
	case KernelCmdline:
		return validateArgs(a)
	case Tuned:
		return value("profile", a.Name, groupName.MatchString)
	case Hugepages:
		return validateHugepages(a)
	case BIOS:
		return validateBIOS(a)
	case Firmware:
		return errors.Join(value("PCI address", a.PCI, pciAddress.MatchString), value("key", a.Key, firmwareKey.MatchString), value("value", a.Value, plainWord.MatchString))
	case Restart:
		return validateRestart(a)
	case Manual:
		return value("text", a.Text, func(t string) bool { return len(t) <= 4096 && strings.TrimSpace(t) != "" && comment(t) == t })
	}
	return errors.New("unknown kind")
}

func value(name, text string, valid func(string) bool) error {
	if !valid(text) {
		return fmt.Errorf("%s %.80q is not valid", name, text)
	}
	return nil
}

func oneOf(name, text string, accepted ...string) error {
	if !slices.Contains(accepted, text) {
		return fmt.Errorf("%s %.40q is not one of %s", name, text, strings.Join(accepted, ", "))
	}
	return nil
}

func inRange(name string, n, low, high int64) error {
	if n < low || n > high {
		return fmt.Errorf("%s %d is not within %d to %d", name, n, low, high)
	}
	return nil
}

func someCPUs(s cpulist.Set) error {
	if len(s) == 0 {
		return errors.New("no CPUs are given")
	}
	return noCPUsOrValid(s)
}

// noCPUsOrValid: an empty set stands for every CPU where the kind allows it.
func noCPUsOrValid(s cpulist.Set) error {
	for i, c := range s {
		if c < 0 || c > cpulist.MaxCPU || i > 0 && s[i-1] >= c {
			return fmt.Errorf("CPU %d is out of order or range", c)
		}
	}
	return nil
}

// precious are services whose loss locks people out or breaks the machine.
var precious = []string{"ssh", "sshd", "dbus", "dbus-broker", "network", "networking", "NetworkManager", "init", "kubelet", "containerd", "crio", "docker"}

func validateService(a Action) error {
	if err := value("service", a.Name, unitName.MatchString); err != nil {
		return err
	}
	base := strings.TrimSuffix(a.Name, ".service")
	if off := a.Value != "start" && a.Value != "enable" && a.Value != "unmask"; off && (slices.Contains(precious, base) || strings.HasPrefix(base, "systemd-")) {
		return fmt.Errorf("service %s must keep running", a.Name)
	}
	return oneOf("operation", a.Value, "stop", "start", "restart", "disable", "enable", "mask", "unmask")
}

func validateArgs(a Action) error {
	if len(a.Args)+len(a.Drop) == 0 {
		return errors.New("no kernel arguments are given")
	}
	for _, w := range a.Args {
		if !kargs.ValidWord(w) {
			return fmt.Errorf("kernel argument %.80q is not valid", w)
		}
	}
	for _, d := range a.Drop {
		if !argKey.MatchString(d) && !kargs.ValidWord(d) {
			return fmt.Errorf("kernel argument %.80q is not valid", d)
		}
	}
	return nil
}

func validateHugepages(a Action) error {
	if a.Node != nil && (*a.Node < 0 || *a.Node > 1<<16) {
		return fmt.Errorf("node %d is out of range", *a.Node)
	}
	if a.SizeBytes < 64<<10 || a.SizeBytes > 16<<30 || a.SizeBytes&(a.SizeBytes-1) != 0 {
		return fmt.Errorf("%d bytes is not a huge page size", a.SizeBytes)
	}
	return inRange("count", a.Count, 0, 1<<24)
}

// validateRestart allows any text in arguments: they are the user's own, and quoted when they are rendered.
func validateRestart(a Action) error {
	if len(a.Args) == 0 {
		return errors.New("no command is given")
	}
	size := 0
	for _, w := range append(slices.Clone(a.Args), a.Env...) {
		if size += len(w); strings.ContainsRune(w, 0) || size > 128<<10 {
			return errors.New("the command has a NUL byte or is too long")
		}
	}
	for _, e := range a.Env {
		if name, _, ok := strings.Cut(e, "="); !ok || !envName.MatchString(name) {
			return fmt.Errorf("environment %.40q is not NAME=VALUE", e)
		}
	}
	return nil
}

// hugepageDir is the directory of a pool, of a node or of the host.
func hugepageDir(a Action) string {
	pool := "/hugepages/hugepages-" + strconv.FormatInt(a.SizeBytes>>10, 10) + "kB/"
	if a.Node == nil {
		return "/sys/kernel/mm" + pool
	}
	return "/sys/devices/system/node/node" + strconv.Itoa(*a.Node) + pool
}
