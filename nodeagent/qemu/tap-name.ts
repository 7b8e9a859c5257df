// Names the tap device of a NIC by the NIC's MAC address, so that the tap can be found without a table.

/** Returns the name of the tap of a NIC, 13 characters: Linux allows 15. */
export function tapName(mac: string): string {
  return `t${mac.toLowerCase().replaceAll(":", "")}`;
}
