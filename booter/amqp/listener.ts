// Serves the AMQP broker on TCP, on one port of all the booter's addresses. The limits of connections and the
// identities of machines apply to all these addresses together. A peer may open only a few connections from one IP
// address, so it cannot use up the connections of the broker. A login closes the earlier connection that logged in from
// the same IP address. The broker closes a connection that has not finished the login and connection.open within ten
// seconds. The broker also disconnects a peer that is silent for more than two heartbeat intervals, so that a dead
// connection does not keep its machine's identity from the machine's next connection. If a peer asks for no heartbeats,
// only TCP checks whether the peer still exists.
import type { Buffer } from "node:buffer";
import { createServer, type Server, type Socket } from "node:net";
import type { Counters } from "../counters.ts";
import { peerText } from "../ipv4.ts";
import {
  AMQP_CONNECTIONS_MAX,
  AMQP_CONNECTIONS_PER_CLIENT_MAX,
  AMQP_HEARTBEAT_S,
  AMQP_HELD_BYTES_MAX,
  AMQP_HELD_BYTES_PER_CLIENT_MAX,
  AMQP_HELD_BYTES_SMALL,
  AMQP_LOGIN_MS,
  AMQP_UNSENT_BYTES_MAX,
} from "../limits.ts";
import { type Log, rateLimited } from "../log.ts";
import { listenOn } from "../tcp-port.ts";
import { HEARTBEAT_FRAME } from "../../cli/internal/amqp/frame.ts";
import { newSession, type Session } from "./session.ts";

/** The functions and values of a machine's connection that the enrolment uses. */
export type AmqpPeer = {
  readonly mac: string;
  readonly address: string;
  /**
   * Sends a message. Returns the number of queues that got it. Calls `acknowledged` when the machine acknowledges the
   * message.
   */
  deliver(key: string, body: string, acknowledged?: () => void): number;
  /** Closes the connection and releases its identity. */
  drop(): void;
};

export type AmqpListener = {
  /** Called whenever the machine adds a consumer to its request queue. */
  ready(server_uuid: string, peer: AmqpPeer): void;
  gone(server_uuid: string, peer: AmqpPeer): void;
  published(key: string, body: Buffer, peer: AmqpPeer): void;
};

export type AmqpOptions = {
  readonly addresses: readonly string[];
  readonly port: number;
  /** Returns the MAC address of the machine that logs in from this IP address, or null if the login is refused. */
  readonly login: (user: string, password: string, address: string) => string | null;
  readonly listener: AmqpListener;
  readonly counters: Counters;
  readonly log: Log;
  /** The time limit of a login. The default is AMQP_LOGIN_MS; tests set a shorter one. */
  readonly login_ms?: number;
  /** The longest interval of heartbeats. The default is AMQP_HEARTBEAT_S; tests set a shorter one. */
  readonly heartbeat_s?: number;
};

export type AmqpBroker = { readonly port: number; connections(): number; close(): Promise<void> };

type Connection = { peer: AmqpPeer | null; claimed: string | null; held: number };

/**
 * Returns whether the messages of one connection may take `own` bytes of memory if all messages together take `all`
 * bytes.
 */
function mayHold(own: number, all: number): boolean {
  if (own > AMQP_HELD_BYTES_PER_CLIENT_MAX) return false;
  return all <= (own <= AMQP_HELD_BYTES_SMALL ? AMQP_HELD_BYTES_MAX : AMQP_HELD_BYTES_MAX / 2);
}

