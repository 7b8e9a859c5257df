// Repeats requests with the same Idempotency-Key after their object was deleted. A caller that still has permission
// gets the first answer. Any other caller gets the refusal that a new request would get (docs/wire.md, "Repeating a
// request").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ComputeFixture, GIB, openComputeFixture } from "../compute/compute-fixture.ts";
import { type Answer, type CallOptions, okOf, type TestControlPlane } from "../support/control-plane.ts";
import { acceptedBodies } from "./bodies.ts";
import { addUser } from "./user.ts";

/** All requests have this request id, so that the test can compare answers byte by byte. */
const REQUEST_ID = randomUUID();

let a: ComputeFixture;
let t: TestControlPlane;

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

test("a repeated DELETE of an instance gets the same answer after the node has deleted the instance", async () => {
  const { id } = await a.running();
  await a.act(id, "stop", "stop");
  const request = { method: "DELETE", path: `/v1/instances/${id}`, key: randomUUID() };
  const first = ask(request, { key: a.tenant.key });
  await a.done(first, "delete");
  expect(said(await ask(request, { key: a.tenant.key }))).toBe(said(await first));
  expect((await ask({ ...request, key: randomUUID() }, { key: a.tenant.key })).status).toBe(404);
});

test("a repeated create request gets the same answer after the created object and its project were deleted", async () => {
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

test("a repeated create request in a VPC gets the same answer after the created object and the VPC were deleted", async () => {
  for (const kind of ["subnets", "route-tables", "routes", "firewall-rules"]) {
    const vpc = await make(`/v1/vpcs${a.tenant.selectors}`, acceptedBodies["POST /v1/vpcs"]?.());
    const parent = kind === "routes"
      ? `route_table=${await make(`/v1/route-tables?vpc=${vpc}`, acceptedBodies["POST /v1/route-tables"]?.())}`
      : `vpc=${vpc}`;
    const request = { method: "POST", path: `/v1/${kind}?${parent}`, key: randomUUID() };
    const body = acceptedBodies[`POST /v1/${kind}`]?.();
    const first = await ask(request, { body });
    const made = [`/v1/${kind}/${okOf(first).id}`];
    if (kind === "routes") made.push(`/v1/route-tables/${parent.split("=").at(-1)}`);
    for (const path of [...made, `/v1/vpcs/${vpc}`]) okOf(await t.call("DELETE", path));
    expect(said(await ask(request, { body }))).toBe(said(first));
    expect((await ask({ ...request, key: randomUUID() }, { body })).status).toBe(404);
  }
});

test("a repeated create request for a user gets the same answer after the user and its tenant were deleted", async () => {
  const tenants = `/v1/silos/${await make("/v1/silos", { name: randomUUID() })}/tenants`;
  const tenant_id = await make(tenants, { name: randomUUID() });
  const request = { method: "POST", path: "/v1/system/users", key: randomUUID() };
  const body = { username: `user-${randomUUID()}`, password: "a long enough password", tenant_id };
  const first = await ask(request, { body });
  for (const made of [`/v1/system/users/${okOf(first).id}`, `${tenants}/${tenant_id}`]) {
    okOf(await t.call("DELETE", made));
  }
  expect(said(await ask(request, { body }))).toBe(said(first));
  const refused = { ...request, key: randomUUID() };
  expect((await ask(refused, { body })).status).toBe(404);
  expect((await ask(refused, { body })).status).toBe(404);
});

test("repeated changes of a disk and of NICs get the same answers after the NIC, its subnet and the instance were deleted", async () => {
  const { id } = await a.stopped();
  const [disk] = await a.disksOf(id);
  const subnet = await make(`/v1/subnets?vpc=${a.vpc.id}`, { name: randomUUID(), ipv4_block: "10.0.9.0/24" });
  const requests: [Request, unknown, string][] = [];
  async function first(method: string, path: string, body: unknown): Promise<Answer> {
    const request = { method, path, key: randomUUID() };
    const answer = await ask(request, { body });
    okOf(answer);
    requests.push([request, body, said(answer)]);
    return answer;
  }
  const nic = (await first("POST", `/v1/nics?instance=${id}`, { name: "second", subnet_id: subnet })).body.id;
  await first("PATCH", `/v1/nics/${nic}`, { name: "other" });
  await first("POST", `/v1/disks/${disk.id}/resize`, { size_bytes: disk.size_bytes + GIB });
  await a.node.does("resize_disk");
  await a.ended(id, "disk-resize");
  for (const path of [`/v1/nics/${nic}`, `/v1/subnets/${subnet}`]) okOf(await t.call("DELETE", path));
  const repeat = async () => {
    for (const [request, body, answer] of requests) expect(said(await ask(request, { body }))).toBe(answer);
  };
  await repeat();
  await a.destroy(id);
  await repeat();
  for (const [request, body] of requests) {
    expect((await ask({ ...request, key: randomUUID() }, { body })).status).toBe(404);
  }
});

describe("a caller that has lost the permission", () => {
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

  test("with a revoked key gets 401", async () => {
    const { id, secret } = await mint({});
    const request = await deletedVpc(secret);
    okOf(await t.call("DELETE", `/v1/tenants/${a.tenant.tenant_id}/api-keys/${id}`));
    expect((await ask(request, { key: secret })).status).toBe(401);
  });

  test("with a read-only key of the same owner gets the same answer as for an existing VPC", async () => {
    const request = await deletedVpc((await mint({})).secret);
    const { secret } = await mint({ scope: "read_only" });
    const there = await make(`/v1/vpcs${a.tenant.selectors}`, acceptedBodies["POST /v1/vpcs"]?.());
    const usual = await ask({ ...request, path: `/v1/vpcs/${there}` }, { key: secret });
    expect(usual.status).toBeGreaterThanOrEqual(400);
    expect(said(await ask(request, { key: secret }))).toBe(said(usual));
  });

  test("whose user moved to another tenant gets 404, and gets 204 again after the user moved back", async () => {
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
