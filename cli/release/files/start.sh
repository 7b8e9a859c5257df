#!/bin/sh
# Starts the control plane with the permissions that its configuration needs, as src/permissions.ts lists them.
set -eu
cd /usr/lib/berth
set -- bin/deno run --no-prompt --no-remote --no-lock --config=deno.json
permissions=$("$@" --allow-env src/permissions.ts)
# Each is a word: a permission holds no blank.
exec "$@" $permissions src/serve.ts
