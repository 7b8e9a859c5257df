// Contains the program that sets up a bare machine. The program runs on the machine, under its platform image, as root.
//
// The text is the same for all machines. A run fetches its values once from the booter, as lines of key, tab and value,
// and reads them as data, never as code. Every step can be repeated; a run keeps the machine's existing pool and
// datasets. The command that creates the pool also stores the machine's UUID in it, so that a later run recognizes the
// pool as this machine's. See docs/nodes.md, "The netboot path".
//
// This file has the steps of all machines. The functions of SmartOS and of a Linux node image are in script-smartos.ts
// and script-linux.ts, and their names begin with the name of the system.
import { LINUX_FUNCTIONS } from "./script-linux.ts";
import { SMARTOS_FUNCTIONS } from "./script-smartos.ts";

const FIRST: string = String.raw`#!/usr/bin/bash
# Environment: BOOTER_URL, BOOTER_PEERS and SETUP_TOKEN. BOOTER_URL is the booter that sent this script. BOOTER_PEERS
# are the other booters, which continue the run if the first booter ends. SETUP_ROOT is empty on a machine; tests set
# it.
set -u
set -o pipefail
umask 077
root=$(printenv SETUP_ROOT || true)
work=$root/var/tmp/setup
at=start
pool=zones
tab=$(printf '\t')

say() { printf '%s: %s\n' "$at" "$1" >&2; }

# All booters. The booter that answered last is the first in the list.
booters="$BOOTER_URL $(printenv BOOTER_PEERS || true)"

# at_booter PATH COMMAND...: runs COMMAND with the URL of PATH at each booter in turn, until it succeeds.
at_booter() {
  path=$1
  shift
  for booter in $booters; do
    if "$@" "$booter$path"; then
      others=
      for other in $booters; do
        if [ "$other" != "$booter" ]; then others="$others $other"; fi
      done
      booters=$booter$others
      return 0
    fi
  done
  return 1
}

# at_url URL COMMAND...: runs COMMAND with URL. If a booter serves URL, the other booters may serve it, too.
at_url() {
  url=$1
  shift
  for booter in $booters; do
    case $url in
    "$booter"/*)
      at_booter "@{url#"$booter"}" "$@"
      return
      ;;
    esac
  done
  "$@" "$url"
}

# Gives up quickly on a booter that is off, since another booter may answer.
fetch() { curl -sS --fail --connect-timeout 5 "$@"; }

# The token is passed by a pipe: every program of the machine can see arguments.
with_token() { printf 'header = "X-Setup-Token: %s"\n' "$SETUP_TOKEN" | fetch -K - "$@"; }

# report KIND STEP PERCENT TEXT: sends a report to a booter. It fails if the report is not accepted, for example
# because this run has ended. The file has the process id in its name, because a script that the booter sent earlier may
# still run.
report() {
  printf '%s\t%s\t%s\n%s' "$1" "$2" "$3" "$4" >"$work/report.$$" &&
    at_booter /setup/report with_token --max-time 20 -H 'Content-Type: text/plain' \
      --data-binary "@$work/report.$$" >/dev/null
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

# The booter sends this file only to machines that boot a Linux node image.
system=smartos
if [ -f "$root/etc/berth/boot.properties" ]; then system=linux; fi
`.replaceAll("@{", "${");

