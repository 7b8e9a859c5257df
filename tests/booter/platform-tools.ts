// Installs fake platform tools for tests with a temporary root folder. The tools store which pools and datasets exist,
// and log every call. They fail at the call that a test chooses, and refuse arguments that the real tools would refuse.
// If the file `hold` in the state folder contains the name of a tool, the tool creates the file `held` and waits until
// `hold` is deleted.
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

const TOOLS = [
  "zpool",
  "zfs",
  "disklayout",
  "dumpadm",
  "swap",
  "installboot",
  "prtconf",
  "uname",
  "date",
  "ntpdate",
  "digest",
  "mount",
  "sync",
  "busybox",
  "mdadm",
  "udevadm",
  "vgs",
  "lsblk",
  "nodeagent",
];

const PROGRAM = String.raw`#!/usr/bin/env bash
set -u
name=@{0##*/}
call="$name $*"
printf '%s\n' "$call" >>"$STATE/calls"
if [ -f "$STATE/fail_at" ]; then
  mapfile -t before <"$STATE/calls"
  read -r fail_at <"$STATE/fail_at"
else fail_at=-1; fi
if [ "$fail_at" -gt 0 ] && [ "@{#before[@]}" -eq "$fail_at" ]; then
  echo "$name: made to fail" >&2
  exit 1
fi
if [ -f "$STATE/hold" ] && [ "$(cat "$STATE/hold")" = "$name" ]; then
  touch "$STATE/held"
  while [ -f "$STATE/hold" ]; do PATH=/usr/bin:/bin sleep 0.05; done
fi
unknown() {
  printf '%s\n' "$call" >>"$STATE/unknown"
  exit 99
}
dataset() { printf '%s/datasets/%s' "$STATE" "@{1//\//+}"; }
case "$name @{1-}" in
"sync ") [ $# -eq 0 ] || unknown ;;
"zpool list")
  [ "$*" = "list -H -o name zones" ] || unknown
  [ -f "$STATE/pool" ] || { echo "cannot open 'zones': no such pool" >&2; exit 1; }
  echo zones ;;
"zpool import")
  if [ $# -eq 1 ]; then
    [ -f "$STATE/exported" ] || { echo "no pools available to import" >&2; exit 1; }
    printf '   pool: zones\n     id: 123\n  state: ONLINE\n'
  elif [ "$*" = "import -N -f zones" ]; then
    [ -f "$STATE/exported" ] && [ ! -f "$STATE/damaged" ] || exit 1
    mv "$STATE/exported" "$STATE/pool"
  else unknown; fi ;;
"zpool export")
  [ "$*" = "export zones" ] || unknown
  mv "$STATE/pool" "$STATE/exported" ;;
"zpool create")
  shift
  dry=no
  if [ "$1" = -n ]; then dry=yes; shift; fi
  rest="$*"
  if [ $dry = yes ]; then printf '%s\n' "$rest" >"$STATE/dry"; [ ! -f "$STATE/refuse_layout" ] || exit 1; exit 0; fi
  [ -f "$STATE/pool" ] && { echo "cannot create 'zones': pool already exists" >&2; exit 1; }
  [ "$rest" = "$(cat "$STATE/dry")" ] || { echo "not what the dry run had" >&2; exit 1; }
  echo made >>"$STATE/created"
  touch "$STATE/pool" "$(dataset zones)"
  stamp=$(printf '%s' "$rest" | sed -n 's/.*org.smartos:server_uuid=\([^ ]*\).*/\1/p')
  printf '%s' "$stamp" >"$(dataset zones)"
  printf '%s' "$rest" | sed 's/.* zones //' >"$STATE/words" ;;
"zpool set") [ "$*" = "set bootfs=zones/boot zones" ] || unknown ;;
"zpool get") [ "$*" = "get -H -o value bootsize zones" ] || unknown; echo 256M ;;
"zpool status")
  printf '  pool: zones\n state: ONLINE\nconfig:\n\n\tNAME STATE READ\n\tzones ONLINE 0\n\t  mirror-0 ONLINE 0\n'
  printf '\t    c1t0d0 ONLINE 0\n\t    c1t1d0s1 ONLINE 0\n\tlogs\n\t  c2t9d0 ONLINE 0\n\tcache\n\t  c2t0d0s1 ONLINE 0\n'
  printf '\t  c2t1d0 ONLINE 0\n\tspares\n\t  c1t4d0 AVAIL\n\t  c1t0d0 INUSE\n\nerrors: c9t9d0 has none\n' ;;
"zfs list") [ "$2 $3 $4" = "-H -o name" ] || unknown; [ -f "$(dataset "$5")" ] || exit 1; echo "$5" ;;
"zfs get")
  [ "$2 $3 $4 $5" = "-H -o value org.smartos:server_uuid" ] || unknown
  [ -f "$(dataset "$6")" ] || exit 1
  stamp=$(cat "$(dataset "$6")")
  [ -n "$stamp" ] || stamp=$(cat "$(dataset zones)")
  echo "$([ -n "$stamp" ] && echo "$stamp" || echo -)" ;;
"zfs create")
  shift
  stamp=
  while [ $# -gt 1 ]; do
    case $1 in
    -o) case $2 in org.smartos:server_uuid=*) stamp=$(printf '%s' "$2" | cut -d= -f2) ;; esac; shift 2 ;;
    -V) shift 2 ;;
    *) unknown ;;
    esac
  done
  [ -f "$(dataset "$1")" ] && { echo "exists" >&2; exit 1; }
  printf '%s' "$stamp" >"$(dataset "$1")" ;;
"zfs set") case $2 in org.smartos:server_uuid=*) printf '%s' "$2" | cut -d= -f2 | tr -d '\n' >"$(dataset "$3")" ;; *) unknown ;; esac ;;
"zfs mount") [ "$*" = "mount -a" ] || unknown; mkdir -p "$SETUP_ROOT/zones/boot" "$SETUP_ROOT/zones/config" ;;
"disklayout "*)
  while [ $# -gt 1 ]; do case $1 in -c) shift ;; -e | -s | -w) shift 2 ;; *) unknown ;; esac; done
  case $1 in single | mirror | raidz1 | raidz2 | raidz3) ;; *) unknown ;; esac
  if [ -f "$STATE/layout_error" ]; then printf 'fatal error: %s\n' "$(cat "$STATE/layout_error")"; exit 255; fi
  cat "$STATE/layout.json" ;;
"dumpadm -y") [ "$*" = "-y -d /dev/zvol/dsk/zones/dump" ] || unknown ;;
"swap -l") [ -f "$STATE/swap" ] && echo "/dev/zvol/dsk/zones/swap 1" || echo "No swap devices configured" ;;
"swap -a") [ "$2" = /dev/zvol/dsk/zones/swap ] || unknown; touch "$STATE/swap" ;;
"installboot -m") [ "$2 $3" = "-f -b" ] && [ $# -eq 7 ] || unknown ;;
"prtconf -m") echo 1024 ;;
"uname -v") cat "$STATE/running" ;;
"uname -s" | "uname -m") PATH=/usr/bin:/bin uname "$1" ;;
"date -u") [ $# -eq 2 ] || unknown ;;
"busybox hwclock") [ "$*" = "hwclock -u -w" ] || unknown ;;
"ntpdate -b") [ $# -eq 3 ] || unknown ;;
"mdadm --assemble") [ "$*" = "--assemble --scan --config=partitions" ] || unknown ;;
"udevadm settle") ;;
"vgs --noheadings") [ "$*" = "--noheadings -o vg_name,vg_tags" ] || unknown; [ ! -f "$STATE/groups" ] || cat "$STATE/groups" ;;
"lsblk -nPpo") [ "$*" = "-nPpo NAME,FSTYPE,LABEL" ] || unknown; [ ! -f "$STATE/contents" ] || cat "$STATE/contents" ;;
"lsblk -nro")
  [ $# -eq 3 ] && [ "$2" = TYPE ] || unknown
  echo disk
  if [ -f "$STATE/started" ] && grep -qx "$3" "$STATE/started"; then echo raid5; fi ;;
"nodeagent netboot") echo "fatal error: no disks" && exit 255 ;;
"digest -a") [ "$2" = sha256 ] || unknown; sha256sum "$3" | cut -d' ' -f1 ;;
"mount -p") [ -f "$STATE/opt_mounted" ] && echo "zones/opt - /opt zfs - no rw" || true ;;
"mount -F") [ "$2 $3" = "zfs zones/opt" ] || unknown; touch "$STATE/opt_mounted" ;;
*) unknown ;;
esac
`.replaceAll("@{", "${");

