// Tests the connections that carry a VM between two nodes. See docs/reliability.md, "Migration of instances".
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { afterEach, expect, test } from "vitest";
import { joined, offerUnix } from "../../nodeagent/qemu/move-sockets.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const MIB = 2 ** 20;
const LATE_MS = 20_000;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Returns both ends of a TCP connection. */
async function connection(): Promise<readonly [Socket, Socket]> {
  const server = createServer({ pauseOnConnect: true });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const near = connect((server.address() as { port: number }).port, "127.0.0.1");
  const [far] = await once(server, "connection") as [Socket];
  server.close();
  for (const end of [near, far]) {
    end.on("error", () => {}); // The event "close" follows.
    closers.push(() => end.destroy());
  }
  near.pause();
  return [near, far];
}

const nothing = new Uint8Array();

test("a QEMU that still sends is disconnected when the other node ends the connection", async () => {
  const folder = await temporaryFolder("move");
  closers.push(folder.remove);
  const [link, target] = await connection();
  const path = join(folder.path, "ram.sock");
  const open = () => Promise.resolve({ socket: link, first: nothing });
  closers.push(await offerUnix(path, { uid: process.getuid!(), open }));
  // Like QEMU, this end sends data but reads nothing.
  const qemu = connect({ path, allowHalfOpen: true });
  closers.push(() => qemu.destroy());
  await once(qemu, "connect");
  const gone = new Promise((resolve) => qemu.once("error", resolve));
  // The target reads everything before it closes. So its kernel sends no reset, as after a kill of the target's agent.
  qemu.write("memory");
  await once(target.resume(), "data");
  target.destroy();
  await once(link, "close");
  const more = () => void (qemu.write(Buffer.alloc(MIB)) && more());
  qemu.on("drain", more);
  more();
  // A write to a connection that nothing reads waits forever. A write to a closed connection fails.
  expect(await Promise.race([gone.then(() => "closed"), late()])).toBe("closed");
});

function late(): Promise<string> {
  return new Promise((resolve) => setTimeout(resolve, LATE_MS, "still open"));
}

test("bytes that were sent before the end of a connection arrive on the other side", async () => {
  const [source, relay_in] = await connection();
  const [relay_out, target] = await connection();
  const done = joined({ socket: relay_in, first: new TextEncoder().encode("first ") }, relay_out);
  source.resume().end(Buffer.alloc(8 * MIB, "x"));
  let received = 0;
  target.on("data", (chunk: Buffer) => received += chunk.length);
  await once(target.resume(), "end");
  expect(received).toBe("first ".length + 8 * MIB);
  target.end();
  await done;
});
