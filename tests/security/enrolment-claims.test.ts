// S-46: an anonymous registration with a node's server_uuid, MAC addresses and serial number does not change the node,
// and its key and token keep working. S-14: a node's key is delivered only to the approved agent.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CLAIM_SYSINFO_BYTES_MAX, CLAIMS_PER_NODE_MAX } from "../../src/contract/limits.ts";
import { okOf, openTestPlane, type TestPlane } from "../support/control-plane.ts";
import { changedRows, dumpTables, tablesWith } from "../support/dump.ts";
import {
  announce,
  approveSetup,
  type Machine,
  newMachine,
  onNode,
  putPolicy,
  report,
  seen,
  sysinfoOf,
  takeBundle,
} from "../setup/machine.ts";

let t: TestPlane;
beforeAll(async () => {
  // No background work, so every change comes from a request.
  t = await openTestPlane({ resident: false });
  okOf(await putPolicy(t));
});
afterAll(() => t.close());

/** Tables that every registration may write: the log, stored answers, rate limits, claims and their counts. */
const BESIDE = [
  "api_key_use",
  "transition",
  "seen",
  "outbox",
  "audit_event",
  "audit_head",
  "rate_bucket",
  "budget",
  "enrolment_claim",
];
const STRANGER = "198.51.100.66";
const NOTHING = { api_key: null, console_ticket_key_hex: null, imds_token_key_hex: null, migrate_ticket_key_hex: null };

const show = async (server_uuid: string) => okOf(await t.call("GET", `/v1/system/cns/${server_uuid}`));
const status = (token: string) => t.call("GET", `/v1/agent/register/status?poll_token=${token}`, { key: null });
const use = (key: string) => t.call("POST", "/v1/agent/heartbeat", { key });
const dump = () => dumpTables(t.db, BESIDE);

type Body = Record<string, unknown> & { readonly server_uuid: string };

/** Registers that machine anonymously, from another address. */
function strangerRegisters(machine: { server_uuid: string; sysinfo: unknown }, fields: Record<string, unknown> = {}) {
  const { server_uuid, sysinfo } = machine;
  const body: Body = { server_uuid, hostname: "stranger", admin_ip: "198.51.100.66", sysinfo, ...fields };
  return t.call("POST", "/v1/agent/register", { key: null, address: STRANGER, body });
}

/** The registration that the machine's own agent sends. */
function registration(machine: Machine) {
  const { server_uuid, hostname, sysinfo } = machine;
  return { server_uuid, hostname, admin_ip: "10.0.0.7", sysinfo };
}

async function approved() {
  const machine = newMachine();
  return { machine, node: await t.approvedNode(registration(machine)) };
}

