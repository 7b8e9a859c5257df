// Tests silos, tenants, projects and quotas (docs/tenancy.md).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";

let t: TestControlPlane;
beforeAll(async () => {
  t = await openTestControlPlane();
});
afterAll(() => t.close());

const UNKNOWN = randomUUID();

async function make(path: string, name: string = randomUUID()) {
  return okOf(await t.call("POST", path, { body: { name, description: "d" } }));
}

async function makeProject() {
  const silo = await make("/v1/silos");
  const tenant = await make(`/v1/silos/${silo.id}/tenants`);
  const project = await make(`/v1/tenants/${tenant.id}/projects`);
  return {
    silo,
    tenant,
    project,
    tenantPath: `/v1/silos/${silo.id}/tenants/${tenant.id}`,
    path: `/v1/tenants/${tenant.id}/projects/${project.id}`,
  };
}

test("a silo comes with a tenant named default, which cannot be deleted", async () => {
  const silo = await make("/v1/silos", "silo-a");
  expect(silo).toMatchObject({ name: "silo-a", description: "d" });
  const tenants = okOf(await t.call("GET", `/v1/silos/${silo.id}/tenants`));
  expect(tenants).toMatchObject([{ id: silo.default_tenant_id, silo_id: silo.id, name: "default" }]);
  const refused = await t.call("DELETE", `/v1/silos/${silo.id}/tenants/${silo.default_tenant_id}`);
  expect(refused).toMatchObject({
    status: 409,
    body: { message: "this is the default tenant of its silo and cannot be deleted", error_code: "Conflict" },
  });
});

test("a silo is deleted with its default tenant once the silo holds nothing else and nothing names the silo", async () => {
  const { silo, tenant, tenantPath, path } = await makeProject();
  const at = `/v1/silos/${silo.id}`;
  const refusal = async () => {
    const { status, body } = await t.call("DELETE", at);
    return { status, message: body?.message };
  };
  expect(await refusal()).toEqual({
    status: 409,
    message: `silo ${silo.id} still holds tenant ${tenant.name} (${tenant.id}), which must be deleted first`,
  });
  okOf(await t.call("DELETE", path));
  okOf(await t.call("DELETE", tenantPath));
  const project = await make(`/v1/tenants/${silo.default_tenant_id}/projects`, "left");
  expect(await refusal()).toEqual({
    status: 409,
    message: `its default tenant still holds project left (${project.id}), which must be deleted first`,
  });
  okOf(await t.call("DELETE", `/v1/tenants/${silo.default_tenant_id}/projects/${project.id}`));
  const { server_uuid } = await t.register();
  const pin = (body: unknown) => t.call("PATCH", `/v1/cns/${server_uuid}/placement`, { body });
  okOf(await pin({ pinned_silo_uuid: silo.id }));
  expect(await refusal()).toEqual({
    status: 409,
    message: `silo ${silo.id} is still named by the pin of node ${server_uuid}; change that first`,
  });
  okOf(await pin({ clear: ["pinned_silo_uuid"] }));
  expect(await refusal()).toEqual({ status: 204, message: undefined });
  expect((await t.call("GET", at)).status).toBe(404);
  expect((await t.call("GET", `/v1/tenants/${silo.default_tenant_id}/projects`)).status).toBe(404);
  await make("/v1/silos", silo.name);
  const { rows } = await t.db.query(
    "select audit->>'action' as action from transition where actor_id = any($1) and to_state = 'absent' order by actor_kind",
    [[silo.id, silo.default_tenant_id]],
  );
  expect(rows).toEqual([{ action: "silo_delete" }, { action: "tenant_delete" }]);
});

test("when a tenant is created while its silo is deleted, only one of the two requests succeeds", async () => {
  const silo = await make("/v1/silos");
  const [removed, created] = await Promise.all([
    t.call("DELETE", `/v1/silos/${silo.id}`),
    t.call("POST", `/v1/silos/${silo.id}/tenants`, { body: { name: "late" } }),
  ]);
  expect([[204, 404], [204, 409], [409, 201]]).toContainEqual([removed.status, created.status]);
  expect((await t.call("GET", `/v1/silos/${silo.id}`)).status).toBe(removed.status === 204 ? 404 : 200);
});

test("S-06: a tenant of one silo is not found below another silo", async () => {
  const [a, b] = [await make("/v1/silos"), await make("/v1/silos")];
  for (const method of ["GET", "DELETE"]) {
    expect((await t.call(method, `/v1/silos/${a.id}/tenants/${b.default_tenant_id}`)).status).toBe(404);
  }
});

test("names are unique in their parent; a deleted tenant's or project's name can be used again", async () => {
  const { silo, tenant } = await makeProject();
  const places = [
    ["/v1/silos", "silo", ""],
    [`/v1/silos/${silo.id}/tenants`, "tenant", " in this silo"],
    [`/v1/tenants/${tenant.id}/projects`, "project", " in this tenant"],
  ] as const;
  for (const [path, noun, where] of places) {
    const first = await make(path, "taken");
    const again = await t.call("POST", path, { body: { name: "taken" } });
    expect(again).toMatchObject({ status: 409, body: { message: `a ${noun} named taken already exists${where}` } });
    if (noun === "silo") continue;
    expect((await t.call("DELETE", `${path}/${first.id}`)).status).toBe(204);
    await make(path, "taken");
  }
});

