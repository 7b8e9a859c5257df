// S-46: an anonymous registration with a node's server_uuid, MAC addresses and serial number does not change the node,
// except that a disabled node becomes pending. The node's key and token keep working. S-14: a node's key is delivered
// only to the approved agent.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { changedRows, dumpTables, tablesWith } from "../support/dump.ts";
import {
  announce,
  approveSetup,
  newMachine,
  onNode,
  putPolicy,
  report,
  seen,
  sysinfoOf,
  takeBundle,
} from "../setup/machine.ts";
import { approvedMachine, expectNoClaims, registerAnonymously, registration, STRANGER } from "./claim-calls.ts";

let t: TestControlPlane;
beforeAll(async () => {
  // Runs no background work, so that every change comes from a request.
  t = await openTestControlPlane({ resident: false });
  okOf(await putPolicy(t));
});
afterAll(() => t.close());

/** Tables that a registration may write: the logs, stored replies, rate limits, claims and their counts. */
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
const NOTHING = { api_key: null, console_ticket_key_hex: null, imds_token_key_hex: null, migrate_ticket_key_hex: null };

const show = async (server_uuid: string) => okOf(await t.call("GET", `/v1/system/cns/${server_uuid}`));
const status = (token: string) => t.call("GET", `/v1/agent/register/status?poll_token=${token}`, { key: null });
const use = (key: string) => t.call("POST", "/v1/agent/heartbeat", { key });
const dump = () => dumpTables(t.db, BESIDE);

