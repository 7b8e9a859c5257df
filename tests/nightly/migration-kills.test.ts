// Agents, the server and the database fail while a real guest moves. In each round the guest migrates, and one of these
// parts fails at a random moment of the migration. The guest writes ascending numbers. Afterwards one virtual
// machine exists, its guest has not booted again, and no number is missing on the guest's disk or on an open TCP
// connection. See docs/reliability.md, "Migration of instances".
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { terminateBackends } from "../processes/database-faults.ts";
import { BOOT, SOON } from "../machines/machine.ts";
import {
  boots,
  count,
  database_url,
  follow,
  gapsOnDisk,
  id,
  json,
  newest,
  operator,
  site,
  withMovingGuest,
} from "../machines/moving-guest.ts";

withMovingGuest();

/** The number of rounds of each failure. BERTH_MIGRATIONS=50 gives 50 migrations in all. */
const ROUNDS = Math.ceil(Number(process.env.BERTH_MIGRATIONS ?? 10) / 5);
/** The bandwidth of a migration, so low that copying the disks and copying the memory each take seconds. */
const BANDWIDTH = "8MiB";
const STEP_MS_MAX = 6_000;
/** How long the test goes on to end the server's database connections, two at a time. */
const DATABASE_FAILS_MS = 5_000;
/** The time limit for the end of an operation. The source gives up a target that does not answer for 20 s. */
const SILENT = { timeout: 180_000, interval: 500 };

/** Each function makes one part fail, and then restores it. */
const FAILURES = {
  "the agent of the source": async ({ source }: Nodes) => {
    await site.killAgent(source);
    site.startAgent(source);
  },
  "the agent of the target": async ({ target }: Nodes) => {
    await site.killAgent(target);
    site.startAgent(target);
  },
  "the connection to the target": async ({ target }: Nodes) => {
    site.pauseAgent(target);
    const isOver = async () => (await newest()).state !== "running";
    await expect.poll(isOver, SILENT).toBe(true);
    site.continueAgent(target);
  },
  "the server": async () => {
    await site.killServer();
    await site.startServer();
  },
  "the database": async () => void await terminateBackends(database_url, DATABASE_FAILS_MS),
} as const;

type Nodes = { readonly source: number; readonly target: number };

async function nodes(): Promise<Nodes> {
  const source = site.uuids.indexOf((await json("instance", "show", "web1")).host_cn_uuid);
  return { source, target: 1 - source };
}

const rounds = Object.keys(FAILURES).flatMap((who) => Array.from({ length: ROUNDS }, (_, round) => ({ who, round })));

test.each(rounds)("the guest loses nothing when $who fails during the migration (round $round)", async ({ who }) => {
  await expect.poll(() => count().catch(() => 0), BOOT).toBeGreaterThan(0);
  const boot = await boots();
  const before = await count();
  const { child, lines, gaps } = follow();
  try {
    await expect.poll(lines, BOOT).toBeGreaterThan(1);
    const { operation_id } = await operator("instance", "migrate", id, "--bandwidth", BANDWIDTH, "--no-wait");
    await expect.poll(async () => (await newest()).progress?.step, SOON).toMatch(/disks|memory/);
    await sleep(Math.random() * STEP_MS_MAX);
    const { progress } = await newest();
    await FAILURES[who as keyof typeof FAILURES](await nodes());
    const state = async () => (await operator("operation", "show", operation_id).catch(() => ({ state: "" }))).state;
    await expect.poll(state, SILENT).toMatch(/succeeded|unwound/);
    const at = progress?.step === undefined ? "the end" : `${progress.step} ${progress.percent} %`;
    process.stderr.write(`${who} at ${at}: ${await state()}, ${(await newest()).reason ?? "moved"}\n`);
    await expect.poll(async () => (await site.machines()).length, BOOT).toBe(1);
    await expect.poll(() => boots().catch(() => ""), BOOT).toBe(boot);
    const [seen, after] = [lines(), await count()];
    expect(after).toBeGreaterThanOrEqual(before);
    await expect.poll(count, SOON).toBeGreaterThan(after);
    await expect.poll(lines, SOON).toBeGreaterThan(seen);
    expect(child.exitCode).toBeNull();
    expect([gaps(), await gapsOnDisk()]).toEqual([[], ""]);
  } finally {
    child.kill("SIGKILL");
  }
});
