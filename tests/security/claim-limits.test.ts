// S-46: tests the limits of enrolment claims, how claims end, and who can see them.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CLAIM_SYSINFO_BYTES_MAX, CLAIMS_PER_NODE_MAX } from "../../src/contract/limits.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { dumpTables, tablesWith } from "../support/dump.ts";
import { newMachine, onNode, putPolicy } from "../setup/machine.ts";
import { approvedMachine, expectNoClaims, registerAnonymously, registration } from "./claim-calls.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane({ resident: false });
  okOf(await putPolicy(t));
});
afterAll(() => t.close());

const show = async (server_uuid: string) => okOf(await t.call("GET", `/v1/system/cns/${server_uuid}`));
const status = (token: string) => t.call("GET", `/v1/agent/register/status?poll_token=${token}`, { key: null });
const use = (key: string) => t.call("POST", "/v1/agent/heartbeat", { key });

describe("limits", () => {
  beforeEach(() => t.advance(0));

  test(`a server_uuid has at most ${CLAIMS_PER_NODE_MAX} claims; the next registration gets 429 until the first claim expires`, async () => {
    const { machine } = await approvedMachine(t);
    const claims = [];
    for (let n = 0; n < CLAIMS_PER_NODE_MAX; n++) claims.push(okOf(await registerAnonymously(t, machine)));
    const refused = await registerAnonymously(t, machine);
    expect(refused).toMatchObject({ status: 429, body: { error_code: "TooManyRequests" } });
    const wait_s = Number(refused.headers.get("retry-after"));
    expect(wait_s).toBeGreaterThan(3_500);
    expect(wait_s).toBeLessThanOrEqual(3_600);
    expect(new Set(claims.map(({ claim_code }) => claim_code)).size).toBe(CLAIMS_PER_NODE_MAX);
    await t.advance(wait_s);
    okOf(await registerAnonymously(t, machine));
  });

  test("8 simultaneous registrations of one server_uuid leave 4 claims", async () => {
    const machine = newMachine();
    const answers = await Promise.all(Array.from({ length: 8 }, () => registerAnonymously(t, machine)));
    expect(answers.map((each) => each.status).sort()).toEqual([200, 200, 200, 200, 429, 429, 429, 429]);
    expect((await show(machine.server_uuid)).claims).toHaveLength(4);
  });

  test("without proof of identity, sysinfo has at most 64 KiB; with proof, only the limit for bodies applies", async () => {
    const { machine, node } = await approvedMachine(t);
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
    const { machine, node } = await approvedMachine(t);
    okOf(await onNode(t, "POST", node, "/disable"));
    const before = await show(node.server_uuid);
    okOf(await registerAnonymously(t, machine));
    await expire();
    expect(await show(node.server_uuid)).toEqual(before);
    expect((await use(node.api_key)).status).toBe(200);
  });

  test("a record that only registrations created is deleted with its sysinfo when its last claim ends", async () => {
    const mark = randomUUID();
    const machine = { ...newMachine(), sysinfo: { mark } };
    const first = okOf(await registerAnonymously(t, machine));
    await t.advance(1_800);
    const second = okOf(await registerAnonymously(t, machine));
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

  test("an expired code is never shown, not even before background work removes its claim", async () => {
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
    const claims = [okOf(await registerAnonymously(t, machine)), okOf(await registerAnonymously(t, machine))];
    const [method, path] = action === "disabling" ? ["POST", "/disable"] : ["DELETE", ""];
    okOf(await onNode(t, method!, machine, path));
    for (const { claim_code } of claims) expect((await t.approve(claim_code)).status).toBe(404);
    const { rows } = await t.db.query("select from enrolment_claim where server_uuid = $1", [machine.server_uuid]);
    expect(rows).toEqual([]);
  });
});

test("an operator sees the claims, and answers to a booter contain no claims", async () => {
  const machine = newMachine();
  okOf(await registerAnonymously(t, machine));
  const { secret } = await t.mintKey("booter");
  const { server_uuid, hostname, sysinfo } = machine;
  const body = { server_uuid, hostname, sysinfo };
  const answer = okOf(await t.call("POST", "/v2/booter/announce", { key: secret, body }));
  expect(answer).toMatchObject({ claim_code: null, claims: [], identity_conflict: false });
  expect((await show(server_uuid)).claims).toHaveLength(1);
});

test("after all these tests no claim is left", () => expectNoClaims(t));