describe("S-46: an anonymous registration does not change an existing node", () => {
  test("that is pending: its code and its token keep working", async () => {
    const machine = newMachine();
    const node = await t.register(registration(machine));
    const before = await dump();
    const answer = okOf(await strangerRegisters(machine));
    expect(changedRows(before, await dump())).toEqual([]);
    expect([answer.claim_code, answer.poll_token]).not.toEqual([node.claim_code, node.poll_token]);
    expect(okOf(await t.approve(node.claim_code)).hostname).toBe(machine.hostname);
    const { api_key } = okOf(await status(node.poll_token));
    expect((await use(api_key)).status).toBe(200);
    // The stranger's own claim ended with that approval.
    expect((await status(answer.poll_token)).status).toBe(404);
    expect((await t.approve(answer.claim_code)).status).toBe(404);
  });

  test("that is approved: the caller gets a new claim, not the node's token", async () => {
    const { machine, node } = await approved();
    okOf(await use(node.api_key));
    const before = await dump();
    const answer = okOf(await strangerRegisters(machine, { sysinfo: sysinfoOf(["02:00:5e:00:00:66"]) }));
    expect(changedRows(before, await dump())).toEqual([]);
    expect(answer).toMatchObject({ state: "pending", claim_code: expect.any(String) });
    expect(answer.poll_token).not.toBe(node.poll_token);
    expect((await use(node.api_key)).status).toBe(200);
    expect(okOf(await status(node.poll_token))).toMatchObject({ state: "approved" });
    expect(await show(node.server_uuid)).toMatchObject({
      state: "approved",
      hostname: machine.hostname,
      admin_ip: "10.0.0.7",
      claim_code: null,
    });
  });

  test("that is disabled, except that it becomes pending; its key stays", async () => {
    const { machine, node } = await approved();
    okOf(await t.call("POST", "/v1/agent/status", { key: node.api_key, body: { payload: { kept: 1 } } }));
    okOf(await onNode(t, "POST", node, "/disable"));
    const before = await show(node.server_uuid);
    const answer = okOf(await strangerRegisters(machine));
    expect(await show(node.server_uuid)).toEqual({
      ...before,
      state: "pending",
      claim_code: answer.claim_code,
      claim_code_expires_at: answer.claim_code_expires_at,
      claims: [expect.objectContaining({ source: STRANGER, differs: ["hostname", "admin_ip"] })],
      identity_conflict: true,
    });
    // Exactly the limited rights of a disabled node's key.
    expect((await use(node.api_key)).status).toBe(200);
    const claim = { claimed_by: node.server_uuid };
    expect((await t.call("POST", "/v1/agent/claim", { key: node.api_key, body: claim })).status).not.toBe(200);
  });

  test.each(["awaiting_setup", "setting_up"])("that is %s", async (state) => {
    const machine = newMachine();
    okOf(await announce(t, machine));
    if (state === "setting_up") okOf(await approveSetup(t, machine));
    const bundle = state === "setting_up" ? okOf(await takeBundle(t, machine)) : null;
    const before = await dump();
    const answer = okOf(await strangerRegisters(machine, { sysinfo: sysinfoOf(machine.macs, [9_999]) }));
    expect(changedRows(before, await dump())).toEqual([]);
    expect(answer).toMatchObject({ state: "pending", claim_code: expect.any(String) });
    expect(await t.approve(answer.claim_code)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining(`cn is ${state}; a node that is set up by netboot takes no claim`) },
    });
    if (bundle !== null) {
      expect((await report(t, machine, "progress", { epoch: bundle.epoch })).status).toBe(200);
      expect((await report(t, machine, "complete", { epoch: bundle.epoch })).status).toBe(200);
      expect((await use(bundle.api_key)).status).toBe(200);
    }
  });
});

describe("S-14: the key of an approved node", () => {
  test("is not delivered to an anonymous registration of its server_uuid before its agent has used it", async () => {
    const { machine, node } = await approved();
    const answer = okOf(await strangerRegisters(machine));
    const path = `/v1/agent/register/status?poll_token=${answer.poll_token}`;
    // The long poll would last until the claim expires.
    const polled = await t.call("GET", path, { key: null, signal: AbortSignal.timeout(500) });
    expect(polled.body).toEqual({ state: "pending", ...NOTHING });
    expect(okOf(await status(node.poll_token)).api_key).toBe(node.api_key);
  });

  test("is the same at a second poll before its use, gone after it, and then not in the database", async () => {
    const { node } = await approved();
    const recorded = `/v1/agent/register/status?poll_token=${node.poll_token}`;
    expect(okOf(await t.call("GET", recorded, { key: null })).api_key).toBe(node.api_key);
    const { rows: [{ pending_credential }] } = await t.db.query(
      "select pending_credential from cn where server_uuid = $1",
      [node.server_uuid],
    );
    okOf(await use(node.api_key));
    expect(okOf(await t.call("GET", recorded, { key: null, address: STRANGER }))).toEqual({
      state: "approved",
      ...NOTHING,
    });
    const whole = await dumpTables(t.db);
    for (const text of [node.api_key, node.api_key.slice(-32), node.poll_token, pending_credential]) {
      expect(tablesWith(whole, text)).toEqual([]);
    }
  });

  test("is replaced when a claim is approved: the old one is refused at once, the new one is delivered to that claim", async () => {
    const { machine, node } = await approved();
    okOf(await use(node.api_key));
    const again = okOf(await strangerRegisters(machine, { hostname: "reinstalled", admin_ip: "10.0.0.8" }));
    const before = await show(node.server_uuid);
    const after = okOf(await t.approve(again.claim_code));
    expect(after).toMatchObject({ state: "approved", hostname: "reinstalled", admin_ip: "10.0.0.8", claims: [] });
    expect(after.bound_api_key_id).not.toBe(before.bound_api_key_id);
    expect((await use(node.api_key)).status).toBe(401);
    expect((await status(node.poll_token)).status).toBe(404);
    const { api_key } = okOf(await status(again.poll_token));
    expect((await use(api_key)).status).toBe(200);
    const { rows } = await t.db.query("select id from api_key where bound_to_cn = $1", [node.server_uuid]);
    expect(rows).toEqual([{ id: after.bound_api_key_id }]);
  });
});

