// Tests the audit that a tenant can read: the actions of its users and keys, and the changes of others in the tenant.
import { afterAll, beforeAll, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { newLogin, type TestLogin } from "../api/login.ts";
import { openTenant, type TestTenant } from "./tenant.ts";

let t: TestControlPlane;
let a: TestTenant;
let b: TestTenant;
let user: TestLogin;
beforeAll(async () => {
  t = await openTestControlPlane();
  a = await openTenant(t, "acme");
  b = await openTenant(t, "other");
  user = await newLogin(t, { tenant_id: a.tenant_id });
  const vpc = { ipv4_block: "10.0.0.0/16" };
  okOf(await t.call("POST", `/v1/vpcs${a.selectors}`, { key: a.key, body: { name: "by-key", ...vpc } }));
  okOf(await t.call("POST", `/v1/vpcs${a.selectors}`, { key: user.token, body: { name: "by-user", ...vpc } }));
  okOf(await t.call("POST", `/v1/vpcs${a.selectors}`, { body: { name: "by-root", ...vpc } }));
  okOf(await t.call("POST", `/v1/vpcs${b.selectors}`, { key: b.key, body: { name: "foreign", ...vpc } }));
  await t.call("GET", `/v1/vpcs${a.selectors}`, { key: b.key });
  await t.call("POST", "/v1/silos", { key: user.token, body: { name: "refused" } });
});
afterAll(() => t.close());

const pathOf = (of: TestTenant, query = "") => `/v1/tenants/${of.tenant_id}/audit/events${query}`;
type Event = { readonly action: string; readonly payload: { readonly name?: string } };
const events = async (of: TestTenant, query = ""): Promise<Event[]> =>
  okOf(await t.call("GET", pathOf(of, query), { key: of.key })).events;

test("the tenant sees its users', its keys' and the operators' changes, newest first, and nothing of another tenant", async () => {
  const found = await events(a, "?limit=1000");
  const names = found.filter(({ action }) => action === "vpc_create").map(({ payload }) => payload.name);
  expect(names).toEqual(["by-root", "by-user", "by-key"]);
  expect(found.map(({ action }) => action)).toContain("create_silo");
  expect(JSON.stringify(found)).not.toContain("foreign");
  expect(JSON.stringify(found)).not.toContain(b.key_id);
  expect(JSON.stringify(await events(b, "?limit=1000"))).not.toContain(user.id);
});

test("the filters of the site's audit search work for a tenant, and the pages together have all entries", async () => {
  const only = await events(a, `?actor=${user.id}&action=vpc_create`);
  expect(only.map(({ payload }) => payload.name)).toEqual(["by-user"]);
  const first = okOf(await t.call("GET", pathOf(a, "?limit=1"), { key: a.key }));
  expect(first.head).toBeNull();
  const rest = okOf(await t.call("GET", pathOf(a, `?before_seq=${first.next_before_seq}`), { key: a.key }));
  expect([...first.events, ...rest.events]).toEqual(await events(a, "?limit=1000"));
});

test("another tenant gets 404; a user with system-read and root see the tenant's audit", async () => {
  expect((await t.call("GET", pathOf(a), { key: b.key })).status).toBe(404);
  const reader = await newLogin(t, { capabilities: ["system-read"] });
  for (const key of [undefined, reader.token]) expect((await t.call("GET", pathOf(a), { key })).status).toBe(200);
});

test("the filter by project finds the project's own records and the records in its VPCs, and nothing of another project", async () => {
  const second = okOf(
    await t.call("POST", `/v1/tenants/${a.tenant_id}/projects`, { key: a.key, body: { name: "second" } }),
  );
  const at = `?tenant=${a.tenant_id}&project=${second.id}`;
  const vpc = okOf(await a.call("POST", `/v1/vpcs${at}`, { body: { name: "far", ipv4_block: "10.9.0.0/16" } }));
  const subnet = { name: "near", ipv4_block: "10.9.1.0/24" };
  okOf(await a.call("POST", `/v1/subnets?vpc=${vpc.id}`, { body: subnet }));
  const actions = (await events(a, `?project=${second.id}`)).map(({ action }) => action);
  expect(actions).toEqual(["subnet_create", "route_table_create", "vpc_create", "project_create"]);
  expect((await events(a, `?project=${a.project_id}&limit=1000`)).map(({ payload }) => payload.name)).not.toContain(
    "far",
  );
});