// The fake `ln` logs no call. It ignores -n, because the `ln` of illumos follows a target that is a link to a folder
// even with -n.
const LN = String.raw`#!/usr/bin/env bash
case $1 in -*) set -- "@{1//n/}" "@{@:2}" ;; esac
PATH=/usr/bin:/bin exec ln "$@"
`.replaceAll("@{", "${");

/** The output of the layout tool for two mirrors of two disks each, a log, two cache disks and a spare. */
export const LAYOUT = {
  spares: [{ name: "c1t4d0", vid: "V", pid: "P", size: 4_000_000_000_000, solid_state: false }],
  vdevs: [["c1t0d0", "c1t1d0"], ["c1t2d0", "c1t3d0"]].map((names) => ({
    type: "mirror",
    devices: names.map((name) => ({ name, vid: "V", pid: "P", size: 4_000_000_000_000, solid_state: false })),
  })),
  capacity: 8_000_000_000_000,
  logs: [{ name: "c2t9d0", size: 100, solid_state: true }],
  cache: [{ name: "c2t0d0", size: 100, solid_state: true }, { name: "c2t1d0", size: 100, solid_state: true }],
};

export type Platform = { readonly bin: string; readonly state: string };

/** Installs the fake tools in a folder. Returns the folder of the programs and the folder of their state. */
export async function installTools(folder: string, stamp: string): Promise<Platform> {
  const [bin, state] = [join(folder, "bin"), join(folder, "state")];
  await mkdir(bin, { recursive: true });
  await mkdir(join(state, "datasets"), { recursive: true });
  await writeFile(join(bin, "tool"), PROGRAM);
  await chmod(join(bin, "tool"), 0o755);
  // The fake `sleep` returns at once and logs no call.
  await writeFile(join(bin, "sleep"), "#!/bin/sh\n");
  await chmod(join(bin, "sleep"), 0o755);
  await writeFile(join(bin, "ln"), LN);
  await chmod(join(bin, "ln"), 0o755);
  for (const name of TOOLS) await symlink("tool", join(bin, name));
  await writeFile(join(state, "running"), `joyent_${stamp}\n`);
  await writeFile(join(state, "layout.json"), `${JSON.stringify(LAYOUT, null, "\t")}\n`);
  await writeFile(join(state, "calls"), "");
  return { bin, state };
}
