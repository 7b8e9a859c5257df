#!/bin/sh
# Starts the agent with the settings that install.sh wrote. The values of settings are not run as shell code. systemd
# and SMF restart the agent. BERTH_DRIVER chooses the agent's driver, and BERTH_NIC_TAGS names the machine's networks.
set -eu
home=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
value() { awk -F '\t' -v key="$1" '$1 == key { print substr($0, length(key) + 2); exit }' "$home/etc/nodeagent.conf"; }
server_uuid=$(value server_uuid)
hostname=$(value hostname)
set -- run --endpoint "$(value endpoint)" --state-dir "$(value state_dir)"
[ -z "$server_uuid" ] || set -- "$@" --server-uuid "$server_uuid"
[ -z "${BERTH_DRIVER:-}" ] || set -- "$@" --driver "$BERTH_DRIVER"
[ -z "${BERTH_NIC_TAGS:-}" ] || set -- "$@" --nic-tags "$BERTH_NIC_TAGS"
[ -z "$hostname" ] || set -- "$@" --hostname "$hostname"
exec "$home/bin/nodeagent" "$@"
