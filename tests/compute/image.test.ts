// Tests images: the stored fields, rejected requests, and the protection of images in use (docs/instances.md,
// "Images").
import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { insertInstance } from "../support/instance-row.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";

let t: TestControlPlane;
let acme: TestTenant;
let other: TestTenant;
beforeAll(async () => {
  t = await openTestControlPlane();
  acme = await openTenant(t, "acme");
  other = await openTenant(t, "other");
});
afterAll(() => t.close());

const digest = () => createHash("sha256").update(randomUUID()).digest("hex");
const bodyOf = (fields: Record<string, unknown> = {}) => ({
  name: randomUUID(),
  os: "debian",
  version: "13",
  size_bytes: 3_221_225_472,
  sha256: digest(),
  ...fields,
});
const post = (fields?: Record<string, unknown>) => t.call("POST", "/v1/images", { body: bodyOf(fields) });
const imagesOf = ({ tenant_id }: TestTenant) => `/v1/tenants/${tenant_id}/images`;

/** Inserts an instance that uses the image. */
async function instanceOf(image_id: string, id = randomUUID()): Promise<string> {
  await t.db.query(insertInstance({ id: "$1", image_id: "$2" }), [id, image_id]);
  return id;
}

test("an image is listed and shown with its fields; an omitted content_bytes equals the image's size", async () => {
  const body = bodyOf({
    description: "d",
    source_url: "https://images.example.com/debian-13.qcow2",
    compatibility: { brand: "bhyve", arch: "x86_64", min_platform: "20260101T000000Z" },
  });
  const made = await t.call("POST", "/v1/images", { body });
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    ...body,
    id: expect.any(String),
    scope: { kind: "public" },
    labels: {},
    size: 3_221_225_472,
    content_bytes: 3_221_225_472,
    created_at: expect.any(String),
  });
  expect((await t.call("GET", `/v1/images/${made.body.id}`, { key: null })).body).toEqual(made.body);
  expect(okOf(await t.call("GET", "/v1/images?scope=public", { key: null })).items).toContainEqual(made.body);
});

test("omitted fields are shown as empty or null, and a null field counts as omitted", async () => {
  const { status, body } = await post({ description: null, source_url: null, compatibility: null, id: null });
  expect([status, body.description, body.source_url, body.compatibility]).toEqual([201, "", null, null]);
  const fits = await post({ compatibility: { brand: "lx", arch: "aarch64", min_platform: null } });
  expect(fits.body.compatibility).toEqual({ brand: "lx", arch: "aarch64" });
});

describe("an image's id", () => {
  test("is derived from scope and bytes: an image that is created again has its earlier id, and another id in another scope", async () => {
    const sha256 = digest();
    const { body: first } = await post({ sha256 });
    expect(first.id).toMatch(/^.{14}5/);
    const { body: second } = await acme.call("POST", imagesOf(acme), { body: bodyOf({ sha256 }) });
    expect(second.id).not.toBe(first.id);
    expect((await t.call("DELETE", `/v1/images/${first.id}`)).status).toBe(204);
    expect((await post({ sha256 })).body.id).toBe(first.id);
  });

  test("can be set in the request, is stored in lower case, and is unique across all scopes", async () => {
    const id = randomUUID();
    expect((await post({ id: id.toUpperCase() })).body.id).toBe(id);
    for (const answer of [await post({ id }), await acme.call("POST", imagesOf(acme), { body: bodyOf({ id }) })]) {
      expect(answer).toMatchObject({ status: 409, body: { error_code: "Conflict" } });
    }
  });

  test("is rejected if it is the id that another scope would derive", async () => {
    const sha256 = digest();
    const { body: theirs } = await other.call("POST", imagesOf(other), { body: bodyOf({ sha256 }) });
    expect((await other.call("DELETE", `/v1/images/${theirs.id}`)).status).toBe(204);
    const taken = await acme.call("POST", imagesOf(acme), { body: bodyOf({ id: theirs.id }) });
    expect(taken).toMatchObject({ status: 400, body: { error_code: "BadRequest" } });
    const again = await other.call("POST", imagesOf(other), { body: bodyOf({ id: theirs.id, sha256 }) });
    expect(again).toMatchObject({ status: 201, body: { id: theirs.id } });
  });
});

