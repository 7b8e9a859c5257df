import { existsSync, readFileSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Registration } from "../../src/contract/agent.ts";
import {
  AGENT_KEY,
  APPROVED,
  registered,
  reports,
  type Route,
  runAgent,
  savedKey,
  SERVER_UUID,
  stateDir,
  status,
} from "./agent.ts";

const REGISTER = "/v1/agent/register";
const POLL = "/v1/agent/register/status";

function inOrder(...answers: (ReturnType<Route> | "cut")[]): Route {
  return () => {
    const next = answers.length > 1 ? answers.shift()! : answers[0]!;
    if (next === "cut") throw new TypeError("fetch failed");
    return next;
  };
}

test("a machine registers, shows its claim code, waits for the approval, saves its key and reports", async () => {
  const state_dir = stateDir();
  const mirrored: string[] = [];
  const ran = await runAgent({
    ...reports(),
    [REGISTER]: () => registered(),
    [POLL]: (asked) => {
      expect(asked.headers["x-poll-token"]).toMatch(/^[0-9a-f]{32}$/);
      expect(asked.query).toEqual({});
      mirrored.push(readFileSync(join(state_dir, "claim-code"), "utf8"));
      return mirrored.length < 3 ? status("pending") : APPROVED;
    },
  }, { state_dir });
  expect(ran.code).toBe(130);
  expect(ran.out()).toBe("\nClaim code: ABC-123\n\n");
  expect(mirrored).toEqual(["ABC-123\n", "ABC-123\n", "ABC-123\n"]);
  expect(existsSync(join(state_dir, "claim-code"))).toBe(false);
  expect(await savedKey(state_dir)).toBe(AGENT_KEY);
  expect((await stat(join(state_dir, "credentials.json"))).mode & 0o777).toBe(0o600);
  expect(ran.out() + ran.err()).not.toContain(AGENT_KEY);
  const registration = Registration.parse(ran.asked[0]!.body);
  expect(registration).toMatchObject({ server_uuid: SERVER_UUID, hostname: "sim-3f2a9c1e" });
});

test("the key is on disk before its first use", async () => {
  const state_dir = stateDir();
  const saved_at_use: boolean[] = [];
  const watched = Object.fromEntries(
    Object.entries(reports()).map(([path, route]): [string, Route] => [path, async (asked, agent) => {
      expect(asked.headers.authorization).toBe(`Bearer ${AGENT_KEY}`);
      saved_at_use.push(await savedKey(state_dir) === AGENT_KEY);
      return await route(asked, agent);
    }]),
  );
  await runAgent({ ...watched, [REGISTER]: () => registered(), [POLL]: () => APPROVED }, { state_dir });
  expect(saved_at_use.length).toBeGreaterThan(3);
  expect(saved_at_use).not.toContain(false);
});

test("a restarted agent with a saved key registers with that key and does not poll for another key", async () => {
  const first = await runAgent({ ...reports(), [REGISTER]: () => registered(), [POLL]: () => APPROVED });
  const approved = { reservoir_enabled: true, reservoir_percent: 0.8, state: "approved", admin_ip: null };
  const routes = {
    ...reports(),
    "/v1/agent/config": () => ({ body: approved }),
    [REGISTER]: () => registered({ state: "approved", claim_code: null }),
  };
  const again = await runAgent(routes, { state_dir: first.state_dir });
  expect(again.code).toBe(130);
  expect(again.asked.map(({ path }) => path)).not.toContain(POLL);
  const registrations = again.asked.filter(({ path }) => path === REGISTER);
  expect(registrations).toMatchObject([{ headers: { authorization: `Bearer ${AGENT_KEY}` } }]);
});

test("pauses between polls are 1 s while pending and at least 5 s after a transport error, with jitter", async () => {
  const poll = inOrder(status("pending"), "cut", APPROVED);
  const ran = await runAgent({ ...reports(), [REGISTER]: inOrder("cut", registered()), [POLL]: poll });
  const [register_error_ms, pending_ms, poll_error_ms] = ran.slept_ms;
  expect(register_error_ms).toBeGreaterThan(5_000);
  expect(pending_ms).toBe(1_000);
  expect(poll_error_ms).toBeGreaterThan(5_000);
  expect(poll_error_ms).toBeLessThan(7_000);
});

test.each([429, 503])("the agent waits for the time in the Retry-After header of a %i answer", async (http_status) => {
  const busy = { status: http_status, body: { message: "busy" }, headers: { "retry-after": "40" } };
  const ran = await runAgent({ ...reports(), [REGISTER]: inOrder(busy, registered()), [POLL]: () => APPROVED });
  expect(ran.slept_ms[0]).toBeGreaterThanOrEqual(40_000);
});

test("an agent that is not approved in time exits with 6 and removes the claim code", async () => {
  const ran = await runAgent({ [REGISTER]: () => registered(), [POLL]: () => status("pending") }, {
    argv: ["--approval-wait-s", "10"],
  });
  expect(ran.code).toBe(6);
  expect(ran.err()).toContain("not approved within 10 s");
  expect(ran.slept_ms.reduce((sum, ms) => sum + ms)).toBe(10_000);
  expect(existsSync(join(ran.state_dir, "claim-code"))).toBe(false);
});