describe("the name rule", () => {
  const RULES = [
    ["", "name must be 1 to 63 bytes long"],
    ["n".repeat(64), "name must be 1 to 63 bytes long"],
    ["ü".repeat(32), "name must be 1 to 63 bytes long"],
    ["a/b", "name must not contain / or \\"],
    ["a\\b", "name must not contain / or \\"],
    ["a\u0007b", "name must not contain control characters"],
    [" a", "name must not begin or end with white space"],
    ["a\t", "name must not contain control characters"],
  ] as const;

  test.each(RULES)("%j is refused with 409", async (name, message) => {
    const { silo, path } = await makeProject();
    const answers = [
      await t.call("POST", "/v1/silos", { body: { name } }),
      await t.call("POST", `/v1/silos/${silo.id}/tenants`, { body: { name } }),
      await t.call("PATCH", path, { body: { name } }),
    ];
    for (const answer of answers) expect(answer).toMatchObject({ status: 409, body: { message } });
  });

  test("other names of up to 63 bytes are accepted", async () => {
    for (const name of ["n".repeat(63), "ü".repeat(31), "a b", "名前", "-", "."]) await make("/v1/silos", name);
  });
});

test("an update does not change the omitted fields", async () => {
  const { silo, tenantPath, path } = await makeProject();
  for (const at of [`/v1/silos/${silo.id}`, tenantPath, path]) {
    const name = randomUUID();
    expect(okOf(await t.call("PATCH", at, { body: { name } }))).toMatchObject({ name, description: "d" });
    expect(okOf(await t.call("PATCH", at, { body: { description: "" } }))).toMatchObject({ name, description: "" });
    expect(okOf(await t.call("GET", at))).toMatchObject({ name, description: "" });
  }
});

test("a tenant that holds a project is not deleted, and the 409 names the project", async () => {
  const { tenant, project, tenantPath, path } = await makeProject();
  const refused = await t.call("DELETE", tenantPath);
  const held = `project ${project.name} (${project.id})`;
  expect(refused).toMatchObject({
    status: 409,
    body: { message: `tenant ${tenant.id} still holds ${held}, which must be deleted first` },
  });
  expect((await t.call("DELETE", path)).status).toBe(204);
  expect((await t.call("DELETE", tenantPath)).status).toBe(204);
  expect((await t.call("GET", tenantPath)).status).toBe(404);
});

test("when a project is created while its tenant is deleted, one of the two requests is refused", async () => {
  for (let round = 0; round < 20; round++) {
    const silo = await make("/v1/silos");
    const tenant = await make(`/v1/silos/${silo.id}/tenants`);
    const [gone, made] = await Promise.all([
      t.call("DELETE", `/v1/silos/${silo.id}/tenants/${tenant.id}`),
      t.call("POST", `/v1/tenants/${tenant.id}/projects`, { body: { name: "p" } }),
    ]);
    expect([gone.status, made.status]).toBeOneOf([[204, 409], [204, 404], [409, 201]]);
  }
});

test("requests with one Idempotency-Key create one record", async () => {
  const headers = { "idempotency-key": randomUUID() };
  const body = { name: randomUUID() };
  const [first, second] = [
    await t.call("POST", "/v1/silos", { body, headers }),
    await t.call("POST", "/v1/silos", { body, headers }),
  ];
  expect(second.body).toEqual(first.body);
  expect((await t.call("POST", "/v1/silos", { body: { name: "other" }, headers })).status).toBe(422);
});