test("two images in one scope cannot have the same name or the same bytes", async () => {
  const [name, sha256] = [randomUUID(), digest()];
  okOf(await post({ name, sha256 }));
  expect(await post({ name })).toMatchObject({ status: 409, body: { message: expect.stringContaining(name) } });
  expect((await post({ sha256 })).status).toBe(409);
  const project = `/v1/tenants/${acme.tenant_id}/projects/${acme.project_id}/images`;
  for (const path of [`/v1/silos/${acme.silo_id}/images`, imagesOf(acme), project, imagesOf(other)]) {
    expect((await t.call("POST", path, { body: bodyOf({ name, sha256 }) })).status).toBe(201);
    expect((await t.call("POST", path, { body: bodyOf({ name }) })).status).toBe(409);
  }
});

describe("a create request gets 400 with a message that", () => {
  const CASES: readonly [string, Record<string, unknown>][] = [
    ["size_bytes", { size_bytes: 0 }],
    ["size_bytes", { size_bytes: -1 }],
    ["size_bytes", { size_bytes: 1.5 }],
    ["sha256", { sha256: "ab".repeat(31) }],
    ["sha256", { sha256: "AB".repeat(32) }],
    ["sha256", { sha256: `${"ab".repeat(32)}\n` }],
    ["os", { os: "" }],
    ["version", { version: "" }],
    ["source_url", { source_url: "ftp://example.com/a" }],
    ["source_url", { source_url: "file:///etc/passwd" }],
    ["source_url", { source_url: "javascript:alert(1)" }],
    ["source_url", { source_url: "https://user:secret@example.com/a" }],
    ["source_url", { source_url: "https://example.com/a#b" }],
    ["source_url", { source_url: "https://example.com/a b" }],
    ["source_url", { source_url: "https:///" }],
    ["compatibility", { compatibility: { brand: "kvm" } }],
    ["brand", { compatibility: { brand: "docker", arch: "x86_64" } }],
    ["arch", { compatibility: { brand: "kvm", arch: "x86 64" } }],
    ["compatibility", { compatibility: { brand: "kvm", arch: "x86_64", max_platform: "1" } }],
    ["min_platform", { compatibility: { brand: "kvm", arch: "x86_64", min_platform: "a..b" } }],
    ["id", { id: "1" }],
    ["scope", { scope: { kind: "public" } }],
  ];
  test.each(CASES)("names the field %s for the body %o", async (field, fields) => {
    expect(await post(fields)).toMatchObject({ status: 400, body: { message: expect.stringContaining(field) } });
  });
});

test("a create request with an invalid name gets 409", async () => {
  for (const name of ["", " a", "a/b", "a\\b", "a\u0007", "x".repeat(64)]) {
    expect([name, (await post({ name })).status]).toEqual([name, 409]);
  }
});

describe("the public list", () => {
  test.each(["", "?scope="])("without a scope gets 400 MissingScope: %o", async (query) => {
    for (const key of [null, acme.key]) {
      const answer = await t.call("GET", `/v1/images${query}`, { key });
      expect(answer).toMatchObject({ status: 400, body: { error_code: "MissingScope" } });
    }
  });

  test.each(["tenant", "silo", "project", "user", "PUBLIC", "x"])("rejects scope=%s", async (scope) => {
    const answer = await t.call("GET", `/v1/images?scope=${scope}`, { key: null });
    expect(answer).toMatchObject({ status: 400, body: { error_code: "ScopeNotImplemented" } });
  });

  test("is paged and contains only public images", async () => {
    const { body: own } = await acme.call("POST", imagesOf(acme), { body: bodyOf() });
    await post();
    await post();
    const seen: string[] = [];
    for (let token = "";;) {
      const page = okOf(await acme.call("GET", `/v1/images?scope=public&limit=1${token}`));
      seen.push(...page.items.map(({ id }: { id: string }) => id));
      if (page.next_page === undefined) break;
      token = `&page_token=${page.next_page}`;
    }
    const whole = okOf(await acme.call("GET", "/v1/images?scope=public"));
    expect(seen).toEqual(whole.items.map(({ id }: { id: string }) => id));
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).not.toContain(own.id);
  });
});

test("a silo or a tenant lists only its own images; a project also lists the images of wider scopes", async () => {
  const { body: project } = await t.call("POST", `/v1/tenants/${acme.tenant_id}/projects`, {
    body: { name: randomUUID() },
  });
  const paths = {
    silo: `/v1/silos/${acme.silo_id}/images`,
    tenant: imagesOf(acme),
    project: `/v1/tenants/${acme.tenant_id}/projects/${project.id}/images`,
  };
  for (const [kind, path] of Object.entries(paths)) {
    const { body: made } = await t.call("POST", path, { body: bodyOf() });
    const list = okOf(await acme.call("GET", path));
    expect(list).toContainEqual(made);
    expect(new Set(list.map(({ scope }: { scope: { kind: string } }) => scope.kind))).toEqual(
      new Set(kind === "project" ? ["public", "silo", "tenant", "project"] : [kind]),
    );
  }
});

