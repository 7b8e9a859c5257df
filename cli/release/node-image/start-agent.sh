#!/bin/sh
# Starts the agent that the setup installed, with QEMU, and with the NIC tags of the boot record.
# With `auto`, a machine that cannot run virtual machines would simulate them.
export BERTH_DRIVER=qemu
if [ -s /run/berth/nic-tags ]; then
  BERTH_NIC_TAGS=$(cat /run/berth/nic-tags)
  export BERTH_NIC_TAGS
fi
exec /opt/nodeagent/lib/nodeagent/start
