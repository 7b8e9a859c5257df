// Tests the commands for silos, tenants, projects and quotas, all of which users find by name (docs/tenancy.md).
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import type { Project, Quota, Silo, Tenant } from "../../src/contract/tenancy.ts";
import { opsctlAt, type OpsctlRunner } from "./at-control-plane.ts";

let t: TestControlPlane;
let at: OpsctlRunner;

beforeAll(async () => {
  t = await openTestControlPlane();
  at = opsctlAt(t);
});
afterAll(() => t?.close());

const ID = "[0-9a-f-]{36}";
const ABSENT = "00000000-0000-4000-8000-000000000000";

async function silo(name: string): Promise<Silo> {
  return await at.json<Silo>(`silo create ${name}`);
}

async function project(name: string): Promise<Project> {
  await silo(name);
  return await at.json<Project>(`project create web --tenant ${name}/default`);
}

test("a silo is created with its default tenant, listed, shown by name and prefix, and renamed", async () => {
  const made = await at.run(["silo", "create", "north", "--description", "The first hall"]);
  expect(made.out()).toMatch(new RegExp(`^Created silo north \\(${ID}\\)\n$`));
  expect(made.err()).toMatch(new RegExp(`^Created its tenant north/default \\(${ID}\\)\n$`));
  const north = (await at.json<Silo[]>("silo list")).find(({ name }) => name === "north")!;
  expect(north).toMatchObject({ description: "The first hall" });
  const lines = (await at.printed("silo list")).split("\n");
  expect(lines[0]).toMatch(/^NAME +ID +AGE +DESCRIPTION$/);
  expect(lines.find((line) => line.startsWith("north "))).toContain(`  ${north.id}  `);

  expect(await at.printed("silo show north")).toMatch(/^id: +[^\n]+\nname: +north\ndescription: +The first hall\n/);
  expect(await at.json(`silo show ${north.id.toUpperCase()}`)).toEqual(north);
  expect(await at.json(`silo show ${north.id.slice(0, -1)}`)).toEqual(north);

  expect(await at.printed("silo update north --name north-1")).toBe(`Updated silo north-1 (${north.id})\n`);
  expect(await at.json("silo show north-1")).toEqual({ ...north, name: "north-1" });
  expect((await at.run("silo show north")).code).toBe(3);
});

test("an update without options is rejected before any request", async () => {
  for (const noun of ["silo", "tenant", "project"]) {
    const ran = await at.run(`${noun} update x`);
    expect([ran.code, ran.asked]).toEqual([2, []]);
    expect(ran.err()).toContain("--name, --description or both");
  }
});

test("a tenant is created in a silo, found in all silos, renamed and deleted", async () => {
  await silo("east");
  const made = await at.printed(["tenant", "create", "acme", "--silo", "east", "--description", "A customer"]);
  expect(made).toMatch(new RegExp(`^Created tenant east/acme \\(${ID}\\)\n$`));
  const acme = await at.json<Tenant>("tenant show acme");
  expect(await at.json("tenant show east/acme")).toEqual(acme);
  expect(await at.json("tenant show acme --silo east")).toEqual(acme);
  expect(await at.json(`tenant show ${acme.id}`)).toEqual(acme);
  expect(await at.printed("tenant show acme")).toMatch(/\nsilo: +east\nsilo_id: /);

  const lines = (await at.printed("tenant list --silo east")).trimEnd().split("\n");
  expect(lines[0]).toMatch(/^NAME +SILO +ID +AGE +DESCRIPTION$/);
  expect(lines.slice(1).map((line) => line.split(/ +/).slice(0, 2))).toEqual([["default", "east"], ["acme", "east"]]);
  const everywhere = await at.json<Tenant[]>("tenant list");
  expect(everywhere).toEqual(expect.arrayContaining(await at.json<Tenant[]>("tenant list --silo east")));

  const described = await at.json<Tenant>("tenant update acme --name acme-2 --description big");
  expect(described).toEqual({ ...acme, name: "acme-2", description: "big" });
  expect(await at.printed("tenant delete acme-2")).toBe(`Deleted tenant east/acme-2 (${acme.id})\n`);
  expect((await at.run("tenant show acme-2")).code).toBe(3);
});

