package remedy

import (
	"context"
	"errors"
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
	self := visible(t)
	cache, err := lab.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	k, err := lab.FetchKernel(t.Context(), cache, "linux-image-amd64")
	if err != nil {
		t.Fatal(err)
	}
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

// visible copies this test's program to where a lab machine sees it: its own /tmp is empty.
func visible(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/var/tmp", "corewise-lab-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "program")
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(path, program, 0o755)); err != nil {
		t.Fatal(err)
	}
	return path
}
