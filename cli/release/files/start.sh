#!/bin/sh
# Starts the control plane with the permissions that its configuration needs (src/permissions.ts). The arguments of
# src/start.ts are Deno flags for the processes that it starts.
set -eu
cd /usr/lib/berth
# The script sets BERTH_CONNECTIONS_MAX if the variable is empty and the machine has a suitable limit. Each connection
# is an open file. The server needs 1,000 other files, so it can have 1,000 connections less than the limit of open
# files. A limit that is at most 2,000, above 1,000,000 or absent does not count.
files=$(ulimit -Hn)
[ "$files" != unlimited ] || files=0
connections=0
[ "$files" -le 2000 ] || [ "$files" -gt 1000000 ] || connections=$((files - 1000))
# In a container with a memory limit, 256 MiB are for the server itself, and 60 KB for each connection
# (docs/capacity.md). This allows at least 1,000 connections, because even a small site needs them.
# The limit is in the first file with cgroup v2, and in the second file with cgroup v1.
memory=max
for limit in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
  [ ! -r "$limit" ] || read -r memory < "$limit"
done
if [ "$memory" != max ]; then
  room=$(((memory - 268435456) / 60000))
  [ "$room" -ge 1000 ] || room=1000
  if [ "$connections" -gt "$room" ] || { [ "$connections" -eq 0 ] && [ "$room" -lt 15000 ]; }; then connections=$room; fi
fi
if [ -z "${BERTH_CONNECTIONS_MAX:-}" ] && [ "$connections" -gt 0 ]; then export BERTH_CONNECTIONS_MAX=$connections; fi
set -- bin/deno run --no-prompt --no-remote --no-lock --config=deno.json
permissions=$("$@" --allow-env --allow-read src/permissions.ts)
# Word splitting is intended: permissions contain no spaces.
exec "$@" $permissions src/start.ts --no-prompt --no-remote --no-lock --config=deno.json
