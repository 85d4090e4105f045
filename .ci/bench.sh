#!/usr/bin/env bash
# Measures, as pairs within one run on this machine: sockperf ping-pong with and without the probes, kernel time per event
# beside an empty program and bpftrace, the audit, and the Go benchmarks of analysis, rules and host reading.
set -euo pipefail
bin=$(realpath "$1")
pairs=${PAIRS:-9}
dir=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$dir"' EXIT
echo "machine: $(nproc) CPUs, kernel $(uname -r), load $(cut -d' ' -f1 /proc/loadavg)"

median() { sort -n | awk '{v[NR]=$1} END {print (NR%2 ? v[(NR+1)/2] : (v[NR/2]+v[NR/2+1])/2)}'; }
percentile() { sed -n "s/.*percentile $2 = *//p" "$1"; }

sockperf_pairs() {
  local port=$((20000 + RANDOM % 20000)) last=$(($(nproc) - 1)) i p
  taskset -c "$last" sockperf sr -i 127.0.0.1 -p "$port" >"$dir/server.log" 2>&1 & server=$!
  for _ in $(seq 50); do grep -q 'to block on socket' "$dir/server.log" && break; sleep 0.1; done
  local cmd=(taskset -c $((last > 0 ? last - 1 : 0)) sockperf pp -i 127.0.0.1 -p "$port" -t 3)
  for i in $(seq "$pairs"); do
    "${cmd[@]}" >"$dir/without$i" 2>&1
    "$bin" run -q -o "$dir/run$i" -- "${cmd[@]}" >/dev/null
    cp "$dir/run$i/workload.stdout" "$dir/with$i"
  done
  for p in 50.000 99.000; do
    for i in $(seq "$pairs"); do
      echo "$(percentile "$dir/with$i" $p) $(percentile "$dir/without$i" $p)"
    done >"$dir/p"
    printf 'sockperf pp, %d pairs, p%s: with probes / without = %.3f (median of ratios)\n' "$pairs" "$p" "$(awk '{print $1/$2}' "$dir/p" | median)"
  done
}

command -v sockperf >/dev/null && sockperf_pairs || echo "sockperf is not installed: no pairs"
echo "--- kernel time per event"
if [ "$(id -u)" = 0 ]; then go run ./bpf/testdata/cost || echo "cost bench failed"; else echo "needs root"; fi
echo "--- audit, whole process"
for _ in 1 2 3 4 5; do /usr/bin/env time -f '%e s %M KiB' "$bin" audit --format json 2>&1 >/dev/null | tail -1; done
echo "--- Go benchmarks"
go test -run '^$' -bench . -benchmem -benchtime 3x ./advisor/explain ./advisor ./advisor/facts ./profile/host | grep -E 'Benchmark|^pkg'
