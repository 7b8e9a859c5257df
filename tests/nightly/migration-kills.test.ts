// The agents of a migration are killed while a real guest moves. In about one of three runs the guest's writes to its disk
// stop after the kill of the second agent, although the guest answers: a fault that is not found yet, so `.ci/run` does
// not run this file.
import { expect, test } from "vitest";
import { BOOT, SOON } from "../machines/machine.ts";
import { boots, count, id, newest, operator, site, withMovingGuest } from "../machines/moving-guest.ts";

withMovingGuest();

test.each([0, 1] as const)(
  "the guest keeps running when the agent of node %i is killed while it moves",
  async (node) => {
    const boot = await boots();
    const { operation_id } = await operator("instance", "migrate", id, "--bandwidth", "4MiB", "--no-wait");
    await expect.poll(async () => (await newest()).progress?.step, SOON).toMatch(/disks|memory/);
    await site.killAgent(node);
    site.startAgent(node);
    const state = async () => (await operator("operation", "show", operation_id)).state;
    await expect.poll(state, BOOT).toMatch(/succeeded|unwound/);
    await expect.poll(async () => (await site.machines()).length, SOON).toBe(1);
    await expect.poll(() => boots().catch(() => ""), SOON).toBe(boot);
    const before = await count();
    await expect.poll(count, SOON).toBeGreaterThan(before);
  },
);
