// A bare machine announces itself through the booter. docs/nodes.md, "The netboot path".
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { SETUP_INTERRUPTED } from "../../actors/cn/announce.ts";
import { expectInvariants } from "./invariants.ts";
import {
  announce,
  approveSetup,
  awaitingSetup,
  newMac,
  newMachine,
  onNode,
  putPolicy,
  report,
  rowOf,
  settingUp,
  setUp,
  showNode,
  showRecord,
  sysinfoOf,
} from "./machine.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());
beforeEach(async () => void okOf(await putPolicy(t)));
afterEach(() => expectInvariants(t.db));

const changesOf = async (server_uuid: string) =>
  (await t.db.query<{ action: string }>(
    "select audit->>'action' as action from transition where actor_id = $1 and audit is not null order by id",
    [server_uuid],
  )).rows.map(({ action }) => action);

describe("a new machine", () => {
  test("gets a record without a claim code, key or poll token", async () => {
    const machine = newMachine();
    const { status, body } = await announce(t, machine);
    expect(status).toBe(200);
    expect(body).toEqual({
      server_uuid: machine.server_uuid,
      hostname: "bare-1",
      admin_ip: null,
      underlay_address: null,
      underlay_mtu: null,
      state: "awaiting_setup",
      role: "tenant",
      labels: {},
      registered_at: body.last_seen,
      approved_at: null,
      last_seen: expect.any(String),
      sysinfo: machine.sysinfo,
      claim_code: null,
      claim_code_expires_at: null,
      bound_api_key_id: null,
      last_status: null,
      agent_version: null,
      last_setup_error: null,
      setup_progress: null,
      disk_layout: null,
      conflict: null,
      claims: [],
      identity_conflict: false,
    });
    expect(await showNode(t, machine)).toEqual(body);
    expect(await rowOf(t, machine)).toMatchObject({
      poll_token_sha256: null,
      registration_id: null,
      pending_credential: null,
      ticket_keys: null,
      setup_epoch: null,
    });
    expect(await changesOf(machine.server_uuid)).toEqual(["cn_announce"]);
  });

  test("without a hostname is named after its UUID; unknown fields in the announce are ignored", async () => {
    const machine = newMachine();
    const { body } = await announce(t, machine, { hostname: undefined, agent_version: "later" });
    expect(body.hostname).toBe(machine.server_uuid.slice(0, 8));
  });

  test.each([
    ["00000000-0000-0000-0000-000000000000"],
    ["ffffffff-ffff-ffff-ffff-ffffffffffff"],
    ["FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"],
    ["not-a-uuid"],
  ])("with server_uuid %s gets 400 and creates no record", async (server_uuid) => {
    expect((await announce(t, newMachine(), { server_uuid })).status).toBe(400);
    const { rows } = await t.db.query("select from cn where server_uuid::text = lower($1)", [server_uuid]);
    expect(rows).toEqual([]);
  });

  test.each([{ hostname: "a.b" }, { hostname: "-a" }, { hostname: "x".repeat(64) }, { sysinfo: "text" }, {
    sysinfo: undefined,
  }])("with %j gets 400", async (changes) => expect((await announce(t, newMachine(), changes)).status).toBe(400));

  test("with its UUID in capitals is the same machine", async () => {
    const machine = newMachine();
    okOf(await announce(t, machine, { server_uuid: machine.server_uuid.toUpperCase() }));
    expect((await showNode(t, machine)).state).toBe("awaiting_setup");
  });
});

describe("with auto_enroll off", () => {
  beforeEach(async () => void okOf(await putPolicy(t, { auto_enroll: false })));

  test("a new machine gets 403 and no record unless an auto-approve window is open", async () => {
    const machine = newMachine();
    expect(await announce(t, machine)).toMatchObject({ status: 403, body: { error_code: "Forbidden" } });
    expect((await t.call("GET", `/v1/system/cns/${machine.server_uuid}`)).status).toBe(404);
    okOf(await t.call("POST", "/v1/cn-auto-approve", { body: { duration_secs: 600, count: 1 } }));
    expect(okOf(await announce(t, machine)).state).toBe("awaiting_setup");
    expect(okOf(await announce(t, newMachine())).state).toBe("awaiting_setup");
    expect((await t.call("GET", "/v1/cn-auto-approve")).body.remaining_count).toBe(1);
    okOf(await t.call("DELETE", "/v1/cn-auto-approve"));
    expect((await announce(t, newMachine())).status).toBe(403);
  });

  test("a new machine gets 403 after the window has expired", async () => {
    okOf(await t.call("POST", "/v1/cn-auto-approve", { body: { duration_secs: 60 } }));
    await t.advance(61);
    expect((await announce(t, newMachine())).status).toBe(403);
  });

  test("a new machine gets 403 when the window's count is used up", async () => {
    okOf(await t.call("POST", "/v1/cn-auto-approve", { body: { duration_secs: 600, count: 1 } }));
    expect((await t.register()).state).toBe("approved");
    expect((await announce(t, newMachine())).status).toBe(403);
  });

  test("a known machine needs no window", async () => {
    okOf(await putPolicy(t));
    const machine = await awaitingSetup(t);
    okOf(await putPolicy(t, { auto_enroll: false }));
    expect((await announce(t, machine)).status).toBe(200);
  });
});

