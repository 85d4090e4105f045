#!/usr/bin/env bash
# Installs the Debian packages that the tests need and that are not there yet. Tests say what they miss, they never skip silently in CI.
set -euo pipefail
packages=(clang llvm sockperf numactl stress-ng iproute2 ethtool procps strace util-linux fio iperf3 rt-tests qemu-system-x86 qemu-system-arm busybox-static cpio kmod zstd openvswitch-switch lua5.3)
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
done
((${#missing[@]})) || exit 0
if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
  echo "these packages are missing and can only be installed as root on Debian: ${missing[*]}" >&2
  exit 1
fi
echo "installing: ${missing[*]}"
apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends "${missing[@]}" >/dev/null
