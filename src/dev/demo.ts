// The program of `task demo`. It runs the main scenarios from start to end with the real programs, and checks their
// output.
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { buildExecutables, newRootKey, startDevEnvironment } from "./environment.ts";
import { leftBehind } from "./left-behind.ts";
import { startAgent } from "./node-agent.ts";
import { check, checksPassed, executable, say } from "./stage.ts";
import { bareNode } from "./scenarios/bare-node.ts";
import { netboot } from "./scenarios/netboot.ts";
import { nodeJoin } from "./scenarios/node-join.ts";
import { tenantNetwork } from "./scenarios/tenant-network.ts";
import { webConsole } from "./scenarios/web-console.ts";

async function demo(): Promise<void> {
  say("Building the executables (Bun) and starting the control plane with its own PostgreSQL");
  const folder = await mkdtemp(join(tmpdir(), "berth-demo-"));
  await buildExecutables();
  const dataDir = join(folder, "data");
  const environment = await startDevEnvironment({
    dataDir,
    port: 0,
    rootKey: newRootKey(),
    nodes: 0,
  });
  const { url, rootKey } = environment;
  // The users that run the VMs must be able to enter the folder.
  await chmod(folder, 0o711);
  const agent = startAgent(url, join(folder, "a"));
  try {
    await webConsole(environment);
    const opsctl = executable("opsctl", { OPSCTL_ENDPOINT: url, OPSCTL_API_KEY: rootKey });
    await nodeJoin(opsctl, agent);
    await bareNode(opsctl, url, folder);
    await netboot(opsctl, url, folder);
    const runs_qemu = (await agent.driver) === "qemu";
    await tenantNetwork(opsctl, { endpoint: url, folder, runs_qemu });
    const left = await leftBehind(dataDir);
    check(`the tenant left nothing behind${left.map((row) => `; ${row}`).join("")}`, left.length === 0);
    say("The doctor checks the database at the end");
    const diagnosis = await opsctl("doctor");
    check("the doctor finds no problem", /: 0 fail,/.test(diagnosis));
    say(
      "Done: nodes were registered and removed, a tenant used a network and an instance, and the audit chain is " +
        "intact.",
    );
  } finally {
    await agent.stop();
    await environment.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

try {
  const started = performance.now();
  await demo();
  console.log(`\n${checksPassed()} checks passed in ${((performance.now() - started) / 1_000).toFixed(1)} s.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
