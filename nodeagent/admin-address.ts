// The node's address on the admin network: what its operator says, or else the address by which this machine reaches the
// control plane. A route is asked for; no packet is sent.
import { createSocket } from "node:dgram";
import { parseIp } from "../src/lib/net/ip-address.ts";
import { usageFailure } from "../cli/internal/failure.ts";

const LOOPBACK = 127n;
const LINK_LOCAL = 169n * 256n + 254n;

/**
 * The address to report, or null for none: an address that other machines cannot reach this one by is not reported.
 * @param local the local end of the way to the control plane; null when there is no way
 */
export function adminAddress({ given, local }: { given: string | null; local: string | null }): string | null {
  if (given !== null) return given;
  const ip = local === null ? null : parseIp(local);
  if (ip === null || ip.family !== 4 || ip.value === 0n) return null;
  return ip.value >> 24n === LOOPBACK || ip.value >> 16n === LINK_LOCAL ? null : local;
}

/** Throws a usage Failure for anything but an IPv4 address. */
export function givenAddress(text: string, source: string): string {
  if (parseIp(text)?.family === 4 && !text.includes(":")) return text;
  throw usageFailure(`${source} is not an IPv4 address`);
}

/** The local end of the way to an http or https endpoint; null when its name is not known or there is no way. */
export function localAddressTo(endpoint: string): Promise<string | null> {
  const { hostname, port, protocol } = new URL(endpoint);
  return new Promise((resolve) => {
    const socket = createSocket(hostname.startsWith("[") ? "udp6" : "udp4");
    const end = (address: string | null) => {
      resolve(address);
      try {
        socket.close();
      } catch {
        // It was closed by its error.
      }
    };
    socket.once("error", () => end(null));
    socket.once("connect", () => end(socket.address().address));
    const default_port = protocol === "https:" ? 443 : 80;
    socket.connect(port === "" ? default_port : Number(port), hostname.replace(/^\[|\]$/g, ""));
  });
}
