// The tap device of a NIC has the NIC's MAC address in its name, so that it can be found without a table.

/** Returns the name of the tap of a NIC, 13 characters: Linux allows 15. */
export function tapName(mac: string): string {
  return `t${mac.toLowerCase().replaceAll(":", "")}`;
}