describe("quota", () => {
  const LIMITS = { cpu_limit: 4, memory_bytes: 8_000, disk_bytes: 9_000, instance_limit: 2 };

  test("gets 404 until it is set, shows the usage, and gets 404 again after it is removed", async () => {
    const { tenant, project, path } = await makeProject();
    const used = { cpu: 0, memory_bytes: 0, disk_bytes: 0, instances: 0 };
    expect((await t.call("GET", `${path}/quota`)).status).toBe(404);
    const set = okOf(await t.call("PUT", `${path}/quota`, { body: LIMITS }));
    expect(set).toMatchObject({ tenant_id: tenant.id, project_id: project.id, ...LIMITS, used });
    expect(okOf(await t.call("GET", `${path}/quota`))).toEqual(set);
    expect((await t.call("DELETE", `${path}/quota`)).status).toBe(204);
    expect((await t.call("DELETE", `${path}/quota`)).status).toBe(404);
    const limits = { cpu_limit: null, memory_bytes: null, disk_bytes: null, instance_limit: null };
    expect(okOf(await t.call("GET", `${path}/usage`))).toEqual({ ...used, limits });
  });

  test("needs all four limits", async () => {
    const { path } = await makeProject();
    for (const missing of Object.keys(LIMITS)) {
      const body = Object.fromEntries(Object.entries(LIMITS).filter(([key]) => key !== missing));
      const answer = await t.call("PUT", `${path}/quota`, { body });
      expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining(missing) } });
    }
  });

  test("has room up to its limit and not beyond it, and the message names the limit", async () => {
    const { project, path } = await makeProject();
    okOf(await t.call("PUT", `${path}/quota`, { body: LIMITS }));
    const room = async (asked: object) => {
      const { rows } = await t.db.query<{ verdict: string }>("select guard_quota_has_room($1) as verdict", [
        { project_id: project.id, cpu: 0, memory_bytes: 0, disk_bytes: 0, instances: 0, ...asked },
      ]);
      return rows[0]?.verdict;
    };
    const use = (amounts: object) =>
      t.db.query("select effect_quota_use($1)", [{ project_id: project.id, ...amounts }]);
    expect(await room({ cpu: 4, instances: 2 })).toBe("true");
    await use({ cpu: 3, instances: 1 });
    expect(await room({ cpu: 1 })).toBe("true");
    expect(await room({ cpu: 2 })).toBe("cpu: limit 4, used 3, asked for 2");
    expect(await room({ memory_bytes: 8_001 })).toBe("memory_bytes: limit 8000, used 0, asked for 8001");
    expect(await room({ disk_bytes: 9_001 })).toBe("disk_bytes: limit 9000, used 0, asked for 9001");
    expect(await room({ instances: 2 })).toBe("instances: limit 2, used 1, asked for 2");
    expect(okOf(await t.call("GET", `${path}/quota`)).used).toMatchObject({ cpu: 3, instances: 1 });
    okOf(await t.call("PUT", `${path}/quota`, { body: { ...LIMITS, cpu_limit: 1 } }));
    expect(await room({ instances: 1 })).toBe("true");
    await use({ cpu: -3, instances: -1 });
    expect(okOf(await t.call("GET", `${path}/usage`))).toMatchObject({ cpu: 0, instances: 0 });
  });
});

test("a path below a tenant or silo that does not exist gets 404", async () => {
  const body = { name: "n" };
  expect((await t.call("GET", `/v1/silos/${UNKNOWN}/tenants`)).status).toBe(404);
  expect((await t.call("POST", `/v1/silos/${UNKNOWN}/tenants`, { body })).status).toBe(404);
  expect((await t.call("GET", `/v1/tenants/${UNKNOWN}/projects`)).status).toBe(404);
  expect((await t.call("POST", `/v1/tenants/${UNKNOWN}/projects`, { body })).status).toBe(404);
});

test("a usage above the greatest exact JSON number is shown as that number", async () => {
  const { tenant, project, path } = await makeProject();
  const tenantPath = `/v1/tenants/${tenant.id}`;
  const most = { cpu: 3, memory_bytes: Number.MAX_SAFE_INTEGER, disk_bytes: Number.MAX_SAFE_INTEGER, instances: 2 };
  const limits = { cpu_limit: 1, memory_bytes: 1, disk_bytes: 1, instance_limit: 1 };
  const used = { project_id: project.id, cpu: 3, memory_bytes: String(2n ** 53n), disk_bytes: String(2n ** 62n) };
  await t.db.query("select effect_quota_use($1)", [JSON.stringify({ ...used, instances: 2 })]);
  for (const at of [path, tenantPath]) {
    expect(okOf(await t.call("GET", `${at}/usage`))).toMatchObject(most);
    expect(okOf(await t.call("PUT", `${at}/quota`, { body: limits })).used).toEqual(most);
    expect(okOf(await t.call("GET", `${at}/quota`))).toMatchObject({ ...limits, used: most });
  }
});

test("each kind of object in a project prevents the delete of the project", async () => {
  // The guard must read every table whose foreign key refuses the delete of a project.
  const guard =
    (await t.db.query("select prosrc from pg_proc where proname = 'guard_project_is_empty'")).rows[0].prosrc;
  const { rows } = await t.db.query(`
    select conrelid::regclass::text as name from pg_constraint
     where contype = 'f' and confrelid = 'project'::regclass and confdeltype in ('a', 'r') order by 1`);
  const kept = rows.map(({ name }: { name: string }) => name);
  expect(kept).toContain("placement_group");
  expect(kept.filter((name: string) => !new RegExp(`from ${name}\\b`).test(guard))).toEqual([]);

  const { tenant, project, path } = await makeProject();
  const selectors = `?tenant=${tenant.id}&project=${project.id}`;
  const body = { name: "spread" };
  const group = okOf(await t.call("POST", `/v1/placement-groups${selectors}`, { body }));
  expect(await t.call("DELETE", path)).toMatchObject({
    status: 409,
    body: {
      message: `project ${project.id} still holds placement group spread (${group.id}), which must be deleted first`,
    },
  });
  okOf(await t.call("DELETE", `/v1/placement-groups/${group.id}`));
  okOf(await t.call("DELETE", path));
});