const STEPS: string = String.raw`
mkdir -p "$work" || exit 1

at=values
fetch_values() {
  at_booter /setup/values with_token --max-time 60 -o "$work/values.$$" &&
    mv "$work/values.$$" "$work/values"
}
insist 15 fetch_values || stop "the values of this run could not be fetched"
trap 'rm -rf "$work"' EXIT
server_uuid=$(value server_uuid)
platform_stamp=$(value platform_stamp)
boot_stamp=$(value boot_image_stamp)
memory_mib=$("$system"_memory) || stop "the memory size is unknown"
case $server_uuid in ????????-????-????-????-????????????) ;; *) stop "the values of this run are damaged" ;; esac
case $memory_mib in '' | *[!0-9]*) stop "the memory size is unknown" ;; esac

# 1. The clock. Certificates need the right time, so the run fails without a time source.
step clock 5
ntp_server=$(value ntp_server)
if [ -n "$ntp_server" ] && [ "$system" = smartos ]; then
  ntpdate -b -u "$ntp_server" >&2 || stop "the clock could not be set from $ntp_server"
else
  now=$(at_booter /time fetch --max-time 20) || stop "the clock could not be read from the booter"
  case $now in
  [0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]*) ;;
  *) stop "the booter's clock cannot be read" ;;
  esac
  date -u "$(printf '%s' "$now" | awk -F '[-T:.Z]' '{ print $2 $3 $4 $5 $1 "." $6 }')" >&2 ||
    stop "the clock could not be set"
  # The next boot begins with the time of the hardware clock. On SmartOS, date sets that clock, too.
  if [ "$system" = linux ]; then
    busybox hwclock -u -w >&2 || say "the hardware clock could not be set, so the next boot may have a wrong time"
  fi
fi

# 2. Check the running image and fetch the images to install, before changing any disk.
step images 10
"$system"_images

# An existing pool is used if it belongs to this machine, and otherwise never changed.
step refuse_existing_pool 20
present=no
"$system"_find_pool

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
  "$system"_layout "$@" "$(value layout)" >"$work/layout.json" || stop "$(tr '\n' ' ' <"$work/layout.json")"

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

  # 5. The pool. Before the last command, which destroys data, the control plane must accept a report: it refuses the
  # reports of a run that is not approved any more.
  step dry_run 35
  while read -r word; do
    case $word in
    '' | -* | *[!A-Za-z0-9._:-]*) stop "the layout tool returned an invalid disk name" ;;
    esac
  done <"$work/words"
  "$system"_dry_run
  step create_pool 40
  insist 5 report progress create_pool 40 "" || stop "the approval of this run could not be confirmed"
  "$system"_create_pool
fi

# 6. Write the mark before any step that may fail, then create the datasets of the pool. Existing datasets are kept.
step stamp 45
"$system"_stamp
step datasets 50
"$system"_datasets

# 7. The local boot tree. A machine with a Linux node image boots from the network every time and needs no boot tree.
if [ "$system" = smartos ]; then
  step boot_tree 60
  smartos_boot_tree
fi

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
"$system"_mount_opt
state=$root/opt/nodeagent/state
mkdir -p "$state" || stop "the agent's folder could not be created"
printf '{"server_uuid":"%s","api_key":"%s","console_ticket_key_hex":"%s","imds_token_key_hex":"%s","migrate_ticket_key_hex":"%s"}\n' \
  "$server_uuid" "$(value api_key)" "$(value console_ticket_key_hex)" "$(value imds_token_key_hex)" \
  "$(value migrate_ticket_key_hex)" >"$state/credentials.json.part" &&
  mv "$state/credentials.json.part" "$state/credentials.json" || stop "the agent's key could not be written"
insist 5 at_url "$(value install_sh_url)" fetch --connect-timeout 20 --max-time 300 -o "$work/install.sh" ||
  stop "the install script could not be fetched"
# The install script verifies the channel's signature and digests. A retry handles a channel that is replaced meanwhile.
install_agent() {
  NODEAGENT_PREFIX=$root/opt/nodeagent NODEAGENT_ENDPOINT=$(value agent_endpoint) NODEAGENT_STATE_DIR=$state \
    NODEAGENT_SERVER_UUID=$server_uuid NODEAGENT_HOSTNAME=$(value hostname) CHANNEL_URL=$1 \
    sh "$work/install.sh" nodeagent >&2
}
insist 3 at_url "$(value channel_url)" install_agent || stop "the agent could not be installed"

if [ "$system" = smartos ]; then
  step boot_loader 90
  smartos_boot_loader
fi

# 8. Restart only after the control plane has accepted the end. From then on, only this machine has the agent's key, so
# the files must be on the disk before the report.
at=complete
sync || stop "the files could not be written to the disk"
insist 60 report complete complete 100 "" || stop "the end of this run could not be reported"
exit 113
`;

export const SETUP_SCRIPT: string = FIRST + SMARTOS_FUNCTIONS + LINUX_FUNCTIONS + STEPS;
