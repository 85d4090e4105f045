package lab

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func boot(t *testing.T, vm VM) Outcome {
	t.Helper()
	o, err := vm.Boot(context.WithoutCancel(t.Context()), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d tries, %.0f s", vm.Topology.Name, o.Tries, o.Took.Seconds())
	return o
}

func read(t *testing.T, o Outcome, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(o.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestTopologies boots each machine and compares what its kernel says with what was asked for.
func TestTopologies(t *testing.T) {
	k := Debian(t)
	for _, c := range []struct {
		topo Topology
		want []string
	}{
		{TwoSockets(), []string{"cpu5 sib=4-5 node1", "eth0 node=1", "eth1 node=1", "nodes=0-1"}},
		{NoSMT(), []string{"cpu5 sib=5 node1", "eth0 node=1", "nodes=0-1"}},
	} {
		t.Run(c.topo.Name, func(t *testing.T) {
			o := boot(t, VM{Topology: c.topo, Kernel: k, Program: []string{"/bin/bash", "-c", facts}})
			got := read(t, o, "stdout")
			for _, w := range c.want {
				if !strings.Contains(got, w+"\n") {
					t.Errorf("no line %q in:\n%s%s", w, got, read(t, o, "stderr"))
				}
			}
		})
	}
}

const facts = `cd /sys/devices/system/cpu; echo nodes=$(cat /sys/devices/system/node/online)
for c in cpu[0-9]*; do echo $c sib=$(cat $c/topology/thread_siblings_list) $(basename $(echo $c/node[0-9]*)); done
for n in /sys/class/net/eth*; do echo $(basename $n) node=$(cat $n/device/../numa_node); done`
