// Package lab boots small virtual machines with two sockets, SMT, two NUMA nodes and NICs on node 1, and runs one program
// of this machine's file system in them. QEMU without KVM: facts and directions are real there, times are not.
//
// Data flow: Kernel (Debian's, from apt) + initrd -> VM (topology, kernel arguments) -> Boot -> the guest's files of /out.
package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// VM is one machine to boot.
type VM struct {
	Topology Topology
	Kernel   Kernel
	Args     string        // more kernel arguments
	Program  []string      // run as root inside; paths are this machine's
	Timeout  time.Duration // for one try; 0: 150 s
	Tries    int           // 0: 2. A hung boot is retried and counted, never ignored
}

// Outcome is what came out of a boot.
type Outcome struct {
	Dir     string // files that the guest wrote to /out
	Console string
	Tries   int
	Took    time.Duration
}

// Boot runs the machine until it powers off. The error of the last try holds the end of the console.
func (vm VM) Boot(ctx context.Context, dir string) (Outcome, error) {
	tries, started := max(vm.Tries, 1), time.Now()
	if vm.Tries == 0 {
		tries = 2
	}
	var errs []error
	for n := 1; n <= tries; n++ {
		out := filepath.Join(dir, fmt.Sprintf("try%d", n))
		if err := os.MkdirAll(out, 0o777); err != nil {
			return Outcome{}, err
		}
		console, err := vm.try(ctx, out)
		o := Outcome{Dir: out, Console: console, Tries: n, Took: time.Since(started)}
		if err == nil {
			return o, nil
		}
		errs = append(errs, fmt.Errorf("try %d: %w\n%s", n, err, lastLines(console, 40)))
		if ctx.Err() != nil {
			break
		}
	}
	return Outcome{Tries: tries, Took: time.Since(started)}, errors.Join(errs...)
}

// try boots once; success is the file "done", which the init writes after the program ended.
func (vm VM) try(ctx context.Context, out string) (string, error) {
	timeout := vm.Timeout
	if timeout == 0 {
		timeout = 150 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	script := filepath.Join(out, "program.sh")
	if err := os.WriteFile(script, []byte(vm.script()), 0o755); err != nil {
		return "", err
	}
	args := append(vm.Topology.args(), vm.Kernel.args(out, script, vm.Args)...)
	var console bytes.Buffer
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", args...)
	cmd.Stdout, cmd.Stderr = &console, &console
	err := cmd.Run()
	text := strings.ToValidUTF8(console.String(), "?")
	if ctx.Err() != nil {
		return text, fmt.Errorf("no power-off within %s", timeout)
	}
	if err != nil {
		return text, fmt.Errorf("qemu: %w", err)
	}
	if _, err := os.Stat(filepath.Join(out, "done")); err != nil {
		return text, errors.New("the guest powered off before the program ended")
	}
	return text, nil
}

// script runs the program with the usual mounts of a booted system and keeps its exit code and output.
func (vm VM) script() string {
	words := make([]string, len(vm.Program))
	for i, w := range vm.Program {
		words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return `export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mkdir -p /dev/pts /dev/shm /dev/hugepages
mount -t devpts none /dev/pts; mount -t tmpfs none /dev/shm
mount -t debugfs none /sys/kernel/debug; mount -t tracefs none /sys/kernel/tracing; mount -t bpf none /sys/fs/bpf
mount -t cgroup2 none /sys/fs/cgroup
ip link set lo up
` + strings.Join(words, " ") + ` >/out/stdout 2>/out/stderr
echo $? >/out/exit
sync; echo done >/out/done; sync
echo o >/proc/sysrq-trigger
read -r -t 30 </dev/zero
`
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
