#!/bin/sh
# Starts the agent that the setup installed, with QEMU.
export BERTH_DRIVER=auto
exec /opt/nodeagent/lib/nodeagent/start
