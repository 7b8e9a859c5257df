#!/bin/sh
# Starts the control plane with the permissions that its configuration needs (src/permissions.ts). The arguments of
# src/start.ts are flags for its child processes.
set -eu
cd /usr/lib/berth
# Each node agent takes two connections; 1000 open files are reserved for other uses. Without a limit, or with a limit
# above the setting's maximum, the setting's default applies.
files=$(ulimit -Hn)
[ "$files" != unlimited ] || files=0
if [ -z "${BERTH_CONNECTIONS_MAX:-}" ] && [ "$files" -gt 2000 ] && [ "$files" -le 1000000 ]; then
  export BERTH_CONNECTIONS_MAX=$((files - 1000))
fi
set -- bin/deno run --no-prompt --no-remote --no-lock --config=deno.json
permissions=$("$@" --allow-env --allow-read src/permissions.ts)
# Not quoted, to split the list: a permission contains no spaces.
exec "$@" $permissions src/start.ts --no-prompt --no-remote --no-lock --config=deno.json
