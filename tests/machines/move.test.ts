// Moves a guest between two QEMU drivers in one process, over real TLS connections. The guest has no network.
// migration.test.ts tests the same with agents and a server.
import { randomUUID } from "node:crypto";
import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Driver, VmPlan } from "../../nodeagent/driver.ts";
import { linkTo } from "../../nodeagent/migration/link.ts";
import { createListener, sha256Hex } from "../../nodeagent/migration/listener.ts";
import type { MoveLink, Moving } from "../../nodeagent/migration/migrations.ts";
import { SANDBOX_UID } from "../../nodeagent/qemu/unprivileged.ts";
import { needs } from "../support/optional-programs.ts";
import { inGuest, needsMachine, openMachine, ready, type TestMachine, vmOf } from "./machine.ts";

const TICKET = "ticket";
const MIB = 2 ** 20;

let source: TestMachine;
let target: TestMachine;
let stop: AbortController;
let refused: unknown[];

beforeEach(async (context) => {
  needsMachine(context);
  needs(context, "openssl");
  stop = new AbortController();
  refused = [];
  source = await openMachine();
  target = await openMachine();
  // The QEMUs of both machines run on this one, so they need different users.
  const taken = join(target.folders.machine_dir, "vm/taken");
  await mkdir(taken);
  await chown(taken, 0, SANDBOX_UID + 1);
  await target.restart();
});
afterEach(async () => {
  stop?.abort();
  await source?.remove();
  await target?.remove();
});

async function connected(moving: Moving): Promise<MoveLink> {
  const listener = createListener({
    state_dir: target.state_dir,
    address: "127.0.0.1",
    port: 0,
    migrations: target.driver().migrations,
    signal: stop.signal,
    log: (line) => void refused.push(line),
  });
  return linkTo(await listener.start(), moving, TICKET);
}

const options = (isWanted: () => Promise<void> = () => Promise.resolve()) => ({
  bandwidth_bytes_per_s: 256 * MIB,
  signal: stop.signal,
  onProgress: () => {},
  isWanted,
});

/** Creates a running guest on the source, and its empty copy on the target. */
async function prepared(live: boolean) {
  const plan: VmPlan = { ...await source.plan({ nics: [] }) };
  const { id } = plan.instance;
  const { vms } = source.driver();
  await vms.createDisks(plan);
  await vms.createNics(plan);
  await vms.create(plan);
  await vms.boot(id);
  await ready(source.driver(), id);
  await inGuest(source.driver(), id, "echo kept > /persist/mark; echo kept > /run/mark; sync");
  const { image_path } = await target.plan();
  const moving = { instance_id: id, migration_id: randomUUID(), live };
  await target.driver().migrations.receive({ ...plan, image_path }, moving, sha256Hex(TICKET));
  return { id, moving, link: await connected(moving) };
}

const stateOn = async (driver: Driver, id: string) => (await vmOf(driver, id))?.state;

test("a running guest moves with its memory and its disk", async () => {
  const { id, moving, link } = await prepared(true);
  const boot = await inGuest(source.driver(), id, "cat /proc/sys/kernel/random/boot_id");
  const result = await source.driver().migrations.send(moving, link, options());
  expect(result).toEqual({ sent_bytes: expect.any(Number) });
  expect(await stateOn(source.driver(), id)).toBe("migrating");
  // After a restart, the source's agent refuses to start the VM.
  await source.restart();
  await expect(source.driver().vms.boot(id)).rejects.toThrow("is moving to another node");
  const { downtime_ms } = await target.driver().migrations.activate(moving) as { downtime_ms: number };
  expect(downtime_ms).toBeGreaterThan(0);
  await source.driver().migrations.clean(moving);
  expect(await inGuest(target.driver(), id, "cat /run/mark /persist/mark /proc/sys/kernel/random/boot_id")).toBe(
    `kept\r\nkept\r\n${boot}`,
  );
  expect([await stateOn(source.driver(), id), await stateOn(target.driver(), id)]).toEqual([undefined, "running"]);
});

test("a guest whose migration is refused while it is paused continues, and moves later", async () => {
  const { id, moving, link } = await prepared(true);
  let asked = 0;
  // The second question comes while the guest is paused.
  const isWanted = () => ++asked === 2 ? Promise.reject(new Error("not wanted")) : Promise.resolve();
  await expect(source.driver().migrations.send(moving, link, options(isWanted))).rejects.toThrow("not wanted");
  expect(await inGuest(source.driver(), id, "cat /run/mark")).toBe("kept");
  await source.driver().migrations.send(moving, link, options());
  // The control plane decides that the VM stays on the source.
  await source.driver().migrations.resume(moving);
  expect(await inGuest(source.driver(), id, "cat /run/mark /persist/mark")).toBe("kept\r\nkept");
  await target.driver().migrations.discard(moving);
  expect(await stateOn(target.driver(), id)).toBe(undefined);
});

test("a stopped guest moves with its disk", async () => {
  const { id, moving, link } = await prepared(false);
  await source.driver().vms.halt(id);
  const result = await source.driver().migrations.send(moving, link, options()) as { sent_bytes: number };
  expect(result.sent_bytes).toBeGreaterThan(MIB / 8);
  await target.driver().migrations.activate(moving);
  await source.driver().migrations.clean(moving);
  expect(await stateOn(target.driver(), id)).toBe("stopped");
  await target.driver().vms.boot(id);
  await ready(target.driver(), id);
  expect(await inGuest(target.driver(), id, "cat /persist/mark")).toBe("kept");
  expect(refused).toEqual([]);
});
