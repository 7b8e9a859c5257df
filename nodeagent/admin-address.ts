// Finds the node's address on the admin network: the configured address, or the local address of the route to the
// control plane. The route lookup sends no packet.
import { createSocket } from "node:dgram";
import { parseIp } from "../src/lib/net/ip-address.ts";
import { usageFailure } from "../cli/internal/failure.ts";

const LOOPBACK = 127n;
const LINK_LOCAL = 169n * 256n + 254n;

/**
 * Returns the address to report: `given` if it is set, or else `local`. Returns null if `local` is needed but is not an
 * IPv4 address that other machines can reach.
 * @param local local address of the route to the control plane; null without a route
 */
export function adminAddress({ given, local }: { given: string | null; local: string | null }): string | null {
  if (given !== null) return given;
  const ip = local === null ? null : parseIp(local);
  if (ip === null || ip.family !== 4 || ip.value === 0n) return null;
  return ip.value >> 24n === LOOPBACK || ip.value >> 16n === LINK_LOCAL ? null : local;
}

/** Throws a usage Failure unless the text is an IPv4 address. */
export function givenAddress(text: string, source: string): string {
  if (parseIp(text)?.family === 4 && !text.includes(":")) return text;
  throw usageFailure(`${source} must be an IPv4 address, not ${text}`);
}

/**
 * Returns the local address of the route to an endpoint; null without a route, or if the endpoint's name does not
 * resolve.
 */
export function localAddressTo(endpoint: string): Promise<string | null> {
  const { hostname, port, protocol } = new URL(endpoint);
  return new Promise((resolve) => {
    const socket = createSocket(hostname.startsWith("[") ? "udp6" : "udp4");
    const end = (address: string | null) => {
      resolve(address);
      try {
        socket.close();
      } catch {
        // The error closed the socket.
      }
    };
    socket.once("error", () => end(null));
    socket.once("connect", () => end(socket.address().address));
    const default_port = protocol === "https:" ? 443 : 80;
    socket.connect(port === "" ? default_port : Number(port), hostname.replace(/^\[|\]$/g, ""));
  });
}
