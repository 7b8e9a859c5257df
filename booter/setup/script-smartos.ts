// Contains the functions of the setup script on SmartOS.
export const SMARTOS_FUNCTIONS: string = String.raw`
smartos_memory() { prtconf -m; }

fetch_image() {
  name=$1
  wanted=$2
  file=$work/$name
  [ -n "$wanted" ] || stop "no SHA-256 of $name was given"
  insist 5 at_booter "/setup/files/$name" fetch --max-time 1800 -o "$file" || stop "$name could not be fetched"
  found=$(digest -a sha256 "$file") || stop "the SHA-256 of $name could not be computed"
  [ "$found" = "$wanted" ] || stop "$name has SHA-256 $found, not $wanted"
}
smartos_images() {
  running=$(uname -v) || stop "the running platform image is unknown"
  [ "$running" = "joyent_$platform_stamp" ] || stop "the machine runs $running, not joyent_$platform_stamp"
  fetch_image "boot-$boot_stamp.tgz" "$(value boot_image_sha256)"
  fetch_image "platform-$platform_stamp.tgz" "$(value platform_image_sha256)"
}

# Sets the variable present. An existing pool is used if it belongs to this machine, and otherwise never changed.
smartos_find_pool() {
  imported=no
  if zpool list -H -o name "$pool" >/dev/null 2>"$work/absent"; then
    present=yes
  else
    # Only an explicit "no pool" counts: a failing tool must not look like an empty machine.
    grep -q 'no such pool' "$work/absent" || stop "cannot find out whether a pool exists: $(cat "$work/absent")"
    if ! zpool import >"$work/importable" 2>"$work/none"; then
      grep -q 'no pools available' "$work/none" || stop "cannot find out which pools exist: $(cat "$work/none")"
    fi
    if awk '$1 == "pool:" && $2 == "zones" { found = 1 } END { exit !found }' "$work/importable"; then
      present=yes
      imported=yes
      zpool import -N -f "$pool" >&2 || fail "the pool $pool exists and cannot be imported" 20
    fi
  fi
  if [ "$present" = yes ]; then
    stamp=$(zfs get -H -o value org.smartos:server_uuid "$pool/var" 2>/dev/null) ||
      stamp=$(zfs get -H -o value org.smartos:server_uuid "$pool" 2>/dev/null) || stamp=-
    if [ "$stamp" != "$server_uuid" ]; then
      if [ "$imported" = yes ]; then zpool export "$pool" >&2 || true; fi
      fail "the pool $pool exists and is not this machine's (its stamp: $stamp); destroy it in rescue mode first" 20
    fi
  fi
}

smartos_layout() { disklayout "$@"; }

# The dry run gets exactly the arguments of the creation.
smartos_dry_run() {
  set -- -f -B -o ashift=12 -O "org.smartos:server_uuid=$server_uuid"
  compress=$(value compress)
  [ -z "$compress" ] || set -- "$@" -O "compression=$compress"
  set -- "$@" "$pool"
  while read -r word; do
    set -- "$@" "$word"
  done <"$work/words"
  zpool create -n "$@" >&2 || stop "the pool cannot be created from these disks"
  arguments=("$@")
}

smartos_create_pool() {
  zpool create "@{arguments[@]}" >&2 || stop "the pool could not be created"
}

has() { zfs list -H -o name "$1" >/dev/null 2>&1; }
smartos_stamp() {
  has "$pool/var" ||
    zfs create -o "org.smartos:server_uuid=$server_uuid" -o mountpoint=legacy "$pool/var" >&2 ||
    stop "$pool/var could not be created"
  zfs set "org.smartos:server_uuid=$server_uuid" "$pool/var" >&2 || stop "$pool/var could not be stamped"
}

make() {
  name=$pool/$1
  shift
  has "$name" || zfs create "$@" "$name" >&2 || stop "$name could not be created"
}
smartos_datasets() {
  make dump -V "$((memory_mib / 2))m" -o checksum=noparity
  make config -o "mountpoint=/$pool/config"
  make cores -o compression=gzip -o mountpoint=none
  make cores/global -o quota=10g -o "mountpoint=/$pool/global/cores"
  make opt -o mountpoint=legacy
  make swap -V "$memory_mib"m -o "refreservation=$((memory_mib / 4))m"
  make boot -o "mountpoint=/$pool/boot"
  dumpadm -y -d "/dev/zvol/dsk/$pool/dump" >&2 || stop "the dump device could not be set"
  if ! swap -l 2>/dev/null | grep -q "/dev/zvol/dsk/$pool/swap"; then
    swap -a "/dev/zvol/dsk/$pool/swap" >&2 || stop "the swap device could not be added"
  fi
  zfs mount -a >&2 || stop "the datasets could not be mounted"
}

tree=$root/$pool/boot
unpack() {
  archive=$work/$1.tgz
  made=$tree/$1
  rm -rf "$made.part" && mkdir -p "$made.part" || stop "$1 could not be unpacked"
  gzip -dc "$archive" | (cd "$made.part" && tar xf -) || stop "$1 could not be unpacked"
  inner=$(ls "$made.part")
  [ -d "$made.part/$inner" ] || stop "$1 contains more than one folder"
  rm -rf "$made" && mv "$made.part/$inner" "$made" && rmdir "$made.part" || stop "$1 could not be moved to its place"
}
# link TARGET NAME: makes or replaces a link. If NAME is a link to a folder, illumos' ln, also with -n, makes the new link
# inside of that folder.
link() { rm -f "$2" && ln -s "$1" "$2" || stop "the boot tree could not be linked"; }
smartos_boot_tree() {
  unpack "platform-$platform_stamp"
  unpack "boot-$boot_stamp"
  link "./platform-$platform_stamp" "$tree/platform"
  link "./boot-$boot_stamp" "$tree/boot"
  mkdir -p "$tree/etc/version" "$tree/os/$platform_stamp" || stop "the boot tree could not be created"
  link "../../platform-$platform_stamp" "$tree/os/$platform_stamp/platform"
  printf '%s\n' "$boot_stamp" >"$tree/etc/version/boot" || stop "the version could not be written"
  console=$(value console)
  {
    printf 'fstype="ufs"\nconsole="%s"\nos_console="%s"\n' "$console" "$console"
    root_shadow=$(value root_shadow)
    if [ -n "$root_shadow" ]; then printf "root_shadow='%s'\n" "$root_shadow"; fi
  } >"$tree/boot/loader.conf.part" && mv "$tree/boot/loader.conf.part" "$tree/boot/loader.conf" ||
    stop "loader.conf could not be written"
  zpool set "bootfs=$pool/boot" "$pool" >&2 || stop "the boot file system could not be set"
}

smartos_mount_opt() {
  if ! mount -p | grep -q "^$pool/opt "; then mount -F zfs "$pool/opt" "$root/opt" >&2 || stop "/opt could not be mounted"; fi
}

smartos_boot_loader() {
  bootsize=$(zpool get -H -o value bootsize "$pool") || stop "the pool's boot partition is unknown"
  if [ "$bootsize" = - ]; then slice=s0; else slice=s1; fi
  zpool status "$pool" >"$work/status" || stop "the pool's disks are unknown"
  # Lists every device of the pool, including logs, caches and spares: the firmware may start from any of them.
  awk '$1 == "NAME" { list = 1; next } list && NF == 0 { exit }
    list && $1 ~ /^c[0-9]/ { sub(/s[0-9]+$/, "", $1); if (!seen[$1]++) print $1 }' "$work/status" >"$work/disks"
  [ -s "$work/disks" ] || stop "the pool's disks are unknown"
  while read -r disk; do
    installboot -m -f -b "$tree/boot" "$tree/boot/pmbr" "$tree/boot/gptzfsboot" "/dev/rdsk/$disk$slice" >&2 ||
      stop "the boot loader could not be installed on $disk"
  done <"$work/disks"
}
`.replaceAll("@{", "${");
