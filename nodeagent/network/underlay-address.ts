// Finds the node's address on the underlay, where the node sends and receives the packets of VPCs. This address is the
// configured one, or the local address of the route to the control plane. The agent stores the address: a node that
// boots without a route to the control plane needs it to build its routers.
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { parseIp } from "../../src/lib/net/ip-address.ts";
import { readPrivateFile, writeFileDurably } from "../../cli/internal/private-file.ts";
import { documentsFolder } from "./document-store.ts";

const FILE = "underlay-address";
const LOOPBACK = 127n;

/**
 * Returns the given address, or else `local`, or else the stored address; null if all are missing.
 * @param local local address of the route to the control plane; null without a route
 */
export async function underlayAddress(
  { given, local, state_dir }: {
    readonly given: string | null;
    readonly local: string | null;
    readonly state_dir: string;
  },
): Promise<string | null> {
  const path = join(documentsFolder(state_dir), FILE);
  const stored = (await readPrivateFile(path))?.trim() ?? null;
  const found = given ?? (isIpv4(local) ? local : null);
  if (found === null) return isIpv4(stored) ? stored : null;
  if (found !== stored) await writeFileDurably(path, `${found}\n`);
  return found;
}

/**
 * Returns the underlay address to register, and the MTU if it can be read. Returns {} for null, and for a loopback
 * address, which other nodes cannot reach.
 */
export async function underlayRegistration(
  address: string | null,
): Promise<{ readonly underlay_address?: string; readonly underlay_mtu?: number }> {
  const ip = address === null ? null : parseIp(address);
  if (address === null || ip === null || ip.value >> 24n === LOOPBACK) return {};
  const device = Object.entries(networkInterfaces()).find(([, all]) => all?.some((each) => each.address === address))
    ?.[0];
  const mtu = device === undefined
    ? NaN
    : Number(await readFile(`/sys/class/net/${device}/mtu`, "utf8").catch(() => NaN));
  return { underlay_address: address, ...(Number.isSafeInteger(mtu) ? { underlay_mtu: mtu } : {}) };
}

function isIpv4(text: string | null): text is string {
  return text !== null && !text.includes(":") && parseIp(text)?.family === 4;
}
