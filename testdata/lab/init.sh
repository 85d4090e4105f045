#!/bin/busybox sh
# First process of a lab machine: mounts the build machine's root read-only below an overlay, then becomes the scenario.
/bin/busybox --install -s /bin
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev
for m in @MODULES@; do [ -e /mod/$m.ko ] && insmod /mod/$m.ko; done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,ro,cache=loose host /host
mount -t tmpfs none /tmpfs; mkdir -p /tmpfs/upper /tmpfs/work
mount -t overlay -o lowerdir=/host,upperdir=/tmpfs/upper,workdir=/tmpfs/work none /newroot
for d in proc sys dev; do mount --move /$d /newroot/$d; done
mount -t tmpfs none /newroot/run; mount -t tmpfs none /newroot/tmp; mkdir -p /newroot/out
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,access=any out /newroot/out
exec switch_root /newroot /bin/bash /out/program.sh
