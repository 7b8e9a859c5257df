// Migrates real guests between two nodes with a server and agents. See docs/reliability.md, "Migration of instances".
import process from "node:process";
import { expect, test } from "vitest";
import { BOOT, SOON } from "./machine.ts";
import {
  boots,
  count,
  follow,
  gapsOnDisk,
  id,
  json,
  newest,
  opsctl,
  site,
  ssh,
  tenantctl,
  withMovingGuest,
} from "./moving-guest.ts";

withMovingGuest();

test("a running guest moves with its memory, its disk and an open TCP connection, and moves back", async () => {
  await expect.poll(() => count().catch(() => 0), BOOT).toBeGreaterThan(0);
  const boot = await boots();
  const { child, lines, gaps } = follow();
  try {
    for (const to of [1, 0]) {
      await expect.poll(lines, BOOT).toBeGreaterThan(1);
      const before = await count();
      const seen = lines();
      await opsctl("instance", "migrate", id);
      await expect.poll(async () => (await newest()).downtime_ms, SOON).not.toBeNull();
      const migration = await newest();
      expect(migration).toMatchObject({ state: "completed", live: true, sent_bytes: expect.any(Number) });
      process.stderr.write(`paused ${migration.downtime_ms} ms, sent ${migration.sent_bytes} bytes, to node ${to}\n`);
      await expect.poll(lines, SOON).toBeGreaterThan(seen + 10);
      expect(child.exitCode).toBeNull();
      expect([gaps(), await gapsOnDisk()]).toEqual([[], ""]);
      expect(await boots()).toBe(boot);
      expect(await count()).toBeGreaterThan(before);
      await expect.poll(async () => (await site.machines()).length, SOON).toBe(1);
    }
  } finally {
    child.kill("SIGKILL");
  }
});

test("a stopped guest moves with its disk and starts on the other node", async () => {
  const before = await count();
  await tenantctl("instance", "stop", "web1");
  const { host_cn_uuid } = await json("instance", "show", "web1");
  await opsctl("instance", "migrate", id);
  const moved = await json("instance", "show", "web1");
  expect(moved.lifecycle.state).toBe("stopped");
  expect(moved.host_cn_uuid).not.toBe(host_cn_uuid);
  expect(await newest()).toMatchObject({ state: "completed", live: false, sent_bytes: expect.any(Number) });
  await tenantctl("instance", "start", "web1");
  // The counter starts at 0 again, but its file on the disk still exists.
  await expect.poll(() => ssh("ls /persist").catch(() => ""), BOOT).toContain("count");
  expect(before).toBeGreaterThan(0);
});
