// The program that sets up a bare machine. It runs on the machine, under its platform image, as root.
//
// The text is the same for all machines. A run fetches its values once from the booter, as lines of key, tab and value,
// and reads them as data, never as code. Every step can be repeated; a run keeps the machine's existing pool and
// datasets. The command that creates the pool also stores the machine's UUID in it, so that a later run recognizes the
// pool as this machine's. See docs/nodes.md, "The netboot path".
export const SETUP_SCRIPT: string = String.raw`#!/usr/bin/bash
# Environment: BOOTER_URL and SETUP_TOKEN. SETUP_ROOT is empty on a machine; tests set it.
set -u
set -o pipefail
umask 077
root=$(printenv SETUP_ROOT || true)
work=$root/var/tmp/setup
at=start
pool=zones
tab=$(printf '\t')

say() { printf '%s: %s\n' "$at" "$1" >&2; }

# The token is passed by a pipe: every program of the machine can see arguments.
with_token() { printf 'header = "X-Setup-Token: %s"\n' "$SETUP_TOKEN" | curl -sS --fail -K - "$@"; }

# report KIND STEP PERCENT TEXT: sends a report to the booter. It fails if the report is not accepted, for example
# because this run has ended.
report() {
  printf '%s\t%s\t%s\n%s' "$1" "$2" "$3" "$4" >"$work/report" &&
    with_token --max-time 20 -H 'Content-Type: text/plain' --data-binary "@$work/report" "$BOOTER_URL/setup/report" \
      >/dev/null
}

# insist TRIES COMMAND...: repeats a command, since the booter or the control plane may be away for a while.
insist() {
  tries=$1
  shift
  while ! "$@"; do
    tries=$((tries - 1))
    if [ "$tries" -le 0 ]; then return 1; fi
    sleep 2
  done
}

fail() {
  say "$1"
  insist 30 report failed "$at" 0 "$at: $1" || true
  exit "$2"
}
stop() { fail "$1" 1; }

step() {
  at=$1
  printf '%s\n' "$at" >&2
  report progress "$at" "$2" "" || true
}

value() { awk -F "$tab" -v key="$1" '$1 == key { print substr($0, length(key) + 2); exit }' "$work/values"; }

mkdir -p "$work" || exit 1

at=values
fetch_values() {
  with_token --max-time 60 -o "$work/values.part" "$BOOTER_URL/setup/values" &&
    mv "$work/values.part" "$work/values"
}
insist 15 fetch_values || stop "the values of this run could not be fetched"
trap 'rm -rf "$work"' EXIT
server_uuid=$(value server_uuid)
platform_stamp=$(value platform_stamp)
boot_stamp=$(value boot_image_stamp)
memory_mib=$(prtconf -m) || stop "the memory size is unknown"
case $server_uuid in ????????-????-????-????-????????????) ;; *) stop "the values of this run are damaged" ;; esac
case $memory_mib in '' | *[!0-9]*) stop "the memory size is unknown" ;; esac

# 1. The clock. Certificates need the right time, so the run fails without a time source.
step clock 5
ntp_server=$(value ntp_server)
if [ -n "$ntp_server" ]; then
  ntpdate -b -u "$ntp_server" >&2 || stop "the clock could not be set from $ntp_server"
else
  now=$(curl -sS --fail --max-time 20 "$BOOTER_URL/time") || stop "the clock could not be read from the booter"
  case $now in
  [0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]*) ;;
  *) stop "the booter's clock cannot be read" ;;
  esac
  date -u "$(printf '%s' "$now" | awk -F '[-T:.Z]' '{ print $2 $3 $4 $5 $1 "." $6 }')" >&2 ||
    stop "the clock could not be set"
fi

# 2. Check the running image and fetch the images to install, before changing any disk.
step images 10
running=$(uname -v) || stop "the running platform image is unknown"
[ "$running" = "joyent_$platform_stamp" ] || stop "the machine runs $running, not joyent_$platform_stamp"
fetch_image() {
  name=$1
  wanted=$2
  file=$work/$name
  [ -n "$wanted" ] || stop "no SHA-256 of $name was given"
  insist 5 curl -sS --fail --max-time 1800 -o "$file" "$BOOTER_URL/setup/files/$name" || stop "$name could not be fetched"
  found=$(digest -a sha256 "$file") || stop "the SHA-256 of $name could not be computed"
  [ "$found" = "$wanted" ] || stop "$name has SHA-256 $found, not $wanted"
}
fetch_image "boot-$boot_stamp.tgz" "$(value boot_image_sha256)"
fetch_image "platform-$platform_stamp.tgz" "$(value platform_image_sha256)"

# An existing pool is used if it belongs to this machine, and otherwise never changed.
step refuse_existing_pool 20
present=no
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

if [ "$present" = no ]; then
  # 3. The layout tool decides how the disks are used.
  step layout 25
  set --
  [ "$(value cache)" = true ] || set -- "$@" -c
  exclude=$(value exclude)
  [ -z "$exclude" ] || set -- "$@" -e "$exclude"
  spares=$(value spares)
  [ -z "$spares" ] || set -- "$@" -s "$spares"
  width=$(value width)
  [ -z "$width" ] || set -- "$@" -w "$width"
  disklayout "$@" "$(value layout)" >"$work/layout.json" || stop "$(tr '\n' ' ' <"$work/layout.json")"

  # The tool's output has one value per line and is indented with tabs; section names have one tab. Spares are first in
  # the output and last in the command.
  awk -F '"' '
    /^\t"/ { section = $2 }
    section == "vdevs" && ($2 == "type" || $2 == "name") { vdevs = vdevs $4 "\n" }
    section != "vdevs" && $2 == "name" { others[section] = others[section] $4 "\n" }
    END {
      printf "%s", vdevs
      if (others["logs"]) printf "log\n%s", others["logs"]
      if (others["cache"]) printf "cache\n%s", others["cache"]
      if (others["spares"]) printf "spare\n%s", others["spares"]
    }
  ' "$work/layout.json" >"$work/words" || stop "the layout cannot be read"
  [ -s "$work/words" ] || stop "the layout names no disk"

  # 4. The capacity floor.
  step capacity_floor 30
  awk -F '[:,]' -v memory="$memory_mib" '
    /^\t"capacity"/ { capacity = $2 / 1048576 }
    END { if (capacity < 2 * memory) { printf "%d MiB of memory but %d MiB of disk", memory, capacity; exit 1 } }
  ' "$work/layout.json" >"$work/floor" || stop "$(cat "$work/floor"): a pool must have twice the memory"

  # 5. The pool: the dry run gets exactly the arguments of the creation.
  step dry_run 35
  set -- -f -B -o ashift=12 -O "org.smartos:server_uuid=$server_uuid"
  compress=$(value compress)
  [ -z "$compress" ] || set -- "$@" -O "compression=$compress"
  set -- "$@" "$pool"
  while read -r word; do
    case $word in
    '' | -* | *[!A-Za-z0-9._:-]*) stop "the layout tool returned an invalid disk name" ;;
    esac
    set -- "$@" "$word"
  done <"$work/words"
  zpool create -n "$@" >&2 || stop "the pool cannot be created from these disks"

  step create_pool 40
  # The next command destroys data, so the run must still be the approved one.
  insist 5 report progress create_pool 40 "" || stop "the approval of this run could not be confirmed"
  zpool create "$@" >&2 || stop "the pool could not be created"
fi

# 6. The stamp on zones/var, before any step that may fail; then the other datasets. Existing ones are kept.
has() { zfs list -H -o name "$1" >/dev/null 2>&1; }
step stamp 45
has "$pool/var" ||
  zfs create -o "org.smartos:server_uuid=$server_uuid" -o mountpoint=legacy "$pool/var" >&2 ||
  stop "$pool/var could not be created"
zfs set "org.smartos:server_uuid=$server_uuid" "$pool/var" >&2 || stop "$pool/var could not be stamped"

step datasets 50
make() {
  name=$pool/$1
  shift
  has "$name" || zfs create "$@" "$name" >&2 || stop "$name could not be created"
}
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

# 7. The local boot tree.
step boot_tree 60
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
unpack "platform-$platform_stamp"
unpack "boot-$boot_stamp"
ln -sfn "./platform-$platform_stamp" "$tree/platform" && ln -sfn "./boot-$boot_stamp" "$tree/boot" ||
  stop "the boot tree could not be linked"
mkdir -p "$tree/etc/version" "$tree/os/$platform_stamp" || stop "the boot tree could not be created"
ln -sfn "../../platform-$platform_stamp" "$tree/os/$platform_stamp/platform" || stop "the boot tree could not be linked"
printf '%s\n' "$boot_stamp" >"$tree/etc/version/boot" || stop "the version could not be written"
console=$(value console)
{
  printf 'fstype="ufs"\nconsole="%s"\nos_console="%s"\n' "$console" "$console"
  root_shadow=$(value root_shadow)
  if [ -n "$root_shadow" ]; then printf "root_shadow='%s'\n" "$root_shadow"; fi
} >"$tree/boot/loader.conf.part" && mv "$tree/boot/loader.conf.part" "$tree/boot/loader.conf" ||
  stop "loader.conf could not be written"
zpool set "bootfs=$pool/boot" "$pool" >&2 || stop "the boot file system could not be set"

step node_config 70
config=$root/$pool/config
mkdir -p "$config" &&
  printf "hostname='%s'\nserver_uuid='%s'\n" "$(value hostname)" "$server_uuid" >"$config/node.config.part" &&
  mv "$config/node.config.part" "$config/node.config" || stop "node.config could not be written"
awk -F "$tab" '$1 == "root_authorized_key" { print substr($0, length($1) + 2) }' "$work/values" \
  >"$config/authorized_keys.part" && mv "$config/authorized_keys.part" "$config/authorized_keys" ||
  stop "the keys of root could not be written"

# The agent and its credentials, which only their owner may read.
step agent 80
mkdir -p "$root/opt" || stop "/opt could not be created"
if ! mount -p | grep -q "^$pool/opt "; then mount -F zfs "$pool/opt" "$root/opt" >&2 || stop "/opt could not be mounted"; fi
state=$root/opt/nodeagent/state
mkdir -p "$state" || stop "the agent's folder could not be created"
printf '{"server_uuid":"%s","api_key":"%s","console_ticket_key_hex":"%s","imds_token_key_hex":"%s","migrate_ticket_key_hex":"%s"}\n' \
  "$server_uuid" "$(value api_key)" "$(value console_ticket_key_hex)" "$(value imds_token_key_hex)" \
  "$(value migrate_ticket_key_hex)" >"$state/credentials.json.part" &&
  mv "$state/credentials.json.part" "$state/credentials.json" || stop "the agent's key could not be written"
insist 5 curl -sS --fail --max-time 300 -o "$work/install.sh" "$(value install_sh_url)" ||
  stop "the install script could not be fetched"
# The install script verifies the channel's signature and digests. A retry handles a channel that is replaced meanwhile.
install_agent() {
  NODEAGENT_PREFIX=$root/opt/nodeagent NODEAGENT_ENDPOINT=$(value agent_endpoint) NODEAGENT_STATE_DIR=$state \
    NODEAGENT_SERVER_UUID=$server_uuid NODEAGENT_HOSTNAME=$(value hostname) CHANNEL_URL=$(value channel_url) \
    sh "$work/install.sh" nodeagent >&2
}
insist 3 install_agent || stop "the agent could not be installed"

step boot_loader 90
bootsize=$(zpool get -H -o value bootsize "$pool") || stop "the pool's boot partition is unknown"
if [ "$bootsize" = - ]; then slice=s0; else slice=s1; fi
zpool status "$pool" >"$work/status" || stop "the pool's disks are unknown"
# Every device of the pool, also logs, caches and spares: the firmware may start from any of them.
awk '$1 == "NAME" { list = 1; next } list && NF == 0 { exit }
  list && $1 ~ /^c[0-9]/ { sub(/s[0-9]+$/, "", $1); if (!seen[$1]++) print $1 }' "$work/status" >"$work/disks"
[ -s "$work/disks" ] || stop "the pool's disks are unknown"
while read -r disk; do
  installboot -m -f -b "$tree/boot" "$tree/boot/pmbr" "$tree/boot/gptzfsboot" "/dev/rdsk/$disk$slice" >&2 ||
    stop "the boot loader could not be installed on $disk"
done <"$work/disks"

# 8. Restart only after the control plane has accepted the end.
at=complete
insist 60 report complete complete 100 "" || stop "the end of this run could not be reported"
exit 113
`;
