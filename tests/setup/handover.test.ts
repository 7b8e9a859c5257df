// Tests the handover of a live setup run to another booter through the API.
// docs/booting.md, "Two booters on one network".
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { changedRows, dumpTables, tablesWith } from "../support/dump.ts";
import { expectInvariants } from "./invariants.ts";
import {
  announce,
  approveSetup,
  awaitingSetup,
  HISTORY,
  newMac,
  newMachine,
  onNode,
  putPolicy,
  report,
  rowOf,
  type Run,
  settingUp,
  settle,
  showNode,
  stageImages,
  takeBundle,
} from "./machine.ts";

let t: TestControlPlane;
let first: string;
let second: string;
beforeAll(async () => {
  t = await openTestControlPlane();
  okOf(await putPolicy(t));
  okOf(await stageImages(t));
  [first, second] = [(await t.mintKey("booter")).secret, (await t.mintKey("booter")).secret];
});
afterAll(() => t.close());
afterEach(() => expectInvariants(t.db));

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const newToken = () => randomBytes(24).toString("hex");
const ADDRESS = "10.20.0.99";
const STALE = "the report belongs to another setup run (stale epoch)";
const RUNNING = "the machine already runs the setup script of this run; it must not get another one";

type Script = { readonly epoch: number; readonly token: string; readonly mac?: string | undefined };

const deliver = (run: Pick<Run, "server_uuid" | "macs">, { epoch, token, mac = run.macs[0] }: Script) =>
  t.call("PUT", `/v2/booter/cns/${run.server_uuid}/setup-script`, {
    key: first,
    body: { epoch, token_sha256: sha256(token), mac, address: ADDRESS },
  });
const find = (token: string) => t.call("GET", `/v2/booter/setup-scripts/${sha256(token)}`, { key: second });
const handOver = ({ server_uuid }: { server_uuid: string }, epoch: number, token: string, headers = {}) =>
  t.call("POST", `/v2/booter/cns/${server_uuid}/setup-script/bundle`, { key: second, body: { epoch, token }, headers });

/** Starts a run and stores its setup script. */
async function delivered() {
  const run = await settingUp(t);
  const token = newToken();
  okOf(await deliver(run, { epoch: run.epoch, token }));
  return { ...run, token };
}

/** Runs calls that must be refused with this status, and checks that they write nothing. */
async function refused(status: number, calls: readonly (() => Promise<{ status: number }>)[]) {
  await settle(t);
  const before = await dumpTables(t.db);
  for (const call of calls) expect((await call()).status).toBe(status);
  expect(changedRows(before, await dumpTables(t.db), HISTORY)).toEqual([]);
}

test("another booter finds the run by the token's hash, and the database does not contain the token", async () => {
  const { server_uuid, epoch, token, macs } = await delivered();
  expect(okOf(await find(token))).toEqual({ server_uuid, epoch, mac: macs[0], address: ADDRESS, completed: false });
  const dump = await dumpTables(t.db);
  expect([tablesWith(dump, token), tablesWith(dump, sha256(token))]).toEqual([[], ["cn"]]);
});

test("no view of the node contains the hash of the token", async () => {
  const run = await settingUp(t);
  const token = newToken();
  const answers = [
    await deliver(run, { epoch: run.epoch, token }),
    await t.call("GET", `/v1/system/cns/${run.server_uuid}`),
    await t.call("GET", "/v1/system/cns"),
  ];
  for (const { status, text } of answers) {
    expect(status).toBe(200);
    expect(text).not.toContain(sha256(token));
  }
});

test("a setup script that is stored again is accepted and changes nothing, and an unknown token gets 404", async () => {
  const run = await delivered();
  const before = await rowOf(t, run);
  okOf(await deliver(run, run));
  expect(await rowOf(t, run)).toEqual(before);
  expect((await find(newToken())).status).toBe(404);
  expect((await deliver({ server_uuid: randomUUID(), macs: run.macs }, run)).status).toBe(404);
});