describe("a booter's announce is independent of registrations:", () => {
  test("the layout proposal uses the announced disks, not the registered ones", async () => {
    const machine = newMachine();
    okOf(await announce(t, machine));
    const path = `/v1/cns/${machine.server_uuid}/setup-layout-proposal`;
    const proposal = okOf(await t.call("GET", path));
    okOf(await strangerRegisters(machine, { sysinfo: sysinfoOf(machine.macs, [50, 50]) }));
    expect(okOf(await t.call("GET", path))).toEqual(proposal);
    expect(proposal.disks).toHaveLength(4);
  });

  test("a registration with proof refreshes the shown sysinfo, not the announced disks", async () => {
    const machine = newMachine();
    okOf(await announce(t, machine));
    okOf(await approveSetup(t, machine));
    const { api_key, epoch } = okOf(await takeBundle(t, machine));
    const sysinfo = sysinfoOf(machine.macs, [1, 2]);
    const body = { ...registration(machine), hostname: "other", sysinfo };
    expect(okOf(await t.call("POST", "/v1/agent/register", { key: api_key, body }))).toMatchObject({
      state: "setting_up",
      claim_code: null,
    });
    expect(await show(machine.server_uuid)).toMatchObject({ sysinfo, hostname: machine.hostname, state: "setting_up" });
    const path = `/v1/cns/${machine.server_uuid}/setup-layout-proposal`;
    expect(okOf(await t.call("GET", path)).disks).toHaveLength(4);
    okOf(await report(t, machine, "failed", { epoch: epoch }));
  });

  test("a node that registers other ports with its key is still the announced machine", async () => {
    const machine = newMachine();
    okOf(await announce(t, machine));
    okOf(await approveSetup(t, machine));
    const { api_key, epoch } = okOf(await takeBundle(t, machine));
    okOf(await report(t, machine, "complete", { epoch }));
    const body = { ...registration(machine), sysinfo: sysinfoOf(["02:00:5e:00:00:77"]) };
    expect(okOf(await t.call("POST", "/v1/agent/register", { key: api_key, body })).state).toBe("approved");
    expect((await announce(t, machine)).status).toBe(200);
    expect((await show(machine.server_uuid)).conflict).toBeNull();
  });

  test("a service_tag entry does not admit a MAC address that was registered anonymously with that serial number", async () => {
    const [machine, tag] = [newMachine(1), `TAG${randomUUID().slice(0, 8)}`];
    okOf(await putPolicy(t, { allowlist: [{ kind: "service_tag", value: tag }] }));
    const sysinfo = { ...machine.sysinfo, "Serial Number": tag };
    okOf(await strangerRegisters({ ...machine, sysinfo }));
    expect(okOf(await seen(t, machine.macs[0]!)).state).toBe("discovered");
    okOf(await putPolicy(t));
  });

  test("removing a record from an anonymous registration does not affect boot records of the registered ports", async () => {
    const [victim, machine] = [newMachine(1), newMachine(1)];
    const record = okOf(await seen(t, victim.macs[0]!));
    okOf(await strangerRegisters({ ...machine, sysinfo: victim.sysinfo }));
    expect((await onNode(t, "DELETE", machine)).status).toBe(204);
    expect(okOf(await t.call("GET", `/v2/cn-boot/${victim.macs[0]}`)).state).toBe(record.state);
  });

  test("a record from an anonymous registration does not prevent enrolment by netboot", async () => {
    const machine = newMachine();
    okOf(await strangerRegisters({ ...machine, sysinfo: sysinfoOf(["02:00:5e:00:00:67"]) }));
    expect(okOf(await announce(t, machine))).toMatchObject({ state: "awaiting_setup", hostname: machine.hostname });
    expect((await show(machine.server_uuid)).claims).toHaveLength(1);
  });
});

