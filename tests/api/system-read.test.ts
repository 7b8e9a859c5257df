// A user with the capability system-read reads all objects of the site except the networks and keys of tenants, and
// cannot change these objects.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ComputeFixture, openComputeFixture } from "../compute/compute-fixture.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { okOf } from "../support/control-plane.ts";
import { newLogin } from "./login.ts";

let f: ComputeFixture;
let other: TestTenant;
let reader: string;
let stranger: string;
let member: string;
let paths: readonly string[];

beforeAll(async () => {
  f = await openComputeFixture();
  const { id } = await f.running();
  other = await openTenant(f.t);
  reader = (await newLogin(f.t, { capabilities: ["system-read"] })).token;
  stranger = (await newLogin(f.t)).token;
  member = (await newLogin(f.t, { tenant_id: other.tenant_id })).token;
  const [disk] = await f.disksOf(id);
  const [nic] = await f.nicsOf(id);
  const [operation] = await f.operations(id);
  const { silo_id, tenant_id, project_id } = f.tenant;
  const node = f.node.server_uuid;
  paths = [
    "/v1/operations",
    `/v1/operations/${operation.id}`,
    "/v1/audit/events",
    "/v1/audit/events/0",
    "/v1/audit/verify",
    "/v1/config",
    "/v2/cn-boot",
    "/v2/cn-boot-policy",
    "/v2/cn-boot-roster",
    "/v2/platform-images",
    "/v1/cn-auto-approve",
    `/v1/cns/${node}/placement`,
    `/v1/cns/${node}/traits`,
    `/v1/cns/${node}/hardware`,
    `/v1/cns/${node}/setup-layout-proposal`,
    "/v1/silos",
    `/v1/silos/${silo_id}`,
    `/v1/silos/${silo_id}/tenants`,
    `/v1/silos/${silo_id}/tenants/${tenant_id}`,
    `/v1/tenants/${tenant_id}/projects`,
    `/v1/tenants/${tenant_id}/projects/${project_id}`,
    `/v1/tenants/${tenant_id}/projects/${project_id}/usage`,
    `/v1/instances/${id}`,
    `/v1/disks?instance=${id}`,
    `/v1/disks/${disk.id}`,
    `/v1/nics?instance=${id}`,
    `/v1/nics/${nic.id}`,
  ];
});
afterAll(() => f.t.close());

describe("reading", () => {
  test("a user with system-read can read the objects of operators and of a tenant", async () => {
    const found = await Promise.all(
      paths.map(async (path) => [path, (await f.t.call("GET", path, { key: reader })).status]),
    );
    expect(found).toEqual(paths.map((path) => [path, 200]));
  });

  test("a user without system-read, and a member of another tenant, can read none of these objects", async () => {
    for (const key of [stranger, member]) {
      const found = await Promise.all(paths.map(async (path) => [path, (await f.t.call("GET", path, { key })).status]));
      // This route lists each caller's own operations. The member's list is empty, as the next check shows.
      const seen = found.filter(([path, status]) => status === 200 && path !== "/v1/operations");
      expect(seen).toEqual([]);
    }
    expect(okOf(await f.t.call("GET", "/v1/operations", { key: member }))).toEqual([]);
  });

  test("a user with system-read gets lists with the objects of every tenant", async () => {
    const operations = okOf(await f.t.call("GET", "/v1/operations", { key: reader }));
    expect(operations).toEqual(okOf(await f.t.call("GET", "/v1/operations")));
    const silos = okOf(await f.t.call("GET", "/v1/silos", { key: reader }));
    expect(silos.map(({ id }: { id: string }) => id)).toEqual(
      expect.arrayContaining([f.tenant.silo_id, other.silo_id]),
    );
  });

  test("a user with system-read cannot read the networks and keys of tenants", async () => {
    const { tenant_id, project_id } = f.tenant;
    for (
      const path of [
        `/v1/vpcs/${f.vpc.id}`,
        `/v1/vpcs${f.selectors}`,
        `/v1/tenants/${tenant_id}/api-keys`,
        `/v1/tenants/${tenant_id}/projects/${project_id}/ssh-keys`,
      ]
    ) {
      expect([path, (await f.t.call("GET", path, { key: reader })).status]).toEqual([path, 404]);
    }
  });
});

test("a user with system-read cannot change settings, tenants, projects, nodes, the roster or the auto-approve window", async () => {
  const { silo_id, tenant_id, project_id } = f.tenant;
  const writes = [
    ["PUT", "/v1/config/reservoir.percent_default", { value: 0.5 }],
    ["POST", "/v1/silos", { name: randomUUID() }],
    ["POST", `/v1/silos/${silo_id}/tenants`, { name: randomUUID() }],
    ["POST", `/v1/tenants/${tenant_id}/projects`, { name: randomUUID() }],
    ["DELETE", `/v1/tenants/${tenant_id}/projects/${project_id}`, undefined],
    ["POST", `/v1/cns/${f.node.server_uuid}/disable`, undefined],
    ["PATCH", `/v1/cns/${f.node.server_uuid}/placement`, { cordoned: true }],
    ["PUT", "/v2/cn-boot-roster", []],
    ["POST", "/v1/cn-auto-approve", { duration_secs: 60 }],
  ] as const;
  for (const [method, path, body] of writes) {
    const { status } = await f.t.call(method, path, { key: reader, body });
    expect([method, path, [403, 404].includes(status)]).toEqual([method, path, true]);
  }
});