test("a script is refused with another epoch, with another machine's port, and before the bundle was fetched", async () => {
  const run = await settingUp(t);
  const bare = await awaitingSetup(t);
  okOf(await approveSetup(t, bare));
  const epoch = Number((await rowOf(t, bare))?.setup_epoch);
  const unknown = await settingUp(t, await awaitingSetup(t, newMachine(0)));
  const token = newToken();
  await refused(409, [
    () => deliver(run, { epoch: run.epoch - 1, token }),
    () => deliver(run, { epoch: run.epoch + 1, token }),
    () => deliver(run, { epoch: run.epoch, token, mac: newMac() }),
    () => deliver(bare, { epoch, token }),
    () => deliver(unknown, { epoch: unknown.epoch, token, mac: newMac() }),
  ]);
  expect((await deliver(run, { epoch: run.epoch - 1, token })).body.message).toBe(STALE);
});

test("a later script of the run replaces the first script until another booter has fetched the bundle", async () => {
  const run = await delivered();
  const later = newToken();
  okOf(await deliver(run, { epoch: run.epoch, token: later }));
  expect((await find(run.token)).status).toBe(404);
  await refused(409, [() => handOver(run, run.epoch, run.token)]);
  okOf(await handOver(run, run.epoch, later));
  const refusal = await deliver(run, { epoch: run.epoch, token: newToken() });
  expect([refusal.status, refusal.body.message]).toEqual([409, RUNNING]);
  expect(okOf(await find(later)).epoch).toBe(run.epoch);
});

test("no later script is accepted after a report of the run", async () => {
  const run = await delivered();
  okOf(await report(t, run, "progress", { epoch: run.epoch }));
  await refused(409, [() => deliver(run, { epoch: run.epoch, token: newToken() })]);
  okOf(await deliver(run, run));
});

test("another booter gets the same bundle with the token until the first report; each fetch is audited", async () => {
  const machine = await awaitingSetup(t);
  okOf(await approveSetup(t, machine));
  const bundle = okOf(await takeBundle(t, machine));
  const { epoch } = bundle;
  const token = newToken();
  okOf(await deliver(machine, { epoch, token }));
  expect(okOf(await handOver(machine, epoch, token))).toEqual(bundle);
  const headers = { "idempotency-key": randomUUID() };
  for (let n = 0; n < 2; n += 1) expect(okOf(await handOver(machine, epoch, token, headers))).toEqual(bundle);
  const { rows } = await t.db.query(
    `select audit->>'action' as action, audit->'payload' as payload from transition
      where actor_id = $1 and event = 'hand_over_bundle'`,
    [machine.server_uuid],
  );
  const payload = { server_uuid: machine.server_uuid, epoch, mac: machine.macs[0] };
  expect(rows).toEqual(Array(2).fill({ action: "booter_bundle_handover", payload }));

  okOf(await report(t, machine, "progress", { epoch }));
  await refused(409, [
    () => handOver(machine, epoch, token),
    () => handOver(machine, epoch, token, headers),
  ]);
});

test("a bundle is refused with another token, another epoch and for another node, and nothing is written", async () => {
  const run = await delivered();
  const other = await delivered();
  await refused(409, [
    () => handOver(run, run.epoch, newToken()),
    () => handOver(run, run.epoch, other.token),
    () => handOver(run, other.epoch, run.token),
    () => handOver(other, run.epoch, run.token),
  ]);
  await refused(404, [() => handOver({ server_uuid: randomUUID() }, run.epoch, run.token)]);
  await refused(400, [() => handOver(run, run.epoch, sha256(run.token))]);
});

