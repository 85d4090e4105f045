package host

import (
	"strings"
	"testing"
)

func TestKinds(t *testing.T) {
	x86 := "-- proc/cpuinfo --\nprocessor : 0\nvendor_id : GenuineIntel\nclflush size : 64\nflags : fpu lm\n"
	guest := strings.Replace(x86, "fpu lm", "fpu lm hypervisor", 1)
	arm := "-- proc/cpuinfo --\nprocessor : 0\nCPU implementer : 0x41\nCPU part : 0xd42\n"
	dmi := func(vendor, product string) string {
		return "-- sys/devices/virtual/dmi/id/sys_vendor --\n" + vendor + "\n-- sys/devices/virtual/dmi/id/product_name --\n" + product + "\n"
	}
	for _, c := range []struct{ name, tree, kind, hypervisor, container string }{
		{"Dell", x86 + dmi("Dell Inc.", "PowerEdge R750"), "bare", "", ""},
		{"no DMI, no hypervisor flag", x86, "bare", "", ""},
		{"ESXi", guest + dmi("VMware, Inc.", "VMware Virtual Platform"), "vm", "vmware", ""},
		{"Hyper-V", guest + dmi("Microsoft Corporation", "Virtual Machine"), "vm", "hyperv", ""},
		{"EC2 guest", guest + dmi("Amazon EC2", "c6in.32xlarge"), "vm", "kvm", ""},
		{"EC2 metal", x86 + dmi("Amazon EC2", "c6in.metal"), "bare", "", ""},
		{"guest without DMI", guest + "-- sys/devices/system/clocksource/clocksource0/available_clocksource --\ntsc kvm-clock\n", "vm", "kvm", ""},
		{"unknown hypervisor", guest, "vm", "unknown", ""},
		{"BlueField by DMI", arm + dmi("https://www.mellanox.com", "BlueField-3 DPU"), "dpu-arm", "", ""},
		{"BlueField by kernel", arm + "-- proc/sys/kernel/osrelease --\n5.15.0-1044-bluefield\n", "dpu-arm", "", ""},
		{"BlueField by image", arm + "-- etc/mlnx-release --\nDOCA_2.7.0_BSP_4.7.0_Ubuntu_22.04\n", "dpu-arm", "", ""},
		{"Arm server", arm + dmi("GIGABYTE", "R272-P30"), "bare", "", ""},
		{"Arm without anything", arm, "", "", ""},
		{"container on bare metal", x86 + "-- proc/1/cgroup --\n0::/kubepods/besteffort/pod1\n", "container", "", "kubernetes"},
		{"podman", guest + dmi("QEMU", "Standard PC") + "-- proc/1/environ.nul --\nPATH=/bin\ncontainer=podman\n", "container", "kvm", "podman"},
		{"booted container image", guest + "-- .dockerenv --\n-- proc/2/comm --\nkthreadd\n", "vm", "unknown", "docker"},
	} {
		id := readAreas(sourceOf(t, c.tree), readKernel, readFirmware, readCPU, readIdentity).Identity
		if id.Kind.Or("") != c.kind || id.Hypervisor.Or("") != c.hypervisor || id.Container.Or("") != c.container {
			t.Errorf("%s: %s, %s, %s (%v)", c.name, id.Kind.Or(""), id.Hypervisor.Or(""), id.Container.Or(""), id.Evidence)
		}
		if id.Kind.Ok() == (len(id.Evidence) == 0) {
			t.Errorf("%s: kind %v with evidence %v", c.name, id.Kind, id.Evidence)
		}
	}
}

func TestFirmware(t *testing.T) {
	f := readAreas(sourceOf(t, `-- sys/devices/virtual/dmi/id/sys_vendor --
Supermicro
-- sys/devices/virtual/dmi/id/product_name --
To be filled by O.E.M.
-- sys/devices/virtual/dmi/id/bios_version --
3.5
-- sys/devices/virtual/dmi/id/chassis_type --
23
-- sys/kernel/iommu_groups/0/type --
identity
-- sys/kernel/iommu_groups/1/type --
DMA-FQ
`), readFirmware).Firmware
	if f.SysVendor.Or("") != "Supermicro" || f.BIOSVersion.Or("") != "3.5" || f.Chassis.Or("") != "Rack mount chassis" || f.IOMMUGroups.Or(0) != 2 {
		t.Errorf("%+v", f)
	}
	if f.Product.Ok() || !strings.Contains(f.Product.Why(), "did not fill") || f.BIOSDate.Ok() || !strings.Contains(f.BIOSDate.Why(), "bios_date") {
		t.Errorf("product %v, date %v", f.Product, f.BIOSDate)
	}
	if none := readAreas(sourceOf(t, ""), readFirmware).Firmware; none.SysVendor.Ok() || none.IOMMUGroups.Ok() || none.Chassis.Ok() {
		t.Errorf("%+v", none)
	}
}

func TestRedfishTokens(t *testing.T) {
	tokens, err := parseTokens([]byte(`{"Id": "Bios", "Attributes": {"ProcCStates": "Disabled", "NodesPerSocket": 4, "Odd": {"a": 1}, "On": true}}`))
	if err != nil || len(tokens) != 3 || tokens["ProcCStates"] != "Disabled" || tokens["NodesPerSocket"] != "4" || tokens["On"] != "true" {
		t.Errorf("%v, %v", tokens, err)
	}
	for _, bad := range []string{"", "{}", "[]", `{"Attributes": []}`} {
		if tokens, err := parseTokens([]byte(bad)); err == nil {
			t.Errorf("%q: %v", bad, tokens)
		}
	}
}

func FuzzTokens(f *testing.F) {
	f.Add([]byte(`{"Attributes": {"ProcCStates": "Disabled"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if tokens, err := parseTokens(b); err == nil && tokens == nil {
			t.Fatal("neither tokens nor error")
		}
	})
}
