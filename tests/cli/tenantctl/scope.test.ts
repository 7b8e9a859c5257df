// Tests how tenantctl selects the tenant and project of a request, and how it finds records by name.
import { expect, test } from "vitest";
import { FLOATING_IP, IMAGE_ID, NAT_GATEWAY, PROJECT, ROUTE, ROUTE_TABLE, SUBNET, TENANT, VPC } from "./records.ts";
import type { Server } from "../fake-environment.ts";
import { jwt, KEY_ENV, requestsOf, serving, tenantctl, TOKEN_ENV } from "./run.ts";

const OTHER = "aaaaaaaa-0000-4000-8000-000000000009";
const SCOPED = { ...KEY_ENV, TENANTCTL_TENANT: TENANT, TENANTCTL_PROJECT: PROJECT };
const IN_PROJECT = `tenant=${TENANT}&project=${PROJECT}`;
const PROJECTS = [{ id: PROJECT, tenant_id: TENANT, name: "shop", description: "", created_at: "x" }];
const VPCS = { "GET /v1/vpcs": { items: [VPC] } };

test.each([
  {
    from: "the flag, which has precedence over the variable",
    argv: ["--tenant", TENANT],
    env: { ...KEY_ENV, TENANTCTL_TENANT: OTHER },
  },
  {
    from: "the variable, which has precedence over the token's claim",
    argv: [],
    env: { ...TOKEN_ENV, TENANTCTL_TENANT: TENANT },
  },
  { from: "the claim of the access token", argv: [], env: TOKEN_ENV },
  {
    from: "the claim of the access token if the variable is empty",
    argv: [],
    env: { ...TOKEN_ENV, TENANTCTL_TENANT: "", TENANTCTL_API_KEY: "" },
  },
])("the tenant is read from $from, without a request", async ({ argv, env }) => {
  const ran = await tenantctl(["vpc", "list", "--project", PROJECT, ...argv], { env, server: serving(VPCS) });
  expect(requestsOf(ran)).toEqual([`GET /v1/vpcs?${IN_PROJECT}`]);
});

test("--project overrides TENANTCTL_PROJECT", async () => {
  const env = { ...TOKEN_ENV, TENANTCTL_PROJECT: OTHER };
  const ran = await tenantctl(["vpc", "list", "--project", PROJECT], { env, server: serving(VPCS) });
  expect(requestsOf(ran)).toEqual([`GET /v1/vpcs?${IN_PROJECT}`]);
  const later = await tenantctl(["vpc", "list"], {
    env: { ...env, TENANTCTL_PROJECT: PROJECT },
    server: serving(VPCS),
  });
  expect(requestsOf(later)).toEqual([`GET /v1/vpcs?${IN_PROJECT}`]);
});

const REQUIRES = "GET /v1/vpcs requires `?tenant=<uuid>&project=<uuid>` selectors";

test.each([
  {
    argv: [],
    env: KEY_ENV,
    sent: {},
    says:
      "no tenant and no project is selected; pass --tenant (or TENANTCTL_TENANT) and --project (or TENANTCTL_PROJECT)",
  },
  {
    argv: ["--project", PROJECT],
    env: KEY_ENV,
    sent: { project: PROJECT },
    says: "no tenant is selected; pass --tenant (or TENANTCTL_TENANT)",
  },
  {
    argv: [],
    env: TOKEN_ENV,
    sent: { tenant: TENANT },
    says: "no project is selected; pass --project (or TENANTCTL_PROJECT)",
  },
])(
  "a command omits a selector whose value is unknown, and the error names what is not selected: $says",
  async ({ argv, env, ...case_ }) => {
    const refusal = { status: 400, body: { message: REQUIRES, error_code: "MissingScope", request_id: "r1" } };
    const server: Server = (asked) =>
      asked.path === "/v1/auth/whoami" ? { status: 200, body: { tenant_id: null, silo_id: null } } : refusal;
    const ran = await tenantctl(["vpc", "list", ...argv], { env, server });
    const [listed] = ran.asked.filter(({ path }) => path === "/v1/vpcs");
    expect(listed!.query).toEqual({ ...case_.sent, limit: "1000" });
    expect(ran.err()).toBe(`error: ${case_.says} (MissingScope, request r1)\n`);
    expect(ran.code).toBe(1);
  },
);

