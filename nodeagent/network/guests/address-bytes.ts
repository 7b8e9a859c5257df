// Converts an IP address to the bytes that packets contain.
import { parseIp } from "../../../src/lib/net/ip-address.ts";

/** Returns the 4 or 16 bytes of an address in canonical form. */
export function addressBytes(address: string): number[] {
  const ip = parseIp(address)!;
  const length = ip.family === 4 ? 4 : 16;
  return Array.from({ length }, (_, index) => Number(ip.value >> BigInt(8 * (length - 1 - index)) & 0xffn));
}
