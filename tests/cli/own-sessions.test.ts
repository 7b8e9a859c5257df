// Tests the commands for sessions, the capacity of the fleet, and the audit events of a tenant. The web console shows
// the same data.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ComputeFixture, openComputeFixture } from "../compute/compute-fixture.ts";
import { okOf } from "../support/control-plane.ts";
import { opsctlAt, type OpsctlRunner, serverOf } from "./at-control-plane.ts";
import { ENDPOINT } from "./fake-environment.ts";
import { type Ran, tenantctl } from "./tenantctl/run.ts";

const PASSWORD = "correct horse battery";
let a: ComputeFixture;
let at: OpsctlRunner;
beforeAll(async () => {
  a = await openComputeFixture();
  at = opsctlAt(a.t);
});
afterAll(() => a.t.close());

const tenant = (argv: string): Promise<Ran> =>
  tenantctl(argv.split(" "), {
    env: { TENANTCTL_ENDPOINT: ENDPOINT, TENANTCTL_API_KEY: a.tenant.key, NO_COLOR: "1" },
    server: serverOf(a.t),
    newId: randomUUID,
  });

test("`session list` shows the caller's sessions, and `session end` ends one of them", async () => {
  okOf(await a.t.call("POST", "/v1/system/users", { body: { username: "ada", password: PASSWORD } }));
  const login = async () =>
    okOf(await a.t.call("POST", "/v1/auth/login", { key: null, body: { username: "ada", password: PASSWORD } }));
  const [first, second] = [await login(), await login()];
  const env = { OPSCTL_ENDPOINT: ENDPOINT, OPSCTL_ACCESS_TOKEN: second.access_token };
  const rows = async () =>
    (await at.printed("session list -o csv --no-headers --columns current,of,id", { env })).trim().split(/\r?\n/);
  const [own, other] = await rows();
  expect([own, other]).toEqual([
    expect.stringMatching(/^yes,program,/),
    expect.stringMatching(/^no,program,/),
  ]);
  const other_id = other!.split(",")[2]!;
  expect(await at.printed(`session end ${other_id}`, { env })).toBe(`Ended session ${other_id}\n`);
  expect(await rows()).toEqual([own]);
  const ended = await a.t.call("GET", "/v1/auth/whoami", { key: first.access_token });
  expect(ended.status).toBe(401);
  expect((await at.run(`session end ${other_id}`, { env })).code).toBe(3);
});

test("`tenantctl whoami` with an API key prints the key's owner and tenant", async () => {
  const { code, out } = await tenant("whoami -o json");
  const who = okOf(await a.t.call("GET", "/v1/auth/whoami", { key: a.tenant.key }));
  expect([code, JSON.parse(out())]).toEqual([0, who]);
  expect(who).toMatchObject({ tenant_id: a.tenant.tenant_id, scope: "full" });
});

test("`capacity show` prints the resources of the fleet or of one node, and the resources that instances use", async () => {
  await a.running({ name: "web-1" });
  const { server_uuid } = a.node;
  const fleet = await at.json<{ placed: { instances: number; cpu: number }; physical: { cpu: number } }>(
    "capacity show",
  );
  expect(fleet.placed.instances).toBe(1);
  const { cpu } = fleet.physical;
  const share = Math.round(fleet.placed.cpu / cpu * 100);
  const text = await at.printed("capacity show");
  expect(text).toMatch(/^RESOURCE +PHYSICAL +PLACED +QUOTAS$/m);
  expect(text).toMatch(new RegExp(`^CPU +${cpu} +${fleet.placed.cpu} \\(${share} %\\)`, "m"));
  expect(text).toMatch(/^nodes: +1 of 1 approved nodes report their capacity$/m);
  const node = await at.printed(`capacity show ${server_uuid}`);
  expect(node).toMatch(new RegExp(`^CPU +${cpu} +${fleet.placed.cpu} \\(${share} %\\)$`, "m"));
  expect(node).toMatch(/^INSTANCES +- +1$/m);
});

test("`tenantctl audit list` shows only the tenant's events, newest first, and has filters", async () => {
  const project = (name: string) => ({ key: a.tenant.key, body: { name } });
  const path = `/v1/tenants/${a.tenant.tenant_id}/projects`;
  okOf(await a.t.call("POST", path, project("shop")));
  okOf(await a.t.call("POST", path, project("store")));
  const ran = await tenant("audit list --action project_create --limit 2 -o csv --no-headers --columns seq,action");
  expect([ran.code, ran.err().includes("Earlier events may exist")]).toEqual([0, true]);
  const seqs = ran.out().trim().split(/\r?\n/).map((line) => line.split(","));
  expect(seqs.map(([, action]) => action)).toEqual(["project_create", "project_create"]);
  expect(Number(seqs[0]![0])).toBeGreaterThan(Number(seqs[1]![0]));
  const none = await tenant("audit list --action cn_approve -o table");
  expect([none.code, none.out()]).toEqual([0, "(no audit events)\n"]);
});
