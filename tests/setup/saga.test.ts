// Tests the operation cn-setup under failure (docs/reliability.md R-20 and INV-11). Runs every path to its end without
// a fault, with repeated messages, with crashes before and after each commit, and with a lost connection after each
// commit. The final state of the database must always be the same. An undone setup leaves the database as before the
// approval.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cnSetup } from "../../actors/sagas/cn-setup.ts";
import { waitId } from "../../actors/engine/saga.ts";
import type { CnMessage } from "../../actors/cn/messages.ts";
import { logChecks } from "../../src/doctor/log.ts";
import { operationChecks } from "../../src/doctor/operations.ts";
import { brokenInvariants } from "../doctor/broken.ts";
import { changedRows, type Dump } from "../support/dump.ts";
import { KEY, MESSAGES } from "./cells.ts";
import { expectInvariants } from "./invariants.ts";
import { newMac, sysinfoOf } from "./machine.ts";
import { type Cut, openSetupFixture, seenMessage, type SetupFixture } from "./setup-fixture.ts";

let fixture: SetupFixture;
let epochs = 100;
beforeAll(async () => {
  fixture = await openSetupFixture();
  await fixture.db.query("insert into user_account (id, username, is_root) values ($1, 'root', true)", [KEY.user_id]);
  const policy = {
    auto_enroll: true,
    allowlist: [],
    enrollment_pi: "pi-1",
    enrollment_kernel_args: [],
    admin_network: {
      ipv4_block: "10.0.0.0/16",
      provision_start_ipv4: "10.0.0.10",
      provision_end_ipv4: "10.0.255.250",
      gateway: "10.0.0.1",
      resolvers: [],
    },
  };
  const span = { network: "10.0.0.0", low: 10, high: 65_530, except: [] };
  await ok({ kind: "boot-policy", id: "site" }, { type: "put", policy, span, expected: null, current: 0 });
});
afterAll(() => fixture.close());

async function ok(to: { kind: string; id: string }, message: { type: string; [field: string]: unknown }) {
  const outcome = await fixture.send(to, message);
  if (!outcome.ok) throw new Error(`${message.type}: ${outcome.fault.message}`);
}

type Case = {
  readonly server_uuid: string;
  readonly macs: readonly string[];
  readonly epoch: number;
  readonly operation_id: string;
  readonly key_id: string;
};

/** Creates a machine that a booter saw and announced. */
async function awaiting(): Promise<Case> {
  const macs = [newMac()];
  const server_uuid = randomUUID();
  for (const mac of macs) {
    await ok({ kind: "boot-record", id: mac }, seenMessage(mac, { version: 1, prefix_len: 16, gateway: "10.0.0.1" }));
  }
  await toCn({ server_uuid }, { ...MESSAGES.announce, server_uuid, sysinfo: sysinfoOf(macs) });
  epochs += 1;
  return { server_uuid, macs, epoch: epochs, operation_id: randomUUID(), key_id: randomUUID() };
}

const toCn = ({ server_uuid }: { server_uuid: string }, message: CnMessage) =>
  ok({ kind: "cn", id: server_uuid }, message);

async function approve(c: Case): Promise<void> {
  const { epoch, operation_id } = c;
  await toCn(c, { ...MESSAGES.approve_setup, epoch, operation_id });
}

async function bundle(c: Case): Promise<void> {
  const key = { ...KEY, id: c.key_id, lookup: c.key_id.slice(-12) };
  await toCn(c, { type: "take_bundle", key });
}

