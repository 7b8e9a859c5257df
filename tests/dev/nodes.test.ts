// Tests the simulated nodes of the dev environment: they end with the server, even if the server is killed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const NODES = fileURLToPath(new URL("../../src/dev/nodes.ts", import.meta.url));
/** Long enough for an agent that still runs to connect again. */
const QUIET_MS = 2_000;

test("the agents end when the process that started them is killed", async () => {
  const folder = await temporaryFolder("dev-nodes");
  // The endpoint never answers, so each agent that runs has a connection open.
  const open = new Set<unknown>();
  const endpoint = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {}).on("close", () => open.delete(socket)).resume();
  });
  endpoint.listen(0, "127.0.0.1");
  await once(endpoint, "listening");
  const { port } = endpoint.address() as AddressInfo;
  const options = { count: 2, endpoint: `http://127.0.0.1:${port}`, dataDir: folder.path, quiet: true };
  const program = `import { startDevNodes } from ${JSON.stringify(NODES)};
    startDevNodes(${JSON.stringify(options)});
    setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ["eval", program], { stdio: "ignore" });
  const ended = once(parent, "exit");
  try {
    await expect.poll(() => open.size, { timeout: 20_000 }).toBe(2);
  } finally {
    parent.kill("SIGKILL");
    await ended;
  }
  await expect.poll(() => open.size, { timeout: 5_000 }).toBe(0);
  await new Promise((wake) => setTimeout(wake, QUIET_MS));
  expect(open.size).toBe(0);
  endpoint.close();
  await folder.remove();
});
