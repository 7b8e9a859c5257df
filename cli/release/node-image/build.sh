#!/bin/bash
# build.sh OUT NODEAGENT: builds the kernel and the initial file system of a Linux node from Debian packages. OUT gets
# the files vmlinuz and initramfs. NODEAGENT is the compiled agent. The same packages and the same agent give the same
# bytes. The script needs root, mmdebstrap, mksquashfs (squashfs-tools), cpio and depmod (kmod).
#
# The initial file system contains a small busybox, and the system as one compressed file (root.squashfs). So a machine
# keeps the system compressed in its memory.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
agent=$2
: "${SOURCE_DATE_EPOCH:?must be the time of all files, in seconds since 1970}"
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
# The build is in memory if there is room, because dpkg waits for the disk very often.
room_kib=$((5 * 1024 * 1024))
if [[ $(df --output=avail /dev/shm | tail -n 1) -gt $room_kib ]]; then
  work=$(mktemp -d /dev/shm/berth-node.XXXXXX)
else
  work=$(mktemp -d "$out/work.XXXXXX")
fi
# After an interruption, this machine's devices may still be mounted below the folder. They must not be deleted.
trap 'rm -rf --one-file-system "$work"' EXIT
chmod 755 "$work"

# --- Install the system.
packages="linux-image-amd64 systemd systemd-sysv udev dbus kmod busybox-static iproute2 nftables conntrack arping
  mdadm lvm2 e2fsprogs util-linux openssh-server openssl ca-certificates curl gpgv xz-utils zstd
  qemu-system-x86 qemu-utils ovmf"
