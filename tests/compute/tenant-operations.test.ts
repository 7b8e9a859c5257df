// A tenant can read the operations on its own objects, so it can follow the Location of a 202. It cannot read any other
// operation.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OperationView } from "../../src/contract/operation.ts";
import { type Answer, okOf } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { type ComputeFixture, openComputeFixture } from "./compute-fixture.ts";

const REQUEST_ID = randomUUID();
const ASYNC = { prefer: "respond-async" };

let a: ComputeFixture;
let other: TestTenant;
let readOnly: string;

beforeAll(async () => {
  a = await openComputeFixture();
  other = await openTenant(a.t, "other");
  const body = { description: "reads", scope: "read_only" };
  readOnly = okOf(await a.t.call("POST", `/v1/tenants/${a.tenant.tenant_id}/api-keys`, { body })).secret;
});
afterAll(() => a.t.close());

async function begun(fields: object = {}): Promise<{ readonly location: string; readonly id: string }> {
  const answer = await a.create(fields, { headers: ASYNC });
  expect(answer.status).toBe(202);
  return { location: answer.headers.get("location")!, id: answer.body.id };
}

/** Returns the answer without its timestamps. */
function withoutTimes({ status, headers, text }: Answer) {
  return { status, text, headers: [...headers].filter(([name]) => name !== "date") };
}

const look = (path: string, key?: string) => a.t.call("GET", path, { key, headers: { "x-request-id": REQUEST_ID } });
const idsOf = async (key: string | undefined, query = "") =>
  (okOf(await look(`/v1/operations${query}`, key)) as readonly { id: string }[]).map(({ id }) => id);

test("a tenant follows the operation of a 202 to its end", async () => {
  const { location, id } = await begun();
  expect(location).toBe(`/v1/operations/${id}`);
  const running = OperationView.parse(okOf(await a.call("GET", location)));
  expect(running).toMatchObject({ id, kind: "instance-create", state: "running", progress: { completed_steps: 2 } });
  const ended = a.call("GET", `${location}?wait=20`);
  await a.node.does("provision");
  expect(okOf(await ended).state).toBe("succeeded");
  expect(okOf(await look(location, readOnly)).state).toBe("succeeded");
});

test("an operation of another tenant or of the site gets the same 404 as a missing operation", async () => {
  const { location } = await begun();
  const [node] = okOf(await look(`/v1/operations?resource_scope=cn&resource_id=${a.node.server_uuid}`))
    .filter(({ kind }: { kind: string }) => kind === "node-join");
  const absent = withoutTimes(await look(`/v1/operations/${randomUUID()}`, other.key));
  expect(absent).toMatchObject({ status: 404 });
  expect(withoutTimes(await look(location, other.key))).toEqual(absent);
  expect(withoutTimes(await look(`${location}?wait=20`, other.key))).toEqual(absent);
  for (const key of [a.tenant.key, other.key]) {
    expect(withoutTimes(await look(`/v1/operations/${node.id}`, key))).toEqual(absent);
  }
  expect(okOf(await look(`/v1/operations/${node.id}`)).kind).toBe("node-join");
  expect(withoutTimes(await look("/v1/operations/no-uuid", other.key)).status).toBe(400);
  await a.node.does("provision");
});

test("the list shows a tenant only its own operations, newest first, and shows the root operator all operations", async () => {
  const { id } = await begun();
  const gateway = okOf(await a.call("POST", `/v1/nat-gateways?vpc=${a.vpc.id}`, { body: { name: randomUUID() } }));
  const own = await idsOf(a.tenant.key);
  const of_gateway = await idsOf(a.tenant.key, `?resource_scope=nat_gateway&resource_id=${gateway.id}`);
  expect(of_gateway).toHaveLength(1);
  expect(own.slice(0, 2)).toEqual([...of_gateway, id]);
  expect(await idsOf(readOnly)).toEqual(own);
  expect(await idsOf(other.key)).toEqual([]);
  const { rows } = await a.t.db.query<{ id: string }>(
    `select id from saga where refs @> jsonb_build_array(jsonb_build_object('scope', 'tenant', 'id', $1::text))
      order by created_at desc, id desc`,
    [a.tenant.tenant_id],
  );
  expect(own).toEqual(rows.map((row) => row.id));
  expect((await idsOf(undefined)).length).toBeGreaterThan(own.length);
  await a.node.does("provision");
});

test("a filter or an after_id that names another tenant's object reveals nothing", async () => {
  const { id } = await begun();
  const { references } = okOf(await look(`/v1/operations/${id}`));
  const instance = references.find(({ scope }: { scope: string }) => scope === "instance").id;
  const filter = `?resource_scope=instance&resource_id=${instance}`;
  expect(await idsOf(a.tenant.key, filter)).toEqual([id]);
  expect(await idsOf(other.key, filter)).toEqual([]);
  expect(await idsOf(other.key, `?resource_scope=tenant&resource_id=${a.tenant.tenant_id}`)).toEqual([]);
  okOf(await other.call("POST", `/v1/vpcs${other.selectors}`, { body: { name: "v", ipv4_block: "10.9.0.0/16" } }));
  const all = await idsOf(a.tenant.key);
  expect(await idsOf(a.tenant.key, `?after_id=${id}`)).toEqual(all.slice(all.indexOf(id) + 1));
  const [foreign, missing] = [
    await look(`/v1/operations?after_id=${id}`, other.key),
    await look(`/v1/operations?after_id=${randomUUID()}`, other.key),
  ];
  expect(withoutTimes(foreign)).toEqual(withoutTimes(missing));
  expect(foreign.status).toBe(400);
  await a.node.does("provision");
});

test("tenants cannot abandon an operation", async () => {
  const { location } = await begun();
  expect((await a.call("POST", `${location}/abandon`)).status).toBe(403);
  expect((await other.call("POST", `${location}/abandon`)).status).toBe(403);
  expect(okOf(await look(location)).state).toBe("running");
  await a.node.does("provision");
});