export async function openAmqp(options: AmqpOptions): Promise<AmqpBroker> {
  const { log, counters, listener } = options;
  const owners = new Map<string, object>();
  /** The connection that logged in last, by IP address. */
  const byAddress = new Map<string, Socket>();
  /** The number of open connections by IP address, with and without a login. */
  const openOf = new Map<string, number>();
  const quiet = rateLimited(log, { every_ms: 60_000, subjects_max: AMQP_CONNECTIONS_MAX });
  let connections = 0;
  let held = 0;

  function accept(socket: Socket): void {
    const address = peerText(socket.remoteAddress);
    const own = openOf.get(address) ?? 0;
    if (connections >= AMQP_CONNECTIONS_MAX || own >= AMQP_CONNECTIONS_PER_CLIENT_MAX) {
      counters.count("bus_too_many_total");
      quiet("bus.too_many", { address });
      return void socket.destroy();
    }
    connections += 1;
    openOf.set(address, own + 1);
    socket.setNoDelay(true);
    const self: Connection = { peer: null, claimed: null, held: 0 };
    const login_limit = setTimeout(() => socket.destroy(), options.login_ms ?? AMQP_LOGIN_MS);
    let beat: ReturnType<typeof setInterval> | undefined;
    /**
     * The number of half heartbeat intervals since the peer last sent something. The timeout of a socket cannot measure
     * this silence, because the broker's own heartbeats restart the timeout.
     */
    let silent = 0;
    const withPeer = (report: (peer: AmqpPeer) => void) => {
      const mac = session.mac();
      if (mac === null) return;
      self.peer ??= { mac, address, deliver: session.deliver, drop: () => void socket.destroy() };
      report(self.peer);
    };
    const session: Session = newSession({
      write(bytes) {
        socket.write(bytes);
        if (socket.writableLength <= AMQP_UNSENT_BYTES_MAX || socket.destroyed) return;
        log("bus.too_slow", { address, mac: session.mac(), unsent_bytes: socket.writableLength });
        socket.destroy();
      },
      end: () => void socket.end(() => socket.destroySoon()),
      login: (user, password) => {
        const mac = options.login(user, password, address);
        counters.count("bus_logins_total", { outcome: mac === null ? "refused" : "accepted" });
        log(mac === null ? "bus.login_refused" : "bus.login", { address, mac });
        if (mac !== null) {
          // If another connection from this address is still logged in, the machine restarted.
          byAddress.get(address)?.destroy();
          byAddress.set(address, socket);
        }
        return mac;
      },
      claim(server_uuid) {
        const owner = owners.get(server_uuid);
        if (owner !== undefined && owner !== self) return false;
        owners.set(server_uuid, self);
        self.claimed = server_uuid;
        return true;
      },
      hold(bytes) {
        if (bytes > 0 && !mayHold(self.held + bytes, held + bytes)) return false;
        self.held += bytes;
        held += bytes;
        return true;
      },
      opened() {
        clearTimeout(login_limit);
        const heartbeat_s = session.heartbeat_s();
        if (heartbeat_s === 0) return void socket.setKeepAlive(true, AMQP_HEARTBEAT_S * 1_000);
        beat = setInterval(() => {
          silent += 1;
          if (silent <= 4) return void socket.write(HEARTBEAT_FRAME);
          log("bus.silent", { address, mac: session.mac() });
          socket.destroy();
        }, heartbeat_s * 500);
      },
      consuming: (server_uuid, is) =>
        withPeer((peer) => is ? listener.ready(server_uuid, peer) : listener.gone(server_uuid, peer)),
      published: (key, body) => withPeer((peer) => listener.published(key, body, peer)),
      fault({ code, scope, message }) {
        counters.count("bus_faults_total", { scope, code: String(code) });
        log("bus.fault", { address, mac: session.mac(), scope, code, reason: message });
      },
    }, options.heartbeat_s);
    socket.on("data", (bytes) => {
      silent = 0;
      try {
        session.receive(bytes as Buffer);
      } catch (error) {
        counters.count("bus_errors_total");
        log("bus.error", { address, error: error instanceof Error ? error.message : "unknown" });
        socket.destroy();
      }
    });
    socket.on("error", () => {}); // the "close" event that follows cleans up
    socket.once("close", () => {
      connections -= 1;
      const rest = openOf.get(address)! - 1;
      if (rest > 0) openOf.set(address, rest);
      else openOf.delete(address);
      clearTimeout(login_limit);
      clearInterval(beat);
      session.ended();
      if (self.claimed !== null && owners.get(self.claimed) === self) owners.delete(self.claimed);
      if (byAddress.get(address) === socket) byAddress.delete(address);
    });
  }

  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  const close = async () => {
    const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    for (const socket of sockets) socket.destroy();
    await Promise.all(closed);
  };
  let { port } = options;
  try {
    for (const address of options.addresses) {
      const server = createServer(accept);
      servers.push(server);
      server.on("connection", (socket) => {
        sockets.add(socket);
        socket.once("close", () => sockets.delete(socket));
      });
      port = await listenOn(server, { address, port });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { port, connections: () => connections, close };
}
