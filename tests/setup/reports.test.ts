// Tests the reports of a setup run's progress and completion, and reports that are refused. docs/nodes.md, "The netboot
// path".
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { expectInvariants } from "./invariants.ts";
import {
  announce,
  approveSetup,
  awaitingSetup,
  ENROLLMENT_PI,
  type Machine,
  newMac,
  newMachine,
  onNode,
  putPolicy,
  report,
  rowOf,
  type Run,
  seen,
  settingUp,
  setUp,
  showNode,
  showRecord,
  sysinfoOf,
  takeBundle,
} from "./machine.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
  okOf(await t.call("PUT", "/v2/platform-images", { body: { stamps: [ENROLLMENT_PI, "pi-own"] } }));
});
afterAll(() => t.close());
beforeEach(async () => void okOf(await putPolicy(t)));
afterEach(() => expectInvariants(t.db));

const heartbeat = async (key: string) => (await t.call("POST", "/v1/agent/heartbeat", { key })).status;
const STALE = "the report belongs to another setup run (stale epoch)";

/** Waits until the operation has ended, and returns it. */
const operation = async ({ operation_id }: Run) => (await t.call("GET", `/v1/operations/${operation_id}?wait=10`)).body;

describe("a report of progress", () => {
  test("is shown on the node as last reported; missing fields are null", async () => {
    const run = await settingUp(t);
    const { epoch } = run;
    const progress = { epoch, step: "pool", message: "creating zones", percent: 12.5 };
    const { status, body } = await report(t, run, "progress", progress);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      state: "setting_up",
      setup_progress: { ...progress, updated_at: expect.any(String) },
    });
    expect((await showNode(t, run)).setup_progress).toEqual(body.setup_progress);
    const bare = await report(t, run, "progress", { epoch, step: "datasets", later_field: 1 });
    expect(bare.body.setup_progress).toEqual({
      epoch,
      step: "datasets",
      message: null,
      percent: null,
      updated_at: expect.any(String),
    });
  });

  test.each([
    { step: "" },
    { step: "x".repeat(129) },
    { percent: -1 },
    { percent: 100.1 },
    { percent: "5" },
    {
      message: "m".repeat(2_049),
    },
    { step: undefined },
    { epoch: undefined },
    { epoch: "1" },
    { epoch: -1 },
    { epoch: 1.5 },
    { epoch: 2 ** 60 },
  ])(
    "with %j gets 400",
    async (changes) => {
      const run = await settingUp(t);
      const body = { epoch: run.epoch, ...changes } as { epoch: number };
      expect((await report(t, run, "progress", body)).status).toBe(400);
      expect((await showNode(t, run)).setup_progress).toBeNull();
    },
  );

  test("does not move the deadline", async () => {
    const run = await settingUp(t);
    const wake = async () =>
      (await t.db.query("select wake_at from cn where server_uuid = $1", [run.server_uuid])).rows;
    const before = await wake();
    okOf(await report(t, run, "progress", { epoch: run.epoch }));
    expect(await wake()).toEqual(before);
  });
});

