// The quota of a tenant limits the total usage of its projects. The commit checks the limit (docs/reliability.md,
// S-48).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { brokenInvariants } from "../doctor/broken.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { type ComputeFixture, GIB, openComputeFixture } from "./compute-fixture.ts";

const UNLIMITED = { cpu_limit: 1_000, memory_bytes: 1_000 * GIB, disk_bytes: 1_000_000 * GIB, instance_limit: 1_000 };
const SMALL = { cpu: 1, memory_bytes: GIB };

let t: TestControlPlane;
let second: TestControlPlane;
let first: ComputeFixture;
/** The fixture for another project of the tenant. Its instances run on the node of `first`. */
let other: ComputeFixture;
let tenant: TestTenant;

beforeAll(async () => {
  t = await openTestControlPlane();
  second = await openTestControlPlane({ databaseUrl: t.databaseUrl });
});
afterAll(async () => {
  await second.close();
  await t.close();
});

beforeEach(async () => {
  tenant = await openTenant(t);
  const node = first?.node;
  first = await openComputeFixture({ t, tenant, ...(node && { node }) });
  other = await openComputeFixture({ t, tenant: await anotherProject(), node: first.node });
});

/** Creates another project. A tenant can do this itself. */
async function anotherProject(): Promise<TestTenant> {
  const body = { name: randomUUID() };
  const { id } = okOf(await tenant.call("POST", `/v1/tenants/${tenant.tenant_id}/projects`, { body }));
  return { ...tenant, project_id: id, selectors: `?tenant=${tenant.tenant_id}&project=${id}` };
}

const quota = (limits: object = {}) =>
  t.call("PUT", `/v1/tenants/${tenant.tenant_id}/quota`, { body: { ...UNLIMITED, ...limits } });
const usage = async () => okOf(await tenant.call("GET", `/v1/tenants/${tenant.tenant_id}/usage`));
const setting = (key: string, value: number | null) => t.call("PUT", `/v1/config/quota.${key}`, { body: { value } });

/**
 * Sends a create request that the quota must reject. Returns the message. An accepted request would wait for its node.
 */
async function refusalOf(fixture: ComputeFixture, fields: object) {
  const { status, body } = await fixture.create(fields);
  expect([status, body.error_code]).toEqual([409, "QuotaExceeded"]);
  return body.message;
}

test("reading a tenant's quota gets 404 before it is set and after it is deleted; a set quota shows the usage of all projects", async () => {
  const path = `/v1/tenants/${tenant.tenant_id}/quota`;
  expect((await t.call("GET", path)).status).toBe(404);
  await first.running(SMALL);
  await other.running({ ...SMALL, memory_bytes: 2 * GIB });
  const used = { cpu: 2, memory_bytes: 3 * GIB, disk_bytes: 4 * GIB, instances: 2 };
  const set = okOf(await quota());
  expect(set).toEqual({ tenant_id: tenant.tenant_id, ...UNLIMITED, used, updated_at: expect.any(String) });
  expect(okOf(await tenant.call("GET", path))).toEqual(set);
  expect(await usage()).toEqual({ ...used, limits: UNLIMITED });
  expect((await tenant.call("PUT", path, { body: UNLIMITED })).status).toBe(404);
  expect((await tenant.call("DELETE", path)).status).toBe(404);
  expect((await t.call("DELETE", path)).status).toBe(204);
  expect((await t.call("DELETE", path)).status).toBe(404);
  expect((await usage()).limits.cpu_limit).toBe(null);
  expect(await brokenInvariants(t.db)).toEqual([]);
});

test.each(Object.keys(UNLIMITED))(
  "a tenant's quota requires %s, which must be a whole number of at least 0",
  async (field) => {
    for (const value of [undefined, -1, 1.5, "1"]) {
      const { status, body } = await quota({ [field]: value });
      expect([value, status, body.message]).toEqual([value, 400, expect.stringContaining(field)]);
    }
    expect((await t.call("GET", `/v1/tenants/${tenant.tenant_id}/quota`)).status).toBe(404);
  },
);

describe("S-48: a new project does not raise the limit", () => {
  test.each([
    ["cpu_limit", 1, "cpu: limit 1, used 1, asked for 1"],
    ["memory_bytes", GIB, `memory_bytes: limit ${GIB}, used ${GIB}, asked for ${GIB}`],
    ["disk_bytes", 2 * GIB, `disk_bytes: limit ${2 * GIB}, used ${2 * GIB}, asked for ${2 * GIB}`],
    ["instance_limit", 1, "instances: limit 1, used 1, asked for 1"],
  ])("the use of all projects of the tenant together is limited: %s", async (limit, most, what) => {
    okOf(await quota({ [limit]: most }));
    const { id } = await first.running(SMALL);
    const message = `the quota of the tenant would be exceeded: ${what}`;
    expect(await refusalOf(other, SMALL)).toBe(message);
    const newest = await openComputeFixture({ t, tenant: await anotherProject(), node: first.node });
    expect(await refusalOf(newest, SMALL)).toBe(message);
    await first.destroy(id);
    await newest.running(SMALL);
    expect(await brokenInvariants(t.db)).toEqual([]);
  });

  test("a growing disk counts against the limit, and growth above the limit is rejected", async () => {
    okOf(await quota({ disk_bytes: 6 * GIB }));
    await first.running(SMALL);
    const { id } = await other.running(SMALL);
    const [disk] = await other.disksOf(id);
    const resize = (size_bytes: number) => tenant.call("POST", `/v1/disks/${disk.id}/resize`, { body: { size_bytes } });
    const { status, body } = await resize(5 * GIB);
    expect([status, body.message]).toEqual([
      409,
      `the quota of the tenant would be exceeded: disk_bytes: limit ${6 * GIB}, used ${4 * GIB}, asked for ${3 * GIB}`,
    ]);
    expect((await other.disksOf(id))[0].size_bytes).toBe(2 * GIB);
    okOf(await resize(4 * GIB));
    await other.node.does("resize_disk");
    expect((await usage()).disk_bytes).toBe(6 * GIB);
    expect((await resize(4 * GIB + 1)).status).toBe(409);
    expect(await brokenInvariants(t.db)).toEqual([]);
  });

  test("exactly one of two concurrent create requests in two projects and through two processes succeeds", async () => {
    for (let round = 0; round < 5; round++) {
      const { instances } = await usage();
      okOf(await quota({ instance_limit: instances + 1 }));
      const planes = [t, second];
      const answers = [first, other].map((fixture, n) =>
        planes[(n + round) % 2]!.call("POST", `/v1/instances${fixture.selectors}`, {
          key: tenant.key,
          body: fixture.bodyOf(SMALL),
        })
      );
      await first.node.does("provision");
      expect((await Promise.all(answers)).map(({ status }) => status).sort()).toEqual([201, 409]);
      expect((await usage()).instances).toBe(instances + 1);
    }
    expect(await brokenInvariants(t.db)).toEqual([]);
  });

  test("if the creation of an instance fails on the node, the usage of the instance is released", async () => {
    okOf(await quota({ instance_limit: 1 }));
    const asked = first.create(SMALL);
    const job = await first.node.take();
    await first.node.fail(job, "no");
    expect((await asked).status).toBe(502);
    expect((await usage()).instances).toBe(0);
    await other.running(SMALL);
    expect(await brokenInvariants(t.db)).toEqual([]);
  });
});

