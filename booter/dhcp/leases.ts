// Stores the addresses that another DHCP server gave to machines, for mode = "proxy". The booter learns the addresses
// from the machines' broadcast REQUESTs and from the requests to port 4011. The addresses survive a restart of the
// booter, because a machine loads its files long after its request. An address proves no identity, because a machine
// can name any address.
import { join } from "node:path";
import { canonicalMac } from "../../src/lib/net/mac.ts";
import { ipv4Number } from "../ipv4.ts";
import { TRANSACTIONS_MAX } from "../limits.ts";
import { readOwn, writeDurably } from "../private-file.ts";

export type Leases = {
  /** Records the address of a machine, and removes the address from any other machine that had it. */
  learned(mac: string, address: string): void;
  addressOf(mac: string): string | null;
  macOf(address: string): string | null;
  /** Waits until all addresses learned so far are on disk. A failed write is ignored. */
  saved(): Promise<void>;
};

/**
 * Stores nothing. It is used for mode = "server", where the booter itself gives machines the addresses of their
 * records.
 */
export const NO_LEASES: Leases = {
  learned: () => {},
  addressOf: () => null,
  macOf: () => null,
  saved: () => Promise.resolve(),
};

export async function openLeases(state_dir: string, max = TRANSACTIONS_MAX): Promise<Leases> {
  const path = join(state_dir, "leases.json");
  const addresses = new Map(await readLeases(path));
  const macs = new Map([...addresses].map(([mac, address]) => [address, mac]));
  let writing: Promise<void> | null = null;
  let is_dirty = false;

  function forget(mac: string): void {
    const address = addresses.get(mac);
    if (address !== undefined) macs.delete(address);
    addresses.delete(mac);
  }

  async function write(): Promise<void> {
    // Leases that are learned during a write are all written by the next write.
    while (is_dirty) {
      is_dirty = false;
      await writeDurably(path, `${JSON.stringify([...addresses])}\n`).catch(() => {});
    }
    writing = null;
  }

  return {
    learned(mac, address) {
      if (addresses.get(mac) === address) return;
      forget(mac);
      const before = macs.get(address);
      if (before !== undefined) forget(before);
      if (addresses.size >= max) forget(addresses.keys().next().value!);
      addresses.set(mac, address);
      macs.set(address, mac);
      is_dirty = true;
      writing ??= write();
    },
    addressOf: (mac) => addresses.get(mac) ?? null,
    macOf: (address) => macs.get(address) ?? null,
    saved: () => writing ?? Promise.resolve(),
  };
}

/**
 * Returns the leases in the file, or none if the file is missing or damaged. The booter then learns each lease again
 * when its machine starts.
 */
async function readLeases(path: string): Promise<[string, string][]> {
  try {
    const list = JSON.parse(await readOwn(path) ?? "[]") as unknown;
    if (!Array.isArray(list)) return [];
    return list.filter((each): each is [string, string] =>
      Array.isArray(each) && typeof each[0] === "string" && canonicalMac(each[0]) === each[0] &&
      typeof each[1] === "string" && ipv4Number(each[1]) !== null
    );
  } catch {
    return [];
  }
}
