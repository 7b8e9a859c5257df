#!/bin/sh
# Starts the control plane with the permissions that its configuration needs, as src/permissions.ts lists them. The
# arguments of src/start.ts are flags for the processes that it starts.
set -eu
cd /usr/lib/berth
# Two connections for each node agent; the rest of the files that it may open are for everything else. Where there is no
# limit, or one beyond what the setting takes, the standard of the setting holds.
files=$(ulimit -Hn)
[ "$files" != unlimited ] || files=0
if [ -z "${BERTH_CONNECTIONS_MAX:-}" ] && [ "$files" -gt 2000 ] && [ "$files" -le 1000000 ]; then
  export BERTH_CONNECTIONS_MAX=$((files - 1000))
fi
set -- bin/deno run --no-prompt --no-remote --no-lock --config=deno.json
permissions=$("$@" --allow-env --allow-read src/permissions.ts)
# Each is a word: a permission holds no blank.
exec "$@" $permissions src/start.ts --no-prompt --no-remote --no-lock --config=deno.json
