package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewise/corewise/profile/maybe"
)

// readIdentity says which machine this is and of what kind. It uses kernel, CPU and firmware, read before.
func readIdentity(s *Source, h *Host) {
	id := &h.Identity
	id.Hostname = s.Word("/proc/sys/kernel/hostname")
	if !id.Hostname.Ok() {
		id.Hostname = s.Word("/etc/hostname")
	}
	id.OS, id.OSID = osRelease(s)
	id.KernelRelease = h.Kernel.Release
	id.KernelVersion = s.Word("/proc/version")
	id.Hypervisor = hypervisor(s, h)
	id.Container = container(s)
	id.Kind = kind(s, h)
}

func osRelease(s *Source) (name, id maybe.Value[string]) {
	b, err := s.Read("/etc/os-release")
	if err != nil {
		b, err = s.Read("/usr/lib/os-release")
	}
	if err != nil {
		return maybe.None[string](err.Error()), maybe.None[string](err.Error())
	}
	name, id = maybe.None[string]("os-release has no PRETTY_NAME"), maybe.None[string]("os-release has no ID")
	for k, v := range pairs(b, "=") {
		switch v = strings.Trim(v, `"'`); k {
		case "PRETTY_NAME":
			name = maybe.Some(v)
		case "ID":
			id = maybe.Some(v)
		}
	}
	return name, id
}

// note remembers what Kind rests on.
func (id *Identity) note(format string, args ...any) {
	id.Evidence = append(id.Evidence, fmt.Sprintf(format, args...))
}

// kind decides between container, dpu-arm, vm and bare. Where nothing tells, it is missing: an Arm guest without DMI
// looks like an Arm board without DMI.
func kind(s *Source, h *Host) maybe.Value[string] {
	id := &h.Identity
	switch {
	case id.Container.Ok() && !initialPIDNamespace(s):
		id.note("process 1 runs in a container: %s", id.Container.Or(""))
		return maybe.Some("container")
	case isBlueField(s, h):
		return maybe.Some("dpu-arm")
	case id.Hypervisor.Ok():
		return maybe.Some("vm")
	case h.CPU.Arch == "x86_64" && len(h.CPU.Flags) > 0:
		id.note("the CPU has no hypervisor flag")
		return maybe.Some("bare")
	case h.Firmware.SysVendor.Ok():
		id.note("DMI names the vendor %s", h.Firmware.SysVendor.Or(""))
		return maybe.Some("bare")
	}
	return maybe.Nonef[string]("no hypervisor flag, no DMI and no device tree tell what this %s machine is", h.CPU.Arch)
}

// initialPIDNamespace: kernel threads are visible only there. A container image that was booted as a machine keeps
// its /.dockerenv but is no container.
func initialPIDNamespace(s *Source) bool {
	return s.Text("/proc/2/comm").Or("") == "kthreadd"
}

// hypervisor returns the hypervisor's name. It is missing on bare metal, with the reason that nothing shows one.
func hypervisor(s *Source, h *Host) maybe.Value[string] {
	id := &h.Identity
	if name, from := hypervisorByDMI(h.Firmware); name != "" {
		id.note("DMI says %s", from)
		return maybe.Some(name)
	}
	if t, ok := s.Word("/sys/hypervisor/type").Get(); ok {
		if f := s.Text("/sys/hypervisor/properties/features").Or(""); t != "xen" || f != "" || h.CPU.Arch != "x86_64" {
			id.note("/sys/hypervisor/type reads %s", t)
			return maybe.Some(t)
		}
	}
	if t, ok := s.Word("/proc/device-tree/hypervisor/compatible").Get(); ok {
		id.note("the device tree names the hypervisor %s", t)
		name, _, _ := strings.Cut(t, ",")
		return maybe.Some(strings.TrimPrefix(name, "linux"))
	}
	if !slices.Contains(h.CPU.Flags, "hypervisor") {
		return maybe.None[string]("neither DMI nor CPU flags nor the device tree show a hypervisor")
	}
	id.note("the CPU has the hypervisor flag")
	for _, c := range h.Kernel.Clocksources.Or(nil) {
		if name := map[string]string{"kvm-clock": "kvm", "hyperv_clocksource_tsc_page": "hyperv", "hyperv_clocksource_msr": "hyperv", "xen": "xen", "vmware": "vmware"}[c]; name != "" {
			id.note("the kernel offers the clock %s", c)
			return maybe.Some(name)
		}
	}
	return maybe.Some("unknown")
}

