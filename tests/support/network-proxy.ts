// A network that fails on demand: TCP between a process and what it speaks to, on loopback. It can be slow, cut a
// connection in the middle of its bytes, swallow everything for a while, and let one side go without telling the other.
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
  /** Connections that are open now. */
  open(): number;
  /** Of these, the ones whose client has given up, which the server has not been told yet. */
  abandoned(): number;
  /** Every piece, either way, from now on. */
  delay(duration_ms: number): void;
  /** Nothing passes and nobody is told, in old and new connections, until it heals. */
  silence(): void;
  heal(): void;
  /** Each open connection is cut after so many more bytes in this direction. */
  cutAfter(direction: Direction, bytes: number): void;
  /** This side of each open connection is gone; the other one is not told, and whatever it sends is lost. */
  loseSide(side: Side): void;
  close(): Promise<void>;
};

export type ProxyOptions = {
  readonly target_port: number;
  /** Called for each connection. */
  readonly watch?: () => Watch;
};

const HOST = "127.0.0.1";
const everything: Watch = (_direction, bytes) => ({ pass: bytes });

export async function openProxy({ target_port, watch = () => everything }: ProxyOptions): Promise<NetworkProxy> {
  const weather = { delay_ms: 0, silent: false, counters: newCounters() };
  const links = new Set<Link>();
  const server = createServer((client) => {
    const link: Link = openLink({
      sides: { client, server: connect({ host: HOST, port: target_port }) },
      weather,
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
    counters: weather.counters,
    open: () => links.size,
    abandoned: () => [...links].filter((link) => link.isAbandoned()).length,
    delay: (duration_ms) => void (weather.delay_ms = duration_ms),
    silence: () => void (weather.silent = true),
    heal() {
      weather.silent = false;
      weather.delay_ms = 0;
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
