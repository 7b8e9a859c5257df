// No answer contains root_shadow or rabbitmq in sysinfo, at any depth and in any spelling (docs/reliability.md, S-16).
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";

const CANARY = "canary-7Qm2xZ";
const KEPT = "kept-4Tn8wP";
const NAMES = ["root_shadow", "ROOT_SHADOW", "root-shadow", " rabbitmq ", "rabbitmq", "RabbitMQ", "boot.root_shadow"];

/** Returns sysinfo that has the canary value under every name of NAMES: in objects, in arrays, and 40 levels deep. */
function hidden(): unknown {
  const secrets = Object.fromEntries(NAMES.map((name, index) => [name, `${CANARY}-${index}`]));
  let deep: unknown = { ...secrets, plain: KEPT };
  for (let depth = 0; depth < 40; depth++) deep = depth % 2 === 0 ? [deep] : { level: deep };
  return { ...secrets, nested: { boot_parameters: secrets, list: [secrets, [secrets]] }, deep, plain: KEPT };
}

let t: TestControlPlane;
let node: Awaited<ReturnType<TestControlPlane["approvedNode"]>>;
beforeAll(async () => {
  t = await openTestControlPlane();
  node = await t.approvedNode({ sysinfo: hidden() });
  await t.call("POST", "/v1/agent/status", { key: node.api_key, body: { payload: hidden() } });
});
afterAll(() => t.close());

test("S-16: no GET route shows a secret to any credential, and the other values of sysinfo are shown", async () => {
  const { paths } = (await t.call("GET", "/openapi.json")).body;
  const [operation] = (await t.call("GET", "/v1/operations")).body;
  const ids: Record<string, string> = {
    cn_id: node.server_uuid,
    server_uuid: node.server_uuid,
    id: operation.id,
    key: "imds.enabled_default",
    seq: "0",
  };
  const keys = [ROOT_KEY, (await t.mintKey("read_only")).secret, node.api_key, null];
  const shown: string[] = [];
  for (const [pattern, methods] of Object.entries<object>(paths)) {
    if (!("get" in methods)) continue;
    const path = pattern.replace(/\{(\w+)\}/g, (_all, name) => ids[name] ?? "0");
    for (const key of keys) shown.push((await t.call("GET", `${path}?limit=1000`, { key })).text);
    shown.push((await t.call("GET", path)).text);
  }
  const all = shown.join("\n");
  expect(all).not.toContain(CANARY);
  expect(all).toContain(KEPT);
});

test("no answer to a change shows a secret", async () => {
  const { server_uuid, claim_code } = await t.register({ sysinfo: hidden() });
  const answers = [
    await t.call("POST", `/v1/cns/${server_uuid}/role`, { body: { role: "both" } }),
    await t.approve(claim_code),
    await t.call("POST", `/v1/cns/${server_uuid}/disable`),
    await t.call("POST", "/v1/agent/register", {
      key: null,
      body: { server_uuid, hostname: "n", sysinfo: hidden() },
    }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  for (const { text } of answers) expect(text).not.toContain(CANARY);
});

test("no error repeats a secret", async () => {
  const bodies = [
    { server_uuid: "no uuid", hostname: "n", sysinfo: hidden() },
    { server_uuid: node.server_uuid, hostname: { root_shadow: CANARY }, sysinfo: hidden() },
    { server_uuid: node.server_uuid, hostname: `${CANARY}_`, sysinfo: hidden() },
  ];
  for (const body of bodies) {
    const answer = await t.call("POST", "/v1/agent/register", { key: null, body });
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain(CANARY);
  }
});

test("no audit event, stored reply or operation contains a secret", async () => {
  await t.call("GET", "/v1/audit/events");
  for (const table of ["audit_event", "transition", "seen", "saga", "outbox", "idempotency"]) {
    const { rows } = await t.db.query(`select from ${table} t where t::text like $1`, [`%${CANARY}%`]);
    expect([table, rows.length]).toEqual([table, 0]);
  }
});