describe("a report of completion", () => {
  test("approves the node and enrols all its boot records with the policy's image, in one commit", async () => {
    const run = await settingUp(t, await awaitingSetup(t, newMachine(4)));
    const [view, records] = [await showNode(t, run), await Promise.all(run.macs.map((mac) => showRecord(t, mac)))];
    const { status, body } = await report(t, run, "complete", { epoch: run.epoch });
    const { address } = records[0];
    const approved = { ...view, state: "approved", admin_ip: address, underlay_address: address };
    expect([status, body]).toEqual([200, approved]);
    expect(await showNode(t, run)).toEqual(body);
    for (const before of records) {
      const after = await showRecord(t, before.mac);
      const { server_uuid } = run;
      const changes = { state: "enrolled", server_uuid, assigned_pi: ENROLLMENT_PI, updated_at: after.updated_at };
      expect(after).toEqual({ ...before, ...changes });
    }
    const { rows } = await t.db.query(
      `select count(distinct xid)::int as commits, count(*)::int as moves from transition
        where (actor_id = $1 and event = 'setup_completed') or (actor_id = any($2) and event = 'enroll')`,
      [run.server_uuid, run.macs],
    );
    expect(rows).toEqual([{ commits: 1, moves: 5 }]);
    expect(await heartbeat(run.api_key)).toBe(200);
    const done = await operation(run);
    expect(done).toMatchObject({ state: "succeeded", error: null });
    expect(done.steps.map(({ name, status }: { name: string; status: string }) => `${name} ${status}`)).toEqual([
      "approved succeeded",
      "reported succeeded",
    ]);
  });

  test("enrols a boot record of an announced port only if the record is in state enrolling", async () => {
    const owner = await setUp(t);
    const away = await setUp(t);
    okOf(await onNode(t, "POST", away, "/factory-reset"));
    okOf(await putPolicy(t, { auto_enroll: false }));
    const [quiet, own, stranger] = [newMac(), newMac(), newMac()];
    okOf(await seen(t, quiet));
    okOf(await putPolicy(t));
    okOf(await seen(t, stranger));
    const gone = newMac();
    okOf(await seen(t, gone));
    okOf(await t.call("POST", `/v2/cn-boot/${gone}/decommission`));
    const base = newMachine(0);
    const never = newMac();
    const macs = [own, quiet, gone, never, owner.macs[0] ?? "", away.macs[0] ?? ""];
    const run = await settingUp(t, await awaitingSetupOf({ ...base, macs, sysinfo: sysinfoOf(macs) }, [own]));
    const untouched = [quiet, gone, stranger, ...owner.macs, ...away.macs];
    const before = await Promise.all(untouched.map((mac) => showRecord(t, mac)));
    expect(before.map(({ state }) => state)).toEqual([
      "discovered",
      "decommissioned",
      "enrolling",
      "enrolled",
      "enrolled",
      "enrolling",
      "enrolling",
    ]);
    okOf(await report(t, run, "complete", { epoch: run.epoch }));
    expect(await showRecord(t, own)).toMatchObject({ state: "enrolled", server_uuid: run.server_uuid });
    expect(await Promise.all(untouched.map((mac) => showRecord(t, mac)))).toEqual(before);
    expect((await t.call("GET", `/v2/cn-boot/${never}`)).status).toBe(404);
  });

  test("is refused while one boot record would get no image, changes nothing then, and succeeds later", async () => {
    const machine = await awaitingSetup(t);
    okOf(await t.call("POST", `/v2/cn-boot/${machine.macs[0]}/assign`, { body: { platform_image: "pi-own" } }));
    const run = await settingUp(t, machine);
    okOf(await putPolicy(t, { enrollment_pi: null }));
    const [row, records] = [await rowOf(t, run), await Promise.all(run.macs.map((mac) => showRecord(t, mac)))];
    const refused = await report(t, run, "complete", { epoch: run.epoch });
    expect([refused.status, refused.body.message]).toEqual([
      409,
      "the boot record has no image: no operator assigned one, and the boot policy names no enrollment_pi",
    ]);
    expect(await rowOf(t, run)).toEqual(row);
    expect(await Promise.all(run.macs.map((mac) => showRecord(t, mac)))).toEqual(records);
    okOf(await putPolicy(t));
    okOf(await report(t, run, "complete", { epoch: run.epoch }));
    expect(await Promise.all(run.macs.map(async (mac) => (await showRecord(t, mac)).assigned_pi))).toEqual([
      "pi-own",
      ENROLLMENT_PI,
    ]);
  });

  test("is refused before the bundle was fetched, so that no node is approved without a key", async () => {
    const machine = await awaitingSetup(t);
    okOf(await approveSetup(t, machine));
    const epoch = Number((await rowOf(t, machine))?.setup_epoch);
    const refused = await report(t, machine, "complete", { epoch });
    expect([refused.status, refused.body.message]).toEqual([409, "the setup bundle of this run was never fetched"]);
    expect((await showNode(t, machine)).state).toBe("setting_up");
  });

  test("approves a machine without boot records, too", async () => {
    const machine = newMachine();
    okOf(await announce(t, machine));
    expect((await showNode(t, await setUp(t, machine))).state).toBe("approved");
  });

  test("keeps the layout and the last progress; the new approval has cleared the previous run's error", async () => {
    const first = await settingUp(t);
    okOf(await report(t, first, "failed", { epoch: first.epoch }));
    okOf(await approveSetup(t, first, { disk_layout: "raidz1" }));
    expect(await showNode(t, first)).toMatchObject({ last_setup_error: null, setup_progress: null });
    const { epoch } = okOf(await takeBundle(t, first));
    okOf(await report(t, first, "progress", { epoch }));
    expect(okOf(await report(t, first, "complete", { epoch }))).toMatchObject({
      last_setup_error: null,
      disk_layout: { disk_layout: "raidz1" },
      setup_progress: { epoch, step: "pool" },
    });
  });
});

/** Announces a machine with all its ports, after a booter saw only the ports `seen_on`. */
async function awaitingSetupOf(machine: Machine, seen_on: readonly string[]): Promise<Machine> {
  for (const mac of seen_on) okOf(await seen(t, mac));
  okOf(await announce(t, machine));
  return machine;
}

describe("a report", () => {
  const REPORTED = ["progress", "complete", "failed"] as const;

  test.each(REPORTED)("(%s) of another run gets 409 and changes nothing", async (kind) => {
    const run = await settingUp(t);
    const before = await rowOf(t, run);
    for (const epoch of [run.epoch - 1, run.epoch + 1, 0]) {
      const answer = await report(t, run, kind, { epoch });
      expect([answer.status, answer.body.message]).toEqual([409, STALE]);
    }
    expect(await rowOf(t, run)).toEqual(before);
  });

  test.each(REPORTED)(
    "(%s) gets 409 with the state while no setup runs, 404 for an unknown node, and changes nothing",
    async (kind) => {
      const disabled = await setUp(t);
      okOf(await onNode(t, "POST", disabled, "/disable"));
      const approved = await setUp(t);
      const nodes = { awaiting_setup: await awaitingSetup(t), approved, disabled, pending: await t.register() };
      for (const [state, { server_uuid }] of Object.entries(nodes)) {
        const node = { ...newMachine(0), server_uuid };
        const before = await rowOf(t, node);
        const answer = await report(t, node, kind, { epoch: approved.epoch });
        expect([answer.status, answer.body.message]).toEqual([409, `cn is ${state}; no setup is running on it`]);
        expect(await rowOf(t, node)).toEqual(before);
      }
      expect((await report(t, { ...newMachine(0), server_uuid: randomUUID() }, kind, { epoch: 1 })).status).toBe(404);
    },
  );

  test("that is repeated with its Idempotency-Key gets its first answer, even after the run has ended", async () => {
    const run = await settingUp(t);
    const path = `/v2/booter/cns/${run.server_uuid}/setup-complete`;
    const once = () =>
      t.call("POST", path, { body: { epoch: run.epoch }, headers: { "idempotency-key": `done ${run.epoch}` } });
    const first = await once();
    expect(first.status).toBe(200);
    expect((await once()).body).toEqual(first.body);
    expect((await report(t, run, "complete", { epoch: run.epoch })).status).toBe(409);
  });
});
