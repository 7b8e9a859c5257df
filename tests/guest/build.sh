#!/bin/bash
# build.sh FOLDER: builds FOLDER/guest.qcow2, a disk image of about 20 MB that boots by BIOS and by UEFI, from Debian
# packages alone. The same packages give the same bytes. The script needs no root and installs nothing: most of its
# tools come from packages that it unpacks. It needs apt-get, dpkg-deb, mke2fs (e2fsprogs) and qemu-img (qemu-utils).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
work=$out/work
rm -rf "$work"
mkdir -p "$work"
export SOURCE_DATE_EPOCH=1700000000 MTOOLS_SKIP_CHECK=1 LC_ALL=C TZ=UTC
boot_mib=40
data_mib=8
# shellcheck source=tests/guest/disk.sh
source "$here/disk.sh"

# --- unpacks the guest's packages into the folder root, and the build's tools into the folder tools
kernel=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image/ {print $2}')
guest_packages="$kernel busybox-static dropbear-bin libc6 libtomcrypt1 libtommath1 libcrypt1 zlib1g libgmp10 libgcc-s1
  qemu-guest-agent libglib2.0-0 libnuma1 libpcre2-8-0 libudev1 liburing2"
# shellcheck disable=SC2086 # Names of packages, separated by spaces.
download $guest_packages $BOOT_PACKAGES $TOOL_PACKAGES
# shellcheck disable=SC2086
unpack root $guest_packages $BOOT_PACKAGES
# shellcheck disable=SC2086
unpack tools $TOOL_PACKAGES
use_tools
root=$work/root
release=${kernel#linux-image-}

# --- the initial file system, which is the whole guest
tree=$work/tree
mkdir -p "$tree"/{bin,sbin,usr/sbin,etc/acpi/PWRF,root,www,lib/modules,lib64,lib/x86_64-linux-gnu,proc,sys,dev}
cp "$root/bin/busybox" "$tree/bin/"
cp "$root/usr/sbin/dropbear" "$tree/usr/sbin/"
cp "$root/usr/bin/dropbearkey" "$tree/bin/"
cp "$root/usr/sbin/qemu-ga" "$tree/usr/sbin/"
for library in libc.so.6 libcrypt.so.1 libz.so.1 libtomcrypt.so.1 libtommath.so.1 libgmp.so.10 libm.so.6 libgcc_s.so.1 \
  libglib-2.0.so.0 libgmodule-2.0.so.0 libnuma.so.1 libpcre2-8.so.0 libudev.so.1 liburing.so.2; do
  cp -L "$(find "$root" -name "$library" | sort | head -n 1)" "$tree/lib/x86_64-linux-gnu/"
done
cp -L "$(find "$root" -name ld-linux-x86-64.so.2 | sort | head -n 1)" "$tree/lib64/"
# The list modules.order has each module after the modules that it needs.
depmod -b "$root" "$release"
modules="virtio_pci virtio_blk virtio_net virtio-rng virtio_balloon virtio_console isofs nls_utf8 nls_ascii nls_cp437
  vfat evdev button pvpanic-pci ext4 virtio_scsi sd_mod"
for module in $modules; do
  modprobe -d "$root" -S "$release" --show-depends "$module" | awk '$1 == "insmod" {print $2}'
done | awk '!seen[$0]++' | while read -r file; do
  cp "$file" "$tree/lib/modules/"
  basename "$file" >> "$tree/modules.order"
done
cp "$here/init" "$tree/init"
cp "$here/udhcpc.sh" "$tree/etc/udhcpc.sh"
printf '#!/bin/sh\necho "guest: power button" > /dev/ttyS0\nsync; umount /persist; poweroff -f\n' \
  > "$tree/etc/acpi/PWRF/00000080"
# The guest agent runs this program when QEMU's client asks for a shutdown.
printf '#!/bin/sh\necho "guest: shutdown $*" > /dev/ttyS0\nsync; umount /persist; poweroff -f\n' > "$tree/sbin/shutdown"
chmod 755 "$tree/init" "$tree/etc/udhcpc.sh" "$tree/etc/acpi/PWRF/00000080" "$tree/sbin/shutdown"
echo 'root:*:0:0:root:/root:/bin/sh' > "$tree/etc/passwd"
echo 'root:x:0:' > "$tree/etc/group"
echo /bin/sh > "$tree/etc/shells"
: > "$tree/etc/resolv.conf"
find "$tree" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
(cd "$tree" && find . | sort | cpio -o -H newc --reproducible -R 0:0 --quiet | gzip -9n > "$work/initrd.gz")

boot_partition "$root/boot/vmlinuz-$release" "$work/initrd.gz" \
  'console=tty0 console=ttyS0,115200 quiet net.ifnames=0 panic=5' $boot_mib

# --- the persistent partition
data=$work/data.ext4
E2FSPROGS_FAKE_TIME=$SOURCE_DATE_EPOCH mke2fs -q -t ext4 -L persist -U b3e72700-0000-4000-8000-000000000001 \
  -E hash_seed=b3e72700-0000-4000-8000-000000000001,lazy_itable_init=0 "$data" "${data_mib}M"

disk=$work/disk.raw
write_disk "$disk" $boot_mib "$data" $data_mib
qcow2 "$disk" "$out/guest.qcow2"
sha256sum "$disk" | cut -d' ' -f1 > "$out/disk.sha256"
rm -rf "$work"
