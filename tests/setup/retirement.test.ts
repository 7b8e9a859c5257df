// Factory reset and remove: the fields that they clear, keep and delete, and the guards that refuse them.
// docs/nodes.md, "Leaving".
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { okOf, openTestPlane, type TestPlane } from "../support/control-plane.ts";
import { capacity } from "../api/bodies.ts";
import { changedRows, dumpTables, tablesWith } from "../support/dump.ts";
import { insertInstance } from "../support/instance-row.ts";
import { expectInvariants } from "./invariants.ts";
import {
  announce,
  approveSetup,
  awaitingSetup,
  ENROLLMENT_PI,
  HISTORY,
  keysOf,
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
  sysinfoOf,
  takeBundle,
} from "./machine.ts";

let t: TestPlane;
beforeAll(async () => {
  t = await openTestPlane();
  okOf(await stageImages(t));
});
afterAll(() => t.close());
beforeEach(async () => void okOf(await putPolicy(t)));
afterEach(() => expectInvariants(t.db));

type Node = { readonly server_uuid: string };
const reset = (node: Node) => onNode(t, "POST", node, "/factory-reset");
const remove = (node: Node) => onNode(t, "DELETE", node);
const disable = async (node: Node) => void okOf(await onNode(t, "POST", node, "/disable"));

async function disabled(): Promise<Run> {
  const run = await setUp(t);
  await disable(run);
  return run;
}

/** Adds the rows that an agent and operators leave on a working node. */
async function addUsage(run: Run): Promise<void> {
  const agent = (path: string, body?: unknown) => t.call("POST", `/v1/agent/${path}`, { key: run.api_key, body });
  okOf(await agent("status", { payload: { pools: ["zones"] } }));
  okOf(await agent("capacity", capacity()));
  okOf(await onNode(t, "POST", run, "/role", { role: "both" }));
  okOf(await onNode(t, "POST", run, "/reservoir", { reservoir_enabled: false, reservoir_percent: 0.5 }));
  okOf(await onNode(t, "POST", run, "/traits", { traits: { rack: "7" } }));
  okOf(await onNode(t, "POST", run, "/root-password", { password: "a long enough secret" }));
  const of = [run.server_uuid];
  await t.db.query("insert into cn_nic_tag values ($1, 'admin', 'e0', null, null)", of);
  await t.db.query("insert into cn_load_summary values ($1, '{}', now())", of);
  const expired = "insert into placement_reservation values ($1, gen_random_uuid(), gen_random_uuid(), 'epoch')";
  await t.db.query(expired, of);
}

/** Rows that block a reset and a removal, and statements that unblock them. */
const GUARDS = [
  {
    text: "instances are still placed on this node; delete or migrate them first",
    hold: insertInstance({ host_cn_uuid: "$1::uuid" }),
    free: "delete from instance where host_cn_uuid = $1",
  },
  {
    text: "a placement reservation is in flight for this node",
    hold:
      "insert into placement_reservation values ($1, gen_random_uuid(), gen_random_uuid(), berth_now() + interval '1 minute')",
    free: "update placement_reservation set expires_at = berth_now() where server_uuid = $1",
  },
  {
    text: "a migration involving this node is in flight; wait for it to finish or abort it",
    hold: "insert into migration values (gen_random_uuid(), 'running', $1, gen_random_uuid())",
    free: "update migration set state = 'completed' where source_cn = $1",
  },
  {
    text: "a migration involving this node is in flight; wait for it to finish or abort it",
    hold: "insert into migration values (gen_random_uuid(), 'paused', gen_random_uuid(), $1)",
    free: "update migration set state = 'aborted' where target_cn = $1",
  },
] as const;

