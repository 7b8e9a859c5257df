// Open connections, shared among those who open them. A new connection is a stranger's and counts for its address; a request
// with a good credential makes it the caller's. Strangers never have all, and the last of them to come takes the place of
// the oldest connection of the address that has most. A trusted proxy opens connections for others and is not limited.
// Reliability rule S-50.
import type { Socket } from "node:net";
import { CONNECTIONS_KNOWN_EACH, CONNECTIONS_STRANGER_EACH, CONNECTIONS_STRANGERS } from "../contract/limits.ts";
import { addressBucket, isOneOf } from "../lib/net/client-address.ts";
import type { Cidr } from "../lib/net/ip-address.ts";
import { createShares, type Slot } from "./shares.ts";

export type ConnectionShares = {
  /** Counts a connection that was just accepted, or closes it. */
  opened(socket: Socket): void;
  /** A request on the connection had a good credential. The socket may be the one inside TLS. */
  known(socket: Socket, caller: string): void;
};

type Open = { readonly socket: Socket; slot: Slot; isKnown: boolean };

export type ConnectionSharesOptions = {
  readonly connections_max: number;
  readonly trusted: readonly Cidr[];
};

/** Part of all connections that is kept free, so that a newcomer is accepted before another one is closed. */
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
      if (slot === null) return; // It stays a stranger's.
      entry.slot.release();
      entry.slot = slot;
      entry.isKnown = true;
      knownCount += 1;
    },
  };
}

/** The same for a TLS connection and the one below it. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