describe("proof", () => {
  test("by the node's key refreshes the node's data, with the same token and no code", async () => {
    const { machine, node } = await approved();
    okOf(await use(node.api_key));
    const body = {
      ...registration(machine),
      hostname: "moved",
      admin_ip: "10.9.9.9",
      sysinfo: sysinfoOf(machine.macs),
    };
    const answer = okOf(await t.call("POST", "/v1/agent/register", { key: node.api_key, body }));
    expect(answer).toMatchObject({ state: "approved", claim_code: null, poll_token: node.poll_token });
    expect(await show(node.server_uuid)).toMatchObject({ hostname: "moved", admin_ip: "10.9.9.9", claims: [] });
  });

  test("by the node's poll token does the same", async () => {
    const { machine, node } = await approved();
    const headers = { "x-poll-token": node.poll_token };
    const body = { ...registration(machine), hostname: "moved" };
    const answer = okOf(await t.call("POST", "/v1/agent/register", { key: null, headers, body }));
    expect(answer).toMatchObject({ state: "approved", poll_token: node.poll_token });
    expect((await show(node.server_uuid)).hostname).toBe("moved");
  });

  test("by the token of a claim only renews that claim", async () => {
    const { machine, node } = await approved();
    const first = okOf(await strangerRegisters(machine));
    const before = await dump();
    const headers = { "x-poll-token": first.poll_token };
    const body = { ...registration(machine), hostname: "renewed" };
    const second = okOf(await t.call("POST", "/v1/agent/register", { key: null, headers, body }));
    expect(changedRows(before, await dump())).toEqual([]);
    expect(second.state).toBe("pending");
    expect((await status(first.poll_token)).status).toBe(404);
    expect((await t.approve(first.claim_code)).status).toBe(404);
    expect((await show(node.server_uuid)).claims).toMatchObject([{
      claim_code: second.claim_code,
      hostname: "renewed",
    }]);
  });

  test("is not the key of another node (403), nor a bad one (401), nor the token of another node's claim", async () => {
    const { machine } = await approved();
    const { node: other } = await approved();
    const body = registration(machine);
    expect(await t.call("POST", "/v1/agent/register", { key: other.api_key, body })).toMatchObject({
      status: 403,
      body: { message: "the key belongs to another node than the server_uuid of this registration" },
    });
    const bad = `opsk_${"z".repeat(12)}_${"z".repeat(32)}`;
    expect((await t.call("POST", "/v1/agent/register", { key: bad, body })).status).toBe(401);
    const waiting = await t.register();
    const before = await dump();
    const headers = { "x-poll-token": waiting.poll_token };
    expect(okOf(await t.call("POST", "/v1/agent/register", { key: null, headers, body })).state).toBe("pending");
    expect(changedRows(before, await dump())).toEqual([]);
    expect((await show(waiting.server_uuid)).claims).toHaveLength(1);
  });

  test("is not a key that was replaced, nor a token whose node was approved by another claim", async () => {
    const { machine, node } = await approved();
    const again = okOf(await strangerRegisters(machine));
    okOf(await t.approve(again.claim_code));
    const body = { ...registration(machine), hostname: "old" };
    expect((await t.call("POST", "/v1/agent/register", { key: node.api_key, body })).status).toBe(401);
    const headers = { "x-poll-token": node.poll_token };
    expect(okOf(await t.call("POST", "/v1/agent/register", { key: null, headers, body })).state).toBe("pending");
    expect((await show(node.server_uuid)).hostname).toBe("stranger");
  });
});

describe("limits", () => {
  beforeEach(() => t.advance(0));

  test(`a server_uuid has at most ${CLAIMS_PER_NODE_MAX} claims; the next registration is 429 until the first expires`, async () => {
    const { machine } = await approved();
    const claims = [];
    for (let n = 0; n < CLAIMS_PER_NODE_MAX; n++) claims.push(okOf(await strangerRegisters(machine)));
    const refused = await strangerRegisters(machine);
    expect(refused).toMatchObject({ status: 429, body: { error_code: "TooManyRequests" } });
    const wait_s = Number(refused.headers.get("retry-after"));
    expect(wait_s).toBeGreaterThan(3_500);
    expect(wait_s).toBeLessThanOrEqual(3_600);
    expect(new Set(claims.map(({ claim_code }) => claim_code)).size).toBe(CLAIMS_PER_NODE_MAX);
    await t.advance(wait_s);
    okOf(await strangerRegisters(machine));
  });

  test("8 simultaneous registrations of one server_uuid leave 4 claims", async () => {
    const machine = newMachine();
    const answers = await Promise.all(Array.from({ length: 8 }, () => strangerRegisters(machine)));
    expect(answers.map((each) => each.status).sort()).toEqual([200, 200, 200, 200, 429, 429, 429, 429]);
    expect((await show(machine.server_uuid)).claims).toHaveLength(4);
  });

  test("sysinfo is limited to 64 KiB without proof, and only by the body limit with proof", async () => {
    const { machine, node } = await approved();
    const sysinfo = { pad: "x".repeat(CLAIM_SYSINFO_BYTES_MAX - '{"pad":""}'.length) };
    const register = (key: string | null, size: unknown) =>
      t.call("POST", "/v1/agent/register", { key, body: { ...registration(machine), sysinfo: size } });
    okOf(await register(null, sysinfo));
    const larger = { pad: `${sysinfo.pad}x` };
    expect(await register(null, larger)).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^sysinfo: must be at most 64 KiB/) },
    });
    okOf(await register(node.api_key, larger));
    expect((await show(node.server_uuid)).sysinfo).toEqual(larger);
  });
});