test.each([
  { projects: [{ name: "shop" }, { name: "lab" }], says: "the tenant has 2 projects (shop, lab)" },
  {
    projects: [..."abcdef"].map((name) => ({ name })),
    says: "the tenant has 6 projects (a, b, c, d, e, …)",
  },
  { projects: [], says: "the tenant has no project; to create one, run: tenantctl project create --name NAME" },
])("without a project, the error of a list names the tenant's projects: $says", async ({ projects, says }) => {
  const server: Server = ({ path }) =>
    path === `/v1/tenants/${TENANT}/projects`
      ? { status: 200, body: projects }
      : { status: 400, body: { message: REQUIRES, error_code: "MissingScope" } };
  const ran = await tenantctl(["vpc", "list"], { env: TOKEN_ENV, server });
  expect(ran.err()).toBe(
    `error: no project is selected; ${says}; pass --project (or TENANTCTL_PROJECT) (MissingScope)\n`,
  );
});

test.each([
  { argv: ["nat-gateway", "list"], message: "GET /v1/nat-gateways requires `?vpc=<uuid>`", hint: "--vpc" },
  { argv: ["route", "list"], message: "GET /v1/routes requires `?route_table=<uuid>`", hint: "--route-table" },
])("the hint names the missing flag: $hint", async ({ argv, message, hint }) => {
  const server = () => ({ status: 400, body: { message, error_code: "MissingScope" } });
  const ran = await tenantctl(argv, { server });
  expect(ran.err()).toBe(`error: ${message}; pass ${hint} (MissingScope)\n`);
});

test("with --vpc, the lists of NAT gateways, route tables and firewall rules also send the project; other lists do not", async () => {
  const asks = async (noun: string, ...argv: string[]) =>
    requestsOf(
      await tenantctl([noun, "list", ...argv], {
        env: SCOPED,
        server: serving({ [`GET /v1/${noun}s`]: { items: [] } }),
      }),
    );
  for (const noun of ["nat-gateway", "route-table", "firewall-rule"]) {
    expect(await asks(noun, "--vpc", VPC.id)).toEqual([`GET /v1/${noun}s?vpc=${VPC.id}&project=${PROJECT}`]);
  }
  expect(await asks("subnet", "--vpc", VPC.id)).toEqual([`GET /v1/subnets?vpc=${VPC.id}`]);
  expect(await asks("route", "--route-table", ROUTE_TABLE.id)).toEqual([
    `GET /v1/routes?route_table=${ROUTE_TABLE.id}`,
  ]);
});

test("a project name is looked up in the tenant of the credential", async () => {
  const server = serving({ ...VPCS, [`GET /v1/tenants/${TENANT}/projects`]: PROJECTS });
  const ran = await tenantctl(["vpc", "list", "--project", "shop"], { env: TOKEN_ENV, server });
  expect(requestsOf(ran)).toEqual([`GET /v1/tenants/${TENANT}/projects`, `GET /v1/vpcs?${IN_PROJECT}`]);
});

test("tenantctl asks whoami for the tenant of a tenant's API key; other keys need --tenant", async () => {
  const answers = (tenant_id: string | null) =>
    serving({
      ...VPCS,
      "GET /v1/auth/whoami": { silo_id: null, tenant_id },
      [`GET /v1/tenants/${TENANT}/projects`]: PROJECTS,
    });
  const argv = ["vpc", "list", "--project", "shop"];
  const bound = await tenantctl(argv, { server: answers(TENANT) });
  const asked = ["GET /v1/auth/whoami", `GET /v1/tenants/${TENANT}/projects`, `GET /v1/vpcs?${IN_PROJECT}`];
  expect([bound.code, requestsOf(bound)]).toEqual([0, asked]);
  const by_id = await tenantctl(["vpc", "list", "--project", PROJECT], { server: answers(TENANT) });
  expect([by_id.code, requestsOf(by_id)]).toEqual([0, ["GET /v1/auth/whoami", `GET /v1/vpcs?${IN_PROJECT}`]]);
  const listed = await tenantctl(["project", "list"], { server: answers(TENANT) });
  expect([listed.code, requestsOf(listed)]).toEqual([0, asked.slice(0, 2)]);
  const unbound = await tenantctl(argv, { server: answers(null) });
  expect(unbound.code).toBe(2);
  expect(unbound.err()).toContain("also pass --tenant");
  expect(new Set(requestsOf(unbound))).toEqual(new Set(["GET /v1/auth/whoami"]));
});