describe("the guards", () => {
  test.each(GUARDS)("$text: both calls are refused and change nothing", async (guard) => {
    const [approved, off] = [await setUp(t), await disabled()];
    for (const [node, call] of [[approved, reset], [off, reset], [off, remove]] as const) {
      await t.db.query(guard.hold, [node.server_uuid]);
      await settle(t);
      const before = await dumpTables(t.db);
      const answer = await call(node);
      expect([answer.status, answer.body.message, answer.body.error_code]).toEqual([409, guard.text, "Conflict"]);
      expect(changedRows(before, await dumpTables(t.db), HISTORY)).toEqual([]);
      await t.db.query(guard.free, [node.server_uuid]);
    }
    expect((await remove(off)).status).toBe(204);
    expect((await reset(approved)).status).toBe(200);
  });

  test("the first of several guards gives the message", async () => {
    const run = await setUp(t);
    for (const { hold } of GUARDS) await t.db.query(hold, [run.server_uuid]);
    expect((await reset(run)).body.message).toBe(GUARDS[0].text);
    await t.db.query(GUARDS[0].free, [run.server_uuid]);
    expect((await reset(run)).body.message).toBe(GUARDS[1].text);
  });

  test("rows of another node do not matter", async () => {
    const [run, other] = [await setUp(t), await setUp(t)];
    for (const { hold } of GUARDS) await t.db.query(hold, [other.server_uuid]);
    expect((await reset(run)).status).toBe(200);
  });

  test("a removal that waits for the node's lock sees an instance that was placed meanwhile", async () => {
    const run = await disabled();
    const answer = await t.db.withClient(async (client) => {
      await client.query("begin");
      await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`cn:${run.server_uuid}`]);
      const removing = remove(run);
      await new Promise((wake) => setTimeout(wake, 80));
      await client.query(GUARDS[0].hold, [run.server_uuid]);
      await client.query("commit");
      return await removing;
    });
    expect([answer.status, answer.body.message]).toEqual([409, GUARDS[0].text]);
  });
});

describe("factory reset", () => {
  test.each([["approved", () => setUp(t)], ["disabled", () => disabled()]] as const)(
    "of a node that is %s clears the results of the setup and keeps the rest",
    async (state, arrange) => {
      const run = await arrange();
      if (state === "approved") await addUsage(run);
      await settle(t);
      const [row, before] = [await rowOf(t, run), await dumpTables(t.db)];
      const answer = await reset(run);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(await showNode(t, run));
      expect(await rowOf(t, run)).toEqual({
        ...row,
        state: "awaiting_setup",
        version: Number(row?.version) + 1,
        approved_at: null,
        bound_api_key_id: null,
        pending_credential: null,
        ticket_keys: null,
        disk_layout: null,
        setup_progress: null,
        setup_epoch: null,
        setup_operation_id: null,
        bundle_taken: false,
        last_setup_error: "factory reset by operator",
      });
      // Only the node, its key with its use, and its boot records change.
      const changed = changedRows(before, await dumpTables(t.db), HISTORY).map((each) => each.replace(/:.*/s, ""));
      expect(changed.sort()).toEqual(
        ["+ boot_record", "+ boot_record", "+ cn", "- api_key", "- boot_record", "- boot_record", "- cn"].sort(),
      );
    },
  );

  test("makes the node's records enrol again, also for ports that it no longer reports", async () => {
    const run = await setUp(t);
    const [first = "", second = ""] = run.macs;
    await t.db.query("update cn set macs = array[$2], sysinfo = $3 where server_uuid = $1", [
      run.server_uuid,
      second,
      JSON.stringify(sysinfoOf([second])),
    ]);
    const stranger = newMac();
    okOf(await seen(t, stranger));
    const before = await Promise.all([first, second].map((mac) => showRecord(t, mac)));
    okOf(await reset(run));
    for (const was of before) {
      const is = await showRecord(t, was.mac);
      // Still bound, so that the ports are found again. The next image comes from the policy.
      expect(is).toEqual({ ...was, state: "enrolling", assigned_pi: null, updated_at: is.updated_at });
    }
    expect(await showRecord(t, stranger)).toMatchObject({ state: "enrolling", server_uuid: null });
  });

  test("revokes the key at once, and erases its sealed copies", async () => {
    const run = await setUp(t);
    const sealed = String((await rowOf(t, run))?.ticket_keys);
    expect((await t.call("POST", "/v1/agent/heartbeat", { key: run.api_key })).status).toBe(200);
    okOf(await reset(run));
    expect((await t.call("POST", "/v1/agent/heartbeat", { key: run.api_key })).status).toBe(401);
    expect(await keysOf(t, run)).toEqual([]);
    expect(tablesWith(await dumpTables(t.db), sealed)).toEqual([]);
  });

  test.each([
    ["without an enrollment_pi in the policy", { enrollment_pi: null }, []],
    ["with an enrollment_pi that only a removed booter had", {}, ["another"]],
    ["with an enrollment_pi that no booter ever had", { enrollment_pi: "never-staged" }, [ENROLLMENT_PI]],
  ])("%s is 409: the node could not enrol again", async (_how, policy, stamps) => {
    const run = await setUp(t);
    okOf(await putPolicy(t, policy));
    okOf(await t.call("PUT", "/v2/platform-images", { body: { stamps } }));
    const removed = await t.mintKey("booter");
    okOf(await t.call("PUT", "/v2/platform-images", { body: { stamps: [ENROLLMENT_PI] }, key: removed.secret }));
    okOf(await t.call("DELETE", `/v1/auth/api-keys/${removed.id}`));
    const before = await rowOf(t, run);
    expect(await reset(run)).toMatchObject({
      status: 409,
      body: {
        message:
          "no valid enrollment PI is configured in the boot policy; the reset node could not netboot back into enrollment",
      },
    });
    expect(await rowOf(t, run)).toEqual(before);
    okOf(await putPolicy(t));
    okOf(await stageImages(t));
    expect(okOf(await reset(run)).state).toBe("awaiting_setup");
  });

  test("in any other state is 409 with the state, of an unknown node 404", async () => {
    const nodes = {
      pending: await t.register(),
      awaiting_setup: await awaitingSetup(t),
      setting_up: await settingUp(t),
    };
    for (const [state, node] of Object.entries(nodes)) {
      expect((await reset(node)).body.message).toBe(
        `cn is ${state}; only an approved or disabled node can be factory reset`,
      );
    }
    expect((await reset({ server_uuid: randomUUID() })).status).toBe(404);
  });

  test("works on a node that registered by claim code, which has no boot records", async () => {
    const node = await t.approvedNode();
    expect(okOf(await reset(node)).state).toBe("awaiting_setup");
    expect((await t.call("POST", "/v1/agent/heartbeat", { key: node.api_key })).status).toBe(401);
  });

  test("is followed by a normal approval, and the bundle contains the root password hash", async () => {
    const run = await setUp(t);
    okOf(await onNode(t, "POST", run, "/root-password", { password: "kept through it all" }));
    const hash = (await rowOf(t, run))?.root_password_hash;
    okOf(await reset(run));
    okOf(await stageImages(t, "pi-next"));
    okOf(await putPolicy(t, { enrollment_pi: "pi-next" }));
    expect(okOf(await seen(t, run.macs[0] ?? "")).state).toBe("enrolling");
    okOf(await announce(t, run));
    okOf(await approveSetup(t, run));
    const { epoch, root_password_hash } = okOf(await takeBundle(t, run));
    expect([typeof hash, root_password_hash]).toEqual(["string", hash]);
    okOf(await report(t, run, "complete", { epoch }));
    expect(await showRecord(t, run.macs[0])).toMatchObject({
      state: "enrolled",
      server_uuid: run.server_uuid,
      assigned_pi: "pi-next",
    });
  });
});