test("an ambiguous tenant name is rejected with a list of the tenants and their silos", async () => {
  const [south, west] = [await silo("south"), await silo("west")];
  const ran = await at.run("tenant show default");
  expect(ran.code).toBe(2);
  for (const each of [south, west]) expect(ran.err()).toContain(`${each.default_tenant_id}  ${each.name}/default`);
  expect((await at.json<Tenant>("tenant show south/default")).id).toBe(south.default_tenant_id);
  expect((await at.json<Tenant>("tenant show default --silo west")).id).toBe(west.default_tenant_id);
});

test.each(["a/b/c", "/a", "a/"])("%s is not a tenant name", async (name) => {
  const ran = await at.run(["tenant", "show", name]);
  expect([ran.code, ran.asked]).toEqual([2, []]);
});

test("a name that contains the parent, such as a/b, is rejected if the option for the parent is given, too", async () => {
  expect((await at.run("tenant show a/b --silo a")).err()).toContain("remove --silo");
  expect((await at.run("project show a/b --tenant a")).err()).toContain("remove --tenant");
});

test("if the server rejects a request, the command prints the server's message and exits with the code of the status", async () => {
  await silo("taken");
  const again = await at.run("silo create taken");
  expect([again.code, again.err()]).toEqual([5, expect.stringContaining("a silo named taken already exists")]);
  const standard = await at.run("tenant delete taken/default");
  expect([standard.code, standard.err()]).toEqual([5, expect.stringContaining("default tenant of its silo")]);
  await at.printed("tenant create held --silo taken");
  await at.printed("project create web --tenant taken/held");
  const held = await at.run("tenant delete held");
  expect([held.code, held.err()]).toEqual([5, expect.stringContaining("still holds")]);
  const nowhere = await at.run(`project create web --tenant ${ABSENT}`);
  expect(nowhere.code).toBe(3);
});

test("a project is found by name, by TENANT/NAME, by SILO/TENANT/NAME and by id, and deleted", async () => {
  await silo("hall");
  await at.printed("tenant create shop --silo hall");
  const made = await at.printed(["project", "create", "till", "--tenant", "shop", "--description", "The tills"]);
  expect(made).toMatch(new RegExp(`^Created project hall/shop/till \\(${ID}\\)\n$`));
  const till = await at.json<Project>("project show till");
  const tenant = await at.json<Tenant>("tenant show shop");
  for (const argv of ["shop/till", "hall/shop/till", till.id, "till --tenant shop", `till --tenant ${tenant.id}`]) {
    expect(await at.json(`project show ${argv}`), argv).toEqual(till);
  }
  const direct = await at.run(`project show ${till.id} --tenant ${tenant.id}`);
  expect(direct.asked.map(({ path }) => path)).toEqual([`/v1/tenants/${tenant.id}/projects/${till.id}`]);

  const lines = (await at.printed("project list --tenant shop")).trimEnd().split("\n");
  expect(lines[0]).toMatch(/^NAME +TENANT +ID +AGE +DESCRIPTION$/);
  expect(lines[1]).toContain(`till  hall/shop  ${till.id}  `);
  expect(await at.printed("project list --tenant hall/default")).toBe("(no projects)\n");

  expect(await at.printed("project update till --name tills")).toBe(`Updated project hall/shop/tills (${till.id})\n`);
  expect(await at.printed("project delete tills")).toBe(`Deleted project hall/shop/tills (${till.id})\n`);
  const gone = await at.run("project show tills");
  expect([gone.code, gone.err()]).toEqual([3, expect.stringContaining("run: opsctl project list")]);
});