test("by name, a member finds only its own tenant, a silo admin the silo's tenants, and an operator all tenants", async () => {
  const silo_id = "dddddddd-0000-4000-8000-000000000004";
  const tenants = [{ id: TENANT, silo_id, name: "acme", description: "", created_at: "x" }];
  const answers = (whoami: Record<string, unknown>) =>
    serving({
      ...VPCS,
      "GET /v1/auth/whoami": whoami,
      "GET /v1/silos": [{ id: silo_id, name: "s" }],
      [`GET /v1/silos/${silo_id}/tenants`]: tenants,
    });
  const argv = ["vpc", "list", "--tenant", "acme", "--project", PROJECT];
  const nothing = { capabilities: [] };
  const administrator = await tenantctl(argv, {
    server: answers({ silo_id, tenant_id: OTHER, capabilities: ["silo-admin"] }),
  });
  expect(requestsOf(administrator)).toEqual([
    "GET /v1/auth/whoami",
    `GET /v1/silos/${silo_id}/tenants`,
    `GET /v1/vpcs?${IN_PROJECT}`,
  ]);
  const operator = await tenantctl(argv, { server: answers({ silo_id: null, tenant_id: null, ...nothing }) });
  expect(requestsOf(operator)[1]).toBe("GET /v1/silos");
  expect(operator.code).toBe(0);
  for (const silo of [silo_id, null]) {
    const own = { silo_id: silo, tenant_id: TENANT, tenant_name: "acme", ...nothing };
    const member = await tenantctl(argv, { server: answers(own) });
    expect([member.code, requestsOf(member)]).toEqual([0, ["GET /v1/auth/whoami", `GET /v1/vpcs?${IN_PROJECT}`]]);
    const foreign = await tenantctl(argv, { server: answers({ ...own, tenant_name: "other" }) });
    expect([foreign.code, requestsOf(foreign)]).toEqual([3, ["GET /v1/auth/whoami"]]);
  }
});

const LISTS = serving({
  ...VPCS,
  [`GET /v1/vpcs/${VPC.id}`]: VPC,
  "GET /v1/subnets": { items: [SUBNET] },
  [`DELETE /v1/subnets/${SUBNET.id}`]: {},
  "GET /v1/route-tables": { items: [ROUTE_TABLE] },
  [`GET /v1/route-tables/${ROUTE_TABLE.id}`]: ROUTE_TABLE,
  "GET /v1/nat-gateways": { items: [NAT_GATEWAY] },
  "GET /v1/routes": { items: [ROUTE] },
  [`GET /v1/routes/${ROUTE.id}`]: ROUTE,
  "POST /v1/routes": ROUTE,
  "GET /v1/floating-ips": { items: [FLOATING_IP] },
  [`GET /v1/floating-ips/${FLOATING_IP.id}`]: FLOATING_IP,
});

test.each([
  { argv: ["vpc", "show", "web"], asks: [`GET /v1/vpcs?${IN_PROJECT}`, `GET /v1/vpcs/${VPC.id}`] },
  { argv: ["vpc", "show", "1111"], asks: [`GET /v1/vpcs?${IN_PROJECT}`, `GET /v1/vpcs/${VPC.id}`] },
  { argv: ["subnet", "list", "--vpc", "web"], asks: [`GET /v1/vpcs?${IN_PROJECT}`, `GET /v1/subnets?vpc=${VPC.id}`] },
  {
    argv: ["subnet", "delete", "dmz", "--vpc", "web"],
    asks: [`GET /v1/vpcs?${IN_PROJECT}`, `GET /v1/subnets?vpc=${VPC.id}`, `DELETE /v1/subnets/${SUBNET.id}`],
  },
  {
    argv: ["route", "show", "default", "--route-table", "main", "--vpc", VPC.id],
    asks: [
      `GET /v1/route-tables?vpc=${VPC.id}`,
      `GET /v1/routes?route_table=${ROUTE_TABLE.id}`,
      `GET /v1/routes/${ROUTE.id}`,
    ],
  },
  {
    argv: [
      ...["route", "create", "--route-table", ROUTE_TABLE.id, "--name", "r", "--destination", "0.0.0.0/0"],
      ...["--target-nat-gateway", "egress"],
    ],
    asks: [
      `GET /v1/route-tables/${ROUTE_TABLE.id}`,
      `GET /v1/nat-gateways?vpc=${VPC.id}&project=${PROJECT}`,
      `POST /v1/routes?route_table=${ROUTE_TABLE.id}`,
    ],
  },
  {
    argv: ["floating-ip", "show", "www"],
    asks: [`GET /v1/floating-ips?${IN_PROJECT}`, `GET /v1/floating-ips/${FLOATING_IP.id}`],
  },
])("a name is looked up in the list of its scope: $argv", async ({ argv, asks }) => {
  const ran = await tenantctl(argv, { env: SCOPED, server: LISTS });
  expect([ran.err(), ran.code]).toEqual(["", 0]);
  expect(requestsOf(ran)).toEqual(asks);
});

