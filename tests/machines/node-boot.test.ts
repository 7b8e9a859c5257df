// After a boot of the node, the VMs that ran before may need more memory than the reservoir has.
import process from "node:process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MEMORY_BYTES, needsMachine, openMachine, qemuPid, SOON, type TestMachine, vmOf } from "./machine.ts";

const MIB = 2 ** 20;
let machine: TestMachine | undefined;

beforeEach(needsMachine);
afterEach(() => machine?.remove());

test("after a boot, VMs start until the reservoir is full, and the others fail with the reason", async () => {
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