describe("a known machine", () => {
  test("that awaits setup updates its inventory, hostname and last_seen with each announce", async () => {
    const machine = await awaitingSetup(t);
    await t.advance(5);
    const sysinfo = sysinfoOf([machine.macs[0] ?? "", newMac()], [900]);
    const before = await showNode(t, machine);
    const after = okOf(await announce(t, machine, { hostname: "other-1", sysinfo }));
    expect(after).toEqual({ ...before, hostname: "other-1", sysinfo, last_seen: after.last_seen });
    expect(Date.parse(after.last_seen) - Date.parse(before.last_seen)).toBeGreaterThanOrEqual(5_000);
    expect(okOf(await onNode(t, "GET", machine, "/setup-layout-proposal")).disks).toEqual([
      { name: "c0t0d0", size_gb: 900 },
    ]);
  });

  test.each<[string, () => Promise<{ server_uuid: string } & Partial<ReturnType<typeof newMachine>>>]>([
    ["setting_up", () => settingUp(t)],
    ["approved", () => setUp(t)],
    ["disabled", async () => {
      const run = await setUp(t);
      okOf(await onNode(t, "POST", run, "/disable"));
      return run;
    }],
    ["pending", async () => {
      const run = await setUp(t);
      okOf(await onNode(t, "POST", run, "/disable"));
      await t.register({ server_uuid: run.server_uuid });
      return run;
    }],
  ])("that is %s updates only last_seen with an announce", async (state, arrange) => {
    const arranged = await arrange();
    const machine = { ...newMachine(), macs: [], sysinfo: sysinfoOf(arranged.macs ?? []), ...arranged };
    await t.advance(5);
    const [view, row] = [await showNode(t, machine), await rowOf(t, machine)];
    expect(view.state).toBe(state);
    const sysinfo = { ...sysinfoOf(machine.macs, [1, 2, 3]), added: true };
    const after = okOf(await announce(t, machine, { hostname: "liar-1", sysinfo }));
    // The announce's answer leaves out the claims, which only operators see.
    const unclaimed = { claim_code: null, claim_code_expires_at: null, claims: [], identity_conflict: false };
    expect(after).toEqual({ ...view, ...unclaimed, last_seen: after.last_seen });
    expect(Date.parse(after.last_seen) - Date.parse(view.last_seen ?? "1970-01-01")).toBeGreaterThanOrEqual(5_000);
    expect(await rowOf(t, machine)).toEqual({ ...row, version: Number(row?.version) + 1 });
  });
});