test("the wait for the approval is never longer than one hour", async () => {
  const ran = await runAgent({ [REGISTER]: () => registered(), [POLL]: () => status("pending") }, {
    argv: ["--approval-wait-s", "999999", "--pending-retry-ms", "600000"],
  });
  expect(ran.err()).toContain("not approved within 3600 s");
});

test("an expired claim code is replaced by a new code", async () => {
  const claim_code_expires_at = new Date(Date.now() + 5_000).toISOString();
  const register = inOrder(registered({ claim_code_expires_at }), registered({ claim_code: "DEF-456" }));
  const codes: string[] = [];
  const ran = await runAgent({
    ...reports(),
    [REGISTER]: register,
    [POLL]: (_asked, agent) => agent.out().includes("DEF-456") ? APPROVED : status("pending"),
  });
  codes.push(...[...ran.out().matchAll(/Claim code: (\S+)/g)].map((match) => match[1]!));
  expect(codes).toEqual(["ABC-123", "DEF-456"]);
  expect(ran.code).toBe(130);
});

test("the agent registers again if the server does not know its registration", async () => {
  const gone = { status: 404, body: { message: "Not Found" } };
  const ran = await runAgent({ ...reports(), [REGISTER]: () => registered(), [POLL]: inOrder(gone, APPROVED) });
  expect(ran.asked.filter(({ path }) => path === REGISTER)).toHaveLength(2);
  expect(await savedKey(ran.state_dir)).toBe(AGENT_KEY);
});

test("a machine that is approved automatically shows no claim code", async () => {
  const register = () => registered({ state: "approved", claim_code: null });
  const ran = await runAgent({ ...reports(), [REGISTER]: register, [POLL]: () => APPROVED });
  expect(ran.out()).toBe("");
  expect(await savedKey(ran.state_dir)).toBe(AGENT_KEY);
});

test.each([
  ["approved, key taken", "approved", status("approved"), 4, "restart the agent"],
  ["disabled while waiting", "pending", status("disabled"), 4, "an operator disabled this node"],
  ["enrolled by netboot", "awaiting_setup", status("awaiting_setup"), 5, "by netboot"],
])("a node that cannot get a key reports the reason: %s", async (_name, state, answer, code, text) => {
  const ran = await runAgent({ [REGISTER]: () => registered({ state }), [POLL]: () => answer });
  expect(ran.code).toBe(code);
  expect(ran.err()).toContain(text);
  expect(await savedKey(ran.state_dir)).toBe(null);
});

test("a restarted agent renews its claim with the saved poll token, and deletes the token after the approval", async () => {
  const refused = { ...reports(), [REGISTER]: () => registered(), [POLL]: () => status("pending") };
  const first = await runAgent(refused, { argv: ["--approval-wait-s", "1"] });
  const again = await runAgent({ ...refused, [POLL]: () => APPROVED }, { state_dir: first.state_dir });
  expect(first.asked[0]!.headers["x-poll-token"]).toBeUndefined();
  expect(again.asked[0]!.headers["x-poll-token"]).toBe("0123456789abcdef0123456789abcdef");
  await expect(readFile(join(first.state_dir, "poll-token"), "utf8")).rejects.toThrow("ENOENT");
});

test("after 429 (too many claims) the agent waits for the time in the Retry-After header", async () => {
  const full = { status: 429, body: { message: "too many claims" }, headers: { "retry-after": "60" } };
  const ran = await runAgent({ ...reports(), [REGISTER]: inOrder(full, registered()), [POLL]: () => APPROVED });
  expect(ran.slept_ms[0]).toBeGreaterThanOrEqual(60_000);
  expect(await savedKey(ran.state_dir)).toBe(AGENT_KEY);
});

test("a rejected registration ends the agent with the server's message", async () => {
  const ran = await runAgent({ [REGISTER]: () => ({ status: 400, body: { message: "hostname must be ..." } }) });
  expect(ran.code).toBe(1);
  expect(ran.err()).toContain("registration rejected: 400 hostname must be");
});

test("credentials of another machine, damaged credentials and credentials that other users can read are rejected", async () => {
  const state_dir = stateDir();
  const path = join(state_dir, "credentials.json");
  for (const [text, mode] of [[`{"server_uuid":"other","api_key":"k"}`, 0o600], ["{", 0o600], ["{}", 0o644]] as const) {
    await writeFile(path, text);
    const { chmod } = await import("node:fs/promises");
    await chmod(path, mode);
    const ran = await runAgent({}, { state_dir });
    expect(ran.code).toBe(4);
    expect(ran.asked).toEqual([]);
  }
});

test.each(["00000000-0000-0000-0000-000000000000", "FFFFFFFF-ffff-ffff-ffff-ffffffffffff", "abc"])(
  "%s is not accepted as an identity",
  async (uuid) => {
    const ran = await runAgent({}, { argv: ["--server-uuid", uuid] });
    expect(ran.code).toBe(2);
  },
);

test("a simulated machine keeps its identity and rejects another identity", async () => {
  const first = await runAgent({ ...reports(), [REGISTER]: () => registered(), [POLL]: () => APPROVED });
  const other = "11111111-2222-4333-8444-555555555555";
  const ran = await runAgent({}, { state_dir: first.state_dir, argv: ["--server-uuid", other] });
  expect(ran.code).toBe(2);
  expect(ran.err()).toContain(SERVER_UUID);
});
