// Listens for the sources of migrations. Every connection uses TLS. Its first line contains the ticket of the
// migration, which only the two nodes get from the control plane.
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type TLSSocket } from "node:tls";
import { plainText } from "../../cli/internal/plain-text.ts";
import { type Identity, readIdentity, saveIdentity } from "./identity.ts";
import { readLine, writeLine } from "./lines.ts";
import type { Migrations, MoveRequest } from "./migrations.ts";

export type Listener = {
  /** Starts to listen at the first call. Returns how a source reaches and recognizes this node. */
  start(): Promise<{ readonly address: string; readonly port: number; readonly certificate: string }>;
};

export type ListenerOptions = {
  readonly state_dir: string;
  /** The address on which this node listens and to which sources connect. */
  readonly address: string;
  /** 0: any free port. After a restart, the node listens on the same port, unless another program uses it. */
  readonly port: number;
  readonly migrations: Migrations;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
};

/** Time that a connection has for its first line. */
const FIRST_LINE_LIMIT_MS = 10_000;

export function createListener(options: ListenerOptions): Listener {
  const { state_dir, address, migrations, signal, log } = options;
  let started: Promise<Identity> | undefined;

  async function listen(): Promise<Identity> {
    const identity = await readIdentity(state_dir);
    const server = createServer({ key: identity.key, cert: identity.certificate, minVersion: "TLSv1.3" });
    const sockets = new Set<TLSSocket>();
    server.on("secureConnection", (socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      socket.on("error", () => {}); // The event "close" follows.
      void answer(socket).catch((error) => {
        log(`migration: ${plainText((error as Error).message)}`);
        socket.destroy();
      });
    });
    server.on("tlsClientError", () => {}); // A scan of the port also causes this error, so it is not logged.
    const bind = (port: number) =>
      new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, address, () => {
          server.off("error", reject);
          resolve();
        });
      });
    const wanted = options.port === 0 ? identity.port : options.port;
    // Another program may have taken the port of the last start.
    await bind(wanted).catch((error) => options.port === 0 ? bind(0) : Promise.reject(error));
    server.on("error", (error) => log(`migration: ${error.message}`));
    signal.addEventListener("abort", () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    }, { once: true });
    const { port } = server.address() as { port: number };
    const listening = { ...identity, port };
    if (port !== identity.port) await saveIdentity(state_dir, listening);
    return listening;
  }

  async function answer(socket: TLSSocket): Promise<void> {
    const { value, rest } = await readLine(socket, FIRST_LINE_LIMIT_MS);
    const { ticket, instance_id, migration_id, live, ...request } = value;
    const moving = { instance_id: String(instance_id), migration_id: String(migration_id), live: live === true };
    const ticket_sha256 = migrations.ticketOf(moving.instance_id, moving.migration_id);
    if (ticket_sha256 === null || !isTicket(ticket, ticket_sha256)) {
      return void socket.end(`${JSON.stringify({ error: "this node does not receive this migration" })}\n`);
    }
    try {
      // Only a source with the ticket gets here. `serve` refuses a kind of request that it does not know.
      const served = await migrations.serve(moving, request as unknown as MoveRequest);
      if ("answer" in served) return void socket.end(`${JSON.stringify(served.answer)}\n`);
      writeLine(socket, {});
      await served.stream({ socket, first: rest });
    } catch (error) {
      socket.end(`${JSON.stringify({ error: plainText((error as Error).message) })}\n`);
    }
  }

  return {
    start: async () => {
      started ??= listen();
      try {
        const { port, certificate } = await started;
        return { address, port, certificate };
      } catch (error) {
        started = undefined;
        throw error;
      }
    },
  };
}

export function sha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function isTicket(given: unknown, sha256: string): boolean {
  if (typeof given !== "string") return false;
  return timingSafeEqual(new TextEncoder().encode(sha256Hex(given)), new TextEncoder().encode(sha256));
}
