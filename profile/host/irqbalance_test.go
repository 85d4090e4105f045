package host

import (
	"slices"
	"testing"

	"github.com/corewise/corewise/profile/maybe"
)

func irqbalanceOf(t *testing.T, text string) Irqbalance {
	t.Helper()
	h := readAreas(treeOf(t, text), readCommands, readProcs, readServices)
	return h.Services.Irqbalance
}

func TestIrqbalanceConfig(t *testing.T) {
	ib := irqbalanceOf(t, `
-- root/etc/sysconfig/irqbalance --
# irqbalance is a daemon process
#IRQBALANCE_BANNED_CPULIST=1
 export IRQBALANCE_BANNED_CPUS="00000000,0000001f" # five
IRQBALANCE_ARGS='--hintpolicy=exact -o'
`)
	if set, ok := ib.BannedMask.Get(); !ok || set.String() != "0-4" {
		t.Errorf("mask %v %s", set, ib.BannedMask.Why())
	}
	isMissing(t, "list", ib.BannedList, "not set")
	if !ib.OneShot || !ib.ConfigKnown || ib.ConfigPath != "/etc/sysconfig/irqbalance" || ib.Args != "--hintpolicy=exact -o" {
		t.Errorf("%+v", ib)
	}
	isMissing(t, "version", ib.Version, "irqbalance-version")
}

func TestIrqbalanceEmptyListIsNoAbsentList(t *testing.T) {
	ib := irqbalanceOf(t, "-- root/etc/default/irqbalance --\nIRQBALANCE_BANNED_CPULIST=\nIRQBALANCE_BANNED_CPUS=\n")
	if set, ok := ib.BannedList.Get(); !ok || len(set) != 0 {
		t.Errorf("an empty list bans nothing: %v %s", set, ib.BannedList.Why())
	}
	isMissing(t, "an empty mask is ignored", ib.BannedMask, "not set")
	isMissing(t, "no configuration", irqbalanceOf(t, "").BannedList, "no configuration")
	isMissing(t, "decimal list", irqbalanceOf(t, "-- root/etc/default/irqbalance --\nIRQBALANCE_BANNED_CPULIST=1-\n").BannedList, "1-")
	isMissing(t, "no mask", irqbalanceOf(t, "-- root/etc/default/irqbalance --\nIRQBALANCE_BANNED_CPUS=2-5\n").BannedMask, "not hexadecimal")
}

func TestIrqbalanceEnvironmentCounts(t *testing.T) {
	ib := irqbalanceOf(t, `
-- root/etc/default/irqbalance --
IRQBALANCE_BANNED_CPULIST=1
-- root/proc/811/stat --
`+statOf(811, 1, "irqbalance", 0, 1, 1, 0, 0, 0)+`
-- root/proc/811/environ.nul --
IRQBALANCE_BANNED_CPULIST=2-3
IRQBALANCE_ONESHOT=0
-- root/proc/811/cmdline.nul --
/usr/sbin/irqbalance
--foreground
-- cmd/irqbalance-version --
irqbalance version 1.9.4
`)
	if set, ok := ib.BannedList.Get(); !ok || set.String() != "2-3" {
		t.Errorf("list %v: the daemon runs with its environment", set)
	}
	is(t, "running", ib.Running, true)
	is(t, "version", ib.Version, "1.9.4")
	if ib.PID != 811 || ib.Args != "--foreground" || ib.OneShot {
		t.Errorf("%+v", ib)
	}
}

func TestIrqbalanceVersionOfPackages(t *testing.T) {
	ib := irqbalanceOf(t, "-- root/var/lib/dpkg/status --\nPackage: bash\nVersion: 5.2\n\nPackage: irqbalance\nStatus: install ok installed\nVersion: 1.8.0-1ubuntu0.2\n\nPackage: zsh\n")
	is(t, "version", ib.Version, "1.8.0")
	isMissing(t, "not told", irqbalanceOf(t, "-- cmd/irqbalance-version --\nusage: irqbalance\n").Version, "prints")
}

func TestIrqbalanceLog(t *testing.T) {
	ib := irqbalanceOf(t, `
-- cmd/journalctl-irqbalance --
2026-12-01T11:58:00+00:00 host1 irqbalance[811]: Cannot change IRQ 55 affinity: Input/output error
Dec 01 11:58:01 host1 /usr/sbin/irqbalance[811]: Cannot change IRQ 56 affinity: Permission denied
Cannot change IRQ 57 affinity: No space left on device
Cannot change IRQ 58 affinity: Something new
irqbalance[811]: IRQ 55 affinity is now unmanaged
IRQ 0 was BANNED.
Cannot change IRQ 99999999999999999999 affinity: Input/output error
`)
	want := []IRQError{{55, "managed"}, {56, "sandboxed"}, {57, "no-vector"}, {58, "other"}, {55, "given-up"}, {-1, "managed"}}
	if !slices.Equal(ib.IRQErrors, want) {
		t.Errorf("%v, want %v", ib.IRQErrors, want)
	}
	if len(ib.LogErrors) != len(want) || ib.LogErrors[0] != "Cannot change IRQ 55 affinity: Input/output error" {
		t.Errorf("%v", ib.LogErrors)
	}
}

func FuzzIrqbalance(f *testing.F) {
	f.Add("IRQBALANCE_BANNED_CPUS=ff\n", "Cannot change IRQ 1 affinity: x\n")
	f.Add("A='", "IRQ 1 affinity is now unmanaged")
	f.Fuzz(func(t *testing.T, config, journal string) {
		var h Host
		h.Commands = map[string]maybe.Value[string]{"journalctl-irqbalance": maybe.Some(journal)}
		irqbalanceVars(&h.Services.Irqbalance, parseShellVars(config))
		readIrqbalanceLog(&h)
		if len(h.Services.Irqbalance.IRQErrors) != len(h.Services.Irqbalance.LogErrors) {
			t.Fatal("lengths differ")
		}
	})
}
