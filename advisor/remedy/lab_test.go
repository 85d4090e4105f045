package remedy

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/corewise/corewise/testdata/lab"
)

// TestLiveInLab runs TestLive in a lab machine with version 2 of control groups: there a cpuset partition is possible.
func TestLiveInLab(t *testing.T) {
	if os.Getenv("COREWISE_LAB") == "" {
		t.Skip("set COREWISE_LAB=1 to boot virtual machines")
	}
	self := lab.Self(t)
	k := lab.Debian(t)
	script := `mount -t cgroup2 none /sys/fs/cgroup; COREWISE_TEST_LIVE=1 COREWISE_TEST_PARTITION=6-7 "$1" -test.run '^TestLive$' -test.v > /out/log 2>&1; echo $? > /out/code`
	o, err := lab.VM{Topology: lab.TwoSockets(), Kernel: k, Program: []string{"/bin/bash", "-c", script, "live", self}}.Boot(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	log, _ := os.ReadFile(filepath.Join(o.Dir, "log"))
	code, _ := os.ReadFile(filepath.Join(o.Dir, "code"))
	if strings.TrimSpace(string(code)) != "0" || !strings.Contains(string(log), "isolated (now isolated)") {
		t.Errorf("exit code %s\n%s", code, log)
	}
	t.Logf("%s", log)
}