test("a quota is set with sizes, shown with its usage, changed in part and removed", async () => {
  await project("quoted");
  const of = "quoted/default/web";
  const none = await at.run(`quota show ${of}`);
  expect(none.out()).toBe(
    "RESOURCE   LIMIT  USED  PERCENT\ncpu        -      0     -\nmemory     -      0     -\n" +
      "disk       -      0     -\ninstances  -      0     -\n",
  );
  expect(none.err()).toContain("No quota is set");
  expect(await at.json(`quota show ${of}`)).toMatchObject({ cpu_limit: null, used: { instances: 0 } });

  const unitless = await at.run(`quota set ${of} --memory 64`);
  expect([unitless.code, unitless.err()]).toEqual([
    2,
    "error: --memory 64 has no unit and would be 64B; did you mean 64GiB?\n",
  ]);
  const set = await at.printed(`quota set ${of} --cpu 8 --memory 64GiB --disk 1.5tib --instances 4`);
  expect(set.split("\n").slice(1, -1)).toEqual([
    "RESOURCE   LIMIT    USED  PERCENT",
    "cpu        8        0     0%",
    "memory     64GiB    0     0%",
    "disk       1536GiB  0     0%",
    "instances  4        0     0%",
  ]);
  const { id } = await at.json<Project>(`project show ${of}`);
  await t.db.query(
    "update project_usage set cpu = 4, memory_bytes = $2, disk_bytes = $3, instances = 5 where project_id = $1",
    [id, 2 ** 20, 1000],
  );
  const changed = await at.json<Quota>(`quota set ${of} --disk 1000B`);
  expect(changed).toMatchObject({ cpu_limit: 8, memory_bytes: 64 * 2 ** 30, disk_bytes: 1000, instance_limit: 4 });
  expect(await at.printed(`quota show web --tenant quoted/default`)).toBe(
    "RESOURCE   LIMIT  USED   PERCENT\ncpu        8      4      50%\nmemory     64GiB  1MiB   <1%\n" +
      "disk       1000B  1000B  100%\ninstances  4      5      125%\n",
  );
  expect(await at.printed(`quota unset ${of}`)).toMatch(/^Removed the quota of project quoted\/default\/web \(/);
  expect(await at.json(`quota show ${of}`)).toMatchObject({ cpu_limit: null, used: { cpu: 4 } });
  const again = await at.run(`quota unset ${of}`);
  expect([again.code, again.err()]).toEqual([3, expect.stringContaining("has no quota")]);
});

test("a new quota with one given limit copies the other limits from the site's defaults; a limit can become unlimited", async () => {
  await project("partial");
  const of = "partial/default/web";
  await at.printed("config set quota.project_default.cpu_limit 3");
  const first = await at.run(`quota set ${of} --memory 10GiB`);
  expect(first.out().split("\n").slice(1, -1)).toEqual([
    "RESOURCE   LIMIT      USED  PERCENT",
    "cpu        3          0     0%",
    "memory     10GiB      0     0%",
    "disk       unlimited  0     -",
    "instances  unlimited  0     -",
  ]);
  expect([first.code, first.err()]).toEqual([
    0,
    "The other limits are copied from the site's defaults; a later change of the defaults does not change them\n",
  ]);
  await at.printed("config unset quota.project_default.cpu_limit");
  const again = await at.run(`quota set ${of} --cpu unlimited --memory unlimited --instances 4`);
  expect([again.code, again.err()]).toEqual([0, ""]);
  expect(again.out()).toMatch(/^cpu +unlimited .*\nmemory +unlimited .*\ndisk +unlimited .*\ninstances +4 /m);
  const unlimited = Number.MAX_SAFE_INTEGER;
  expect(await at.json(`quota show ${of}`)).toMatchObject({ cpu_limit: unlimited, disk_bytes: unlimited });
});

test("a tenant's quota is set by the tenant's name and shown with the quotas of its projects", async () => {
  await project("capped");
  const { id: tenant_id } = await at.json<Tenant>("tenant show capped/default");
  const limits = "--cpu 8 --memory 64GiB --disk 1TiB --instances 4";
  const set = await at.printed(`quota set capped/default ${limits}`);
  expect(set.split("\n")).toEqual([
    `Set the quota of tenant capped/default (${tenant_id})`,
    "RESOURCE   LIMIT  USED  PERCENT",
    "cpu        8      0     0%",
    "memory     64GiB  0     0%",
    "disk       1TiB   0     0%",
    "instances  4      0     0%",
    "",
  ]);
  expect(await at.json(`quota show ${tenant_id}`)).toMatchObject({ tenant_id, cpu_limit: 8, used: { cpu: 0 } });
  expect(await at.json("quota set capped/default --cpu 6")).toMatchObject({ cpu_limit: 6, instance_limit: 4 });
  const of_project = await at.run("quota show capped/default/web");
  expect(of_project.out()).toBe(
    "RESOURCE   LIMIT  USED  PERCENT  TENANT_LIMIT  TENANT_USED\n" +
      "cpu        -      0     -        6             0\n" +
      "memory     -      0     -        64GiB         0\n" +
      "disk       -      0     -        1TiB          0\n" +
      "instances  -      0     -        4             0\n",
  );
  expect(await at.json("quota show capped/default/web")).toMatchObject({ tenant: { limits: { cpu_limit: 6 } } });
  expect(await at.printed("quota unset capped/default")).toMatch(/^Removed the quota of tenant capped\/default \(/);
  const again = await at.run("quota unset capped/default");
  expect([again.code, again.err()]).toEqual([3, expect.stringContaining("tenant capped/default")]);
});

test("a name that both a tenant and a project have is rejected, and both are listed", async () => {
  await silo("twofold");
  await at.printed("tenant create twin --silo twofold");
  const { id } = await at.json<Project>("project create twin --tenant twofold/twin");
  const ran = await at.run("quota set twin --cpu 1 --memory 1GiB --disk 1GiB --instances 1");
  expect(ran.code).toBe(2);
  expect(ran.err()).toContain("tenant twofold/twin (");
  expect(ran.err()).toContain(`project twofold/twin/twin (${id})`);
  expect(await at.printed("quota set twin/twin --cpu 1 --memory 1GiB --disk 1GiB --instances 1")).toContain(`(${id})`);
  expect(await at.printed("quota set twofold/twin --cpu 1 --memory 1GiB --disk 1GiB --instances 1")).toContain(
    "of tenant",
  );
});

test("the site's defaults are shown if no quota is set", async () => {
  await project("plain");
  await at.printed("config set quota.project_default.cpu_limit 3");
  const ran = await at.run("quota show plain/default/web");
  expect(ran.out()).toMatch(/^cpu +3 +0 +0%$/m);
  expect(ran.err()).toContain("No quota is set: the site's defaults apply");
  await at.printed("config unset quota.project_default.cpu_limit");
});

test.each([["--memory", "64GB"], ["--memory", "-1"], ["--disk", "0.3KiB"], ["--disk", "9007199254740992"]])(
  "%s %s is not a size and is rejected before any request",
  async (flag, size) => {
    const ran = await at.run(["quota", "set", "x", `${flag}=${size}`]);
    expect([ran.code, ran.asked]).toEqual([2, []]);
    expect(ran.err()).toContain(`${flag} must be a number of bytes or a size such as 512MiB`);
  },
);

test("if the caller may not list silos, the error says to use UUIDs", async () => {
  const { id } = await at.json<Tenant>("tenant create own --silo " + (await silo("closed")).id);
  const key = await at.printed(`api-key create --description t --tenant ${id}`);
  const env = { OPSCTL_ENDPOINT: "http://127.0.0.1:8080", OPSCTL_API_KEY: key.trim() };
  const by_name = await at.run("project list --tenant own", { env });
  expect([by_name.code, by_name.err()]).toEqual([4, expect.stringContaining("use the UUIDs")]);
  expect(await at.printed(`project list --tenant ${id}`, { env })).toBe("(no projects)\n");
});
