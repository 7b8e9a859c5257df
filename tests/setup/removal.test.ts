// Tests the removal of nodes: the rows that it deletes and keeps, and the return of removed machines. docs/nodes.md,
// "Leaving".
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { changedRows, dumpTables, tablesWith } from "../support/dump.ts";
import { expectInvariants } from "./invariants.ts";
import {
  announce,
  approveSetup,
  awaitingSetup,
  ENROLLMENT_PI,
  HISTORY,
  newMac,
  newMachine,
  onNode,
  putPolicy,
  recordStates,
  report,
  rowOf,
  type Run,
  seen,
  settingUp,
  settle,
  setUp,
  showNode,
  showRecord,
  stageImages,
  takeBundle,
} from "./machine.ts";
import { addUsage } from "./node-usage.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
  okOf(await stageImages(t));
});
afterAll(() => t.close());
beforeEach(async () => void okOf(await putPolicy(t)));
afterEach(() => expectInvariants(t.db));

type Node = { readonly server_uuid: string };
const remove = (node: Node) => onNode(t, "DELETE", node);
const disable = async (node: Node) => void okOf(await onNode(t, "POST", node, "/disable"));

async function disabled(): Promise<Run> {
  const run = await setUp(t);
  await disable(run);
  return run;
}

describe("a removal", () => {
  test("deletes the node and its dependent rows, and keeps audit, operations and migrations", async () => {
    const run = await setUp(t);
    await addUsage(t, run);
    const ended = "insert into migration values (gen_random_uuid(), 'failed', $1, gen_random_uuid())";
    await t.db.query(ended, [run.server_uuid]);
    await disable(run);
    await settle(t);
    const before = await dumpTables(t.db);
    const audit = async () => (await t.call("GET", "/v1/audit/events?limit=1000")).body.events;
    const events = await audit();
    const answer = await remove(run);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    await settle(t);
    const after = await dumpTables(t.db);
    expect(tablesWith(before, run.server_uuid)).toEqual(expect.arrayContaining(["cn_signal", "cn_capacity"]));
    const keeping = new Set(["boot_record", "migration", "saga", ...HISTORY]);
    expect(tablesWith(after, run.server_uuid).filter((table) => !keeping.has(table))).toEqual([]);
    const changed = changedRows(before, after, [...HISTORY, "boot_record"]).map((row) => row.replace(/:.*/s, ""));
    expect(changed.sort()).toEqual([
      "- api_key",
      "- cn",
      "- cn_capacity",
      "- cn_load_summary",
      "- cn_nic_tag",
      "- cn_placement",
      "- cn_signal",
      "- placement_reservation",
    ]);
    expect((await audit()).slice(0, events.length)).toEqual(events);
    expect((await audit()).slice(events.length).map(({ action }: { action: string }) => action)).toEqual([
      "cn_remove",
      "delete_api_key",
    ]);
    expect((await t.call("GET", `/v1/system/cns/${run.server_uuid}`)).status).toBe(404);
    expect((await t.call("POST", "/v1/agent/heartbeat", { key: run.api_key })).status).toBe(401);
    expect((await t.call("GET", `/v1/operations/${run.operation_id}`)).status).toBe(200);
    expect((await t.call("GET", "/v1/audit/verify")).body).toMatchObject({ outcome: { Ok: {} } });
  });

  test("decommissions the node's boot records and unbound boot records of its ports, and no other boot records", async () => {
    const owner = await setUp(t);
    const run = await setUp(t);
    okOf(await putPolicy(t, { auto_enroll: false }));
    const [unbound, quiet, stranger, never, gone] = [newMac(), newMac(), newMac(), newMac(), newMac()];
    for (const mac of [quiet, stranger, gone]) okOf(await seen(t, mac));
    okOf(await t.call("POST", `/v2/cn-boot/${gone}/decommission`));
    okOf(await t.call("POST", `/v2/cn-boot/${unbound}/authorize`));
    const [kept = "", dropped = ""] = run.macs;
    // The node reports only one of its two ports. It also reports ports with which it did not enrol. One of them
    // belongs to another node.
    const macs = [kept, unbound, quiet, never, gone, owner.macs[0] ?? ""];
    await t.db.query("update cn set macs = $2 where server_uuid = $1", [run.server_uuid, macs]);
    await disable(run);
    const before = new Map(
      await Promise.all(
        [kept, dropped, unbound, quiet, stranger, gone, ...owner.macs].map(async (mac) =>
          [mac, await showRecord(t, mac)] as const
        ),
      ),
    );
    expect((await remove(run)).status).toBe(204);
    for (const mac of [kept, dropped, unbound, quiet]) {
      const is = await showRecord(t, mac);
      const was = before.get(mac);
      expect(is).toEqual({ ...was, state: "decommissioned", assigned_pi: null, updated_at: is.updated_at });
    }
    for (const mac of [stranger, gone, ...owner.macs]) expect(await showRecord(t, mac)).toEqual(before.get(mac));
    expect((await t.call("GET", `/v2/cn-boot/${never}`)).status).toBe(404);
  });

  test.each([
    ["pending", () => t.register()],
    ["awaiting_setup", () => awaitingSetup(t)],
    ["disabled", () => disabled()],
  ])("of a node that is %s gets 204, even when it is repeated", async (_state, arrange) => {
    const node: Node = await arrange();
    for (let n = 0; n < 2; n += 1) {
      const answer = await remove(node);
      expect([answer.status, answer.text]).toEqual([204, ""]);
    }
    expect(await rowOf(t, node)).toBeNull();
    const { rows } = await t.db.query("select event from transition where actor_id = $1 and event = 'remove'", [
      node.server_uuid,
    ]);
    expect(rows.length).toBe(1);
  });

  test("of an unknown node gets 204", async () => {
    expect((await remove({ server_uuid: randomUUID() })).status).toBe(204);
  });

  test("of a node that is approved or in setup gets 409 with what to do", async () => {
    expect(await remove(await setUp(t))).toMatchObject({
      status: 409,
      body: { message: "cn is approved; disable it before removing" },
    });
    expect(await remove(await settingUp(t))).toMatchObject({
      status: 409,
      body: { message: "cn is setting_up; wait for setup to finish or fail before removing" },
    });
  });

  test("succeeds for all of several concurrent callers", async () => {
    const run = await disabled();
    const answers = await Promise.all(Array.from({ length: 6 }, () => remove(run)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(204));
  });
});

describe("a removed machine returns", () => {
  test("with its old addresses, when its ports are reactivated and it enrols again", async () => {
    const run = await setUp(t);
    const addresses = await Promise.all(run.macs.map(async (mac) => (await showRecord(t, mac)).address));
    await disable(run);
    okOf(await remove(run));
    for (const mac of run.macs) {
      expect(okOf(await seen(t, mac)).state).toBe("decommissioned");
      okOf(await t.call("POST", `/v2/cn-boot/${mac}/reactivate`));
      expect(okOf(await seen(t, mac)).state).toBe("discovered");
      okOf(await t.call("POST", `/v2/cn-boot/${mac}/authorize`));
      expect(okOf(await seen(t, mac)).state).toBe("enrolling");
    }
    expect(okOf(await announce(t, run))).toMatchObject({ state: "awaiting_setup", role: "tenant" });
    const again = await settingUpAgain(run);
    okOf(await report(t, run, "complete", { epoch: again.epoch }));
    expect(await showNode(t, run)).toMatchObject({ state: "approved", last_setup_error: null });
    expect(await recordStates(t, run)).toEqual(["enrolled", "enrolled"]);
    const records = await Promise.all(run.macs.map((mac) => showRecord(t, mac)));
    expect(records.map(({ address }) => address)).toEqual(addresses);
    expect(records.map(({ assigned_pi }) => assigned_pi)).toEqual([ENROLLMENT_PI, ENROLLMENT_PI]);
    expect((await t.call("POST", "/v1/agent/heartbeat", { key: again.api_key })).status).toBe(200);
  });

  async function settingUpAgain(run: Run) {
    okOf(await approveSetup(t, run));
    return okOf(await takeBundle(t, run));
  }

  test("with another UUID after its board was replaced", async () => {
    const run = await disabled();
    okOf(await remove(run));
    for (const mac of run.macs) {
      okOf(await t.call("POST", `/v2/cn-boot/${mac}/reactivate`));
      okOf(await t.call("POST", `/v2/cn-boot/${mac}/authorize`));
    }
    const board = { ...run, server_uuid: newMachine().server_uuid };
    okOf(await announce(t, board));
    await setUp(t, board);
    expect(await showRecord(t, run.macs[0])).toMatchObject({ state: "enrolled", server_uuid: board.server_uuid });
  });
});