describe("remove", () => {
  test("deletes the node and its dependent rows, and keeps audit, operations and migrations", async () => {
    const run = await setUp(t);
    await addUsage(run);
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

  test("decommissions the node's bound records and the unbound records of its ports, and no others", async () => {
    const owner = await setUp(t);
    const run = await setUp(t);
    okOf(await putPolicy(t, { auto_enroll: false }));
    const [unbound, quiet, stranger, never, gone] = [newMac(), newMac(), newMac(), newMac(), newMac()];
    for (const mac of [quiet, stranger, gone]) okOf(await seen(t, mac));
    okOf(await t.call("POST", `/v2/cn-boot/${gone}/decommission`));
    okOf(await t.call("POST", `/v2/cn-boot/${unbound}/authorize`));
    const [kept = "", dropped = ""] = run.macs;
    // The node reports only one of its two ports, and others that it never enrolled with, one of them another node's.
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
  ])("of a node that is %s is 204, also when repeated", async (_state, arrange) => {
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

  test("of an unknown node is 204", async () => {
    expect((await remove({ server_uuid: randomUUID() })).status).toBe(204);
  });

  test("of an approved node or one in setup is 409 with what to do", async () => {
    expect(await remove(await setUp(t))).toMatchObject({
      status: 409,
      body: { message: "cn is approved; disable it before removing" },
    });
    expect(await remove(await settingUp(t))).toMatchObject({
      status: 409,
      body: { message: "cn is setting_up; wait for setup to finish or fail before removing" },
    });
  });

  test("by many callers at once succeeds for all", async () => {
    const run = await disabled();
    const answers = await Promise.all(Array.from({ length: 6 }, () => remove(run)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(204));
  });
});

describe("removed hardware returns", () => {
  test("by reactivating its ports and a new enrolment, with its old addresses", async () => {
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

  test("with another UUID, after its board was replaced", async () => {
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
