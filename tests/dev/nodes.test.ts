// Tests the simulated nodes of the dev environment: they end with the server, even if the server is killed.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const NODES = fileURLToPath(new URL("../../src/dev/nodes.ts", import.meta.url));

/** Returns the processes of agents whose state is in the folder. */
async function agentsIn(folder: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "pid,args"]);
  return stdout.split("\n").filter((line) => line.includes(`--state-dir ${folder}`) && !line.includes("sh -c"));
}

test("the agents end when the process that started them is killed", async () => {
  const folder = await temporaryFolder("dev-nodes");
  // Nothing listens at the endpoint, so the agents repeat their registrations.
  const options = JSON.stringify({ count: 2, endpoint: "http://127.0.0.1:9", dataDir: folder.path, quiet: true });
  const program = `import { startDevNodes } from ${JSON.stringify(NODES)}; startDevNodes(${options});
    setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ["eval", program], { stdio: "ignore" });
  const ended = once(parent, "exit");
  try {
    await expect.poll(async () => (await agentsIn(folder.path)).length, { timeout: 20_000 }).toBe(2);
  } finally {
    parent.kill("SIGKILL");
    await ended;
  }
  await expect.poll(() => agentsIn(folder.path), { timeout: 20_000 }).toEqual([]);
  await folder.remove();
});