test.each([
  { argv: ["subnet", "show", "dmz"], says: "(web, db); pass --vpc to find the subnet dmz by name" },
  { argv: ["firewall-rule", "delete", "http"], says: "(web, db); pass --vpc to find the firewall rule http by name" },
  { argv: ["route", "show", "default"], says: "to find it by name, also pass --route-table" },
  { argv: ["route", "list", "--route-table", "main"], says: "pass --vpc to find the route table main by name" },
])("a name without its scope is a usage error: $says", async ({ argv, says }) => {
  const twin = { ...VPC, id: "11111111-0000-4000-8000-000000000012", name: "db" };
  const server = serving({ "GET /v1/vpcs": { items: [VPC, twin] } });
  const ran = await tenantctl(argv, { env: SCOPED, server });
  expect(ran.code).toBe(2);
  expect(ran.err()).toContain(says);
  expect(ran.asked.filter(({ path }) => path !== "/v1/vpcs")).toEqual([]);
});

test("a list without --vpc and --project uses the only VPC of the only project, and notes name the project and the VPC", async () => {
  const server = serving({
    [`GET /v1/tenants/${TENANT}/projects`]: PROJECTS,
    "GET /v1/vpcs": { items: [VPC] },
    "GET /v1/subnets": { items: [SUBNET] },
  });
  const ran = await tenantctl(["subnet", "list", "--columns", "name"], { env: TOKEN_ENV, server });
  expect(ran.err()).toBe("In project shop, the only one of the tenant\nIn VPC web, the only one of the project\n");
  expect(requestsOf(ran)).toEqual([
    `GET /v1/tenants/${TENANT}/projects`,
    `GET /v1/vpcs?${IN_PROJECT}`,
    `GET /v1/subnets?vpc=${VPC.id}`,
  ]);
  const data = await tenantctl(["subnet", "list", "-o", "json"], { env: TOKEN_ENV, server });
  expect([data.code, data.err()]).toEqual([0, ""]);
});

test("image verbs and `usage` without --project use the tenant's only project, and a note names it", async () => {
  const image = { id: IMAGE_ID, name: "golden", scope: { kind: "project" } };
  const server = serving({
    [`GET /v1/tenants/${TENANT}/projects`]: PROJECTS,
    [`GET /v1/tenants/${TENANT}/projects/${PROJECT}/images`]: [image],
    [`GET /v1/tenants/${TENANT}/projects/${PROJECT}/usage/days`]: { from: "f", to: "t", days: [] },
    [`DELETE /v1/images/${IMAGE_ID}`]: {},
  });
  const run = async (...argv: string[]) => {
    const ran = await tenantctl(argv, { env: TOKEN_ENV, server });
    expect([ran.code, ran.err()], argv.join(" ")).toEqual([0, "In project shop, the only one of the tenant\n"]);
    return ran.out();
  };
  expect(await run("image", "list", "--no-headers", "--columns", "name,scope")).toBe("golden  project\n");
  expect(await run("image", "delete", "golden", "--yes")).toBe(`Image ${IMAGE_ID} deleted.\n`);
  expect(await run("usage")).toBe("(no usage from f to t)\n");
  const several = serving({ [`GET /v1/tenants/${TENANT}/projects`]: [...PROJECTS, { id: VPC.id, name: "lab" }] });
  const ran = await tenantctl(["usage"], { env: TOKEN_ENV, server: several });
  expect([ran.code, ran.err()]).toEqual([
    2,
    "error: --project is required to show usage; the tenant has 2 projects (shop, lab)\n",
  ]);
});