test("the reports of both booters are applied once", async () => {
  const run = await delivered();
  const from = (key: string, kind: string, fields = {}) =>
    t.call("POST", `/v2/booter/cns/${run.server_uuid}/setup-${kind}`, { key, body: { epoch: run.epoch, ...fields } });
  const answers = await Promise.all([
    from(first, "complete"),
    from(second, "complete"),
    from(first, "complete"),
    from(second, "complete"),
  ]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  expect((await from(second, "progress", { step: "late" })).status).toBe(409);
  const { rows } = await t.db.query(
    "select count(*)::int as ends from transition where actor_id = $1 and event = 'setup_completed'",
    [run.server_uuid],
  );
  expect(rows).toEqual([{ ends: 1 }]);
});

test("a run that succeeded is found as completed until its deadline, and then forgotten", async () => {
  const run = await delivered();
  okOf(await report(t, run, "complete", { epoch: run.epoch }));
  expect(okOf(await find(run.token))).toMatchObject({ server_uuid: run.server_uuid, completed: true });
  await refused(409, [
    () => deliver(run, { epoch: run.epoch, token: newToken() }),
    () => handOver(run, run.epoch, run.token),
  ]);
  await t.advance(45 * 60 + 1);
  await settle(t);
  expect((await find(run.token)).status).toBe(404);
  expect(await rowOf(t, run)).toMatchObject({ state: "approved", setup_delivery: null, wake_at: null });
});

const ENDS: Record<string, (run: Run) => Promise<unknown>> = {
  "a failure": async (run) => okOf(await report(t, run, "failed", { epoch: run.epoch })),
  "its deadline": async () => {
    await t.advance(45 * 60 + 1);
    await settle(t);
  },
  "a start of the machine from another booter": async (run) =>
    okOf(await announce(t, run, { mac: run.macs[0], started: true })),
  "an abandonment": async ({ operation_id }) => {
    okOf(await t.call("POST", `/v1/operations/${operation_id}/abandon`));
    okOf(await t.call("GET", `/v1/operations/${operation_id}?wait=10`));
  },
  "success and a factory reset": async (run) => {
    okOf(await report(t, run, "complete", { epoch: run.epoch }));
    okOf(await onNode(t, "POST", run, "/factory-reset"));
  },
};
test.each(Object.keys(ENDS))("after %s the script is forgotten, even in the node's next run", async (name) => {
  const run = await delivered();
  await ENDS[name]?.(run);
  expect((await showNode(t, run)).state).toBe("awaiting_setup");
  expect((await rowOf(t, run))?.setup_delivery).toBeNull();
  const expectRefused = async () => {
    expect((await find(run.token)).status).toBe(404);
    expect((await handOver(run, run.epoch, run.token)).status).toBe(409);
    expect((await deliver(run, run)).status).toBe(409);
  };
  await expectRefused();
  okOf(await approveSetup(t, run));
  const { epoch } = okOf(await takeBundle(t, run));
  await expectRefused();
  expect((await handOver(run, epoch, run.token)).status).toBe(409);
});

test("a script that the previous release kept for an ended run is not found and blocks no new script", async () => {
  const run = await delivered();
  okOf(await handOver(run, run.epoch, run.token));
  const kept = (await rowOf(t, run))?.setup_delivery;
  okOf(await report(t, run, "failed", { epoch: run.epoch }));
  okOf(await approveSetup(t, run));
  const { epoch } = okOf(await takeBundle(t, run));
  await t.db.query("update cn set setup_delivery = $2 where server_uuid = $1", [run.server_uuid, JSON.stringify(kept)]);
  expect((await find(run.token)).status).toBe(404);
  expect((await handOver(run, epoch, run.token)).status).toBe(409);
  const token = newToken();
  okOf(await deliver(run, { epoch, token }));
  expect(okOf(await find(token)).epoch).toBe(epoch);
});

test("keys of the scopes read_only, audit_only, agent and ur_enroll may not call the routes, and a refused call writes nothing", async () => {
  const run = await delivered();
  for (const scope of ["read_only", "audit_only", "agent", "ur_enroll"] as const) {
    const { secret: key } = await t.mintKey(scope);
    const path = `/v2/booter/cns/${run.server_uuid}/setup-script`;
    const script = { epoch: run.epoch, token_sha256: sha256(newToken()), mac: run.macs[0], address: ADDRESS };
    await refused(403, [
      () => t.call("PUT", path, { key, body: script }),
      () => t.call("POST", `${path}/bundle`, { key, body: { epoch: run.epoch, token: run.token } }),
      () => t.call("GET", `/v2/booter/setup-scripts/${sha256(run.token)}`, { key }),
    ]);
  }
});
