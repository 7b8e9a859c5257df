// Tests how the agent types into the serial console of a VM, over a real Unix socket whose other end reads late.
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openVmConsole } from "../../nodeagent/qemu/vm-console.ts";
import { CONSOLE_BUFFER_BYTES_MAX, CONSOLE_WINDOW_BYTES } from "../../src/contract/limits.ts";

/** More pieces than a Unix socket of Linux holds, so that the last piece waits for the reader. */
const PIECES = CONSOLE_BUFFER_BYTES_MAX / CONSOLE_WINDOW_BYTES + 1;
/** Time in which the kernel takes as many bytes as fit into its buffers. */
const SETTLE_MS = 200;

async function openUnread() {
  const path = join(await mkdtemp(join(tmpdir(), "console-")), "console");
  const server = createServer({ pauseOnConnect: true }).listen(path);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const vm = openVmConsole(path);
  const [peer] = await once(server, "connection") as [Socket];
  let read = 0;
  peer.on("data", (bytes) => void (read += bytes.length));
  peer.pause();
  let taken = 0;
  const type = (pieces: number) => {
    for (let piece = 0; piece < pieces; piece += 1) {
      void vm.write(new Uint8Array(CONSOLE_WINDOW_BYTES)).then(() => taken++);
    }
    return new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  };
  return { vm, peer, type, taken: () => taken, read: () => read };
}

test("typed bytes count as taken when the VM or the kernel's buffer takes them, or when the console closes", async () => {
  const { vm, peer, type, taken, read } = await openUnread();
  await type(PIECES);
  expect(taken()).toBeLessThan(PIECES);
  peer.resume();
  await expect.poll(read).toBe(PIECES * CONSOLE_WINDOW_BYTES);
  expect(taken()).toBe(PIECES);
  peer.pause();
  await type(PIECES);
  expect(taken()).toBeLessThan(2 * PIECES);
  vm.close();
  await expect.poll(taken).toBe(2 * PIECES);
});

test("typed bytes above the buffer's limit are dropped while the guest does not read", async () => {
  const { vm, peer, type, read } = await openUnread();
  await type(4 * PIECES);
  peer.resume();
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  expect(read()).toBeLessThan(3 * CONSOLE_BUFFER_BYTES_MAX);
  vm.close();
});
