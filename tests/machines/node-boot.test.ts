// After a boot of the node, the VMs that ran before may need more memory than the reservoir has, or may have moved to
// other nodes.
import process from "node:process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { APPROVED, registered, reports, runAgent, status } from "../nodeagent/agent.ts";
import { MEMORY_BYTES, needsMachine, openMachine, qemuPid, SOON, type TestMachine, vmOf } from "./machine.ts";

const MIB = 2 ** 20;
let machine: TestMachine | undefined;

beforeEach(needsMachine);
afterEach(() => machine?.remove());

test("after a boot, VMs start until the reservoir is full, and the other VMs fail with the reason", async () => {
  const { create, leave, restart, log } = machine = await openMachine({ halt_wait_ms: 500 });
  const ids = [await create(), await create(), await create()];
  const before = machine.driver();
  const { total_mb } = (await before.status()).memory as { readonly total_mb: number };
  await before.applyReservoir({ enabled: true, percent: 2.5 * MEMORY_BYTES / (total_mb * MIB) });
  leave();
  for (const id of ids) {
    process.kill(await qemuPid(id), "SIGKILL");
    await expect.poll(() => qemuPid(id).catch(() => null), SOON).toBeNull();
  }
  const driver = await restart({ boot_id: "another boot" });
  const found = () => Promise.all(ids.map((id) => vmOf(driver, id)));
  const statesOf = async () => (await found()).map((vm) => vm?.state).toSorted();
  await expect.poll(statesOf, SOON).toEqual(["failed", "running", "running"]);
  const vms = await found();
  const failed = vms.findIndex((vm) => vm?.state === "failed");
  const reason = "the node's memory for virtual machines is in use; retry, or stop another one";
  expect(vms[failed]).toMatchObject({ state: "failed", reason });
  expect(log.filter((line) => line.includes("memory"))).toEqual([`VM ${ids[failed]}: ${reason}`]);
  const running = ids.filter((_, index) => index !== failed);
  for (const id of running) expect(await qemuPid(id)).toBeGreaterThan(0);
});

test("after a boot without a saved key, the agent enrols before it starts a VM, and starts only the VMs of the node", async () => {
  const { create, leave, folders, state_dir } = machine = await openMachine({ boot_id: "an earlier boot" });
  const [own, foreign] = [await create(), await create()];
  leave();
  for (const id of [own, foreign]) {
    process.kill(await qemuPid(id), "SIGKILL");
    await expect.poll(() => qemuPid(id).catch(() => null), SOON).toBeNull();
  }
  const pids = () => Promise.all([own, foreign].map((id) => qemuPid(id).catch(() => null)));
  const started = [expect.any(Number), null];
  const before: unknown[] = [];
  const ran = await runAgent({
    ...reports(),
    "/v1/agent/register": () => registered(),
    "/v1/agent/register/status": async () => {
      before.push(await pids());
      return before.length < 3 ? status("pending") : APPROVED;
    },
    "/v1/agent/config": () => ({ body: { reservoir_enabled: true, reservoir_percent: 1, instance_ids: [own] } }),
    "/v1/agent/heartbeat": async (_asked, agent) => {
      await expect.poll(pids, SOON).toEqual(started).finally(() => agent.abort());
      return { body: null };
    },
  }, {
    state_dir,
    argv: ["--driver", "qemu", "--machine-dir", folders.machine_dir, "--run-dir", folders.run_dir],
  });
  expect([ran.code, ran.err()]).toEqual([130, expect.stringContaining(`VM ${foreign} does not start`)]);
  expect(before).toEqual([[null, null], [null, null], [null, null]]);
  expect(await pids()).toEqual(started);
});
