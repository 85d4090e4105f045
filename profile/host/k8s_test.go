package host

import (
	"testing"
)

const (
	stateFlat   = `{"policyName":"static","defaultCpuSet":"0-1,6-17","entries":{"0c0c":"2-5"},"checksum":1}`
	stateNested = `{"policyName":"static","defaultCpuSet":"0-1,6-17","entries":{"pod-uid":{"dataplane":"2-3","side":"4-5"}},"checksum":1}`
)

func TestCPUManagerState(t *testing.T) {
	var flat, nested, none K8s
	for text, k := range map[string]*K8s{stateFlat: &flat, stateNested: &nested, `{"policyName":"none","defaultCpuSet":"","checksum":1}`: &none} {
		if err := parseCPUManager([]byte(text), k); err != nil {
			t.Fatal(err)
		}
	}
	if flat.Exclusive["0c0c"].String() != "2-5" || len(flat.Exclusive) != 1 {
		t.Errorf("flat: %v", flat.Exclusive)
	}
	if nested.Exclusive["pod-uid/dataplane"].String() != "2-3" || nested.Exclusive["pod-uid/side"].String() != "4-5" || len(nested.Exclusive) != 2 {
		t.Errorf("nested: %v", nested.Exclusive)
	}
	is(t, "policy", flat.CPUManagerPolicy, "static")
	is(t, "policy none", none.CPUManagerPolicy, "none")
	if set, ok := none.DefaultCPUSet.Get(); !ok || len(set) != 0 {
		t.Errorf("empty default set: %v", none.DefaultCPUSet)
	}
	for _, bad := range []string{"", "[]", `{"entries":{"a":3}}`, `{"entries":{"a":"1-"}}`, `{"entries":{"a":{"b":"x"}}}`, `{"entries":{"a":{"b":{"c":"1"}}}}`} {
		var k K8s
		if err := parseCPUManager([]byte(bad), &k); err == nil {
			t.Errorf("%q gives no error", bad)
		}
	}
}

const crioConfigText = `{"annotations":{"irq-load-balancing.crio.io":"disable"},"linux":{"resources":{"cpu":{"cpus":"4-8"}}}}`

func TestReadK8s(t *testing.T) {
	text := `
-- var/lib/kubelet/cpu_manager_state --
` + stateFlat + `
-- var/lib/kubelet/config.yaml --
apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  cpuManagerPolicy: none
cpuManagerPolicy: "static"   # quoted
reservedSystemCPUs: 0,1
topologyManagerPolicy: single-numa-node
cpuCFSQuota: false
-- etc/sysconfig/orig_irq_banned_cpus --
0000c000
-- sys/fs/cgroup/cgroup.controllers --
cpuset
-- sys/fs/cgroup/kubepods.slice/crio-runs.scope/cpuset.cpus --
4-8
-- run/containers/storage/overlay-containers/runs/userdata/config.json --
` + crioConfigText + `
-- run/containers/storage/overlay-containers/gone/userdata/config.json --
` + crioConfigText + `
-- run/containers/storage/overlay-containers/broken/userdata/config.json --
{"annotations": 7}
`
	h := readAreas(sourceOf(t, text), readCgroups, readK8s)
	is(t, "policy", h.K8s.CPUManagerPolicy, "static")
	is(t, "topology", h.K8s.TopologyPolicy, "single-numa-node")
	is(t, "quota", h.K8s.CPUCFSQuota, false)
	if set, ok := h.K8s.ReservedCPUs.Get(); !ok || set.String() != "0-1" {
		t.Errorf("reserved %v", set)
	}
	if set, ok := h.K8s.OrigIRQBanned.Get(); !ok || set.String() != "14-15" {
		t.Errorf("saved ban mask %v", set)
	}
	if len(h.K8s.IRQLBDisabled) != 1 || h.K8s.IRQLBDisabled["runs"].String() != "4-8" {
		t.Errorf("%v: the container without a cgroup does not run", h.K8s.IRQLBDisabled)
	}
	if len(h.Gaps) != 1 || h.Gaps[0].Path != "/run/containers/storage/overlay-containers/broken/userdata/config.json" {
		t.Errorf("gaps %v", h.Gaps)
	}
	isMissing(t, "kubelet", h.K8s.Kubelet, "need not hold all")
}

func TestKubeletConfigAsJSON(t *testing.T) {
	var k K8s
	kubeletConfig(`{"cpuManagerPolicy": "none", "cpuCFSQuota": true, "nested": {"x": 1}}`, &k)
	is(t, "policy", k.CPUManagerPolicy, "none")
	is(t, "quota", k.CPUCFSQuota, true)
}

func FuzzK8s(f *testing.F) {
	f.Add([]byte(stateFlat))
	f.Add([]byte(stateNested))
	f.Add([]byte("cpuManagerPolicy: static\n"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		var k K8s
		_ = parseCPUManager(b, &k) // an error is as good as a value here: it must not panic
		kubeletConfig(string(b), &k)
	})
}
