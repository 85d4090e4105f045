package bench

import (
	"regexp"
	"strings"
)

// docaFrame is the frame of all DOCA log lines, 1.x to 3.x: time, thread, level, source places, message.
var docaFrame = regexp.MustCompile(`^(?:\[\d\d:\d\d:\d\d:\d{6}\])?(?:\[\d+\])?\[DOCA\]\[(CRT|ERR|WRN|INF|DBG|TRC)\]((?:\[[^\]]*\])*):?\s*(.*)$`)

// docaPlain is an error outside the frame: of the C++ runtime, of ssh, of the argument parser.
var docaPlain = regexp.MustCompile(`(?i)^(?:error|failed|unable|terminate called|what\(\):|ssh: |.*permission denied \(|.*connection (?:refused|timed out))`)

// docaClasses sorts messages by keyword: the sentences of the tool are not documented. The first match counts.
var docaClasses = []struct {
	re   *regexp.Regexp
	code string
}{
	{regexp.MustCompile(`(?i)host PF is disabled`), "doca-host-pf-disabled"},
	{regexp.MustCompile(`(?i)representor`), "doca-representor-missing"},
	{regexp.MustCompile(`(?i)companion|connection (?:refused|timed out|reset)|no route to host|permission denied|\bssh\b`), "doca-companion-unreachable"},
	{regexp.MustCompile(`(?i)(?:unknown|unrecogni[sz]ed|invalid|unexpected) (?:option|argument|parameter|flag)`), "doca-unknown-option"},
	{regexp.MustCompile(`(?i)not installed|cannot open shared object|library`), "doca-library-missing"},
	{regexp.MustCompile(`(?i)not supported|unsupported|not capable`), "doca-operation-unsupported"},
	{regexp.MustCompile(`(?i)\bQP\b|\bCQ\b|work queue`), "doca-queue-failed"},
	{regexp.MustCompile(`(?i)huge ?pages?|out of memory|cannot allocate|memory region|mmap`), "doca-memory-failed"},
	{regexp.MustCompile(`(?i)(?:device|port|pci|ibdev|interface).*(?:not found|matching|no such|open|create)|(?:find|open|no) .*device`), "doca-device-not-found"},
}

var (
	docaOptionName = regexp.MustCompile(`(--[A-Za-z][\w-]*)`)
	docaLibrary    = regexp.MustCompile(`(doca_\w+|lib\w+\.so\S*)`)
	docaDeviceName = regexp.MustCompile(`(?:matching|device|port)[: ]+'?([\w.:/-]*\d[\w.:/-]*)`)
	docaAddress    = regexp.MustCompile(`\bat (\S+?):?(?:\s|$)`)
)

// parseDocaLog turns log lines into notes. Informational lines are not kept.
func parseDocaLog(r *Result, lines []textLine) {
	for _, l := range lines {
		level, message := "", ""
		if m := docaFrame.FindStringSubmatch(l.S); m != nil {
			level, message = m[1], m[3]
		} else if docaPlain.MatchString(l.S) {
			level, message = "ERR", l.S
		}
		switch level {
		case "CRT", "ERR":
			code, args := classifyDoca(message)
			r.note(code, "error", message, l.N, args...)
		case "WRN":
			code, args := classifyDoca(message)
			if code == "doca-error" {
				code = "doca-warning"
			}
			r.note(code, "warning", message, l.N, args...)
		}
	}
}

// classifyDoca returns the code of a message and what it names.
func classifyDoca(message string) (code string, args []string) {
	for _, c := range docaClasses {
		if !c.re.MatchString(message) {
			continue
		}
		switch c.code {
		case "doca-unknown-option":
			option := firstGroup(docaOptionName, message)
			return c.code, []string{"option", option, "correct", docaWrong[strings.TrimPrefix(option, "--")]}
		case "doca-library-missing", "doca-operation-unsupported":
			return c.code, []string{"library", firstGroup(docaLibrary, message)}
		case "doca-device-not-found":
			return c.code, []string{"device", firstGroup(docaDeviceName, message)}
		case "doca-companion-unreachable":
			return c.code, []string{"peer", firstGroup(docaAddress, message)}
		}
		return c.code, nil
	}
	return "doca-error", nil
}

func firstGroup(re *regexp.Regexp, s string) string {
	if m := re.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}

// DOCACapability is one library of "--query device-capabilities".
type DOCACapability struct {
	Library   string     `json:"library"`
	Capable   bool       `json:"capable"`
	Installed bool       `json:"installed"`
	Tasks     []DOCATask `json:"tasks,omitempty"`
}

// DOCATask is one operation of a library; Limits are its "Max ..." lines.
type DOCATask struct {
	Name      string            `json:"name"`
	Supported bool              `json:"supported"`
	Limits    map[string]string `json:"limits,omitempty"`
}

var (
	capLibrary = regexp.MustCompile(`^(doca_\w+):$`)
	capTask    = regexp.MustCompile(`^\s+([\w:]+::\w+):$`)
	capValue   = regexp.MustCompile(`^\s+([A-Z][\w ]*):\s+(\S+)$`)
)

// ParseDOCACapabilities reads the listing; what it does not know is passed over.
func ParseDOCACapabilities(text []byte) []DOCACapability {
	var out []DOCACapability
	for _, l := range splitLines(text) {
		if m := capLibrary.FindStringSubmatch(l.S); m != nil && len(out) < 256 {
			out = append(out, DOCACapability{Library: m[1]})
			continue
		}
		if len(out) == 0 {
			continue
		}
		lib := &out[len(out)-1]
		if m := capTask.FindStringSubmatch(l.S); m != nil && len(lib.Tasks) < 256 {
			lib.Tasks = append(lib.Tasks, DOCATask{Name: m[1]})
		} else if m := capValue.FindStringSubmatch(l.S); m != nil {
			lib.set(m[1], m[2])
		}
	}
	return out
}

func (c *DOCACapability) set(name, value string) {
	switch {
	case name == "Capable":
		c.Capable = value == "yes"
	case name == "Installed":
		c.Installed = value == "yes"
	case len(c.Tasks) == 0:
	case name == "Supported":
		c.Tasks[len(c.Tasks)-1].Supported = value == "yes"
	default:
		t := &c.Tasks[len(c.Tasks)-1]
		if t.Limits == nil {
			t.Limits = map[string]string{}
		}
		t.Limits[name] = value
	}
}

// fromCapabilities notes what is not there.
func (r *Result) fromCapabilities(libraries []DOCACapability) {
	if len(libraries) == 0 {
		r.failFromNotes("the output lists no library")
		return
	}
	for _, c := range libraries {
		if !c.Installed {
			r.note("doca-library-missing", "warning", c.Library+" is not installed", 0, "library", c.Library)
		} else if !c.Capable {
			r.note("doca-not-capable", "info", "the device cannot do "+c.Library, 0, "library", c.Library)
		}
		for _, t := range c.Tasks {
			if !t.Supported {
				r.note("doca-operation-unsupported", "info", "the device does not support "+t.Name, 0, "library", c.Library, "task", t.Name)
			}
		}
	}
}