describe("two machines with the same server_uuid", () => {
  const CONFLICT = "this server_uuid is known with other network ports: two machines use one identity, or all ports " +
    "were replaced";

  test.each<[string, () => Promise<ReturnType<typeof newMachine>>]>([
    ["awaiting_setup", () => awaitingSetup(t)],
    ["setting_up", () => settingUp(t)],
    ["approved", () => setUp(t)],
  ])("the second gets 409 while the first is %s; the node shows the conflict to operators", async (_state, arrange) => {
    const machine = await arrange();
    const [view, row] = [await showNode(t, machine), await rowOf(t, machine)];
    const macs = [newMac(), newMac()];
    const answer = await announce(t, machine, { hostname: "twin-1", sysinfo: sysinfoOf(macs, [1]) });
    expect([answer.status, answer.body.message, answer.body.error_code]).toEqual([409, CONFLICT, "Conflict"]);
    const conflict = { announced_at: expect.any(String), hostname: "twin-1", macs };
    expect(await showNode(t, machine)).toEqual({ ...view, conflict });
    expect(await rowOf(t, machine)).toEqual({ ...row, conflict, version: Number(row?.version) + 1 });
    expect((await changesOf(machine.server_uuid)).at(-1)).toBe("cn_announce_conflict");
  });

  test("an announce with one known port is not a conflict", async () => {
    const machine = await awaitingSetup(t);
    const sysinfo = sysinfoOf([newMac(), (machine.macs[1] ?? "").toUpperCase()]);
    expect(okOf(await announce(t, machine, { sysinfo })).conflict).toBeNull();
  });

  test("the conflict is cleared only when the known machine announces its ports again", async () => {
    const machine = await awaitingSetup(t);
    const twin = { sysinfo: sysinfoOf([newMac()]) };
    expect((await announce(t, machine, twin)).status).toBe(409);
    expect(okOf(await announce(t, machine, { sysinfo: {} })).conflict).toMatchObject({ hostname: "bare-1" });
    expect((await announce(t, machine, twin)).status).toBe(409);
    expect(okOf(await announce(t, machine)).conflict).toBeNull();
  });

  test("an announce without ports keeps the known ports", async () => {
    const machine = await awaitingSetup(t);
    okOf(await announce(t, machine, { sysinfo: {} }));
    expect((await rowOf(t, machine))?.macs).toEqual(machine.macs);
    expect((await announce(t, machine, { sysinfo: sysinfoOf([newMac()]) })).status).toBe(409);
  });

  test("one of two concurrent announces creates the record; the other announce gets 409", async () => {
    const [one, two] = [newMachine(), newMachine()];
    const server_uuid = randomUUID();
    const answers = await Promise.all([one, two].map((machine) => announce(t, machine, { server_uuid })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const loser = answers[0]?.status === 409 ? one : two;
    expect((await showNode(t, { server_uuid })).conflict).toMatchObject({ macs: loser.macs });
  });
});

test("an anonymous registration cannot change the ports of a machine in setup", async () => {
  const victim = await awaitingSetup(t);
  const run = await settingUp(t);
  const before = await rowOf(t, run);
  const { claim_code, state } = await t.register({ server_uuid: run.server_uuid, sysinfo: sysinfoOf(victim.macs) });
  expect({ claim_code, state }).toEqual({ claim_code: expect.any(String), state: "pending" });
  expect((await rowOf(t, run))?.macs).toEqual(before?.macs);
  okOf(await report(t, run, "complete", { epoch: run.epoch }));
  expect((await showRecord(t, victim.macs[0])).state).toBe("enrolling");
  expect((await showRecord(t, run.macs[0])).state).toBe("enrolled");
});

test("secret boot parameters in an announced inventory are never shown", async () => {
  const machine = newMachine();
  const secret = "$6$canary$";
  const sysinfo = { ...machine.sysinfo, "Boot Parameters": { root_shadow: secret, rabbitmq: secret, console: "ttya" } };
  expect((await announce(t, machine, { sysinfo })).text).not.toContain("canary");
  expect((await t.call("GET", `/v1/system/cns/${machine.server_uuid}`)).text).not.toContain("canary");
  expect((await t.call("GET", "/v1/system/cns")).text).not.toContain("canary");
  const approved = await approveSetup(t, machine);
  expect([approved.status, approved.text.includes("canary")]).toEqual([200, false]);
});

describe("a machine that starts from another booter during its setup", () => {
  const started = { started: true };

  test("ends the run: its key is revoked, its reports are refused, and the setup can be approved again", async () => {
    const run = await settingUp(t);
    const { body } = await announce(t, run, { ...started, mac: run.macs[0] });
    expect(body).toMatchObject({ state: "awaiting_setup", last_setup_error: SETUP_INTERRUPTED });
    expect(await t.call("GET", "/v1/agent/config", { key: run.api_key })).toMatchObject({ status: 401 });
    for (const kind of ["progress", "complete", "failed"] as const) {
      expect((await report(t, run, kind, { epoch: run.epoch })).status).toBe(409);
    }
    const next = await settingUp(t, run);
    expect(next.epoch).not.toBe(run.epoch);
    okOf(await report(t, next, "complete", { epoch: next.epoch }));
  });

  test("does not end the run before the bundle was fetched, because the other booter can fetch it", async () => {
    const machine = await awaitingSetup(t);
    okOf(await approveSetup(t, machine));
    expect(okOf(await announce(t, machine, { ...started, mac: machine.macs[0] })).state).toBe("setting_up");
  });

  test("does not end the run if the announce does not contain the MAC with which the machine logged in to the AMQP broker", async () => {
    const run = await settingUp(t);
    expect(okOf(await announce(t, run, started)).state).toBe("setting_up");
  });

  test("does not end the run if the machine logged in with a MAC that no port of the node has", async () => {
    const run = await settingUp(t);
    expect((await announce(t, run, { ...started, mac: newMac() })).status).toBe(409);
    expect((await showNode(t, run)).state).toBe("setting_up");
  });

  test("does not end the run of a node without known ports", async () => {
    const run = await settingUp(t, await awaitingSetup(t, newMachine(0)));
    expect(okOf(await announce(t, run, { ...started, mac: newMac() })).state).toBe("setting_up");
  });

  test("does not change the state after the setup", async () => {
    const run = await setUp(t);
    expect(okOf(await announce(t, run, { ...started, mac: run.macs[0] })).state).toBe("approved");
  });
});
