// Contains the functions of the setup script on a Linux node image. A stripe of the layout is a disk or an array of
// mdraid. The stripes form the volume group "zones" of LVM. The command that creates the volume group also stores the
// machine's UUID in it.
export const LINUX_FUNCTIONS: string = String.raw`
linux_memory() { awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo; }

linux_images() {
  running=$(sed -n 's/^platform_stamp=//p' "$root/etc/berth/boot.properties") || stop "the running image is unknown"
  [ "$running" = "$platform_stamp" ] || stop "the machine runs $running, not $platform_stamp"
}

# Sets the variable present. A volume group with the mark of this machine is used; any other group is never changed.
linux_find_pool() {
  mdadm --assemble --scan --config=partitions >&2 || true
  udevadm settle --timeout=30 || true
  # Without a group, vgs succeeds and prints nothing: a failing tool must not look like an empty machine.
  vgs --noheadings -o vg_name,vg_tags >"$work/groups" || stop "cannot find out which volume groups exist"
  if ! awk -v pool="$pool" '$1 == pool { found = 1; print $2 } END { exit !found }' "$work/groups" >"$work/mark"; then
    refuse_unread_pool
    return 0
  fi
  present=yes
  tr , '\n' <"$work/mark" | grep -qx "berth-$server_uuid" ||
    fail "the volume group $pool exists and is not this machine's; remove it in rescue mode first" 20
}

# If vgs finds no group, the disks may still have a ZFS pool, or a group on arrays that cannot start because disks are
# missing. A started array without a group is from a run that was interrupted before it created the group.
refuse_unread_pool() {
  lsblk -nPpo NAME,FSTYPE,LABEL >"$work/contents" || stop "cannot find out what the disks contain"
  found=$(awk -F '"' -v pool="$pool" '$4 == "zfs_member" && $6 == pool { print $2 }' "$work/contents" | tr '\n' ' ')
  [ -z "$found" ] ||
    fail "a ZFS pool $pool exists on @{found% }; to destroy it, erase these devices in rescue mode first (wipefs -a)" 20
  awk -F '"' '$4 == "linux_raid_member" && $6 ~ /(^|:)berth[0-9]+$/ { print $2 }' "$work/contents" >"$work/members"
  # An array that has not started has the size 0, and lsblk omits it.
  found=$(while read -r device; do
    case $(lsblk -nro TYPE "$device") in *raid*) ;; *) printf '%s ' "$device" ;; esac
  done <"$work/members")
  [ -z "$found" ] || fail "an earlier setup's array on @{found% } does not start; attach its missing disks, or \
erase these devices in rescue mode first (wipefs -a)" 20
}

linux_layout() { nodeagent netboot disk-layout "$@"; }

# each_stripe COMMAND: calls COMMAND with the type and the disks of each stripe.
each_stripe() {
  kind=
  set -- "$1"
  while read -r word; do
    case $word in
    log | cache | spare) break ;;
    mirror | raidz | raidz2 | raidz3)
      if [ $# -gt 1 ]; then "$1" "$kind" "@{@:2}" || return 1; fi
      kind=$word
      set -- "$1"
      ;;
    *) set -- "$@" "$word" ;;
    esac
  done <"$work/words"
  if [ $# -gt 1 ]; then "$1" "$kind" "@{@:2}"; fi
}

spares() { awk '$1 == "spare" { found = 1; next } found { print }' "$work/words"; }

check_disk() {
  [ -b "/dev/$1" ] || stop "$1 is not a disk of this machine"
  if lsblk -nro MOUNTPOINT "/dev/$1" | grep -q .; then stop "$1 is in use"; fi
}

check_stripe() {
  [ "$1" != raidz3 ] || stop "Linux has no layout raidz3; approve raidz2"
  shift
  for disk in "$@"; do check_disk "$disk"; done
}

linux_dry_run() {
  each_stripe check_stripe
  for disk in $(spares); do check_disk "$disk"; done
}

add_disks() {
  shift
  disks="$disks $*"
}

# arrays_on DEVICE: lists the arrays that use the device or one of its partitions. An array is in the list after the
# arrays that use it. A container of BIOS RAID is used by its arrays. lsblk omits arrays that have not started.
arrays_on() {
  local array member
  for array in /sys/class/block/"$1"/holders/md* /sys/class/block/"$1"/"$1"*/holders/md*; do
    [ -e "$array" ] || continue
    array=@{array##*/}
    for member in $(grep -l "^external:[/-]$array/" /sys/block/md*/md/metadata_version | cut -d / -f 4); do
      arrays_on "$member"
      echo "$member"
    done
    arrays_on "$array"
    echo "$array"
  done
}

# stop_arrays DISK: stops the arrays of an earlier run or of an earlier system that use this disk.
stop_arrays() {
  for array in $(arrays_on "$1" | awk '!listed[$0]++'); do
    mdadm --stop "/dev/$array" >&2 || stop "$array, which uses $1, could not be stopped"
  done
}

# erase DISK...: erases all disks with one command, so that an interruption between two disks is unlikely. After such an
# interruption, later runs would refuse the remaining disks of an earlier array.
erase() {
  for disk in "$@"; do stop_arrays "$disk"; done
  wipefs -aqf "@{@/#//dev/}" >&2 && return 0
  kept=
  for disk in "$@"; do wipefs -aqf "/dev/$disk" >&2 || kept="$kept $disk"; done
  [ -z "$kept" ] || stop "these disks could not be erased:$kept"
}

create_stripe() {
  level=$1
  shift
  case $level in
  mirror) level=1 ;;
  raidz) level=5 ;;
  raidz2) level=6 ;;
  esac
  if [ $# -eq 1 ]; then
    volumes="$volumes /dev/$1"
    return 0
  fi
  array=/dev/md/berth$arrays
  arrays=$((arrays + 1))
  count=$#
  mdadm --create "$array" --run --quiet --metadata=1.2 --homehost=any --bitmap=internal --level="$level" \
    --raid-devices="$count" "@{@/#//dev/}" >&2 || stop "the array of $* could not be created"
  udevadm settle --timeout=30 || true
  # If these disks formed the same array before, the array contains the earlier volume group.
  wipefs -aqf "$array" >&2 || stop "the array of $* could not be erased"
  volumes="$volumes $array"
}

linux_create_pool() {
  disks=
  each_stripe add_disks
  # shellcheck disable=SC2046,SC2086 # Names of disks, separated by spaces.
  erase $disks $(spares)
  volumes=
  arrays=0
  each_stripe create_stripe
  for disk in $(spares); do
    [ "$arrays" -eq 0 ] || mdadm --quiet --add /dev/md/berth0 "/dev/$disk" >&2 || stop "$disk could not become a spare"
  done
  udevadm settle --timeout=30 || true
  # shellcheck disable=SC2086 # Paths of devices, separated by spaces.
  vgcreate --quiet --yes --addtag "berth-$server_uuid" "$pool" $volumes >&2 || stop "the volume group could not be created"
}

linux_stamp() {
  vgs --noheadings -o vg_tags "$pool" | tr ', ' '\n\n' | grep -qx "berth-$server_uuid" ||
    stop "the volume group has lost its mark"
}

# A volume has the tag berth-new until it has a file system. Without the tag, an unreadable file system is damaged and may
# contain the disks of instances.
has_new_volume() { lvs --noheadings -o lv_tags "$pool/data" | tr ', ' '\n\n' | grep -qx berth-new; }

linux_datasets() {
  vgchange --quiet -ay "$pool" >&2 || stop "the volume group could not be started"
  lvs "$pool/data" >/dev/null 2>&1 ||
    lvcreate --quiet --yes -W y --addtag berth-new -n data -l 100%FREE "$pool" >&2 ||
    stop "the volume could not be created"
  udevadm settle --timeout=30 || true
  if has_new_volume; then
    # A file system in a new volume is an earlier one: the power can fail before lvcreate has erased it.
    mkfs.ext4 -qF -L zones "/dev/$pool/data" >&2 || stop "the file system could not be created"
    lvchange --quiet --deltag berth-new "$pool/data" >&2 || stop "the volume could not lose its mark"
  fi
  [ "$(blkid -p -s TYPE -o value "/dev/$pool/data")" = ext4 ] ||
    stop "the file system of $pool/data is damaged; repair it in rescue mode (e2fsck)"
  # The same program mounts the file systems at every later boot.
  /usr/lib/berth/storage >&2 || stop "the file systems could not be mounted"
}

# /usr/lib/berth/storage mounts /opt.
linux_mount_opt() { mountpoint -q "$root/opt" || stop "/opt is not on the disks"; }
`.replaceAll("@{", "${");
