// Tests the agent's own files on a full disk: the agent starts, and jobs that make room still run. The full disk is a
// small file system in memory, so the tests that use it need root; the other tests run everywhere.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, type TestContext } from "vitest";
import { addressBindings } from "../../nodeagent/address-bindings.ts";
import { type Journal, openJournal } from "../../nodeagent/journal.ts";
import { openMachineFile } from "../../nodeagent/qemu/machine-file.ts";
import type { Job } from "../../src/contract/job.ts";
import { lacking, present } from "../support/optional-programs.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { jobOf, startWorker } from "./worker.ts";

const run = promisify(execFile);
const lacks = lacking("mount", "umount") ?? (process.getuid?.() === 0 ? null : "a mount needs root");

let folder: TemporaryFolder;
let small: string;
beforeAll(async () => {
  folder = await temporaryFolder("full-disk");
  small = join(folder.path, "small");
  await mkdir(small);
  if (lacks === null) await run(present("mount"), ["-t", "tmpfs", "-o", "size=64k", "tmpfs", small]);
});
afterAll(async () => {
  if (lacks === null) await run(present("umount"), [small]);
  await folder.remove();
});

const needsMount = ({ skip }: TestContext) => skip(lacks !== null, lacks ?? "");
const fill = () => writeFile(join(small, "fill"), new Uint8Array(65_536)).catch(() => {});
const free = () => rm(join(small, "fill"), { force: true });
const newUuid = () => Promise.resolve("3f2a9c1e-0000-4000-8000-00000000c0de");

test("the file of an unchanged machine is not written at the start", async () => {
  const state_dir = join(folder.path, "machine");
  await mkdir(state_dir);
  await openMachineFile(state_dir, newUuid);
  const { ino } = await stat(join(state_dir, "machine.json"));
  await openMachineFile(state_dir, newUuid);
  expect((await stat(join(state_dir, "machine.json"))).ino, "the same file").toBe(ino);
  // The file of an older agent has fewer fields.
  await writeFile(join(state_dir, "machine.json"), JSON.stringify({ server_uuid: await newUuid() }));
  await openMachineFile(state_dir, newUuid);
  expect(JSON.parse(await readFile(join(state_dir, "machine.json"), "utf8"))).toMatchObject({ addresses: {} });
});

test("a machine's file can be read on a full disk", async (context) => {
  needsMount(context);
  await openMachineFile(small, newUuid);
  await fill();
  const { server_uuid } = (await openMachineFile(small, newUuid)).read();
  await free();
  expect(server_uuid).toBe(await newUuid());
});

test("if the release of an address could not be written, a repeated release is written", async (context) => {
  needsMount(context);
  const machine = await openMachineFile(small, newUuid);
  const { bind, release } = addressBindings(
    { change: (next) => machine.change(({ addresses }) => ({ addresses: next(addresses) })) },
    () => true,
  );
  const tag = { external_nic_tag: null, vlan_id: null };
  const nic_id = randomUUID();
  const binding = { floating_ip_id: randomUUID(), nic_id, fip_addr: "203.0.113.5", generation: 1, ...tag };
  const other = { ...binding, floating_ip_id: randomUUID() };
  await Promise.all([bind(binding), bind(other)]);
  await fill();
  await expect(release(binding)).rejects.toThrow("ENOSPC");
  await expect(release(binding)).rejects.toThrow("ENOSPC");
  await release({ ...binding, generation: 0 });
  await free();
  await release(binding);
  const onDisk = (await openMachineFile(small, newUuid)).read().addresses;
  expect([machine.read().addresses, onDisk]).toEqual(Array(2).fill({ [other.floating_ip_id]: other }));
});

test("a journal on a full disk continues in memory, and is written when the disk has room", async (context) => {
  needsMount(context);
  const lines: string[] = [];
  const journal = await openJournal(small, (line) => void lines.push(line));
  const [first, second] = [jobOf("provision"), jobOf("delete")];
  await journal.put({ job: first, end: null });
  await fill();
  await journal.put({ job: second, end: null });
  await journal.drop(first.id);
  await journal.retry();
  expect([journal.isSaved(first.id), journal.isSaved(second.id)]).toEqual([true, false]);
  expect(journal.entries().map(({ job }) => job.id)).toEqual([second.id]);
  expect(lines).toEqual([expect.stringContaining("because the disk is full")]);
  await free();
  await journal.retry();
  expect(journal.isSaved(second.id)).toBe(true);
  const next = await openJournal(small, () => {});
  expect(next.entries().map(({ job }) => job.id)).toEqual([second.id]);
  expect([next.isFromBefore(second.id), next.isFromBefore(first.id)]).toEqual([true, false]);
  expect(lines[1]).toContain("has room again");
  await journal.drop(second.id);
});

/** Starts a worker that claims these jobs. `asked` lists the requests that its jobs sent. */
async function worker(journal: Journal, jobs: readonly Job[]) {
  const left = [...jobs];
  const state_dir = join(folder.path, randomUUID());
  await mkdir(state_dir);
  return await startWorker({ journal, state_dir, claim: () => ({ job: left.shift() ?? null, tombstones: [] }) });
}

test("a start that cannot be saved on a full disk waits until the disk has room, and a removal does not wait", async () => {
  const state_dir = join(folder.path, "journal");
  await mkdir(state_dir);
  const journal = await openJournal(state_dir, () => {});
  let is_full = true;
  const [start, remove] = [jobOf("start"), jobOf("delete")];
  const full = { ...journal, isSaved: (id: string) => !is_full && journal.isSaved(id) };
  const { asked, active, ended, stop } = await worker(full, [start, remove]);
  await expect.poll(() => asked).toContain(`${remove.id} complete`);
  await new Promise((later) => setTimeout(later, 200));
  expect(asked.filter((each) => each.startsWith(start.id))).toEqual([]);
  expect([...active], "its lease is renewed").toEqual([start.id]);
  is_full = false;
  await expect.poll(() => asked).toContain(`${start.id} blueprint`);
  stop();
  await ended;
});

test("a full disk does not end the worker, and an instance can still be removed", async (context) => {
  needsMount(context);
  const journal = await openJournal(small, () => {});
  await fill();
  const [start, remove] = [jobOf("start"), jobOf("delete")];
  const { asked, ended, stop } = await worker(journal, [start, remove]);
  await expect.poll(() => asked).toContain(`${remove.id} complete`);
  expect(asked.filter((each) => each.startsWith(start.id))).toEqual([]);
  await free();
  await expect.poll(() => asked).toContain(`${start.id} blueprint`);
  stop();
  await ended;
});

test("a job from before a restart begins only if the control plane still waits for it", async () => {
  const state_dir = join(folder.path, "earlier");
  await mkdir(state_dir);
  const job = jobOf("delete");
  await (await openJournal(state_dir, () => {})).put({ job, end: null });
  const journal = await openJournal(state_dir, () => {});
  const { asked, ended, stop } = await worker(journal, []);
  await expect.poll(() => journal.entries()).toEqual([]);
  expect(asked).toEqual([`${job.id} progress`]);
  stop();
  await ended;
});