/** The paths to an end, each starting with the approval. */
const PATHS: Record<string, { readonly ends: "succeeded" | "unwound"; readonly run: (c: Case) => Promise<void> }> = {
  "complete": {
    ends: "succeeded",
    run: async (c) => {
      await approve(c);
      await fixture.rest();
      await bundle(c);
      await toCn(c, { ...MESSAGES.setup_completed, epoch: c.epoch });
      await fixture.rest();
    },
  },
  "complete before the operation waits for it": {
    ends: "succeeded",
    run: async (c) => {
      await approve(c);
      await bundle(c);
      await toCn(c, { ...MESSAGES.setup_completed, epoch: c.epoch });
      await fixture.rest();
    },
  },
  "the second step fails: the machine reports failure": {
    ends: "unwound",
    run: async (c) => {
      await approve(c);
      await fixture.rest();
      await bundle(c);
      await toCn(c, { ...MESSAGES.setup_failed, epoch: c.epoch });
      await fixture.rest();
    },
  },
  "the second step fails before the operation waits for it": {
    ends: "unwound",
    run: async (c) => {
      await approve(c);
      await bundle(c);
      await toCn(c, { ...MESSAGES.setup_failed, epoch: c.epoch });
      await fixture.rest();
    },
  },
  "the second step fails: the deadline": {
    ends: "unwound",
    run: async (c) => {
      await approve(c);
      await fixture.rest();
      await bundle(c);
      await fixture.advance(2_701);
      await fixture.rest();
    },
  },
  "abandoned at once": {
    ends: "unwound",
    run: async (c) => {
      await approve(c);
      await bundle(c);
      await ok({ kind: "saga", id: c.operation_id }, { type: "abandon" });
      await fixture.rest();
    },
  },
  "abandoned while the machine works": {
    ends: "unwound",
    run: async (c) => {
      await approve(c);
      await fixture.rest();
      await bundle(c);
      await ok({ kind: "saga", id: c.operation_id }, { type: "abandon" });
      await fixture.rest();
    },
  },
};

/** A connection that is lost before the commit has the same effect as a crash before the commit. */
const CUTS = [["crash", "before_commit"], ["crash", "after_commit"], ["connection lost", "after_commit"]] as const;

/** Columns of the node that an undone run may change: the version, and the columns that describe the run. */
const TRACES = ["version", "last_setup_error", "disk_layout", "setup_operation_id"];

/** Returns the changed rows, with names instead of ids and times. Omits the old rows of nodes and boot records. */
function changesOf(before: Dump, after: Dump, c: Case): string[] {
  const names: [string, string][] = [
    [c.server_uuid, "<node>"],
    [c.operation_id, "<operation>"],
    [c.key_id, "<key>"],
    [c.key_id.slice(-12), "<lookup>"],
    ...c.macs.map((mac, index): [string, string] => [mac, `<port ${index}>`]),
  ];
  return changedRows(before, after).map((row) =>
    names.reduce((text, [id, name]) => text.replaceAll(id, name), row)
      .replace(/"incarnation":"[^"]*"/, '"incarnation":"<id>"')
      .replace(/"(setup_)?epoch": ?\d+/g, '"$1epoch":"<epoch>"')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+(Z|[+]00:00)/g, "<time>")
      .replace(/10\.0\.\d+\.\d+/g, "<address>")
      .replace(waitId(c.operation_id, "reported"), "<wait>")
  ).filter((row) => !row.startsWith("- boot_record") && !row.startsWith("- cn")).sort();
}

async function runPath(path: string, cut: Cut | null) {
  const c = await awaiting();
  const before = await fixture.dump();
  fixture.cut(cut);
  await PATHS[path]?.run(c);
  const counted = fixture.counted();
  fixture.cut(null);
  const after = await fixture.dump();
  return { c, before, after, counted, changes: changesOf(before, after, c) };
}

async function operationOf({ operation_id }: Case) {
  const { rows } = await fixture.db.query<
    { state: string; steps: Record<string, { status: string }>; error: string | null }
  >(
    "select state, steps, error from saga where id = $1",
    [operation_id],
  );
  return rows[0];
}

test("the cn-setup saga has exactly the steps that these tests cover", () => {
  expect(cnSetup.steps.map(({ name, kind }) => `${name} ${kind}`)).toEqual(["approved write", "reported wait"]);
});

