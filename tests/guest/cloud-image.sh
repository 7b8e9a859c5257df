#!/bin/bash
# cloud-image.sh FOLDER: builds FOLDER/cloud.qcow2, a Debian with cloud-init, openssh and the QEMU guest agent, which
# boots by BIOS and by UEFI. debootstrap installs it from Debian's archive. The script needs root, debootstrap, apt-get,
# dpkg-deb, mke2fs (e2fsprogs) and qemu-img (qemu-utils). The same packages do not give the same bytes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
# The build is in memory if there is room, because dpkg waits for the disk very often.
room_kib=$((6 * 1024 * 1024))
if [[ $(df --output=avail /dev/shm | tail -n 1) -gt $room_kib ]]; then
  work=$(mktemp -d /dev/shm/berth-cloud.XXXXXX)
else
  work=$(mktemp -d "$out/work.XXXXXX")
fi
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH=1700000000 MTOOLS_SKIP_CHECK=1 LC_ALL=C TZ=UTC
boot_mib=120
root_mib=1800
# shellcheck source=tests/guest/disk.sh
source "$here/disk.sh"

# --- the system. cloud-init needs python3-cffi-backend under a virtual name, so debootstrap does not find this package
# by itself.
system=$work/system
debootstrap --variant=minbase \
  --include=linux-image-cloud-amd64,cloud-init,python3-cffi-backend,systemd-sysv,systemd-resolved,dbus,udev,openssh-server,iproute2,qemu-guest-agent \
  bookworm "$system" > "$out/debootstrap.log"
chroot "$system" systemctl enable -q systemd-networkd systemd-resolved
printf '/dev/vda2 / ext4 rw,discard 0 1\n' > "$system/etc/fstab"
# The image does not contain cloud-init's default locale, en_US.UTF-8.
echo 'locale: C.UTF-8' > "$system/etc/cloud/cloud.cfg.d/10-locale.cfg"
# Each instance gets an identity and host keys of its own at its first boot.
: > "$system/etc/machine-id"
rm -f "$system"/etc/ssh/ssh_host_* "$system"/etc/hostname
rm -rf "$system"/var/cache/apt/archives/*.deb "$system"/var/lib/apt/lists/*
mke2fs -q -t ext4 -L root -d "$system" "$work/root.ext4" "${root_mib}M"

# --- the disk
# shellcheck disable=SC2086 # Names of packages, separated by spaces.
download $BOOT_PACKAGES $TOOL_PACKAGES
# shellcheck disable=SC2086
unpack root $BOOT_PACKAGES
# shellcheck disable=SC2086
unpack tools $TOOL_PACKAGES
use_tools
boot_partition "$system"/boot/vmlinuz-* "$system"/boot/initrd.img-* \
  'root=/dev/vda2 rw console=tty0 console=ttyS0,115200' $boot_mib
write_disk "$work/disk.raw" $boot_mib "$work/root.ext4" $root_mib
qcow2 "$work/disk.raw" "$out/cloud.qcow2"
