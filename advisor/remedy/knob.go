package remedy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/corewise/corewise/advisor/action"
)

// Knob is one setting of a host by its address: enough to read it and to give it a value, also from the journal.
type Knob struct {
	Type string `json:"type"` // file, ethtool, active, enabled, tuned, config, group, controller
	Path string `json:"path,omitempty"`
	// Iface, Group and Key are of ethtool; Name is a service.
	Iface string `json:"iface,omitempty"`
	Group string `json:"group,omitempty"`
	Key   string `json:"key,omitempty"`
	Name  string `json:"name,omitempty"`
}

// The types.
const (
	fileKnob       = "file"       // sysfs, procfs or cgroupfs: its text
	ethtoolKnob    = "ethtool"    // a value in ethtool's words
	activeKnob     = "active"     // a service: active or inactive
	enabledKnob    = "enabled"    // a service: enabled, disabled, masked
	tunedKnob      = "tuned"      // the active profile
	configKnob     = "config"     // a configuration file of irqbalance: its whole text; its service is restarted
	groupKnob      = "group"      // a control group: present or absent
	controllerKnob = "controller" // cpuset in the root's subtree_control: on or off
)

func (k Knob) String() string {
	switch k.Type {
	case ethtoolKnob:
		return fmt.Sprintf("ethtool %s %s %s", k.Iface, k.Group, k.Key)
	case activeKnob, enabledKnob:
		return "service " + k.Name + " " + k.Type
	case tunedKnob:
		return "tuned profile"
	case groupKnob:
		return "control group " + k.Path
	case controllerKnob:
		return "cpuset controller"
	}
	return k.Path
}

// persistent reports whether the setting outlives a reboot.
func (k Knob) persistent() bool {
	return k.Type == enabledKnob || k.Type == tunedKnob || k.Type == configKnob
}

// configs are the configuration files that may be exchanged.
var configs = []string{"/etc/default/irqbalance", "/etc/sysconfig/irqbalance"}

// valid checks a knob that comes from the journal by the same lists as actions.
func (k Knob) valid() error {
	ok := false
	switch k.Type {
	case fileKnob:
		ok = action.Writable(k.Path)
	case configKnob:
		ok = slices.Contains(configs, k.Path)
	case groupKnob:
		ok = path.Dir(k.Path) == action.CgroupRoot && action.Validate(action.Action{Kind: action.CpusetPartition, Name: path.Base(k.Path), CPUs: []int{0}}) == nil
	case ethtoolKnob:
		ok = action.Validate(action.Action{Kind: action.Ethtool, Iface: k.Iface, Group: k.Group, Key: k.Key, Value: "1"}) == nil
	case activeKnob, enabledKnob:
		ok = action.Validate(action.Action{Kind: action.Service, Name: k.Name, Value: "start"}) == nil
	case tunedKnob, controllerKnob:
		ok = true
	}
	if !ok {
		return fmt.Errorf("knob %.120q of type %.20q is not one that is written here", k.String(), k.Type)
	}
	return nil
}

// read returns the present value; for files the exact text.
func (k Knob) read(h Host) (string, error) {
	switch k.Type {
	case fileKnob, configKnob:
		return h.Read(k.Path)
	case ethtoolKnob:
		return readEthtool(h, k)
	case activeKnob:
		return serviceState(h, "is-active", k.Name, "active", "inactive")
	case enabledKnob:
		return serviceState(h, "is-enabled", k.Name, "enabled", "disabled", "masked")
	case tunedKnob:
		return readTuned(h)
	case groupKnob:
		if found, err := h.Glob(k.Path); err != nil || len(found) == 0 {
			return "absent", err
		}
		return "present", nil
	case controllerKnob:
		text, err := h.Read(action.CgroupRoot + "/cgroup.subtree_control")
		if slices.Contains(strings.Fields(text), "cpuset") {
			return "on", err
		}
		return "off", err
	}
	return "", k.valid()
}

// write gives the knob a value that read may have returned.
func (k Knob) write(h Host, value string) error {
	switch k.Type {
	case fileKnob:
		return h.Write(k.Path, choice(value))
	case configKnob:
		return writeConfig(h, k, value)
	case ethtoolKnob:
		_, err := h.Run(action.EthtoolArgv(action.Action{Iface: k.Iface, Group: k.Group, Key: k.Key}, value)...)
		return err
	case tunedKnob:
		return writeTuned(h, value)
	case groupKnob:
		if value == "present" {
			return h.Mkdir(k.Path)
		}
		return h.Rmdir(k.Path)
	case controllerKnob:
		return h.Write(action.CgroupRoot+"/cgroup.subtree_control", map[string]string{"on": "+cpuset\n", "off": "-cpuset\n"}[value])
	}
	return writeService(h, k, value)
}

// choice takes the chosen word out of a list such as "always [madvise] never"; any other text stays as it is.
func choice(text string) string {
	_, rest, ok := strings.Cut(text, "[")
	word, _, closed := strings.Cut(rest, "]")
	if !ok || !closed || strings.Contains(word, "[") {
		return text
	}
	return word + "\n"
}

func serviceState(h Host, verb, name string, accepted ...string) (string, error) {
	out, err := h.Run("systemctl", verb, name)
	state := strings.TrimSpace(out)
	// systemctl exits with a code for every state but the first; the word on stdout is the answer.
	switch {
	case slices.Contains(accepted, state):
		return state, nil
	case verb == "is-active" && (state == "failed" || state == "unknown"):
		return "inactive", nil
	case err == nil:
		return "", fmt.Errorf("service %s is %.40q, which cannot be changed and put back", name, state)
	}
	return "", err
}

func writeService(h Host, k Knob, value string) error {
	verbs := map[string]string{"active": "start", "inactive": "stop", "enabled": "enable", "disabled": "disable", "masked": "mask"}
	verb, ok := verbs[value]
	if !ok {
		return fmt.Errorf("service %s cannot be made %.40q", k.Name, value)
	}
	if k.Type == enabledKnob && value != "masked" {
		if now, err := k.read(h); err == nil && now == "masked" {
			if _, err := h.Run("systemctl", "unmask", k.Name); err != nil {
				return err
			}
		}
	}
	_, err := h.Run("systemctl", verb, k.Name)
	return err
}

// writeConfig exchanges the file and restarts the service when it runs.
func writeConfig(h Host, k Knob, text string) error {
	if err := h.Replace(k.Path, text); err != nil {
		return err
	}
	service := path.Base(k.Path)
	if state, err := serviceState(h, "is-active", service, "active", "inactive"); err != nil || state != "active" {
		return nil // not running: it reads the file when it starts
	}
	_, err := h.Run("systemctl", "restart", service)
	return err
}

const tunedPrefix = "Current active profile: "

func readTuned(h Host) (string, error) {
	out, err := h.Run("tuned-adm", "active")
	for line := range strings.Lines(out) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), tunedPrefix); ok {
			return name, nil
		}
	}
	if err == nil {
		return "off", nil
	}
	return "", err
}

func writeTuned(h Host, name string) error {
	if name == "off" {
		_, err := h.Run("tuned-adm", "off")
		return err
	}
	if err := action.Validate(action.Action{Kind: action.Tuned, Name: name}); err != nil {
		return err
	}
	_, err := h.Run("tuned-adm", "profile", name)
	return err
}