describe("the default quotas", () => {
  test("apply only to tenants and projects without their own quota", async () => {
    okOf(await setting("tenant_default.instance_limit", 1));
    okOf(await setting("project_default.cpu_limit", 1));
    try {
      expect((await usage()).limits).toEqual({
        cpu_limit: null,
        memory_bytes: null,
        disk_bytes: null,
        instance_limit: 1,
      });
      expect(await refusalOf(first, { ...SMALL, cpu: 2 })).toBe(
        "the quota of the project would be exceeded: cpu: limit 1 (the default of the site), used 0, asked for 2",
      );
      await first.running(SMALL);
      expect(await refusalOf(other, SMALL)).toBe(
        "the quota of the tenant would be exceeded: instances: limit 1 (the default of the site), used 1, asked for 1",
      );
      // A tenant's own quota replaces all default limits of tenants. The default limits of projects still apply.
      okOf(await quota({ instance_limit: 2 }));
      await other.running(SMALL);
      const project = `/v1/tenants/${tenant.tenant_id}/projects/${other.tenant.project_id}`;
      okOf(await quota());
      expect(await refusalOf(other, { ...SMALL, cpu: 2 })).toContain("the quota of the project");
      okOf(await t.call("PUT", `${project}/quota`, { body: UNLIMITED }));
      await other.running({ ...SMALL, cpu: 2 });
      okOf(await t.call("DELETE", `${project}/quota`));
      expect(okOf(await tenant.call("GET", `${project}/usage`)).limits.cpu_limit).toBe(1);
    } finally {
      okOf(await t.call("DELETE", "/v1/config/quota.tenant_default.instance_limit"));
      okOf(await t.call("DELETE", "/v1/config/quota.project_default.cpu_limit"));
    }
    await other.running({ ...SMALL, cpu: 2 });
    expect(await brokenInvariants(t.db)).toEqual([]);
  });

  test("limit the growth of a disk", async () => {
    const { id } = await first.running(SMALL);
    const [disk] = await first.disksOf(id);
    const resize = () => tenant.call("POST", `/v1/disks/${disk.id}/resize`, { body: { size_bytes: 3 * GIB } });
    okOf(await setting("project_default.disk_bytes", 2 * GIB));
    expect((await resize()).body.message).toContain("the quota of the project would be exceeded: disk_bytes");
    okOf(await t.call("DELETE", "/v1/config/quota.project_default.disk_bytes"));
    okOf(await setting("tenant_default.disk_bytes", 2 * GIB));
    expect((await resize()).body.message).toContain("the quota of the tenant would be exceeded: disk_bytes");
    okOf(await t.call("DELETE", "/v1/config/quota.tenant_default.disk_bytes"));
    okOf(await resize());
    await first.node.does("resize_disk");
  });

  test.each(["tenant", "project"])(
    "of a %s are unlimited until set, and accept only null and whole numbers of at least 0",
    async (of) => {
      for (const limit of Object.keys(UNLIMITED)) {
        const path = `/v1/config/quota.${of}_default.${limit}`;
        expect(okOf(await t.call("GET", path))).toMatchObject({ value: null, default: null, restart_required: false });
        for (const value of [-1, 0.5, "1", true]) {
          expect([value, (await t.call("PUT", path, { body: { value } })).status]).toEqual([value, 400]);
        }
        for (const value of [0, null]) okOf(await t.call("PUT", path, { body: { value } }));
        okOf(await t.call("DELETE", path));
      }
    },
  );

  test("can come from the environment", async () => {
    const env = { BERTH_QUOTA_TENANT_DEFAULT_INSTANCE_LIMIT: "0" };
    const shadowed = await openTestControlPlane({ databaseUrl: t.databaseUrl, env, resident: false });
    const asked = { key: tenant.key, body: first.bodyOf(SMALL) };
    const { status, body } = await shadowed.call("POST", `/v1/instances${first.selectors}`, asked);
    expect([status, body.message]).toEqual([
      409,
      expect.stringContaining("instances: limit 0 (the default of the site)"),
    ]);
    await shadowed.close();
  });
});
