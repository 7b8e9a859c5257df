// Opens a TCP proxy on loopback that simulates network failures. The proxy can delay bytes, cut a connection after some
// bytes, withhold all bytes for a while, and drop one side of a connection without notifying the other.
import { type AddressInfo, connect, createServer } from "node:net";
import {
  type Counters,
  type Direction,
  type Link,
  newCounters,
  openLink,
  type Side,
  type Watch,
} from "./network-link.ts";

export type NetworkProxy = {
  readonly port: number;
  readonly counters: Readonly<Counters>;
  /** Returns the number of open connections. */
  open(): number;
  /** Returns the number of connections that the client has closed and the server still has open. */
  abandoned(): number;
  /** Delays all bytes in both directions, until heal(). */
  delay(duration_ms: number): void;
  /** Withholds all bytes of old and new connections, without an error, until heal(). */
  silence(): void;
  /** Ends the silence and the delay. */
  heal(): void;
  /** Cuts each open connection after `bytes` more bytes in this direction. */
  cutAfter(direction: Direction, bytes: number): void;
  /**
   * Drops this side of each open connection without notifying the other side. Bytes that the other side sends are lost.
   */
  loseSide(side: Side): void;
  close(): Promise<void>;
};

export type ProxyOptions = {
  readonly target_port: number;
  /** Returns the function that inspects a new connection. */
  readonly watch?: () => Watch;
};

const HOST = "127.0.0.1";
const everything: Watch = (_direction, bytes) => ({ pass: bytes });

export async function openProxy({ target_port, watch = () => everything }: ProxyOptions): Promise<NetworkProxy> {
  const network = { delay_ms: 0, silent: false, counters: newCounters() };
  const links = new Set<Link>();
  const server = createServer((client) => {
    const link: Link = openLink({
      sides: { client, server: connect({ host: HOST, port: target_port }) },
      network,
      watch: watch(),
      over: () => links.delete(link),
    });
    links.add(link);
  });
  await new Promise<void>((done, fail) => {
    server.once("error", fail);
    server.listen(0, HOST, done);
  });
  return {
    port: (server.address() as AddressInfo).port,
    counters: network.counters,
    open: () => links.size,
    abandoned: () => [...links].filter((link) => link.isAbandoned()).length,
    delay: (duration_ms) => void (network.delay_ms = duration_ms),
    silence: () => void (network.silent = true),
    heal() {
      network.silent = false;
      network.delay_ms = 0;
      for (const link of links) link.drain();
    },
    cutAfter: (direction, bytes) => links.forEach((link) => link.cutAfter(direction, bytes)),
    loseSide: (side) => links.forEach((link) => link.lose(side)),
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        for (const link of links) link.destroy();
      }),
  };
}
