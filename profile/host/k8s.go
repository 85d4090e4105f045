package host

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/maybe"
)

// maxContainers bounds the containers whose configuration is read.
const maxContainers = 2000

// readK8s reads kubelet's configuration and CPU-manager state and what CRI-O was told about interrupts.
func readK8s(s *Source, h *Host) {
	k := &h.K8s
	k.Kubelet = running(s, h, "kubelet")
	if b, err := s.Read("/var/lib/kubelet/cpu_manager_state"); err == nil {
		if err := parseCPUManager(b, k); err != nil {
			h.Gaps = append(h.Gaps, Gap{Path: "/var/lib/kubelet/cpu_manager_state", Reason: err.Error()})
		}
	}
	for _, file := range []string{"/var/lib/kubelet/config.yaml", "/etc/kubernetes/kubelet.conf", "/etc/kubernetes/kubelet/kubelet-config.json"} {
		if text, ok := s.Text(file).Get(); ok {
			kubeletConfig(text, k)
			break
		}
	}
	readCRIO(s, h)
	if text, ok := s.Text("/etc/sysconfig/orig_irq_banned_cpus").Get(); ok {
		k.OrigIRQBanned = maybe.From(cpulist.ParseMask(text))
	}
}

// cpuManagerState is kubelet's checkpoint. Entries are container -> CPUs, or pod -> container -> CPUs in newer versions.
type cpuManagerState struct {
	PolicyName    string                     `json:"policyName"`
	DefaultCPUSet string                     `json:"defaultCpuSet"`
	Entries       map[string]json.RawMessage `json:"entries"`
}

func parseCPUManager(b []byte, k *K8s) error {
	var st cpuManagerState
	if err := json.Unmarshal(b, &st); err != nil {
		return fmt.Errorf("read CPU manager state: %w", err)
	}
	k.CPUManagerPolicy = maybe.Some(st.PolicyName)
	k.DefaultCPUSet = maybe.From(cpulist.Parse(st.DefaultCPUSet))
	for name, raw := range st.Entries {
		if err := addEntry(name, raw, k); err != nil {
			return err
		}
	}
	return nil
}

func addEntry(name string, raw json.RawMessage, k *K8s) error {
	var list string
	if json.Unmarshal(raw, &list) == nil {
		return addExclusive(name, list, k)
	}
	var nested map[string]string
	if err := json.Unmarshal(raw, &nested); err != nil {
		return fmt.Errorf("read CPU manager state: entry %.80q is neither a list nor a set of containers", name)
	}
	for container, list := range nested {
		if err := addExclusive(name+"/"+container, list, k); err != nil {
			return err
		}
	}
	return nil
}

func addExclusive(container, list string, k *K8s) error {
	set, err := cpulist.Parse(list)
	if err != nil {
		return fmt.Errorf("read CPU manager state: entry %.80q: %w", container, err)
	}
	if k.Exclusive == nil {
		k.Exclusive = map[string]cpulist.Set{}
	}
	k.Exclusive[container] = set
	return nil
}

// kubeletConfig reads scalar keys of the top level of a KubeletConfiguration, YAML or JSON.
func kubeletConfig(text string, k *K8s) {
	conf := topLevelScalars(text)
	if v, ok := conf["cpuManagerPolicy"]; ok && !k.CPUManagerPolicy.Ok() {
		k.CPUManagerPolicy = maybe.Some(v)
	}
	if v, ok := conf["reservedSystemCPUs"]; ok {
		k.ReservedCPUs = maybe.From(cpulist.Parse(v))
	}
	if v, ok := conf["topologyManagerPolicy"]; ok {
		k.TopologyPolicy = maybe.Some(v)
	}
	if v, ok := conf["cpuCFSQuota"]; ok {
		k.CPUCFSQuota = maybe.Some(v == "true")
	}
}

// topLevelScalars reads "key: value" lines that are not indented, or a JSON object's scalars.
// Note: a whole YAML parser would be a dependency for four keys that are always written this way.
func topLevelScalars(text string) map[string]string {
	conf := map[string]string{}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) == nil {
		for key, raw := range object {
			conf[key] = strings.Trim(string(raw), `"`)
		}
		return conf
	}
	for _, line := range strings.Split(text, "\n") {
		key, value, ok := strings.Cut(line, ":")
		if !ok || strings.ContainsAny(key, " \t#-") {
			continue
		}
		if at := strings.Index(value, " #"); at >= 0 {
			value = value[:at]
		}
		conf[key] = strings.Trim(strings.TrimSpace(value), `"'`)
	}
	return conf
}

// crioConfig is the part of a container's OCI configuration that is used.
type crioConfig struct {
	Annotations map[string]string `json:"annotations"`
	Linux       struct {
		Resources struct {
			CPU struct {
				CPUs string `json:"cpus"`
			} `json:"cpu"`
		} `json:"resources"`
	} `json:"linux"`
}

// readCRIO finds running containers whose annotation takes their CPUs out of interrupt balancing. The directory of a
// container may outlive it: one without a cgroup does not run.
func readCRIO(s *Source, h *Host) {
	const top = "/run/containers/storage/overlay-containers"
	ids, err := s.Dir(top)
	if err != nil {
		return
	}
	for _, id := range ids[:min(len(ids), maxContainers)] {
		file := path.Join(top, id, "userdata/config.json")
		b, err := s.Read(file)
		if err != nil {
			continue
		}
		var c crioConfig
		if err := json.Unmarshal(b, &c); err != nil {
			h.Gaps = append(h.Gaps, Gap{Path: file, Reason: err.Error()})
			continue
		}
		if c.Annotations["irq-load-balancing.crio.io"] != "disable" || !containerRuns(h, id) {
			continue
		}
		set, err := cpulist.Parse(c.Linux.Resources.CPU.CPUs)
		if err != nil {
			h.Gaps = append(h.Gaps, Gap{Path: file, Reason: err.Error()})
			continue
		}
		if h.K8s.IRQLBDisabled == nil {
			h.K8s.IRQLBDisabled = map[string]cpulist.Set{}
		}
		h.K8s.IRQLBDisabled[id] = set
	}
}

// containerRuns looks for a cgroup, or a process in one, that carries the container's id.
func containerRuns(h *Host, id string) bool {
	if slices.ContainsFunc(h.Cgroups, func(g Cgroup) bool { return strings.Contains(g.Path, id) }) {
		return true
	}
	for _, p := range h.Procs {
		for _, group := range p.Cgroup {
			if strings.Contains(group, id) {
				return true
			}
		}
	}
	return false
}
