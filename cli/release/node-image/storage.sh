#!/bin/sh
# Starts the storage of this node: the volume group "zones" that has the mark of this machine's UUID. A group of another
# machine is not used, and a machine without a group has not been set up yet.
set -u
server_uuid=$(tr 'A-F' 'a-f' < /sys/class/dmi/id/product_uuid)
mdadm --assemble --scan --config=partitions --no-degraded > /dev/null 2>&1 || true
# An array that lacks a disk is started too, because the node must start after a disk has failed.
mdadm --assemble --scan --config=partitions --run > /dev/null 2>&1 || true
vgs --noheadings -o vg_tags zones 2> /dev/null | tr ', ' '\n\n' | grep -qx "berth-$server_uuid" || {
  echo "this machine has not been set up: no volume group has the mark of its UUID" >&2
  exit 1
}
vgchange --quiet -ay zones > /dev/null || exit 1
udevadm settle --timeout=30 || true
mkdir -p /zones
mountpoint -q /zones || mount /dev/zones/data /zones || exit 1
mkdir -p /zones/opt /zones/vm /zones/ssh /zones/config /opt /var/lib/berth
# The users of the virtual machines must be able to enter this folder. The setup calls this program with a strict umask.
chmod 711 /zones/vm
mountpoint -q /opt || mount --bind /zones/opt /opt || exit 1
mountpoint -q /var/lib/berth || mount --bind /zones/vm /var/lib/berth || exit 1
# A node keeps its own host keys for sshd. They are created at its first start.
[ -f /zones/ssh/ssh_host_ed25519_key ] || ssh-keygen -q -t ed25519 -N '' -f /zones/ssh/ssh_host_ed25519_key || exit 1
cp -p /zones/ssh/ssh_host_ed25519_key /zones/ssh/ssh_host_ed25519_key.pub /run/berth/ || exit 1
mkdir -p -m 700 /root/.ssh
# The agent later replaces the stored file and this copy, so a key that an operator removes disappears from both.
if [ -f /zones/config/authorized_keys ]; then cp /zones/config/authorized_keys /root/.ssh/authorized_keys2; fi
# The fingerprint is on the console, so that an operator can compare it before the first login.
ssh-keygen -lf /zones/ssh/ssh_host_ed25519_key