// hypervisorByDMI knows the firmware that hypervisors and clouds show to guests. A cloud's bare-metal instance shows the
// cloud's vendor too, with a product that ends in ".metal".
func hypervisorByDMI(f Firmware) (name, from string) {
	vendor, product := f.SysVendor.Or(""), f.Product.Or("")
	if strings.Contains(product, ".metal") || strings.HasPrefix(product, "BM.") {
		return "", ""
	}
	for _, k := range []struct{ text, name string }{
		{"VMware", "vmware"}, {"QEMU", "kvm"}, {"KVM", "kvm"}, {"Amazon EC2", "kvm"}, {"Google", "kvm"}, {"Alibaba Cloud", "kvm"}, {"OpenStack", "kvm"},
		{"Red Hat", "kvm"}, {"oVirt", "kvm"}, {"Nutanix", "kvm"}, {"Xen", "xen"}, {"innotek GmbH", "virtualbox"}, {"VirtualBox", "virtualbox"},
		{"Parallels", "parallels"}, {"Bochs", "bochs"}, {"Virtual Machine", "hyperv"}, {"Apple Virtualization", "apple"}, {"DigitalOcean", "kvm"}, {"Standard PC (", "kvm"},
	} {
		for _, text := range []string{vendor, product, f.BIOSVendor.Or("")} {
			if strings.Contains(text, k.text) {
				return k.name, text
			}
		}
	}
	return "", ""
}

// container returns the container runtime of process 1.
func container(s *Source) maybe.Value[string] {
	if t, ok := s.Word("/run/systemd/container").Get(); ok {
		return maybe.Some(t)
	}
	if env, ok := s.Text("/proc/1/environ").Get(); ok {
		for v := range strings.SplitSeq(env, "\x00") {
			if name, ok := strings.CutPrefix(v, "container="); ok && name != "" {
				return maybe.Some(name)
			}
		}
	}
	if s.Exists("/var/run/secrets/kubernetes.io/serviceaccount") {
		return maybe.Some("kubernetes")
	}
	group := s.Text("/proc/1/cgroup").Or("")
	for _, k := range []struct{ text, name string }{{"kubepods", "kubernetes"}, {"docker", "docker"}, {"libpod", "podman"}, {"/lxc", "lxc"}, {"containerd", "containerd"}, {"crio-", "cri-o"}} {
		if strings.Contains(group, k.text) {
			return maybe.Some(k.name)
		}
	}
	for _, m := range []struct{ file, name string }{{"/.dockerenv", "docker"}, {"/run/.containerenv", "podman"}} {
		if s.Exists(m.file) {
			return maybe.Some(m.name)
		}
	}
	return maybe.None[string]("process 1 shows no sign of a container")
}

// isBlueField recognises the Arm side of a BlueField DPU: its own firmware, kernel or OS image, not a BlueField on the PCI bus.
func isBlueField(s *Source, h *Host) bool {
	if h.CPU.Arch != "aarch64" {
		return false
	}
	for _, c := range []struct{ what, text string }{
		{"DMI product", h.Firmware.Product.Or("")}, {"DMI board", h.Firmware.Board.Or("")},
		{"device tree model", s.Text("/proc/device-tree/model").Or("")}, {"kernel release", h.Kernel.Release.Or("")},
		{"/etc/mlnx-release", s.Text("/etc/mlnx-release").Or("")},
	} {
		text := strings.ToLower(c.text)
		if strings.Contains(text, "bluefield") || c.what == "/etc/mlnx-release" && strings.Contains(text, "bsp") {
			h.Identity.note("%s says %.80q", c.what, c.text)
			return true
		}
	}
	return false
}
