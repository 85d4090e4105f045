package kargs

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	got := Parse("BOOT_IMAGE=/vmlinuz ro  quiet dyndbg=\"file a.c +p; file b.c +p\" \"key=a b\" intel-iommu=on -- single\x00\n")
	want := []Word{
		{"BOOT_IMAGE=/vmlinuz", "BOOT_IMAGE", "/vmlinuz", true}, {"ro", "ro", "", false}, {"quiet", "quiet", "", false},
		{`dyndbg="file a.c +p; file b.c +p"`, "dyndbg", "file a.c +p; file b.c +p", true}, {`"key=a b"`, "key", "a b", true},
		{"intel-iommu=on", "intel-iommu", "on", true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("Parse = %#v", got)
	}
	if got[5].Name() != "intel_iommu" {
		t.Errorf("Name = %s", got[5].Name())
	}
}

func TestMerge(t *testing.T) {
	const base = "BOOT_IMAGE=/vmlinuz root=UUID=1 ro isolcpus=4-7 quiet"
	for _, c := range []struct {
		name, current string
		set, drop     []string
		want          string
	}{
		{"replace in place", base, []string{"isolcpus=managed_irq,domain,2-7", "nohz_full=2-7"}, nil,
			"BOOT_IMAGE=/vmlinuz root=UUID=1 ro isolcpus=managed_irq,domain,2-7 quiet nohz_full=2-7"},
		{"doubled key becomes one", "nohz_full=1 ro nohz-full=2", []string{"nohz_full=3"}, nil, "nohz_full=3 ro"},
		{"drop", base, nil, []string{"isolcpus", "absent"}, "BOOT_IMAGE=/vmlinuz root=UUID=1 ro quiet"},
		{"drop one value", "iommu=pt iommu=on", nil, []string{"iommu=on"}, "iommu=pt"},
		{"no change", base, []string{"quiet"}, nil, base},
		{"consoles are several", "console=tty0", []string{"console=ttyS0"}, nil, "console=tty0 console=ttyS0"},
		{"before init's words", "ro -- single", []string{"nosmt"}, nil, "ro nosmt -- single"},
		{"pair of the same size", "hugepagesz=1G hugepages=4 hugepagesz=2M hugepages=100", []string{"hugepagesz=2M", "hugepages=512"}, nil,
			"hugepagesz=1G hugepages=4 hugepagesz=2M hugepages=512"},
		{"new size", "hugepagesz=1G hugepages=4", []string{"hugepagesz=2M", "hugepages=512"}, nil, "hugepagesz=1G hugepages=4 hugepagesz=2M hugepages=512"},
		{"default size first", "ro hugepagesz=1G hugepages=4", []string{"hugepages=512"}, nil, "ro hugepages=512 hugepagesz=1G hugepages=4"},
		{"open quote", "a=\"b c", []string{"nosmt"}, nil, "a=\"b c\" nosmt"},
		{"per node", "", []string{"hugepages=0:512,1:512"}, nil, "hugepages=0:512,1:512"},
	} {
		if got := Merge(c.current, c.set, c.drop); got != c.want {
			t.Errorf("%s: Merge = %q, want %q", c.name, got, c.want)
		}
		once := Merge(c.current, c.set, c.drop)
		if twice := Merge(once, c.set, c.drop); twice != once {
			t.Errorf("%s: merged twice %q, once %q", c.name, twice, once)
		}
	}
}

func TestChange(t *testing.T) {
	add, gone := Change("ro isolcpus=4-7 hugepagesz=2M hugepages=16", []string{"isolcpus=2-7", "hugepagesz=1G", "hugepages=16"}, []string{"ro"})
	if got := strings.Join(add, " "); got != "isolcpus=2-7 hugepagesz=2M hugepages=16 hugepagesz=1G hugepages=16" {
		t.Errorf("add = %q", got)
	}
	if got := strings.Join(gone, " "); got != "ro isolcpus=4-7 hugepagesz=2M hugepages=16" {
		t.Errorf("gone = %q", got)
	}
	if add, gone := Change("a b=1", []string{"b=1"}, []string{"c"}); add != nil || gone != nil {
		t.Errorf("nothing to do, got %q and %q", add, gone)
	}
}

func FuzzMerge(f *testing.F) {
	f.Add("a=1 b \"c d\" hugepagesz=1G hugepages=2 -- x", "a=2", "b")
	f.Fuzz(func(t *testing.T, current, set, drop string) {
		if strings.ContainsAny(set, " \t\r\n\"") || set == "" || set == "--" {
			t.Skip()
		}
		once := Merge(current, []string{set}, []string{drop})
		if ParseWord(set).Name() != ParseWord(drop).Name() && !isHuge(set) && !slices.Contains(split(once), set) {
			t.Errorf("Merge(%q, %q) = %q lost the word", current, set, once)
		}
		Lint(current, Host{Last: 63})
	})
}
