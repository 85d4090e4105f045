package host

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// readIrqbalance reads the daemon, its version, and its configuration: the environment of the process first, since
// that is what it runs with, then the file that systemd reads it from.
func readIrqbalance(s *Source, h *Host) {
	ib := &h.Services.Irqbalance
	ib.Running = running(s, h, "irqbalance")
	vars := map[string]string{}
	for _, file := range []string{"/etc/sysconfig/irqbalance", "/etc/default/irqbalance"} {
		if b, err := s.Read(file); err == nil {
			ib.ConfigPath, ib.ConfigKnown = file, true
			vars = parseShellVars(string(b))
			break
		}
	}
	for _, p := range h.Procs {
		if p.Comm != "irqbalance" || p.KThread {
			continue
		}
		ib.PID = p.PID
		ib.ConfigKnown = ib.ConfigKnown || p.EnvWhy == ""
		for k, v := range p.Env {
			vars[k] = v
		}
		if len(p.Argv) > 1 {
			ib.Args = strings.Join(p.Argv[1:], " ")
		}
	}
	irqbalanceVars(ib, vars)
	ib.Version = irqbalanceVersion(s, h)
	readIrqbalanceLog(h)
}

// irqbalanceVars takes the variables of irqbalance(1). A list that is set but empty bans nothing at all, which is not the
// same as a list that is not set; a mask that is empty is ignored by irqbalance.
func irqbalanceVars(ib *Irqbalance, vars map[string]string) {
	why := "no configuration of irqbalance was found"
	if ib.ConfigKnown {
		why = "not set"
	}
	ib.BannedMask, ib.BannedList = maybe.None[cpulist.Set](why), maybe.None[cpulist.Set](why)
	if text := vars["IRQBALANCE_BANNED_CPUS"]; text != "" {
		ib.BannedMask = maybe.From(cpulist.ParseMask(text))
	}
	if text, ok := vars["IRQBALANCE_BANNED_CPULIST"]; ok {
		ib.BannedList = maybe.From(cpulist.Parse(text))
	}
	if ib.Args == "" {
		ib.Args = vars["IRQBALANCE_ARGS"]
	}
	once := vars["IRQBALANCE_ONESHOT"]
	ib.OneShot = once != "" && once != "0"
	for _, arg := range strings.Fields(ib.Args) {
		ib.OneShot = ib.OneShot || arg == "--oneshot" || arg == "-o"
	}
}

// parseShellVars reads NAME=value lines of /etc/default and /etc/sysconfig files: comments, "export", quotes.
func parseShellVars(text string) map[string]string {
	vars := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimPrefix(strings.TrimSpace(line), "export ")
		name, value, ok := strings.Cut(line, "=")
		if !ok || name == "" || strings.ContainsAny(name, "# \t") {
			continue
		}
		vars[name] = shellValue(strings.TrimSpace(value))
	}
	return vars
}

// shellValue takes quotes off, or a trailing comment.
func shellValue(v string) string {
	if v == "" {
		return ""
	}
	if quote := v[0]; quote == '"' || quote == '\'' {
		if end := strings.IndexByte(v[1:], quote); end >= 0 {
			return v[1 : 1+end]
		}
	}
	if at := strings.Index(v, " #"); at >= 0 {
		v = v[:at]
	}
	return strings.TrimSpace(v)
}

var reVersion = regexp.MustCompile(`\b(\d+\.\d+(?:\.\d+)*)`)

// irqbalanceVersion takes the daemon's own word, else the package data base of Debian.
func irqbalanceVersion(s *Source, h *Host) maybe.Value[string] {
	v := command(h, "irqbalance-version")
	if text, ok := v.Get(); ok {
		if m := reVersion.FindString(text); m != "" {
			return maybe.Some(m)
		}
		return maybe.Nonef[string]("irqbalance --version prints %.80q", text)
	}
	if s.Live {
		return v
	}
	for _, block := range strings.Split(s.Text("/var/lib/dpkg/status").Or(""), "\n\n") {
		if !strings.HasPrefix(block, "Package: irqbalance\n") {
			continue
		}
		for _, line := range strings.Split(block, "\n") {
			if version, ok := strings.CutPrefix(line, "Version: "); ok {
				return maybe.Some(reVersion.FindString(version))
			}
		}
	}
	return v
}

var (
	reIRQRefused = regexp.MustCompile(`Cannot change IRQ (\d+) affinity: (.+)$`)
	reIRQGivenUp = regexp.MustCompile(`IRQ (\d+) affinity is now unmanaged`)
)

// maxIRQErrors bounds the refusals that are kept of a log.
const maxIRQErrors = 1000

// readIrqbalanceLog reads refused writes. "Unmanaged" is irqbalance's own word for having given up; it says nothing about
// the kernel's managed interrupts.
func readIrqbalanceLog(h *Host) {
	ib := &h.Services.Irqbalance
	for _, line := range strings.Split(command(h, "journalctl-irqbalance").Or(""), "\n") {
		e, text := IRQError{}, ""
		if m := reIRQRefused.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			e, text = IRQError{IRQ: atoi(m[1]), Reason: refusal(m[2])}, m[0]
		} else if m := reIRQGivenUp.FindStringSubmatch(line); m != nil {
			e, text = IRQError{IRQ: atoi(m[1]), Reason: "given-up"}, m[0]
		}
		if text == "" || len(ib.LogErrors) == maxIRQErrors {
			continue
		}
		ib.LogErrors = append(ib.LogErrors, text)
		ib.IRQErrors = append(ib.IRQErrors, e)
	}
}

// refusal maps errno texts: EIO comes of the kernel for managed interrupts, EACCES and EROFS of a sandboxed unit.
func refusal(text string) string {
	switch strings.TrimSpace(text) {
	case "Input/output error":
		return "managed"
	case "Permission denied", "Operation not permitted", "Read-only file system":
		return "sandboxed"
	case "No space left on device":
		return "no-vector"
	}
	return "other"
}

func atoi(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n
}
