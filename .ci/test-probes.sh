#!/usr/bin/env bash
# The probes' tests compare what they counted with truths that they inject. On a shared machine the hypervisor or a daemon
# can get in between; such a run is repeated, and said so: a test that fails three times in a row is a fault.
set -uo pipefail
for try in 1 2 3; do
  go test -count=1 ./bpf && { [ "$try" = 1 ] || echo "probes: passed on try $try of 3"; exit 0; }
  echo "probes: try $try of 3 failed"
done
exit 1
