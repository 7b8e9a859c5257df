#!/bin/sh
# Starts the control plane with the permissions that its configuration needs (src/permissions.ts). The arguments of
# src/start.ts are Deno flags for the processes that it starts.
set -eu
cd /usr/lib/berth
# Each node agent needs two connections. So the server may have 1,000 connections less than the limit of open files. If
# there is no limit, or if it is at most 2,000 or above 1,000,000, the default of BERTH_CONNECTIONS_MAX applies.
files=$(ulimit -Hn)
[ "$files" != unlimited ] || files=0
if [ -z "${BERTH_CONNECTIONS_MAX:-}" ] && [ "$files" -gt 2000 ] && [ "$files" -le 1000000 ]; then
  export BERTH_CONNECTIONS_MAX=$((files - 1000))
fi
set -- bin/deno run --no-prompt --no-remote --no-lock --config=deno.json
permissions=$("$@" --allow-env --allow-read src/permissions.ts)
# Word splitting is intended: permissions contain no spaces.
exec "$@" $permissions src/start.ts --no-prompt --no-remote --no-lock --config=deno.json
