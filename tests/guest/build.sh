#!/bin/bash
# build.sh FOLDER: builds FOLDER/guest.qcow2, a disk image of about 20 MB that boots by BIOS and by UEFI, from Debian
# packages alone. The same packages give the same bytes. It needs no root and installs nothing: the tools that it uses
# come from packages that it unpacks. Needs apt-get, dpkg-deb, mke2fs (e2fsprogs) and qemu-img (qemu-utils).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
work=$out/work
rm -rf "$work"
mkdir -p "$work/packages"
export SOURCE_DATE_EPOCH=1700000000 MTOOLS_SKIP_CHECK=1 LC_ALL=C TZ=UTC
boot_mib=40
data_mib=8
sectors_per_mib=2048

# --- packages: those of the guest into root, the tools of the build into tools
kernel=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image/ {print $2}')
guest_packages="$kernel busybox-static dropbear-bin libc6 libtomcrypt1 libtommath1 libcrypt1 zlib1g libgmp10 libgcc-s1
  syslinux-common syslinux-efi"
tool_packages="cpio dosfstools kmod libkmod2 mtools syslinux"
(
  cd "$work/packages"
  # shellcheck disable=SC2086 # Names of packages, apart by spaces.
  apt-get download -q $guest_packages $tool_packages 2>/dev/null
)
unpack() { # FOLDER PACKAGE...
  local folder=$1
  shift
  for name in "$@"; do
    for file in "$work/packages/${name}"_*.deb; do dpkg-deb -x "$file" "$work/$folder"; done
  done
}
# shellcheck disable=SC2086
unpack root $guest_packages
# shellcheck disable=SC2086
unpack tools $tool_packages
export PATH="$work/tools/usr/sbin:$work/tools/usr/bin:$work/tools/sbin:$work/tools/bin:$PATH:/usr/sbin:/sbin"
export LD_LIBRARY_PATH="$work/tools/usr/lib/x86_64-linux-gnu:$work/tools/lib/x86_64-linux-gnu"
# The package has these names as links to /bin/kmod, which the machine may lack.
mkdir -p "$work/tools/links"
ln -sf "$work/tools/bin/kmod" "$work/tools/links/depmod"
ln -sf "$work/tools/bin/kmod" "$work/tools/links/modprobe"
export PATH="$work/tools/links:$PATH"
root=$work/root
release=${kernel#linux-image-}

# --- the initial file system, which is the whole guest
tree=$work/tree
mkdir -p "$tree"/{bin,usr/sbin,etc/acpi/PWRF,root,www,lib/modules,lib64,lib/x86_64-linux-gnu,proc,sys,dev}
cp "$root/bin/busybox" "$tree/bin/"
cp "$root/usr/sbin/dropbear" "$tree/usr/sbin/"
cp "$root/usr/bin/dropbearkey" "$tree/bin/"
for library in libc.so.6 libcrypt.so.1 libz.so.1 libtomcrypt.so.1 libtommath.so.1 libgmp.so.10 libm.so.6 libgcc_s.so.1; do
  cp -L "$(find "$root" -name "$library" | sort | head -n 1)" "$tree/lib/x86_64-linux-gnu/"
done
cp -L "$(find "$root" -name ld-linux-x86-64.so.2 | sort | head -n 1)" "$tree/lib64/"
# Modules, each after those that it needs.
depmod -b "$root" "$release"
modules="virtio_pci virtio_blk virtio_net virtio-rng virtio_balloon virtio_console isofs nls_utf8 nls_ascii nls_cp437
  vfat evdev button pvpanic-pci ext4"
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
chmod 755 "$tree/init" "$tree/etc/udhcpc.sh" "$tree/etc/acpi/PWRF/00000080"
echo 'root:*:0:0:root:/root:/bin/sh' > "$tree/etc/passwd"
echo 'root:x:0:' > "$tree/etc/group"
echo /bin/sh > "$tree/etc/shells"
: > "$tree/etc/resolv.conf"
find "$tree" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
(cd "$tree" && find . | sort | cpio -o -H newc --reproducible -R 0:0 --quiet | gzip -9n > "$work/initrd.gz")

# --- the boot partition: FAT with SYSLINUX for BIOS and for UEFI
files=$work/files
mkdir -p "$files/EFI/BOOT"
printf '%s\n' 'default linux' 'prompt 0' 'timeout 0' 'label linux' '  kernel /vmlinuz' '  initrd /initrd.gz' \
  '  append console=tty0 console=ttyS0,115200 quiet net.ifnames=0 panic=5' > "$files/syslinux.cfg"
cp "$root/boot/vmlinuz-$release" "$files/vmlinuz"
cp "$work/initrd.gz" "$files/"
cp "$root/usr/lib/SYSLINUX.EFI/efi64/syslinux.efi" "$files/EFI/BOOT/BOOTX64.EFI"
cp "$root/usr/lib/syslinux/modules/efi64/ldlinux.e64" "$files/syslinux.cfg" "$files/EFI/BOOT/"
find "$files" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
boot=$work/boot.fat
truncate -s "${boot_mib}M" "$boot"
mkfs.vfat --invariant -F 32 -s 1 -n BOOT "$boot" > /dev/null
mcopy -s -m -i "$boot" "$files/vmlinuz" "$files/initrd.gz" "$files/syslinux.cfg" "$files/EFI" ::/
syslinux --install "$boot"

# --- the persistent partition
data=$work/data.ext4
E2FSPROGS_FAKE_TIME=$SOURCE_DATE_EPOCH mke2fs -q -t ext4 -L persist -U b3e72700-0000-4000-8000-000000000001 \
  -E hash_seed=b3e72700-0000-4000-8000-000000000001,lazy_itable_init=0 "$data" "${data_mib}M"

# --- the disk: boot code, partition table, partitions
disk=$work/disk.raw
truncate -s $((boot_mib + data_mib + 2))M "$disk"
write_at() { dd of="$disk" conv=notrunc,sparse status=none "$@"; }
write_at if="$root/usr/lib/syslinux/mbr/mbr.bin" bs=440 count=1
little_endian() { # NUMBER: four bytes
  printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255))
}
partition() { # ACTIVE TYPE START SECTORS: an entry of 16 bytes; the addresses by cylinder are unused
  printf '%b' "\\x$1\\xfe\\xff\\xff\\x$2\\xfe\\xff\\xff$(little_endian "$3")$(little_endian "$4")"
}
{
  printf '\x00\x27\xe7\xb3\x00\x00'
  partition 80 0c $sectors_per_mib $((boot_mib * sectors_per_mib))
  partition 00 83 $(((1 + boot_mib) * sectors_per_mib)) $((data_mib * sectors_per_mib))
  head -c 32 /dev/zero
  printf '\x55\xaa'
} > "$work/table"
dd if="$work/table" of="$disk" bs=1 seek=440 conv=notrunc status=none
write_at if="$boot" bs=1M seek=1
write_at if="$data" bs=1M seek=$((1 + boot_mib))
env -u LD_LIBRARY_PATH qemu-img convert -O qcow2 -c -o compression_type=zstd "$disk" "$out/guest.qcow2"
sha256sum "$disk" | cut -d' ' -f1 > "$out/disk.sha256"
rm -rf "$work"
