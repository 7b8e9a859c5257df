// Tests the setup bundle, which the booter can fetch only once. docs/nodes.md, "The netboot path".
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { dumpTables, tablesWith } from "../support/dump.ts";
import { expectInvariants } from "./invariants.ts";
import {
  approveSetup,
  awaitingSetup,
  keysOf,
  onNode,
  putPolicy,
  report,
  rowOf,
  settingUp,
  setUp,
  showNode,
  takeBundle,
} from "./machine.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
  okOf(await putPolicy(t));
});
afterAll(() => t.close());
afterEach(() => expectInvariants(t.db));

const TAKEN = "the setup bundle of this run was already fetched; it can be fetched only once";
const HEX_32 = expect.stringMatching(/^[0-9a-f]{64}$/);
const heartbeat = (key: string) => t.call("POST", "/v1/agent/heartbeat", { key });

async function approved() {
  const machine = await awaitingSetup(t);
  okOf(await approveSetup(t, machine, { disk_layout: "mirror", hostname: "rack-9" }));
  return machine;
}

test("the bundle contains the run's epoch, the operator's choices and a working key that is bound to the node", async () => {
  const machine = await approved();
  const { status, body } = await takeBundle(t, machine);
  expect(status).toBe(200);
  expect(body).toEqual({
    epoch: (await rowOf(t, machine))?.setup_epoch,
    server_uuid: machine.server_uuid,
    api_key: expect.stringMatching(/^opsk_[A-Za-z0-9_-]{12}_[A-Za-z0-9_-]{32}$/),
    console_ticket_key_hex: HEX_32,
    imds_token_key_hex: HEX_32,
    migrate_ticket_key_hex: HEX_32,
    layout: (await showNode(t, machine)).disk_layout,
    hostname: "rack-9",
    root_password_hash: null,
    root_authorized_keys: [],
    macs: machine.macs,
  });
  expect((await showNode(t, machine)).bound_api_key_id).toBe((await keysOf(t, machine))[0]);
  const { rows } = await t.db.query("select scope, description from api_key where bound_to_cn = $1", [
    machine.server_uuid,
  ]);
  expect(rows).toEqual([{ scope: "agent", description: `agent: cn ${machine.server_uuid}` }]);
  expect((await heartbeat(body.api_key)).status).toBe(200);
});

test("the bundle contains the root password hash and root's authorized keys", async () => {
  const keys = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFF0a1Zy0o6cYUEhQrbBs7r2Yk1wKq0mS0Q4o7Y3x9aB ops@example"];
  okOf(await t.call("PUT", "/v1/config/cn.root_authorized_keys", { body: { value: keys } }));
  const machine = await approved();
  const hash = `$6$salt$${"a".repeat(85)}1`;
  okOf(await onNode(t, "POST", machine, "/root-password", { password_hash: hash }));
  expect(okOf(await takeBundle(t, machine))).toMatchObject({ root_password_hash: hash, root_authorized_keys: keys });
  okOf(await t.call("DELETE", "/v1/config/cn.root_authorized_keys"));
});

test("a second fetch gets 409, and the first key keeps working", async () => {
  const run = await settingUp(t);
  const again = await takeBundle(t, run);
  expect([again.status, again.body.message]).toEqual([409, TAKEN]);
  expect(again.text).not.toContain(run.api_key);
  expect((await heartbeat(run.api_key)).status).toBe(200);
});

test("one of 8 concurrent fetches gets the bundle", async () => {
  const machine = await approved();
  const answers = await Promise.all(Array.from({ length: 8 }, () => takeBundle(t, machine)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
  expect((await keysOf(t, machine)).length).toBe(1);
});

test("a fetch that is repeated with its Idempotency-Key gets the same bundle until the first report", async () => {
  const machine = await approved();
  const headers = { "idempotency-key": randomUUID() };
  const first = await takeBundle(t, machine, { headers });
  expect(first.status).toBe(200);
  for (let n = 0; n < 3; n += 1) expect((await takeBundle(t, machine, { headers })).body).toEqual(first.body);
  expect((await takeBundle(t, machine, { headers: { "idempotency-key": randomUUID() } })).status).toBe(409);
  okOf(await report(t, machine, "progress", { epoch: first.body.epoch }));
  const late = await takeBundle(t, machine, { headers });
  expect([late.status, late.body.message]).toEqual([409, TAKEN]);
  expect((await heartbeat(first.body.api_key)).status).toBe(200);
});

test("many concurrent fetches with one Idempotency-Key all get the same working key", async () => {
  for (let round = 0; round < 5; round += 1) {
    const machine = await approved();
    const headers = { "idempotency-key": randomUUID() };
    const answers = await Promise.all(Array.from({ length: 6 }, () => takeBundle(t, machine, { headers })));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    const keys = new Set(answers.map(({ body }) => body.api_key as string));
    expect(keys.size).toBe(1);
    expect((await heartbeat([...keys][0] ?? "")).status).toBe(200);
  }
});

test("a repeated fetch for an ended run reveals nothing of the next run", async () => {
  const machine = await approved();
  const headers = { "idempotency-key": randomUUID() };
  const first = okOf(await takeBundle(t, machine, { headers }));
  okOf(await report(t, machine, "failed", { epoch: first.epoch }));
  expect((await takeBundle(t, machine, { headers })).status).toBe(409);
  okOf(await approveSetup(t, machine));
  const second = okOf(await takeBundle(t, machine));
  expect(second.epoch).toBeGreaterThan(first.epoch);
  const replayed = await takeBundle(t, machine, { headers });
  expect(replayed.status).toBe(409);
  expect(replayed.text).not.toContain(second.api_key);
  expect((await heartbeat(first.api_key)).status).toBe(401);
  expect((await heartbeat(second.api_key)).status).toBe(200);
});

test("a fetch gets 409 in any state but setting_up", async () => {
  const disabled = await setUp(t);
  okOf(await onNode(t, "POST", disabled, "/disable"));
  const nodes = {
    awaiting_setup: await awaitingSetup(t),
    approved: await setUp(t),
    pending: await t.register(),
    disabled,
  };
  for (const [state, { server_uuid }] of Object.entries(nodes)) {
    const answer = await t.call("POST", `/v2/booter/cns/${server_uuid}/bundle`);
    expect([answer.status, answer.body.message]).toEqual([409, `cn is ${state}; no setup is running on it`]);
  }
  expect((await t.call("POST", `/v2/booter/cns/${randomUUID()}/bundle`)).status).toBe(404);
});

test("the sealed key is in one table before the first report, and in no table or stored answer after the report", async () => {
  const machine = await approved();
  const { api_key, epoch, console_ticket_key_hex } = okOf(
    await takeBundle(t, machine, { headers: { "idempotency-key": "sealed" } }),
  );
  const sealed = String((await rowOf(t, machine))?.pending_credential);
  const before = await dumpTables(t.db);
  expect(tablesWith(before, sealed)).toEqual(["cn"]);
  for (const secret of [api_key.slice(-32), console_ticket_key_hex]) expect(tablesWith(before, secret)).toEqual([]);
  okOf(await report(t, machine, "progress", { epoch }));
  const after = await dumpTables(t.db);
  expect(tablesWith(after, sealed)).toEqual([]);
  expect(tablesWith(after, api_key.slice(-32))).toEqual([]);
});

test("the first use of the key erases its sealed copy, even before the first report", async () => {
  const run = await settingUp(t);
  expect((await heartbeat(run.api_key)).status).toBe(200);
  expect((await rowOf(t, run))?.pending_credential).toBeNull();
});
