// A project can use exactly the images in its list (docs/instances.md, "Images").
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { type ComputeFixture, GIB, openComputeFixture } from "./compute-fixture.ts";

let t: TestControlPlane;
let fixture: ComputeFixture;
let tenant: TestTenant;
let foreign: TestTenant;
let sibling_id: string;
const ids: Record<string, string> = {};

beforeAll(async () => {
  t = await openTestControlPlane();
  fixture = await openComputeFixture({ t });
  tenant = fixture.tenant;
  foreign = await openTenant(t, "foreign");
  sibling_id = okOf(await t.call("POST", `/v1/silos/${tenant.silo_id}/tenants`, { body: { name: "sibling" } })).id;
  const paths = {
    project: `/v1/tenants/${tenant.tenant_id}/projects/${tenant.project_id}`,
    silo: `/v1/silos/${tenant.silo_id}`,
    tenant: `/v1/tenants/${tenant.tenant_id}`,
    public: "/v1",
    sibling: `/v1/tenants/${sibling_id}`,
    foreign: `/v1/tenants/${foreign.tenant_id}`,
    "foreign silo": `/v1/silos/${foreign.silo_id}`,
  };
  for (const [of, path] of Object.entries(paths)) ids[of] = await image(path, of);
});
afterAll(() => t.close());

async function image(path: string, name: string): Promise<string> {
  const body = {
    name,
    os: "linux",
    version: "1",
    size_bytes: GIB,
    sha256: randomBytes(32).toString("hex"),
    source_url: "https://images.example/linux",
    compatibility: { brand: "kvm", arch: "x86_64" },
  };
  return okOf(await t.call("POST", `${path}/images`, { body })).id;
}

type Listed = { readonly id: string; readonly name: string; readonly scope: { readonly kind: string } };
const listed = async (path: string, key = tenant.key) =>
  (okOf(await t.call("GET", `${path}/images`, { key })) as Listed[]).filter(({ id }) =>
    Object.values(ids).includes(id)
  );

test("the list of a project contains each image that the project can use, with its scope; images of a wider scope come first", async () => {
  const found = await listed(`/v1/tenants/${tenant.tenant_id}/projects/${tenant.project_id}`);
  expect(found.map(({ name, scope }) => [name, scope.kind])).toEqual([
    ["public", "public"],
    ["silo", "silo"],
    ["tenant", "tenant"],
    ["project", "project"],
  ]);
});

test("a tenant and a silo list only their own images", async () => {
  expect((await listed(`/v1/tenants/${tenant.tenant_id}`)).map(({ name }) => name)).toEqual(["tenant"]);
  expect((await listed(`/v1/silos/${tenant.silo_id}`)).map(({ name }) => name)).toEqual(["silo"]);
});

test("a project can create instances from listed images only", async () => {
  const found = new Set(
    (await listed(`/v1/tenants/${tenant.tenant_id}/projects/${tenant.project_id}`)).map(({ id }) => id),
  );
  for (const [of, image_id] of Object.entries(ids)) {
    if (found.has(image_id)) {
      expect((await fixture.running({ image_id, cpu: 1, memory_bytes: GIB })).image_id).toBe(image_id);
    } else {
      expect([of, (await fixture.create({ image_id })).status]).toEqual([of, 404]);
    }
  }
  expect(found.size).toBe(4);
});

test("a new image is last in its scope's list; a deleted image is not in the list", async () => {
  const path = `/v1/tenants/${tenant.tenant_id}`;
  ids.later = await image(path, randomUUID());
  expect((await listed(path)).at(-1)?.id).toBe(ids.later);
  expect((await t.call("DELETE", `/v1/images/${ids.later}`, { key: tenant.key })).status).toBe(204);
  expect((await listed(path)).map(({ id }) => id)).not.toContain(ids.later);
});

test("a boot disk is never smaller than the disk in its image, even if the image file is smaller", async () => {
  const { id: image_id, content_bytes } = await fixture.newImage({ size_bytes: GIB, content_bytes: 10 * GIB });
  expect(content_bytes).toBe(10 * GIB);
  for (const [disk_bytes, size_bytes] of [[undefined, 10 * GIB], [2 * GIB, 10 * GIB], [11 * GIB, 11 * GIB]] as const) {
    const { id } = await fixture.running({ image_id, cpu: 1, memory_bytes: GIB, disk_bytes });
    expect((await fixture.disksOf(id))[0].size_bytes).toBe(size_bytes);
  }
  const plain = await fixture.newImage({ size_bytes: GIB });
  expect(plain.content_bytes).toBe(GIB);
});
