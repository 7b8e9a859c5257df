// Tests the undo of a withdrawn job (docs/instances.md, "Jobs"). The undo delays only the later jobs of the same
// instance.
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openJournal } from "../../nodeagent/journal.ts";
import type { Job } from "../../src/contract/job.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { jobOf, startWorker, type WorkerOptions } from "./worker.ts";

let folder: TemporaryFolder;
beforeAll(async () => {
  folder = await temporaryFolder("withdrawn-jobs");
});
afterAll(() => folder.remove());

/** Starts a worker with `jobs` in its journal. Its guests turn off only after a call of `open`. */
async function slowGuests(claim: WorkerOptions["claim"], jobs: readonly Job[] = []) {
  const state_dir = join(folder.path, randomUUID());
  await mkdir(state_dir);
  const journal = await openJournal(state_dir, () => {});
  for (const job of jobs) await journal.put({ job, end: null });
  const gate = Promise.withResolvers<void>();
  const halted: string[] = [];
  const worker = await startWorker({
    journal,
    state_dir,
    claim,
    changed: (driver) => ({
      ...driver,
      vms: {
        ...driver.vms,
        halt: async (id) => {
          halted.push(id);
          await gate.promise;
        },
      },
    }),
  });
  return { ...worker, journal, halted, open: () => gate.resolve() };
}

test("while the undo of a withdrawn job waits for its guest, the node works for other instances", async () => {
  const withdrawn = jobOf("start");
  const instance_id = String(withdrawn.kind["instance_id"]);
  const [next, other] = [jobOf("delete", instance_id), jobOf("delete")];
  const left = [next, other];
  let claims = 0;
  const bury = `${withdrawn.id} bury`;
  const claim = (asked: readonly string[]) => {
    claims += 1;
    return { job: left.shift() ?? null, tombstones: asked.includes(bury) ? [] : [withdrawn] };
  };
  const { asked, halted, ended, open, stop } = await slowGuests(claim);
  await expect.poll(() => asked).toContain(`${other.id} complete`);
  expect(asked.filter((each) => each.startsWith(next.id)), "a later job of the same instance waits").toEqual([]);
  expect([halted, asked.includes(bury)]).toEqual([[instance_id], false]);
  const before = claims;
  await new Promise((later) => setTimeout(later, 200));
  // While a tombstone is not confirmed, a server answers claims at once, like this test's server. So the agent itself
  // must wait between claims.
  expect(claims - before, "the claims in 200 ms, if the agent waits 20 ms between claims").toBeLessThan(15);
  open();
  await expect.poll(() => asked).toContain(`${next.id} complete`);
  expect(asked.indexOf(bury)).toBeLessThan(asked.indexOf(`${next.id} complete`));
  expect(halted, "the job was undone once").toEqual([instance_id]);
  stop();
  await ended;
});

test("if a job in the journal was withdrawn, the agent undoes the job and does not run it", async () => {
  const withdrawn = jobOf("start");
  const { asked, active, halted, journal, ended, open, stop } = await slowGuests(
    (asked) => ({ job: null, tombstones: asked.includes(`${withdrawn.id} bury`) ? [] : [withdrawn] }),
    [withdrawn],
  );
  await expect.poll(() => halted).toEqual([withdrawn.kind["instance_id"]]);
  open();
  await expect.poll(() => [journal.entries().length, active.size]).toEqual([0, 0]);
  expect(asked).toEqual([`${withdrawn.id} bury`]);
  stop();
  await ended;
});

test("a withdrawn job is undone only once, even if a claim's answer repeats its tombstone after the confirmation", async () => {
  const withdrawn = jobOf("start");
  let claims = 0;
  const claim = async (asked: readonly string[]) => {
    claims += 1;
    if (claims === 2) {
      open();
      await expect.poll(() => asked).toContain(`${withdrawn.id} bury`);
      await new Promise((later) => setTimeout(later, 50));
    }
    return { job: null, tombstones: claims <= 2 ? [withdrawn] : [] };
  };
  const { halted, ended, open, stop } = await slowGuests(claim);
  await expect.poll(() => claims).toBeGreaterThan(3);
  expect(halted).toHaveLength(1);
  stop();
  await ended;
});

test("the tombstone of a withdrawn job ends the job's start, even while the start waits for the VM's process", async () => {
  const withdrawn = jobOf("start");
  const state_dir = join(folder.path, randomUUID());
  await mkdir(state_dir);
  const events: string[] = [];
  // If each answer had the job, the worker would claim without a pause, and no timer of this process would run.
  const left = [withdrawn];
  const { asked, ended, stop } = await startWorker({
    journal: await openJournal(state_dir, () => {}),
    state_dir,
    blueprint: { instance: { id: withdrawn.kind["instance_id"] }, nics: [] },
    claim: (asked) => {
      const is_waiting = events.includes("waits") && !asked.includes(`${withdrawn.id} bury`);
      return { job: left.shift() ?? null, tombstones: is_waiting ? [withdrawn] : [] };
    },
    changed: (driver) => ({
      ...driver,
      vms: {
        ...driver.vms,
        setSize: () => Promise.resolve(),
        boot: (_id, signal) =>
          new Promise((_resolve, reject) => {
            events.push("waits");
            signal!.addEventListener("abort", () => {
              events.push("ends");
              reject(signal!.reason);
            });
          }),
        halt: () => Promise.resolve(void events.push("halted")),
      },
    }),
  });
  await expect.poll(() => asked).toContain(`${withdrawn.id} bury`);
  expect(events).toEqual(["waits", "ends", "halted"]);
  stop();
  await ended;
});