describe("S-46: an anonymous registration", () => {
  test("does not change a pending node; its code and its token keep working", async () => {
    const machine = newMachine();
    const node = await t.register(registration(machine));
    const before = await dump();
    const answer = okOf(await registerAnonymously(t, machine));
    expect(changedRows(before, await dump())).toEqual([]);
    expect([answer.claim_code, answer.poll_token]).not.toEqual([node.claim_code, node.poll_token]);
    expect(okOf(await t.approve(node.claim_code)).hostname).toBe(machine.hostname);
    const { api_key } = okOf(await status(node.poll_token));
    expect((await use(api_key)).status).toBe(200);
    // The approval ended the stranger's claim.
    expect((await status(answer.poll_token)).status).toBe(404);
    expect((await t.approve(answer.claim_code)).status).toBe(404);
  });

  test("does not change an approved node; the caller gets a new claim, not the node's token", async () => {
    const { machine, node } = await approvedMachine(t);
    okOf(await use(node.api_key));
    const before = await dump();
    const answer = okOf(await registerAnonymously(t, machine, { sysinfo: sysinfoOf(["02:00:5e:00:00:66"]) }));
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

  test("makes a disabled node pending, changes nothing else, and keeps its key", async () => {
    const { machine, node } = await approvedMachine(t);
    okOf(await t.call("POST", "/v1/agent/status", { key: node.api_key, body: { payload: { kept: 1 } } }));
    okOf(await onNode(t, "POST", node, "/disable"));
    const before = await show(node.server_uuid);
    const answer = okOf(await registerAnonymously(t, machine));
    expect(await show(node.server_uuid)).toEqual({
      ...before,
      state: "pending",
      claim_code: answer.claim_code,
      claim_code_expires_at: answer.claim_code_expires_at,
      claims: [expect.objectContaining({ source: STRANGER, differs: ["hostname", "admin_ip"] })],
      identity_conflict: true,
    });
    // Like the key of a disabled node, the key may send heartbeats but not claim jobs.
    expect((await use(node.api_key)).status).toBe(200);
    const claim = { claimed_by: node.server_uuid };
    expect((await t.call("POST", "/v1/agent/claim", { key: node.api_key, body: claim })).status).not.toBe(200);
  });

  test.each(["awaiting_setup", "setting_up"])("does not change a node in state %s", async (state) => {
    const machine = newMachine();
    okOf(await announce(t, machine));
    if (state === "setting_up") okOf(await approveSetup(t, machine));
    const bundle = state === "setting_up" ? okOf(await takeBundle(t, machine)) : null;
    const before = await dump();
    const answer = okOf(await registerAnonymously(t, machine, { sysinfo: sysinfoOf(machine.macs, [9_999]) }));
    expect(changedRows(before, await dump())).toEqual([]);
    expect(answer).toMatchObject({ state: "pending", claim_code: expect.any(String) });
    expect(await t.approve(answer.claim_code)).toMatchObject({
      status: 409,
      body: {
        message: expect.stringContaining(
          `cn is ${state}; a node that is set up by netboot cannot be approved by claim code`,
        ),
      },
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
    const { machine, node } = await approvedMachine(t);
    const answer = okOf(await registerAnonymously(t, machine));
    const path = `/v1/agent/register/status?poll_token=${answer.poll_token}`;
    // The claim stays pending, so the server holds the long poll until its time limit. The signal ends the poll
    // earlier.
    const polled = await t.call("GET", path, { key: null, signal: AbortSignal.timeout(500) });
    expect(polled.body).toEqual({ state: "pending", ...NOTHING });
    expect(okOf(await status(node.poll_token)).api_key).toBe(node.api_key);
  });

  test("is delivered at each poll until its first use; then it is neither delivered nor in the database", async () => {
    const { node } = await approvedMachine(t);
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

  test("is replaced when a claim is approved: the old key is refused at once, and the new key is delivered to that claim", async () => {
    const { machine, node } = await approvedMachine(t);
    okOf(await use(node.api_key));
    const again = okOf(await registerAnonymously(t, machine, { hostname: "reinstalled", admin_ip: "10.0.0.8" }));
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

describe("a booter's announcement is independent of registrations:", () => {
  test("the layout proposal uses the announced disks, not the registered disks", async () => {
    const machine = newMachine();
    okOf(await announce(t, machine));
    const path = `/v1/cns/${machine.server_uuid}/setup-layout-proposal`;
    const proposal = okOf(await t.call("GET", path));
    okOf(await registerAnonymously(t, machine, { sysinfo: sysinfoOf(machine.macs, [50, 50]) }));
    expect(okOf(await t.call("GET", path))).toEqual(proposal);
    expect(proposal.disks).toHaveLength(4);
  });

  test("a registration with the node's key updates the sysinfo that the API shows, not the announced disks", async () => {
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

  test("a service_tag entry of the boot policy admits no MAC address that was registered anonymously with this serial number", async () => {
    const [machine, tag] = [newMachine(1), `TAG${randomUUID().slice(0, 8)}`];
    okOf(await putPolicy(t, { allowlist: [{ kind: "service_tag", value: tag }] }));
    const sysinfo = { ...machine.sysinfo, "Serial Number": tag };
    okOf(await registerAnonymously(t, { ...machine, sysinfo }));
    expect(okOf(await seen(t, machine.macs[0]!)).state).toBe("discovered");
    okOf(await putPolicy(t));
  });

  test("removing a node that registered anonymously does not affect the boot records of its MAC addresses", async () => {
    const [victim, machine] = [newMachine(1), newMachine(1)];
    const record = okOf(await seen(t, victim.macs[0]!));
    okOf(await registerAnonymously(t, { ...machine, sysinfo: victim.sysinfo }));
    expect((await onNode(t, "DELETE", machine)).status).toBe(204);
    expect(okOf(await t.call("GET", `/v2/cn-boot/${victim.macs[0]}`)).state).toBe(record.state);
  });

  test("an anonymous registration does not prevent enrolment by netboot", async () => {
    const machine = newMachine();
    okOf(await registerAnonymously(t, { ...machine, sysinfo: sysinfoOf(["02:00:5e:00:00:67"]) }));
    expect(okOf(await announce(t, machine))).toMatchObject({ state: "awaiting_setup", hostname: machine.hostname });
    expect((await show(machine.server_uuid)).claims).toHaveLength(1);
  });
});

describe("a registration with a credential", () => {
  test("updates the node's data if the credential is the node's key, and returns the same token and no code", async () => {
    const { machine, node } = await approvedMachine(t);
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

  test("updates the node's data if the credential is the node's poll token", async () => {
    const { machine, node } = await approvedMachine(t);
    const headers = { "x-poll-token": node.poll_token };
    const body = { ...registration(machine), hostname: "moved" };
    const answer = okOf(await t.call("POST", "/v1/agent/register", { key: null, headers, body }));
    expect(answer).toMatchObject({ state: "approved", poll_token: node.poll_token });
    expect((await show(node.server_uuid)).hostname).toBe("moved");
  });

  test("only renews a claim if the credential is the token of that claim", async () => {
    const { machine, node } = await approvedMachine(t);
    const first = okOf(await registerAnonymously(t, machine));
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

  test("fails with another node's key (403) or an invalid key (401), and is anonymous with another node's token", async () => {
    const { machine } = await approvedMachine(t);
    const { node: other } = await approvedMachine(t);
    const body = registration(machine);
    expect(await t.call("POST", "/v1/agent/register", { key: other.api_key, body })).toMatchObject({
      status: 403,
      body: { message: "the key belongs to another node: its server_uuid is not the server_uuid of this registration" },
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

  test("fails with a replaced key (401), and is anonymous with a token that ended when another claim was approved", async () => {
    const { machine, node } = await approvedMachine(t);
    const again = okOf(await registerAnonymously(t, machine));
    okOf(await t.approve(again.claim_code));
    const body = { ...registration(machine), hostname: "old" };
    expect((await t.call("POST", "/v1/agent/register", { key: node.api_key, body })).status).toBe(401);
    const headers = { "x-poll-token": node.poll_token };
    expect(okOf(await t.call("POST", "/v1/agent/register", { key: null, headers, body })).state).toBe("pending");
    expect((await show(node.server_uuid)).hostname).toBe("stranger");
  });
});

test("after all these tests no claim is left", () => expectNoClaims(t));
