#!/bin/busybox sh
# First program of the guest, in its initramfs: shows the files of the host, read-only, below a layer in memory.
/bin/busybox mkdir -p /dev /lower /layer /new
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
# One module needs another that comes later in the alphabet. What the kernel has built in fails, and so does the mount then.
for round in 1 2 3 4 5; do
  for module in /modules/*; do insmod "$module" 2>/dev/null; done
done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro host /lower || exec poweroff -f
mount -t tmpfs -o size=80% layer /layer
mkdir /layer/upper /layer/work
mount -t overlay -o lowerdir=/lower,upperdir=/layer/upper,workdir=/layer/work root /new || exec poweroff -f
ip link set lo up
mount --move /dev /new/dev
export REPOSITORY="$(cat /told/repository)" NODE="$(cat /told/node)" ONLY="$(cat /told/only)"
exec switch_root /new /bin/sh "$REPOSITORY/attacks/kernel/guest.sh"
