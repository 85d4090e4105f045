package facts

import (
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/cpulist"
	"github.com/corewise/corewise/profile/host"
)

func deriveTuned(v *view, f *Facts) {
	t, u, sv := &f.Tuned, &f.Tuned.Unknown, &v.b.Services
	take(u, "profile", &t.Profile, sv.TunedProfile)
	take(u, "active", &t.Active, sv.TunedActive)
	t.OwnedKeys, t.Isolated = []string{}, []int{}
	for key := range sv.TunedConf {
		if !strings.HasPrefix(key, "variables.") && !strings.HasPrefix(key, "main.") {
			t.OwnedKeys = append(t.OwnedKeys, key)
		}
	}
	slices.Sort(t.OwnedKeys)
	t.ForceLatency = sv.TunedConf["cpu.force_latency"]
	t.Isolated = v.tunedCores(sv)
	if !sv.TunedProfile.Ok() {
		u.missAll(sv.TunedProfile.Why(), "low_latency_profile", "throughput_profile", "saving_profile", "force_latency", "isolated_cpus", "owned_keys", "node_operator")
		return
	}
	if len(sv.TunedConf) == 0 {
		u.missAll("tuned.conf of the profile was not readable", "force_latency", "isolated_cpus", "owned_keys")
	}
	for _, p := range strings.Fields(t.Profile) {
		low, fast := profileClass(p)
		t.LowLatency, t.Throughput = t.LowLatency || low, t.Throughput || fast
		t.NodeOperator = t.NodeOperator || strings.HasPrefix(p, "openshift-")
	}
	t.Saving = !t.LowLatency && !t.Throughput
}

// profileClass sorts the profiles that tuned ships by what they are for; any other is taken as one that saves power or does
// not care.
func profileClass(p string) (low, fast bool) {
	for _, prefix := range []string{"network-latency", "latency-performance", "cpu-partitioning", "realtime", "openshift-node-performance", "sap-hana"} {
		if strings.HasPrefix(p, prefix) {
			return true, true
		}
	}
	for _, prefix := range []string{"throughput-performance", "network-throughput", "accelerator-performance", "hpc-compute", "mssql", "oracle", "postgresql", "intel-sst", "virtual-host"} {
		if strings.HasPrefix(p, prefix) {
			return false, true
		}
	}
	return false, false
}

func (v *view) tunedCores(sv *host.Services) []int {
	for _, key := range []string{"variables.isolated_cores", "variables.isolated_cpus"} {
		if text := sv.TunedConf[key]; text != "" {
			if set, err := cpulist.Parse(text); err == nil {
				return ints(set)
			}
		}
	}
	return []int{}
}