test("a name without --vpc is looked up in the project's only VPC, and a note names the VPC", async () => {
  const server = serving({
    "GET /v1/vpcs": { items: [VPC] },
    "GET /v1/subnets": { items: [SUBNET] },
    [`GET /v1/subnets/${SUBNET.id}`]: SUBNET,
  });
  const ran = await tenantctl(["subnet", "show", "dmz"], { env: SCOPED, server });
  expect([ran.code, ran.err()]).toEqual([0, "In VPC web, the only one of the project\n"]);
  const data = await tenantctl(["subnet", "show", "dmz", "-o", "json"], { env: SCOPED, server });
  expect([data.code, data.err()]).toEqual([0, ""]);
});

test("a command without --vpc uses the project's only VPC, and a note names the VPC", async () => {
  const only = serving({
    "GET /v1/vpcs": { items: [VPC] },
    "POST /v1/subnets": SUBNET,
    [`GET /v1/vpcs/${VPC.id}/firewall-rules`]: { items: [] },
  });
  const create = ["subnet", "create", "--name", "dmz", "--ipv4-block", "10.0.1.0/24"];
  const made = await tenantctl(create, { env: SCOPED, server: only });
  expect([made.code, made.err()]).toEqual([0, "In VPC web, the only one of the project\n"]);
  expect(requestsOf(made)).toContain(`POST /v1/subnets?vpc=${VPC.id}`);
  const shown = await tenantctl(["firewall-rule", "set", "show"], { env: SCOPED, server: only });
  expect([shown.code, shown.err()]).toEqual([0, "In VPC web, the only one of the project\n"]);

  const twin = { ...VPC, id: OTHER, name: "db" };
  const two = serving({ "GET /v1/vpcs": { items: [VPC, twin] }, "POST /v1/subnets": SUBNET });
  const open = await tenantctl(create, { env: SCOPED, server: two });
  expect(requestsOf(open)).toContain("POST /v1/subnets");
  const refused = await tenantctl(["firewall-rule", "set", "show"], { env: SCOPED, server: two });
  expect([refused.code, refused.err()]).toEqual([
    2,
    "error: the project has 2 VPCs (web, db); pass --vpc\n",
  ]);
});

test("the error of an update without a change names the options for changes", async () => {
  const vpc = await tenantctl(["vpc", "update", VPC.id], { env: SCOPED });
  expect([vpc.code, vpc.err(), vpc.asked]).toEqual([
    2,
    "error: there is nothing to change; pass --name, --description, --label or --remove-label\n",
    [],
  ]);
});

test("an ambiguous or unknown name is rejected, and nothing is changed", async () => {
  const twin = { ...VPC, id: "11111111-0000-4000-8000-000000000012", name: "db" };
  const server = serving({ "GET /v1/vpcs": { items: [VPC, twin] } });
  const several = await tenantctl(["vpc", "delete", "1111"], { env: SCOPED, server });
  expect(several.code).toBe(2);
  expect(several.err()).toBe(
    `error: 1111 matches 2 VPCs; use one of these UUIDs:\n  ${VPC.id}  web\n  ${twin.id}  db\n`,
  );
  const none = await tenantctl(["vpc", "delete", "111"], { env: SCOPED, server });
  expect([none.code, none.err()]).toEqual([
    3,
    "error: no VPC has the name 111; to list them, run: tenantctl vpc list\n",
  ]);
  expect([...several.asked, ...none.asked].every(({ method }) => method === "GET")).toBe(true);
});

