package host

import (
	"testing"
)

const mlxconfigText = `
Device #1:
----------

Device type:        ConnectX6DX
Name:               MCX623106AN-CDA_Ax
Description:        ConnectX-6 Dx EN adapter card; 100GbE; Dual-port QSFP56; PCIe 4.0 x16
Device:             0000:31:00.0

Configurations:                                          Next Boot
        MEMIC_BAR_SIZE                              0
        INTERNAL_CPU_MODEL                          EMBEDDED_CPU(1)
*       CQE_COMPRESSION                             BALANCED(0)
        PCI_WR_ORDERING                             per_mkey(0)
        HOST_CHAINING_DESCRIPTORS                   Array[0..7]
The '*' shows parameters with next value different from default/current value.
Device #2:
----------
Device type:    ConnectX5
Device:         /dev/mst/mt4119_pciconf0
Configurations:                              Default         Current         Next Boot
     CQE_COMPRESSION                     BALANCED(0)     BALANCED(0)     AGGRESSIVE(1)
`

const mstText = `DEVICE_TYPE             MST                           PCI       RDMA            NET                                     NUMA
ConnectX5(rev:0)        /dev/mst/mt4119_pciconf0      3b:00.0   mlx5_0          net-ens1f0                              0
ConnectX5(rev:0)        /dev/mst/mt4119_pciconf0.1    3b:00.1   mlx5_1          net-ens1f1                              0
`

const devlinkText = `pci/0000:31:00.0:
  name enable_roce type generic
    values:
      cmode driverinit value true
  name flow_steering_mode type driver-specific
    values:
      cmode permanent value old
      cmode runtime value smfs
      cmode driverinit value later
pci/0000:31:00.1:
  name esw_multiport type driver-specific
    values:
      cmode runtime value false
`

func TestDeviceParams(t *testing.T) {
	text := "-- cmd/mlxconfig-q --\n" + mlxconfigText + "-- cmd/mst-status-v --\n" + mstText + "-- cmd/devlink-dev-param-show --\n" + devlinkText
	s := treeOf(t, text)
	h := Host{PCI: []PCI{{BDF: "0000:31:00.0"}, {BDF: "0000:3b:00.0"}, {BDF: "0000:3b:00.1"}}}
	readCommands(s, &h)
	readDeviceParams(s, &h)
	a, b := h.PCIFunction("0000:31:00.0"), h.PCIFunction("0000:3b:00.0")
	for name, want := range map[string]string{"CQE_COMPRESSION": "BALANCED(0)", "INTERNAL_CPU_MODEL": "EMBEDDED_CPU(1)", "PCI_WR_ORDERING": "per_mkey(0)", "MEMIC_BAR_SIZE": "0"} {
		if a.FirmwareParams[name] != want {
			t.Errorf("%s = %q, want %q", name, a.FirmwareParams[name], want)
		}
	}
	if b.FirmwareParams["CQE_COMPRESSION"] != "AGGRESSIVE(1)" {
		t.Errorf("of three columns the last counts, the device found through mst: %v", b.FirmwareParams)
	}
	if a.DevlinkParams["flow_steering_mode"] != "smfs" || a.DevlinkParams["enable_roce"] != "true" || len(a.DevlinkParams) != 2 {
		t.Errorf("devlink: %v", a.DevlinkParams)
	}
	if h.PCIFunction("0000:3b:00.1").FirmwareParams != nil {
		t.Error("a device that was not asked about has none")
	}
}

func FuzzDeviceParams(f *testing.F) {
	f.Add(mlxconfigText)
	f.Add(devlinkText)
	f.Fuzz(func(_ *testing.T, text string) {
		parseMlxconfig(text)
		parseMST(text)
		parseDevlinkParams(text)
	})
}