test("an update changes only name and description, and a name in use is rejected", async () => {
  const { body: made } = await post();
  const { body: neighbour } = await post();
  const path = `/v1/images/${made.id}`;
  const renamed = await t.call("PATCH", path, { body: { name: "renamed", description: "new" } });
  expect(renamed).toMatchObject({ status: 200, body: { ...made, name: "renamed", description: "new" } });
  expect((await t.call("PATCH", path, { body: { name: neighbour.name } })).status).toBe(409);
  expect((await t.call("PATCH", path, { body: { sha256: digest() } })).status).toBe(400);
  expect((await t.call("GET", path)).body).toEqual(renamed.body);
});

test("deleting an image in use fails with the number of instances", async () => {
  const { body: made } = await post();
  const path = `/v1/images/${made.id}`;
  const [first, second] = [await instanceOf(made.id), await instanceOf(made.id)];
  expect(await t.call("DELETE", path)).toMatchObject({
    status: 409,
    body: { message: `image ${made.id} is in use by 2 instances, which must be deleted first` },
  });
  await t.db.query("delete from instance where id = $1", [first]);
  expect((await t.call("DELETE", path)).body.message).toContain("in use by 1 instance, which");
  expect((await t.call("GET", path)).status).toBe(200);
  await t.db.query("delete from instance where id = $1", [second]);
  expect((await t.call("DELETE", path)).status).toBe(204);
  expect((await t.call("GET", path)).status).toBe(404);
  await expect(instanceOf(made.id)).rejects.toThrow("instance_image_fkey");
});

test("a request to delete an image waits while an instance is created from the image, and is then rejected", async () => {
  const { body: made } = await post();
  const refused = await t.db.withClient(async (client) => {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock_shared(hashtextextended($1, 0))", [`image:${made.id}`]);
    const deletion = t.call("DELETE", `/v1/images/${made.id}`);
    await client.query(insertInstance({ state: "'pending'", image_id: "$1" }), [made.id]);
    await client.query("commit");
    return await deletion;
  });
  expect(refused.status).toBe(409);
});

test("a project or a tenant with an image cannot be deleted", async () => {
  const tenant = await openTenant(t, "leaving");
  const projectPath = `/v1/tenants/${tenant.tenant_id}/projects/${tenant.project_id}`;
  const tenantPath = `/v1/silos/${tenant.silo_id}/tenants/${tenant.tenant_id}`;
  const { body: inProject } = await t.call("POST", `${projectPath}/images`, { body: bodyOf() });
  const refused = await t.call("DELETE", projectPath);
  expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining(inProject.id) } });
  okOf(await t.call("DELETE", `/v1/images/${inProject.id}`));
  expect((await t.call("DELETE", projectPath)).status).toBe(204);
  const { body: inTenant } = await t.call("POST", imagesOf(tenant), { body: bodyOf() });
  expect((await t.call("DELETE", tenantPath)).body.message).toContain(inTenant.id);
});

test("several requests with one Idempotency-Key create one image and get the same answer", async () => {
  const headers = { "idempotency-key": randomUUID() };
  const body = bodyOf();
  const first = await t.call("POST", "/v1/images", { body, headers });
  expect(await t.call("POST", "/v1/images", { body, headers })).toMatchObject({ status: 201, body: first.body });
  expect((await t.call("POST", "/v1/images", { body })).status).toBe(409);
});

test("the creation, update and deletion of an image are audited with the scope", async () => {
  const { body: made } = await acme.call("POST", imagesOf(acme), { body: bodyOf() });
  await acme.call("PATCH", `/v1/images/${made.id}`, { body: { name: "audited" } });
  await acme.call("DELETE", `/v1/images/${made.id}`);
  const { events } = okOf(await t.call("GET", "/v1/audit/events?limit=1000"));
  const about = events.filter(({ resource }: { resource: string }) => resource === `Image::"${made.id}"`);
  expect(about.map(({ action }: { action: string }) => action).sort()).toEqual([
    "image_create",
    "image_delete",
    "image_update",
  ]);
  for (const { payload } of about) expect(payload.scope).toEqual({ kind: "tenant", tenant_id: acme.tenant_id });
});