root=$work/root
cat > "$work/debian.sources" <<SOURCES
Types: deb
URIs: ${DEBIAN_MIRROR:-http://deb.debian.org/debian}
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: ${DEBIAN_SECURITY_MIRROR:-http://deb.debian.org/debian-security}
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
# Debian may build an initial file system for the kernel. The image does not contain it, because /boot is emptied below.
# shellcheck disable=SC2086 # Names of packages, separated by spaces.
mmdebstrap --mode=root --variant=minbase --format=directory --include="$(echo $packages | tr ' ' ',')" \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/info/*' \
  bookworm "$root" "$work/debian.sources" > "$out/packages.log" 2>&1 || { tail -n 20 "$out/packages.log" >&2; exit 1; }
rm "$out/packages.log"

release=$(ls "$root/lib/modules")
cp "$root/boot/vmlinuz-$release" "$out/vmlinuz"
chroot "$root" dpkg-query --show > "$out/packages.txt"

# --- Remove the files that no node needs. Drivers of graphics, sound, media and radio are half of the modules.
modules=$root/lib/modules/$release
rm -rf "$root"/boot/* "$modules/kernel/sound" "$modules"/kernel/drivers/{gpu,media,staging,iio,bluetooth,isdn,infiniband} \
  "$modules"/kernel/drivers/net/{wireless,can,wwan,hamradio,arcnet,fddi,usb} \
  "$modules"/kernel/net/{bluetooth,wireless,mac80211,can,nfc,ax25,rose,netrom,atm,appletalk} "$modules"/kernel/fs/{xfs,btrfs,ocfs2,gfs2,nfs,nfsd,ceph,cifs,smb,jfs,reiserfs,f2fs,ubifs,afs,orangefs,nilfs2,udf,hfs,hfsplus,coda,ecryptfs}
rm -rf "$root"/usr/share/{doc,man,locale,info,lintian,linda,bug,icons,pixmaps,X11,sounds,alsa,bash-completion,zsh} \
  "$root"/usr/lib/x86_64-linux-gnu/dri "$root"/usr/lib/x86_64-linux-gnu/lib{LLVM,z3}* \
  "$root"/var/lib/apt "$root"/var/cache "$root"/var/log "$root"/var/lib/dpkg/info "$root"/var/lib/dpkg/*-old \
  "$root"/usr/share/qemu/{edk2-*,hppa-*,opensbi-*,openbios-*,palcode-*,skiboot*,s390-*,u-boot*,vof*,slof*,qemu-nsis*} \
  "$root"/etc/initramfs-tools "$root"/var/lib/initramfs-tools
mkdir -p "$root"/var/{cache,log} "$root/var/lib/apt"
# Each node gets its own identity, host keys and name, so the image has none of them.
rm -f "$root"/etc/ssh/ssh_host_* "$root"/etc/{hostname,resolv.conf,machine-id,mdadm/mdadm.conf} "$root"/var/lib/dbus/machine-id \
  "$root"/var/lib/systemd/random-seed "$root"/etc/{passwd,group,shadow,gshadow}- "$root"/etc/ld.so.cache
: > "$root/etc/machine-id"
chroot "$root" ldconfig
rm -rf "$root"/var/cache/* "$root"/{vmlinuz,initrd.img}{,.old}
depmod -b "$root" "$release"

# --- Add the agent, the services and the settings of a node.
install -m 755 "$agent" "$root/usr/bin/nodeagent"
mkdir -p "$root/usr/lib/berth"
install -m 755 "$here/storage.sh" "$root/usr/lib/berth/storage"
install -m 755 "$here/start-agent.sh" "$root/usr/lib/berth/start-agent"
install -m 644 "$here"/*.service "$root/lib/systemd/system/"
install -m 644 "$here/10-berth.conf" "$root/etc/ssh/sshd_config.d/10-berth.conf"
printf 'HOMEHOST <ignore>\nAUTO -all\n' > "$root/etc/mdadm/mdadm.conf"
# Loads the module bridge early: on an emulated processor, loading takes longer than the 25 s that systemd-networkd
# waits.
echo bridge > "$root/etc/modules-load.d/berth.conf"
printf 'nameserver 127.0.0.1\n' > "$root/etc/resolv.conf"
ln -sf /usr/lib/systemd/system/multi-user.target "$root/etc/systemd/system/default.target"
chroot "$root" systemctl --quiet enable systemd-networkd berth-boot berth-storage berth-announce berth-agent ssh
# Only berth-storage may start the storage of a node: it starts the arrays, and then only the volume group with the mark
# of the node. So all other services and rules that start arrays or volume groups are off. blk-availability is off,
# because it would wait for mounted volumes at a restart.
chroot "$root" systemctl --quiet mask blk-availability.service lvm2-monitor.service mdmonitor.service apt-daily.timer apt-daily-upgrade.timer \
  e2scrub_reap.service systemd-firstboot.service mdmonitor-oneshot.timer mdcheck_start.timer mdcheck_continue.timer
rm -f "$root"/lib/udev/rules.d/{64-md-raid-assembly,69-lvm}.rules
rm -f "$root/var/log/"* 2> /dev/null || true

# --- Make the compressed file system, then the initial file system with it. Compressing the result would gain nothing.
mksquashfs "$root" "$work/root.squashfs" -noappend -comp zstd -Xcompression-level 9 -no-progress -quiet > /dev/null
tree=$work/tree
mkdir -p "$tree"/{bin,lib/modules,proc,sys,dev,run,squash,rw,root,etc/berth}
cp "$root/bin/busybox" "$tree/bin/"
for name in squashfs loop overlay; do
  modprobe -d "$root" -S "$release" --show-depends "$name" | awk '$1 == "insmod" {print $2}'
done | awk '!seen[$0]++' | while read -r file; do
  cp "$file" "$tree/lib/modules/"
  basename "$file" >> "$tree/modules.order"
done
install -m 755 "$here/init" "$tree/init"
install -m 644 "$work/root.squashfs" "$tree/root.squashfs"
find "$tree" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
# The booter adds a second archive with the machine's own files. The kernel requires that it begins at a multiple of 4
# bytes; cpio writes multiples of 512.
(cd "$tree" && find . | sort | cpio -o -H newc --reproducible -R 0:0 --quiet > "$out/initramfs")
