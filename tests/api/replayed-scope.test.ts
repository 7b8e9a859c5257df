// A request that comes again under its Idempotency-Key when its object is gone hears what it heard, if whoever asks might
// still ask it; otherwise what is heard of what was never there. Document 4, Fixed here, Idempotency-Key.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ComputeFixture, openComputeFixture } from "../compute/compute-fixture.ts";
import { type Answer, type CallOptions, okOf, type TestPlane } from "../support/control-plane.ts";
import { acceptedBodies } from "./bodies.ts";
import { addUser } from "./user.ts";

/** The same for all requests, so that two answers can be compared to the byte. */
const REQUEST_ID = randomUUID();

let a: ComputeFixture;
let t: TestPlane;

beforeAll(async () => {
  a = await openComputeFixture();
  t = a.t;
});
afterAll(() => t.close());

const make = async (path: string, body: unknown): Promise<string> => okOf(await t.call("POST", path, { body })).id;

type Request = { readonly method: string; readonly path: string; readonly key: string };

function ask({ method, path, key }: Request, given: CallOptions = {}): Promise<Answer> {
  return t.call(method, path, { headers: { "idempotency-key": key, "x-request-id": REQUEST_ID }, ...given });
}

const said = ({ status, text }: Answer) => `${status} ${text}`;

test("the DELETE of an instance is answered alike when it comes again, after its node has deleted it", async () => {
  const { id } = await a.running();
  await a.act(id, "stop", "stop");
  const request = { method: "DELETE", path: `/v1/instances/${id}`, key: randomUUID() };
  const first = ask(request, { key: a.tenant.key });
  await a.done(first, "delete");
  expect(said(await ask(request, { key: a.tenant.key }))).toBe(said(await first));
  expect((await ask({ ...request, key: randomUUID() }, { key: a.tenant.key })).status).toBe(404);
});

test("a create is answered alike when what it made, and what that stood in, is gone since", async () => {
  const projects = `/v1/tenants/${a.tenant.tenant_id}/projects`;
  const project = `${projects}/${await make(projects, { name: randomUUID() })}`;
  const path = `/v1/vpcs?tenant=${a.tenant.tenant_id}&project=${project.split("/").at(-1)}`;
  const request = { method: "POST", path, key: randomUUID() };
  const body = acceptedBodies["POST /v1/vpcs"]?.();
  const first = await ask(request, { body });
  for (const made of [`/v1/vpcs/${okOf(first).id}`, project]) okOf(await t.call("DELETE", made));
  expect(said(await ask(request, { body }))).toBe(said(first));
  expect((await ask(request, { body: acceptedBodies["POST /v1/vpcs"]?.() })).status).toBe(404);
  expect((await ask({ ...request, key: randomUUID() }, { body })).status).toBe(404);
});

describe("whoever asked once and may not any more", () => {
  async function deletedVpc(key: string): Promise<Request> {
    const path = `/v1/vpcs/${await make(`/v1/vpcs${a.tenant.selectors}`, acceptedBodies["POST /v1/vpcs"]?.())}`;
    const request = { method: "DELETE", path, key: randomUUID() };
    expect((await ask(request, { key })).status).toBe(204);
    return request;
  }

  async function mint(fields: object): Promise<{ readonly id: string; readonly secret: string }> {
    const path = `/v1/tenants/${a.tenant.tenant_id}/api-keys`;
    return okOf(await t.call("POST", path, { body: { description: "of a test", ...fields } }));
  }

  test("by a key that is revoked hears 401", async () => {
    const { id, secret } = await mint({});
    const request = await deletedVpc(secret);
    okOf(await t.call("DELETE", `/v1/tenants/${a.tenant.tenant_id}/api-keys/${id}`));
    expect((await ask(request, { key: secret })).status).toBe(401);
  });

  test("by a key of the same owner that may only read hears what it hears of every VPC", async () => {
    const request = await deletedVpc((await mint({})).secret);
    const { secret } = await mint({ scope: "read_only" });
    const there = await make(`/v1/vpcs${a.tenant.selectors}`, acceptedBodies["POST /v1/vpcs"]?.());
    const usual = await ask({ ...request, path: `/v1/vpcs/${there}` }, { key: secret });
    expect(usual.status).toBeGreaterThanOrEqual(400);
    expect(said(await ask(request, { key: secret }))).toBe(said(usual));
  });

  test("and has gone to another tenant hears 404, and 204 when it is back", async () => {
    const member = await addUser(t.db, `member-${randomUUID()}`);
    const moveTo = (tenant_id: string) =>
      t.db.query("update user_account set tenant_id = $2 where id = $1", [member.id, tenant_id]);
    await moveTo(a.tenant.tenant_id);
    const request = await deletedVpc(member.key);
    const away = await make("/v1/silos", { name: randomUUID() });
    const { default_tenant_id } = okOf(await t.call("GET", `/v1/silos/${away}`));
    await moveTo(default_tenant_id);
    expect((await ask(request, { key: member.key })).status).toBe(404);
    await moveTo(a.tenant.tenant_id);
    expect((await ask(request, { key: member.key })).status).toBe(204);
  });
});
