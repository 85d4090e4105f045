package facts

import (
	"testing"

	"github.com/corewise/corewise/profile/maybe"
)

func TestPreferredIO(t *testing.T) {
	for value, want := range map[string]bool{"Manual": true, "81": true, "Auto": false, "Disabled": false} {
		h := makeHost(twoNodes)
		h.Firmware.SysVendor = maybe.Some("Dell Inc.")
		check(t, derive(profileOf(h)), map[string]any{"bios.preferred_io": unknown(""), "bios.preferred_io_on": false})
		h.Firmware.Tokens = map[string]string{"PciePreferredIoBus": value}
		check(t, derive(profileOf(h)), map[string]any{"bios.preferred_io_on": want})
	}
}

func TestGPUMemory(t *testing.T) {
	for options, want := range map[string]bool{"use_cuda": true, "use_hugepages": false} {
		v := &view{}
		v.wl.Options = map[string]string{options: "0"}
		if got := v.gpuMemory(); got != want {
			t.Errorf("--%s: GPU memory %v", options, got)
		}
	}
}
