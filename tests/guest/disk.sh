# Functions of the scripts that build images of guests: packages, a boot partition, a disk with two partitions. The
# caller sets `work`, a folder for files of the build, and exports SOURCE_DATE_EPOCH.
# shellcheck shell=bash

SECTORS_PER_MIB=2048
TOOL_PACKAGES="cpio dosfstools kmod libkmod2 mtools syslinux"
BOOT_PACKAGES="syslinux-common syslinux-efi"

# download PACKAGE...: downloads packages of Debian
download() {
  mkdir -p "$work/packages"
  (cd "$work/packages" && apt-get download -q "$@" 2>/dev/null)
}

# unpack FOLDER PACKAGE...: unpacks downloaded packages into a folder of the build
unpack() {
  local folder=$1
  shift
  for name in "$@"; do
    for file in "$work/packages/${name}"_*.deb; do dpkg-deb -x "$file" "$work/$folder"; done
  done
}

# use_tools: puts the unpacked tools into PATH
use_tools() {
  export PATH="$work/tools/usr/sbin:$work/tools/usr/bin:$work/tools/sbin:$work/tools/bin:$PATH:/usr/sbin:/sbin"
  export LD_LIBRARY_PATH="$work/tools/usr/lib/x86_64-linux-gnu:$work/tools/lib/x86_64-linux-gnu"
  # In the package, depmod and modprobe are links to /bin/kmod, but the machine may lack /bin/kmod.
  mkdir -p "$work/tools/links"
  ln -sf "$work/tools/bin/kmod" "$work/tools/links/depmod"
  ln -sf "$work/tools/bin/kmod" "$work/tools/links/modprobe"
  export PATH="$work/tools/links:$PATH"
}

# boot_partition KERNEL INITRD ARGUMENTS MIB: writes boot.fat, a FAT partition with SYSLINUX for BIOS and for UEFI. The
# packages of SYSLINUX must be in the folder root.
boot_partition() {
  local files=$work/files boot=$work/boot.fat
  mkdir -p "$files/EFI/BOOT"
  printf '%s\n' 'default linux' 'prompt 0' 'timeout 0' 'label linux' '  kernel /vmlinuz' '  initrd /initrd.gz' \
    "  append $3" > "$files/syslinux.cfg"
  cp "$1" "$files/vmlinuz"
  cp "$2" "$files/initrd.gz"
  cp "$work/root/usr/lib/SYSLINUX.EFI/efi64/syslinux.efi" "$files/EFI/BOOT/BOOTX64.EFI"
  cp "$work/root/usr/lib/syslinux/modules/efi64/ldlinux.e64" "$files/syslinux.cfg" "$files/EFI/BOOT/"
  find "$files" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
  truncate -s "$4M" "$boot"
  mkfs.vfat --invariant -F 32 -s 1 -n BOOT "$boot" > /dev/null
  mcopy -s -m -i "$boot" "$files/vmlinuz" "$files/initrd.gz" "$files/syslinux.cfg" "$files/EFI" ::/
  syslinux --install "$boot"
}

little_endian() { # NUMBER: prints the number's four bytes as escapes for printf, the lowest byte first
  printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255))
}

partition() { # ACTIVE TYPE START SECTORS: prints a partition's entry of 16 bytes; its cylinder addresses are not used
  printf '%b' "\\x$1\\xfe\\xff\\xff\\x$2\\xfe\\xff\\xff$(little_endian "$3")$(little_endian "$4")"
}

# write_disk DISK BOOT_MIB DATA DATA_MIB: writes a disk with boot code and two partitions: boot.fat and the file DATA
write_disk() {
  local disk=$1
  truncate -s $(($2 + $4 + 2))M "$disk"
  {
    printf '\x00\x27\xe7\xb3\x00\x00'
    partition 80 0c $SECTORS_PER_MIB $(($2 * SECTORS_PER_MIB))
    partition 00 83 $(((1 + $2) * SECTORS_PER_MIB)) $(($4 * SECTORS_PER_MIB))
    head -c 32 /dev/zero
    printf '\x55\xaa'
  } > "$work/table"
  dd if="$work/root/usr/lib/syslinux/mbr/mbr.bin" of="$disk" bs=440 count=1 conv=notrunc status=none
  dd if="$work/table" of="$disk" bs=1 seek=440 conv=notrunc status=none
  dd if="$work/boot.fat" of="$disk" bs=1M seek=1 conv=notrunc,sparse status=none
  dd if="$3" of="$disk" bs=1M seek=$((1 + $2)) conv=notrunc,sparse status=none
}

# qcow2 DISK FILE: compresses a disk. It runs the qemu-img of this machine, with the libraries of this machine.
qcow2() {
  env -u LD_LIBRARY_PATH qemu-img convert -O qcow2 -c -o compression_type=zstd "$1" "$2"
}