describe.each(Object.entries(PATHS))("%s", (path, { ends }) => {
  test("ends in the expected state; a run that is undone leaves the database as before the approval", async () => {
    const { c, before, after } = await runPath(path, null);
    expect(await operationOf(c)).toMatchObject({ state: ends });
    await expectInvariants(fixture.db);
    if (ends === "succeeded") return;
    expectUndone(before, after, c);
  });

  test("ends with the same database after a crash before or after any commit, or a lost connection", async () => {
    const clean = await runPath(path, null);
    expect(clean.counted.commits).toBeGreaterThanOrEqual(4);
    for (const [how, at] of CUTS) {
      for (let commit = 1; commit <= clean.counted.commits; commit += 1) {
        const broken = await runPath(path, { how, at, commit });
        expect([how, at, commit, broken.counted.happened]).toEqual([how, at, commit, true]);
        expect(withoutVersions(broken.changes)).toEqual(withoutVersions(clean.changes));
      }
    }
    await expectInvariants(fixture.db);
  });

  test("changes nothing when all messages are repeated after the end, even when the undo is repeated", async () => {
    const { c } = await runPath(path, null);
    const ended = await fixture.dump();
    const operation = { kind: "saga", id: c.operation_id };
    const references = [{ scope: "cn", id: c.server_uuid }];
    const params = { server_uuid: c.server_uuid, epoch: c.epoch };
    const repeated = [
      { type: "start", id: c.operation_id, saga: "cn-setup", params, references },
      { type: "tick" },
      { type: "step_refused", step: "approved", reason: "late" },
      { type: "step_refused", step: "reported", reason: "late" },
      { type: "job_ended", job_id: waitId(c.operation_id, "reported"), outcome: "completed", result: {} },
      { type: "job_ended", job_id: waitId(c.operation_id, "reported"), outcome: "failed", reason: "late" },
    ];
    for (const message of repeated) await ok(operation, message);
    for (let n = 0; n < 2; n += 1) {
      expect(await fixture.send(operation, { type: "abandon" })).toMatchObject({
        ok: false,
        fault: { message: `the operation has already ended (${ends})` },
      });
      await toCn(c, { type: "revert_setup", epoch: c.epoch, reason: "again" });
      await toCn(c, { type: "tick" });
    }
    await fixture.rest();
    expect(changedRows(ended, await fixture.dump())).toEqual([]);
  });
});

/** Masks versions: the retry after a lost connection may increment a row's version once more. */
function withoutVersions(rows: readonly string[]): string[] {
  return rows.map((row) => row.replace(/"version":\d+/g, '"version":"<n>"'));
}

function expectUndone(before: Dump, after: Dump, c: Case): void {
  const changed = changedRows(before, after, ["saga"]);
  expect(changed.map((row) => row.slice(0, 5))).toEqual(["- cn:", "+ cn:"]);
  const [was, is] = changed.map((row) => JSON.parse(row.slice(5)) as Record<string, unknown>);
  const rest = (row: Record<string, unknown> = {}) =>
    Object.fromEntries(Object.entries(row).filter(([column]) => !TRACES.includes(column)));
  expect(rest(is)).toEqual(rest(was));
  expect(is).toMatchObject({ setup_operation_id: c.operation_id, last_setup_error: expect.any(String) });
}

test("the approval counts as the operation's completed first step; a refused approval starts no operation", async () => {
  const c = await awaiting();
  await approve(c);
  const again = { ...MESSAGES.approve_setup, operation_id: randomUUID(), epoch: c.epoch + 10_000 };
  expect(await fixture.send({ kind: "cn", id: c.server_uuid }, again)).toMatchObject({ ok: false });
  expect(await operationOf({ ...c, operation_id: again.operation_id })).toBeUndefined();
  expect(await operationOf(c)).toMatchObject({
    state: "running",
    steps: { approved: { status: "succeeded" }, reported: { status: "pending" } },
  });
});

test("an operation whose node no longer exists ends at its own time limit", async () => {
  const c = await awaiting();
  await approve(c);
  await fixture.rest();
  await fixture.db.query("delete from cn where server_uuid = $1", [c.server_uuid]);
  await fixture.advance(49 * 60);
  await fixture.rest();
  expect(await operationOf(c)).toMatchObject({ state: "running" });
  await fixture.advance(61);
  await fixture.rest();
  expect(await operationOf(c)).toMatchObject({
    state: "unwound",
    error: "step reported got no report within its time limit",
    steps: { approved: { status: "undone" }, reported: { status: "failed" } },
  });
});

test("a failed operation never affects the next run", async () => {
  const c = await awaiting();
  await approve(c);
  await fixture.rest();
  await toCn(c, { ...MESSAGES.setup_failed, epoch: c.epoch });
  const next = { ...c, epoch: c.epoch + 10_000, operation_id: randomUUID() };
  await approve(next);
  // Only now does the older operation get the message that its run failed. It then undoes its steps.
  await fixture.rest();
  expect(await operationOf(c)).toMatchObject({ state: "unwound" });
  const { rows } = await fixture.db.query("select state, setup_epoch::int from cn where server_uuid = $1", [
    c.server_uuid,
  ]);
  expect(rows).toEqual([{ state: "setting_up", setup_epoch: next.epoch }]);
  expect(await operationOf(next)).toMatchObject({ state: "running" });
});

test("the invariants of log and operations hold after all these tests", async () => {
  expect(await brokenInvariants(fixture.db, [...logChecks("all"), ...operationChecks("all")])).toEqual([]);
});