test("the tenant's projects are listed and shown", async () => {
  const server = serving({
    [`GET /v1/tenants/${TENANT}/projects`]: PROJECTS,
    [`GET /v1/tenants/${TENANT}/projects/${PROJECT}`]: PROJECTS[0]!,
  });
  const list = await tenantctl(["project", "list"], { env: TOKEN_ENV, server });
  expect(list.out()).toBe(`NAME  ID        AGE  DESCRIPTION\nshop  bbbbbbbb  x    -\n`);
  const shown = await tenantctl(["project", "show", "shop"], { env: TOKEN_ENV, server });
  expect(shown.out()).toContain(`id:           ${PROJECT}\n`);
  const nobody = serving({ "GET /v1/auth/whoami": { silo_id: null, tenant_id: null } });
  const nowhere = await tenantctl(["project", "list"], { server: nobody });
  expect(nowhere.code).toBe(2);
  expect(nowhere.err()).toContain("no tenant: pass --tenant");
});

test("`quota show` prints the usage, even if no quota is set", async () => {
  const used = { cpu: 2, memory_bytes: 2 ** 30, disk_bytes: 0, instances: 1 };
  const path = `/v1/tenants/${TENANT}/projects/${PROJECT}`;
  const limits = { cpu_limit: 8, memory_bytes: 2 ** 32, disk_bytes: 2 ** 40, instance_limit: 4 };
  const quota = { tenant_id: TENANT, project_id: PROJECT, ...limits, used, updated_at: "x" };
  const argv = ["quota", "show", "--project", PROJECT];
  const set = await tenantctl(argv, { env: TOKEN_ENV, server: serving({ [`GET ${path}/quota`]: quota }) });
  expect(set.out()).toMatch(/^cpu +8 +2 +25%$/m);
  const unset = await tenantctl([...argv, "-o", "json"], {
    env: TOKEN_ENV,
    server: serving({ [`GET ${path}/usage`]: used }),
  });
  expect(JSON.parse(unset.out())).toMatchObject({ cpu_limit: null, used });
});

test("completion offers names in any alphabet, but only the id of a record whose name a shell would split", async () => {
  const items = ["größe", "\u540d\u524d", "two words", "a;b"].map((name, at) => ({
    ...VPC,
    name,
    id: VPC.id.replace(/.$/, `${at}`),
  }));
  const server: Server = () => ({ body: { items } });
  const ran = await tenantctl(["__complete", "--", "vpc", "show", ""], { env: SCOPED, server });
  const ids = items.map(({ id, name }) => `${id}\t${name}`);
  expect(ran.out().trimEnd().split("\n")).toEqual(["größe", "\u540d\u524d", ...ids]);
});

test("completion offers names and UUIDs in the scope that the command line names", async () => {
  const complete = async (...argv: string[]) => {
    const ran = await tenantctl(["__complete", "--", ...argv], { env: SCOPED, server: LISTS });
    expect([ran.err(), ran.code]).toEqual(["", 0]);
    return ran.out().split("\n").filter((line) => line !== "").map((line) => line.split("\t")[0]);
  };
  expect(await complete("vpc", "show", "")).toEqual(["web", VPC.id]);
  expect(await complete("subnet", "list", "--vpc", "w")).toEqual(["web"]);
  expect(await complete("subnet", "show", "--vpc", VPC.id, "")).toEqual(["dmz", SUBNET.id]);
  expect(await complete("subnet", "show", "--vpc", "web", "d")).toEqual(["dmz"]);
  expect(await complete("route", "create", "--vpc", VPC.id, "--target-nat-gateway", "")).toEqual([
    "egress",
    NAT_GATEWAY.id,
  ]);
  expect(await complete("route", "show", "--vpc=web", "--route-table", "m")).toEqual(["main"]);
  expect(await complete("subnet", "show", "")).toEqual([]);
  expect(await complete("firewall-rule", "create", "--protocol", "icmp")).toEqual(["icmp", "icmp4", "icmp6"]);
});

test("completion uses the key on the command line and its tenant instead of the key in the environment", async () => {
  const argv = ["--endpoint", "http://other.example", "--api-key", jwt({ tenant_id: OTHER }), "vpc", "show", ""];
  const ran = await tenantctl(["__complete", "--", ...argv], {
    env: { ...KEY_ENV, TENANTCTL_PROJECT: PROJECT },
    server: LISTS,
  });
  expect(ran.asked[0]!.query.tenant).toBe(OTHER);
  expect(ran.asked[0]!.headers.authorization).toContain(jwt({ tenant_id: OTHER }));
});