describe("the end of claims", () => {
  const expire = async () => {
    await t.advance(3_600);
    await t.plane.pass();
  };

  test("a disabled node whose last claim expires is disabled again and otherwise unchanged", async () => {
    const { machine, node } = await approved();
    okOf(await onNode(t, "POST", node, "/disable"));
    const before = await show(node.server_uuid);
    okOf(await strangerRegisters(machine));
    await expire();
    expect(await show(node.server_uuid)).toEqual(before);
    expect((await use(node.api_key)).status).toBe(200);
  });

  test("a record that only registrations created is deleted with its last claim and its sysinfo", async () => {
    const mark = randomUUID();
    const machine = { ...newMachine(), sysinfo: { mark } };
    const first = okOf(await strangerRegisters(machine));
    await t.advance(1_800);
    const second = okOf(await strangerRegisters(machine));
    await t.advance(1_800);
    await t.plane.pass();
    expect((await status(first.poll_token)).status).toBe(404);
    expect(await show(machine.server_uuid)).toMatchObject({ claim_code: second.claim_code });
    await t.advance(1_800);
    await t.plane.pass();
    expect((await t.call("GET", `/v1/system/cns/${machine.server_uuid}`)).status).toBe(404);
    expect((await status(second.poll_token)).status).toBe(404);
    const tables = tablesWith(await dumpTables(t.db, ["audit_event", "transition", "seen"]), mark);
    expect(tables).toEqual([]);
  });

  test("an expired code is never shown, also before the background pass", async () => {
    const { claim_code, server_uuid } = await t.register();
    await t.advance(3_600);
    const { rows } = await t.db.query("select from enrolment_claim where server_uuid = $1", [server_uuid]);
    expect(rows).toHaveLength(1);
    expect(await show(server_uuid)).toMatchObject({ claim_code: null, claim_code_expires_at: null, claims: [] });
    expect((await t.call("GET", "/v1/system/cns")).text).not.toContain(claim_code);
    await expire();
  });

  test.each(["disabling", "removing"])("%s the node ends its claims at once", async (action) => {
    const machine = newMachine();
    const claims = [okOf(await strangerRegisters(machine)), okOf(await strangerRegisters(machine))];
    const [method, path] = action === "disabling" ? ["POST", "/disable"] : ["DELETE", ""];
    okOf(await onNode(t, method!, machine, path));
    for (const { claim_code } of claims) expect((await t.approve(claim_code)).status).toBe(404);
    const { rows } = await t.db.query("select from enrolment_claim where server_uuid = $1", [machine.server_uuid]);
    expect(rows).toEqual([]);
  });

  test("after all these tests the doctor finds no violation, and no claim is counted", async () => {
    await expire();
    const { checks } = okOf(await t.call("GET", "/v1/system/doctor"));
    const broken = checks.filter((check: { status: string; id: string }) =>
      check.id.startsWith("INV") && check.status === "fail"
    );
    expect(broken).toEqual([]);
    const { rows } = await t.db.query("select name, remaining from budget where name like 'claims%'");
    const live = await t.db.query("select from enrolment_claim");
    expect([rows, live.rows]).toEqual([[], []]);
  });
});

test("only operators see claims: a booter's answers have none", async () => {
  const machine = newMachine();
  okOf(await strangerRegisters(machine));
  const { secret } = await t.mintKey("booter");
  const { server_uuid, hostname, sysinfo } = machine;
  const body = { server_uuid, hostname, sysinfo };
  const answer = okOf(await t.call("POST", "/v2/booter/announce", { key: secret, body }));
  expect(answer).toMatchObject({ claim_code: null, claims: [], identity_conflict: false });
  expect((await show(server_uuid)).claims).toHaveLength(1);
});
