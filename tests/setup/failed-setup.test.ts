// Tests setup runs that fail, time out or are abandoned. docs/nodes.md, "The netboot path".
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SETUP_EXPIRED } from "../../actors/cn/setup.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { expectInvariants } from "./invariants.ts";
import {
  approveSetup,
  awaitingSetup,
  keysOf,
  putPolicy,
  recordStates,
  report,
  rowOf,
  type Run,
  settingUp,
  setUp,
  showNode,
} from "./machine.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());
beforeEach(async () => void okOf(await putPolicy(t)));
afterEach(() => expectInvariants(t.db));

const heartbeat = async (key: string) => (await t.call("POST", "/v1/agent/heartbeat", { key })).status;
/** Waits until the operation has ended, and returns it. */
const operation = async ({ operation_id }: Run) => (await t.call("GET", `/v1/operations/${operation_id}?wait=10`)).body;

describe("a report of failure", () => {
  test("reverts the node with the reason, revokes its key at once, and undoes the operation", async () => {
    const run = await settingUp(t);
    expect(await heartbeat(run.api_key)).toBe(200);
    const view = await showNode(t, run);
    const { status, body } = await report(t, run, "failed", { epoch: run.epoch, reason: "dump device: too small" });
    expect(status).toBe(200);
    const reverted = { state: "awaiting_setup", approved_at: null, bound_api_key_id: null };
    expect(body).toEqual({
      ...view,
      ...reverted,
      last_seen: body.last_seen,
      last_setup_error: "dump device: too small",
    });
    expect(await keysOf(t, run)).toEqual([]);
    expect(await heartbeat(run.api_key)).toBe(401);
    expect(await recordStates(t, run)).toEqual(["enrolling", "enrolling"]);
    expect(await operation(run)).toMatchObject({ state: "unwound", error: "dump device: too small" });
    expect(await rowOf(t, run)).toMatchObject({
      setup_epoch: null,
      bundle_taken: false,
      ticket_keys: null,
      wake_at: null,
    });
  });

  test("reverts the node even before the bundle was fetched, when there is no key to revoke", async () => {
    const machine = await awaitingSetup(t);
    okOf(await approveSetup(t, machine));
    const epoch = Number((await rowOf(t, machine))?.setup_epoch);
    expect(okOf(await report(t, machine, "failed", { epoch })).state).toBe("awaiting_setup");
  });

  test.each([["512 letters", "x".repeat(512)], ["256 letters of two bytes", "é".repeat(256)], ["an empty text", ""]])(
    "with %s as its reason is accepted unchanged",
    async (_what, reason) => {
      const run = await settingUp(t);
      expect(okOf(await report(t, run, "failed", { epoch: run.epoch, reason })).last_setup_error).toBe(reason);
    },
  );

  test.each([["513 letters", "x".repeat(513)], ["257 letters of two bytes", "é".repeat(257)], ["a number", 7]])(
    "with %s as its reason gets 400, and the run continues",
    async (_what, reason) => {
      const run = await settingUp(t);
      expect((await report(t, run, "failed", { epoch: run.epoch, reason })).status).toBe(400);
      expect((await showNode(t, run)).state).toBe("setting_up");
      expect(await heartbeat(run.api_key)).toBe(200);
    },
  );
});

describe("the deadline", () => {
  test("reverts the node if no final report arrives within 45 minutes of the approval", async () => {
    const run = await settingUp(t);
    okOf(await report(t, run, "progress", { epoch: run.epoch }));
    await t.advance(44 * 60 + 30);
    await t.plane.pass();
    expect((await showNode(t, run)).state).toBe("setting_up");
    await t.advance(31);
    await t.plane.pass();
    expect(await showNode(t, run)).toMatchObject({
      state: "awaiting_setup",
      approved_at: null,
      bound_api_key_id: null,
      last_setup_error: "cn setup exceeded its deadline without reporting complete/failed; reverted by reconciler",
    });
    expect(await keysOf(t, run)).toEqual([]);
    expect(await heartbeat(run.api_key)).toBe(401);
    expect(await operation(run)).toMatchObject({ state: "unwound", error: SETUP_EXPIRED });
    const { rows } = await t.db.query(
      "select audit->>'action' as action, audit->'actor'->>'kind' as by from transition where actor_id = $1 order by id desc limit 1",
      [run.server_uuid],
    );
    expect(rows).toEqual([{ action: "cn_setup_expired", by: "system" }]);
  });

  test("reverts the node even if the bundle was never fetched", async () => {
    const machine = await awaitingSetup(t);
    okOf(await approveSetup(t, machine));
    await t.advance(2_701);
    await t.plane.pass();
    expect((await showNode(t, machine)).last_setup_error).toBe(SETUP_EXPIRED);
  });

  test("does not affect a node that was set up in time", async () => {
    const run = await setUp(t);
    await t.advance(2_701);
    await t.plane.pass();
    expect(await showNode(t, run)).toMatchObject({ state: "approved", last_setup_error: null });
  });
});

describe("abandoning the operation", () => {
  test("reverts the node and revokes its key", async () => {
    const run = await settingUp(t);
    okOf(await t.call("POST", `/v1/operations/${run.operation_id}/abandon`));
    expect(await operation(run)).toMatchObject({ state: "unwound", error: "abandoned by an operator" });
    expect(await showNode(t, run)).toMatchObject({
      state: "awaiting_setup",
      last_setup_error: "setup abandoned by an operator",
    });
    expect(await keysOf(t, run)).toEqual([]);
    expect((await report(t, run, "complete", { epoch: run.epoch })).status).toBe(409);
  });

  test("gets 409 and changes nothing after the operation has ended", async () => {
    const run = await setUp(t);
    await operation(run);
    const before = await rowOf(t, run);
    const answer = await t.call("POST", `/v1/operations/${run.operation_id}/abandon`);
    expect([answer.status, answer.body.message]).toEqual([409, "the operation has already ended (succeeded)"]);
    expect(await rowOf(t, run)).toEqual(before);
  });
});
