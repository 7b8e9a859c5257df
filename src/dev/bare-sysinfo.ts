// Builds the inventory of a simulated bare machine: one small disk, and two larger disks of equal size, which can form
// a mirror.

export type BareIdentity = {
  readonly server_uuid: string;
  readonly hostname: string;
  readonly mac: string;
  readonly serial_number: string;
};

/** Returns an inventory with the keys of the platform's own sysinfo. */
export function bareSysinfo({ server_uuid, hostname, mac, serial_number }: BareIdentity) {
  return {
    "UUID": server_uuid,
    "Hostname": hostname,
    "Serial Number": serial_number,
    "MiB of Memory": 65_536,
    "CPU Core Count": 16,
    "Disks": {
      "c0t0d0": { "Size in GB": 480 },
      "c0t1d0": { "Size in GB": 4_000 },
      "c0t2d0": { "Size in GB": 4_000 },
    },
    "Network Interfaces": { "net0": { "MAC Address": mac, "Link Status": "up", "NIC Names": ["admin"] } },
  };
}
