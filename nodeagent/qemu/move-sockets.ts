// QEMU has no network, so a VM that moves uses Unix sockets on both nodes. The agents carry the bytes between them.
import { chmod, chown, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import type { OpenStream } from "../migration/migrations.ts";

const OWNER_ONLY = 0o600;

/**
 * Joins two connections. If one closes, the other sends its buffered bytes and closes. Resolves when both are closed.
 * No connection stays half open, because a QEMU that still sends on it would wait forever.
 */
export function joined({ socket, first }: OpenStream, other: Socket): Promise<void> {
  return new Promise((resolve) => {
    let open = 2;
    for (const [from, to] of [[socket, other], [other, socket]] as const) {
      from.on("error", () => to.destroy());
      from.once("close", () => {
        // Bytes for the other side may still wait in its buffer.
        to.destroySoon();
        if (--open === 0) resolve();
      });
    }
    if (first.length > 0) other.write(first);
    socket.pipe(other);
    other.pipe(socket);
    socket.resume();
  });
}

/** Connects to a socket of QEMU. */
export function openUnix(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    socket.once("connect", () => resolve(socket));
    socket.once("error", (error) => reject(new Failure(`${path}: ${error.message}`, EXIT.failure)));
  });
}

/** Accepts connections of a VM's QEMU, and joins each with a stream of the target. Returns a function to close all. */
export async function offerUnix(
  path: string,
  { uid, open }: { readonly uid: number; readonly open: () => Promise<OpenStream> },
): Promise<() => Promise<void>> {
  await rm(path, { force: true });
  const sockets = new Set<Socket>();
  const server: Server = createServer({ pauseOnConnect: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}); // The event "close" follows.
    socket.once("close", () => sockets.delete(socket));
    open().then((stream) => joined(stream, socket), () => socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  await chown(path, uid, uid);
  await chmod(path, OWNER_ONLY);
  return async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
    await rm(path, { force: true });
  };
}
