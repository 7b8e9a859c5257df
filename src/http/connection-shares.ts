// Divides the open connections among their sources (docs/reliability.md, S-50). A source can have only a limited number
// of connections, its share. A new connection belongs to a stranger and counts against the share of its address. A
// request with a valid credential moves the connection to the caller's share, unless this share is full. Strangers can
// never have all connections. At their limit, a new connection replaces the oldest connection of the address that has
// the most connections. If the new connection's own address has the most connections, the server closes the new
// connection. Trusted proxies are not limited.
import type { Socket } from "node:net";
import { CONNECTIONS_KNOWN_EACH, CONNECTIONS_STRANGER_EACH, CONNECTIONS_STRANGERS } from "../contract/limits.ts";
import { addressBucket, isOneOf } from "../lib/net/client-address.ts";
import type { Cidr } from "../lib/net/ip-address.ts";
import { createShares, type Slot } from "./shares.ts";

export type ConnectionShares = {
  /**
   * Counts a new connection, or closes it if its address gets no slot. Does not count connections of trusted proxies.
   */
  opened(socket: Socket): void;
  /** Moves the connection to the share of an authenticated caller. The socket may be the TLS socket. */
  known(socket: Socket, caller: string): void;
};

type Open = { readonly socket: Socket; slot: Slot; isKnown: boolean };

export type ConnectionSharesOptions = {
  readonly connections_max: number;
  readonly trusted: readonly Cidr[];
};

/**
 * The fraction of all connections that stays free, so that a new connection can be accepted before another one is
 * closed.
 */
const FREE = 1 / 20;

export function createConnectionShares({ connections_max, trusted }: ConnectionSharesOptions): ConnectionShares {
  const free = Math.max(1, Math.floor(connections_max * FREE));
  const part = (of: number) => Math.max(1, Math.floor(connections_max * of));
  let knownCount = 0;
  const strangers = createShares({
    total_max: () => Math.min(part(CONNECTIONS_STRANGERS), Math.max(1, connections_max - free - knownCount)),
    each_max: part(CONNECTIONS_STRANGER_EACH),
  });
  const known = createShares({ total_max: () => connections_max - free, each_max: part(CONNECTIONS_KNOWN_EACH) });
  const open = new Map<string, Open>();

  return {
    opened(socket) {
      const { remoteAddress } = socket;
      if (remoteAddress === undefined || isOneOf(remoteAddress, trusted)) return;
      const slot = strangers.take(addressBucket(remoteAddress), 1, () => socket.destroy());
      if (slot === null) return void socket.destroy();
      const name = nameOf(socket);
      const entry: Open = { socket, slot, isKnown: false };
      open.set(name, entry);
      socket.once("close", () => {
        entry.slot.release();
        if (entry.isKnown) knownCount -= 1;
        if (open.get(name) === entry) open.delete(name);
      });
    },
    known(socket, caller) {
      const entry = open.get(nameOf(socket));
      if (entry === undefined || entry.isKnown || entry.socket.destroyed) return;
      const slot = known.take(caller, 1, () => entry.socket.destroy());
      if (slot === null) return; // The connection still counts as a stranger's.
      entry.slot.release();
      entry.slot = slot;
      entry.isKnown = true;
      knownCount += 1;
    },
  };
}

/** Returns a name that is the same for a TLS socket and the TCP socket below it. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
