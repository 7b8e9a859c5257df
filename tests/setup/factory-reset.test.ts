// Tests factory reset: the fields that it clears and keeps, and the guards that block a reset or a removal.
// docs/nodes.md, "Leaving".
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
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
  onNode,
  putPolicy,
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
const reset = (node: Node) => onNode(t, "POST", node, "/factory-reset");
const remove = (node: Node) => onNode(t, "DELETE", node);
const disable = async (node: Node) => void okOf(await onNode(t, "POST", node, "/disable"));

async function disabled(): Promise<Run> {
  const run = await setUp(t);
  await disable(run);
  return run;
}

/**
 * Each guard has its text and two statements. After `hold`, the guard refuses reset and removal. After `free`, the
 * guard permits both.
 */
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
    hold: "insert into migration values (gen_random_uuid(), 'running', $1, gen_random_uuid(), gen_random_uuid())",
    free: "update migration set state = 'completed' where source_cn = $1",
  },
  {
    text: "a migration involving this node is in flight; wait for it to finish or abort it",
    hold: "insert into migration values (gen_random_uuid(), 'paused', gen_random_uuid(), $1, gen_random_uuid())",
    free: "update migration set state = 'aborted' where target_cn = $1",
  },
] as const;

describe("the guards", () => {
  test.each(GUARDS)("refuse reset and removal, which then change nothing: $text", async (guard) => {
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

  test("refuse with the message of the first guard if several apply", async () => {
    const run = await setUp(t);
    for (const { hold } of GUARDS) await t.db.query(hold, [run.server_uuid]);
    expect((await reset(run)).body.message).toBe(GUARDS[0].text);
    await t.db.query(GUARDS[0].free, [run.server_uuid]);
    expect((await reset(run)).body.message).toBe(GUARDS[1].text);
  });

  test("ignore rows of other nodes", async () => {
    const [run, other] = [await setUp(t), await setUp(t)];
    for (const { hold } of GUARDS) await t.db.query(hold, [other.server_uuid]);
    expect((await reset(run)).status).toBe(200);
  });

  test("refuse a removal if an instance is placed while the removal waits for the node's lock", async () => {
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
      if (state === "approved") await addUsage(t, run);
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
      // Only the node, its key and its boot records change.
      const changed = changedRows(before, await dumpTables(t.db), HISTORY).map((each) => each.replace(/:.*/s, ""));
      expect(changed.sort()).toEqual(
        ["+ boot_record", "+ boot_record", "+ cn", "- api_key", "- boot_record", "- boot_record", "- cn"].sort(),
      );
    },
  );

  test("sets the node's boot records to enrolling, including records of ports that the node no longer reports", async () => {
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
      // The records stay bound to the node, so that its ports are recognized. The policy assigns the next image.
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
  ])("%s gets 409, because the node could not enrol again", async (_how, policy, stamps) => {
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

  test("names the state of a node that is neither approved nor disabled, and gets 404 for an unknown node", async () => {
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

describe("a confirmation", () => {
  test("with another hostname is refused and changes nothing; the right hostname is accepted", async () => {
    const run = await setUp(t);
    await settle(t);
    const before = await rowOf(t, run);
    const refused = await onNode(t, "POST", run, "/factory-reset?confirm=bare-2");
    expect(refused).toMatchObject({
      status: 409,
      body: { message: `confirm: bare-2 is not the hostname of the node, ${run.hostname}` },
    });
    expect(await rowOf(t, run)).toEqual(before);
    expect((await onNode(t, "POST", run, `/factory-reset?confirm=${run.hostname}`)).status).toBe(200);
    expect((await onNode(t, "DELETE", run, "?confirm=bare-2")).status).toBe(409);
    expect((await showNode(t, run)).state).toBe("awaiting_setup");
    expect((await onNode(t, "DELETE", run, `?confirm=${run.hostname}`)).status).toBe(204);
  });
});
