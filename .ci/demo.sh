#!/usr/bin/env bash
# The main job, for a first look: a benchmark on this machine under the probes, and its report.
set -euo pipefail
bin=$(realpath "$1")
[ "$(id -u)" = 0 ] || echo "not root: the eBPF probes need it (or CAP_BPF, CAP_PERFMON); the report will say what could not be seen" >&2
dir=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true' EXIT
if ! command -v sockperf >/dev/null; then
  echo "sockperf is not installed (apt-get install sockperf): running the built-in UDP ping-pong" >&2
  "$bin" run -o "$dir/run" --duration 5s
else
  port=$((20000 + RANDOM % 20000))
  cpus=$(nproc --all)
  taskset -c $((cpus - 1)) sockperf sr -i 127.0.0.1 -p "$port" >"$dir/server.log" 2>&1 &
  server=$!
  for _ in $(seq 50); do grep -q 'to block on socket' "$dir/server.log" && break; sleep 0.1; done
  "$bin" run -o "$dir/run" -- taskset -c $((cpus > 1 ? cpus - 2 : 0)) sockperf pp -i 127.0.0.1 -p "$port" -t 5
fi
echo
echo "saved in $dir/run; evaluate it again with: $bin analyze $dir/run --verbose" >&2
