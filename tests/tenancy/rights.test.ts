// Tests the rights inside a tenant: every route that names an object of the hierarchy, for every kind of caller. A
// caller cannot distinguish another tenant's object from an object that does not exist: the status, the headers and the
// body are the same (docs/tenancy.md; docs/reliability.md S-02).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { acceptedBodies } from "../api/bodies.ts";
import { readRoutes, type RouteDescription } from "../api/description.ts";
import { fill, makeObjects, makePortForward, type Objects, selectorsOf } from "../api/objects.ts";

// The columns are callers, and each cell is the status for an object of tenant A:
// - key, read: A's full key and A's read_only key
// - user: a logged-in user of A
// - admin: another logged-in user of A, with the capability silo-admin
// - sibling: the full key of another tenant of the silo
// - mate: a logged-in user of that other tenant
// - root, rootread: the root operator's full and read_only keys
const TABLE = `
route                                                                    key  read  user admin sibling  mate  root rootread
GET /v1/silos/{silo_id}                                                  403   403   403   403   403   403   200   200
PATCH /v1/silos/{silo_id}                                                403   403   403   403   403   403   200   403
DELETE /v1/silos/{silo_id}                                               403   403   403   403   403   403   409   403
GET /v1/silos/{silo_id}/tenants                                          404   404   404   200   404   404   200   200
POST /v1/silos/{silo_id}/tenants                                         404   404   404   201   404   404   201   404
GET /v1/silos/{silo_id}/tenants/{tenant_id}                              200   200   200   200   404   404   200   200
PATCH /v1/silos/{silo_id}/tenants/{tenant_id}                            404   404   404   200   404   404   200   404
DELETE /v1/silos/{silo_id}/tenants/{tenant_id}                           404   404   404   409   404   404   409   404
GET /v1/tenants/{tenant_id}/api-keys                                     200   200   200   200   404   404   200   200
POST /v1/tenants/{tenant_id}/api-keys                                    201   404   201   201   404   404   201   404
DELETE /v1/tenants/{tenant_id}/api-keys/{id}                             204   404   204   204   404   404   204   404
GET /v1/tenants/{tenant_id}/usage                                        200   200   200   200   404   404   200   200
GET /v1/tenants/{tenant_id}/quota                                        200   200   200   200   404   404   200   200
PUT /v1/tenants/{tenant_id}/quota                                        404   404   404   404   404   404   200   404
DELETE /v1/tenants/{tenant_id}/quota                                     404   404   404   404   404   404   204   404
GET /v1/tenants/{tenant_id}/idp                                          403   403   403   403   403   403   200   200
POST /v1/tenants/{tenant_id}/idp                                         403   403   403   403   403   403   201   403
DELETE /v1/tenants/{tenant_id}/idp                                       403   403   403   403   403   403   204   403
GET /v1/tenants/{tenant_id}/projects                                     200   200   200   200   404   404   200   200
POST /v1/tenants/{tenant_id}/projects                                    201   404   201   201   404   404   201   404
GET /v1/tenants/{tenant_id}/projects/{project_id}                        200   200   200   200   404   404   200   200
PATCH /v1/tenants/{tenant_id}/projects/{project_id}                      200   404   200   200   404   404   200   404
DELETE /v1/tenants/{tenant_id}/projects/{project_id}                     409   404   409   409   404   404   409   404
GET /v1/tenants/{tenant_id}/projects/{project_id}/usage                  200   200   200   200   404   404   200   200
GET /v1/tenants/{tenant_id}/projects/{project_id}/usage/days             200   200   200   200   404   404   200   200
GET /v1/tenants/{tenant_id}/projects/{project_id}/quota                  200   200   200   200   404   404   200   200
PUT /v1/tenants/{tenant_id}/projects/{project_id}/quota                  404   404   404   404   404   404   200   404
DELETE /v1/tenants/{tenant_id}/projects/{project_id}/quota               404   404   404   404   404   404   204   404
GET /v1/nat-gateways                                                     200   200   200   200   404   404   200   200
POST /v1/nat-gateways                                                    201   404   201   201   404   404   201   404
GET /v1/nat-gateways/{nat_gateway_id}                                    200   200   200   200   404   404   200   200
PATCH /v1/nat-gateways/{nat_gateway_id}                                  200   404   200   200   404   404   200   404
DELETE /v1/nat-gateways/{nat_gateway_id}                                 204   404   204   204   404   404   204   404
GET /v1/placement-groups                                                 200   200   200   200   404   404   200   200
POST /v1/placement-groups                                                201   404   201   201   404   404   201   404
GET /v1/placement-groups/{placement_group_id}                            200   200   200   200   404   404   200   200
PATCH /v1/placement-groups/{placement_group_id}                          200   404   200   200   404   404   200   404
DELETE /v1/placement-groups/{placement_group_id}                         204   404   204   204   404   404   204   404
GET /v1/port-forwards                                                    200   200   200   200   404   404   200   200
POST /v1/port-forwards                                                   201   404   201   201   404   404   201   404
GET /v1/port-forwards/{port_forward_id}                                  200   200   200   200   404   404   200   200
PATCH /v1/port-forwards/{port_forward_id}                                200   404   200   200   404   404   200   404
DELETE /v1/port-forwards/{port_forward_id}                               204   404   204   204   404   404   204   404
GET /v1/floating-ips                                                     200   200   200   200   404   404   200   200
POST /v1/floating-ips                                                    201   404   201   201   404   404   201   404
GET /v1/floating-ips/{floating_ip_id}                                    200   200   200   200   404   404   200   200
PATCH /v1/floating-ips/{floating_ip_id}                                  200   404   200   200   404   404   200   404
DELETE /v1/floating-ips/{floating_ip_id}                                 204   404   204   204   404   404   204   404
POST /v1/floating-ips/{floating_ip_id}/attach                            409   404   409   409   404   404   409   404
POST /v1/floating-ips/{floating_ip_id}/detach                            200   404   200   200   404   404   200   404
POST /v1/tenants/{tenant_id}/projects/{project_id}/floating-ips/{floating_ip_id}/attach
                                                                         409   404   409   409   404   404   409   404
POST /v1/tenants/{tenant_id}/projects/{project_id}/floating-ips/{floating_ip_id}/detach
                                                                         200   404   200   200   404   404   200   404
GET /v1/webhooks                                                         200   200   200   200   404   404   200   200
POST /v1/webhooks                                                        201   404   201   201   404   404   201   404
GET /v1/webhooks/{webhook_id}                                            200   200   200   200   404   404   200   200
PATCH /v1/webhooks/{webhook_id}                                          200   404   200   200   404   404   200   404
DELETE /v1/webhooks/{webhook_id}                                         204   404   204   204   404   404   204   404
GET /v1/webhooks/{webhook_id}/deliveries                                 200   200   200   200   404   404   200   200
GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}                   200   200   200   200   404   404   200   200
POST /v1/webhooks/{webhook_id}/test                                      201   404   201   201   404   404   201   404
POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver        200   404   200   200   404   404   200   404
GET /v1/vpcs                                                             200   200   200   200   404   404   200   200
POST /v1/vpcs                                                            201   404   201   201   404   404   201   404
GET /v1/vpcs/{vpc_id}                                                    200   200   200   200   404   404   200   200
PATCH /v1/vpcs/{vpc_id}                                                  200   404   200   200   404   404   200   404
DELETE /v1/vpcs/{vpc_id}                                                 409   404   409   409   404   404   409   404
GET /v1/subnets                                                          200   200   200   200   404   404   200   200
POST /v1/subnets                                                         201   404   201   201   404   404   201   404
GET /v1/subnets/{subnet_id}                                              200   200   200   200   404   404   200   200
PATCH /v1/subnets/{subnet_id}                                            200   404   200   200   404   404   200   404
DELETE /v1/subnets/{subnet_id}                                           204   404   204   204   404   404   204   404
PUT /v1/subnets/{subnet_id}/route-table                                  200   404   200   200   404   404   200   404
GET /v1/route-tables                                                     200   200   200   200   404   404   200   200
POST /v1/route-tables                                                    201   404   201   201   404   404   201   404
GET /v1/route-tables/{route_table_id}                                    200   200   200   200   404   404   200   200
PATCH /v1/route-tables/{route_table_id}                                  200   404   200   200   404   404   200   404
DELETE /v1/route-tables/{route_table_id}                                 409   404   409   409   404   404   409   404
GET /v1/routes                                                           200   200   200   200   404   404   200   200
POST /v1/routes                                                          201   404   201   201   404   404   201   404
GET /v1/routes/{route_id}                                                200   200   200   200   404   404   200   200
PATCH /v1/routes/{route_id}                                              200   404   200   200   404   404   200   404
DELETE /v1/routes/{route_id}                                             204   404   204   204   404   404   204   404
GET /v1/tenants/{tenant_id}/audit/events                                 200   200   200   200   404   404   200   200
GET /v1/firewall-rules                                                   200   200   200   200   404   404   200   200
POST /v1/firewall-rules                                                  201   404   201   201   404   404   201   404
GET /v1/firewall-rules/{firewall_rule_id}                                200   200   200   200   404   404   200   200
PATCH /v1/firewall-rules/{firewall_rule_id}                              200   404   200   200   404   404   200   404
DELETE /v1/firewall-rules/{firewall_rule_id}                             204   404   204   204   404   404   204   404
GET /v1/vpcs/{vpc_id}/firewall-rules                                     200   200   200   200   404   404   200   200
PUT /v1/vpcs/{vpc_id}/firewall-rules                                     200   404   200   200   404   404   200   404
GET /v1/vpcs/{vpc_id}/firewall-check                                     400   400   400   400   404   404   400   400
GET /v1/instances                                                        200   200   200   200   404   404   200   200
POST /v1/instances                                                       400   404   400   400   404   404   400   404
GET /v1/instances/{instance_id}                                          200   200   200   200   404   404   200   200
PATCH /v1/instances/{instance_id}                                        200   404   200   200   404   404   200   404
DELETE /v1/instances/{instance_id}                                       409   404   409   409   404   404   409   404
POST /v1/instances/{instance_id}/start                                   409   404   409   409   404   404   409   404
POST /v1/tenants/{tenant_id}/image-uploads                               409   404   409   409   404   404   409   404
POST /v1/instances/{instance_id}/console-ticket                          201   404   201   201   404   404   201   404
GET /v1/instances/{instance_id}/console                                  403   403   403   403   403   403   403   403
GET /v1/instances/{instance_id}/consoles                                 200   200   200   200   404   404   200   200
GET /v1/instances/{instance_id}/console-log                              502   502   502   502   404   404   502   502
GET /v1/instances/{instance_id}/metrics                                  200   200   200   200   404   404   200   200
GET /v1/instances/{instance_id}/load                                     200   200   200   200   404   404   200   200
GET /v1/instances/{instance_id}/screenshot                               409   409   409   409   404   404   409   409
POST /v1/instances/{instance_id}/stop                                    409   404   409   409   404   404   409   404
POST /v1/instances/{instance_id}/restart                                 409   404   409   409   404   404   409   404
POST /v1/instances/{instance_id}/reset                                   409   404   409   409   404   404   409   404
POST /v1/instances/{instance_id}/retry                                   409   404   409   409   404   404   409   404
POST /v1/instances/{instance_id}/rebuild                                 409   404   409   409   404   404   409   404
POST /v1/instances/{instance_id}/migrate                                 409   404   409   409   404   404   409   404
GET /v1/instances/{instance_id}/migrations                               404   404   404   404   404   404   200   200
GET /v1/disks                                                            200   200   200   200   404   404   200   200
GET /v1/disks/{disk_id}                                                  200   200   200   200   404   404   200   200
PATCH /v1/disks/{disk_id}                                                200   404   200   200   404   404   200   404
POST /v1/disks/{disk_id}/resize                                          400   404   400   400   404   404   400   404
POST /v1/disks                                                           409   404   409   409   404   404   409   404
POST /v1/disks/{disk_id}/attach                                          409   404   409   409   404   404   409   404
POST /v1/disks/{disk_id}/detach                                          409   404   409   409   404   404   409   404
DELETE /v1/disks/{disk_id}                                               409   404   409   409   404   404   409   404
GET /v1/snapshots                                                        200   200   200   200   404   404   200   200
GET /v1/snapshots/{snapshot_id}                                          200   200   200   200   404   404   200   200
POST /v1/snapshots                                                       409   404   409   409   404   404   409   404
PATCH /v1/snapshots/{snapshot_id}                                        200   404   200   200   404   404   200   404
DELETE /v1/snapshots/{snapshot_id}                                       409   404   409   409   404   404   409   404
POST /v1/snapshots/{snapshot_id}/image                                   409   404   409   409   404   404   409   404
GET /v1/nics                                                             200   200   200   200   404   404   200   200
GET /v1/nics/{nic_id}                                                    200   200   200   200   404   404   200   200
POST /v1/nics                                                            409   404   409   409   404   404   409   404
PATCH /v1/nics/{nic_id}                                                  409   404   409   409   404   404   409   404
DELETE /v1/nics/{nic_id}                                                 409   404   409   409   404   404   409   404
GET /v1/images/{image_id}                                                200   200   200   200   200   200   200   200
PATCH /v1/images/{image_id}                                              403   403   403   403   403   403   200   403
DELETE /v1/images/{image_id}                                             403   403   403   403   403   403   204   403
GET /v1/silos/{silo_id}/images                                           200   200   200   200   200   200   200   200
POST /v1/silos/{silo_id}/images                                          404   404   404   201   404   404   201   404
GET /v1/tenants/{tenant_id}/images                                       200   200   200   200   404   404   200   200
POST /v1/tenants/{tenant_id}/images                                      201   404   201   201   404   404   201   404
GET /v1/tenants/{tenant_id}/projects/{project_id}/images                 200   200   200   200   404   404   200   200
POST /v1/tenants/{tenant_id}/projects/{project_id}/images                201   404   201   201   404   404   201   404
GET /v1/ssh-keys/{key_id}                                                200   200   200   200   200   200   200   200
PATCH /v1/ssh-keys/{key_id}                                              403   403   403   403   403   403   200   403
DELETE /v1/ssh-keys/{key_id}                                             403   403   403   403   403   403   204   403
GET /v1/silos/{silo_id}/ssh-keys                                         200   200   200   200   200   200   200   200
POST /v1/silos/{silo_id}/ssh-keys                                        404   404   404   201   404   404   201   404
GET /v1/tenants/{tenant_id}/ssh-keys                                     200   200   200   200   404   404   200   200
POST /v1/tenants/{tenant_id}/ssh-keys                                    201   404   201   201   404   404   201   404
GET /v1/tenants/{tenant_id}/projects/{project_id}/ssh-keys               200   200   200   200   404   404   200   200
POST /v1/tenants/{tenant_id}/projects/{project_id}/ssh-keys              201   404   201   201   404   404   201   404
`;
const [HEAD = "", ...ROWS] = TABLE.trim().replace(/\n(?=\s)/g, "").split("\n");
const COLUMNS = HEAD.split(/\s+/).slice(1);
const EXPECTED = new Map(ROWS.map((row) => {
  const [method, path, ...cells] = row.split(/\s+/);
  return [`${method} ${path}`, cells];
}));

const REQUEST_ID = randomUUID();
const PASSWORD = "correct horse battery";

let t: TestControlPlane;
let routes: readonly RouteDescription[];
let silo: Objects;
let own: Objects;
const tokens = new Map<string, string | undefined>();

beforeAll(async () => {
  t = await openTestControlPlane();
  routes = readRoutes((await t.call("GET", "/openapi.json")).body).filter(isTenancy);
  const made = await makeObjects(t);
  await setQuota(made);
  own = { ...made, id: await newKey(made) };
  silo = { silo: own.silo!, silo_id: own.silo! };
  const sibling = okOf(await t.call("POST", `/v1/silos/${own.silo}/tenants`, { body: { name: "sibling" } }));
  for (const [column, tenant_id] of [["user", own.tenant], ["admin", own.tenant], ["mate", sibling.id]] as const) {
    const capabilities = column === "admin" ? ["silo-admin"] : [];
    const body = { username: column, password: PASSWORD, tenant_id, capabilities };
    okOf(await t.call("POST", "/v1/system/users", { body }));
    const login = await t.call("POST", "/v1/auth/login", { key: null, body: { username: column, password: PASSWORD } });
    tokens.set(column, okOf(login).access_token);
  }
  tokens.set("key", await tenantKey(own.tenant!, "full"));
  tokens.set("read", await tenantKey(own.tenant!, "read_only"));
  tokens.set("sibling", await tenantKey(sibling.id, "full"));
  tokens.set("root", undefined);
  tokens.set("rootread", (await t.mintKey("read_only")).secret);
}, 30_000);
afterAll(() => t.close());

async function tenantKey(tenant_id: string, scope: string): Promise<string> {
  const body = { description: "rights", scope };
  return okOf(await t.call("POST", `/v1/tenants/${tenant_id}/api-keys`, { body })).secret;
}

/**
 * Returns whether a route names a silo, a tenant or an object below a silo or tenant. tests/api/rights-matrix.test.ts
 * covers the routes of operators.
 */
function isTenancy({ path, parameters }: RouteDescription): boolean {
  if (path.startsWith("/v1/system/") || path.startsWith("/lab/")) return false;
  // A sign-in names a tenant and needs no credential.
  if (path.startsWith("/v1/auth/oidc/")) return false;
  return /\{(?!(?:server_uuid|cn_id|mac|id|key|seq|job_id|session_id|upload_id|token_sha256)\})\w+\}/.test(path) ||
    parameters.some(({ name }) => ["tenant", "vpc", "route_table", "instance", "subnet", "disk"].includes(name));
}

/** Creates the objects that a request of this route may change, so that the request does not affect other cells. */
async function fresh(route: RouteDescription): Promise<Objects> {
  const { method, path, name } = route;
  if (path.endsWith("/idp")) await setIdp();
  if (method === "GET") return own;
  // A port forward needs a gateway and an instance in one VPC. All cells use the gateway and the instance of `own`.
  if (path === "/v1/port-forwards") return own;
  if (path.startsWith("/v1/port-forwards/")) return { ...own, ...await makePortForward(t, own) };
  const inPath = [...path.matchAll(/\{(\w+?)(?:_id)?\}/g)].map(([, named = ""]) => named);
  const inQuery = [...selectorsOf(route, own).matchAll(/[?&](\w+)=/g)].map(([, named = ""]) => named);
  const named = [...inPath, ...inQuery, ...(name.endsWith("/route-table") ? ["route_table"] : [])];
  const isTenantItself = path.endsWith("/tenants/{tenant_id}");
  const within = isTenantItself ? silo : { ...silo, tenant: own.tenant!, tenant_id: own.tenant! };
  const objects = { ...own, ...await makeObjects(t, within, named) };
  if (path.endsWith("/quota")) await setQuota(objects);
  return path.endsWith("/api-keys/{id}") ? { ...objects, id: await newKey(objects) } : objects;
}

async function setIdp(): Promise<void> {
  const body = acceptedBodies["POST /v1/tenants/{tenant_id}/idp"]?.();
  okOf(await t.call("POST", `/v1/tenants/${own.tenant}/idp`, { body }));
}

async function setQuota({ tenant, project }: Objects): Promise<void> {
  const body = acceptedBodies["PUT /v1/tenants/{tenant_id}/projects/{project_id}/quota"]?.();
  for (const  of of[`/v1/tenants/${tenant}`, `/v1/tenants/${tenant}/projects/${project}`]) {
    okOf(await t.call("PUT", `${of}/quota`, { body }));
  }
}

/** Creates an API key and returns its id, for `{id}` in a path. */
async function newKey({ tenant }: Objects): Promise<string> {
  const body = { description: "to be deleted" };
  return okOf(await t.call("POST", `/v1/tenants/${tenant}/api-keys`, { body })).id;
}

/** Returns a valid body; for POST /v1/instances, a body with 0 CPUs. Most bodies come from acceptedBodies. */
function bodyOf({ name, body }: RouteDescription, objects: Objects): unknown {
  if (name === "PUT /v1/subnets/{subnet_id}/route-table") return { route_table_id: objects.route_table };
  if (name.endsWith("/attach")) return { nic_id: objects.nic };
  if (name === "POST /v1/instances") return { ...acceptedBodies[name]?.(), cpu: 0 };
  if (name === "POST /v1/nics") return acceptedBodies[name]?.(objects);
  return body === null ? undefined : acceptedBodies[name]?.(own);
}

async function ask(route: RouteDescription, column: string, objects: Objects): Promise<Answer> {
  const path = fill(route.path, objects).replace(/\{\w+\}/g, () => randomUUID());
  const body = bodyOf(route, objects);
  const headers = { "x-request-id": REQUEST_ID };
  return await t.call(route.method, path + selectorsOf(route, objects), { key: tokens.get(column), headers, body });
}

test("the table has exactly one row for each route that isTenancy selects", () => {
  expect([...EXPECTED.keys()].sort()).toEqual(routes.map(({ name }) => name).sort());
});

describe("S-01: each caller gets the status of the table", () => {
  test.each([...EXPECTED.keys()])("%s", async (name) => {
    const route = routes.find((each) => each.name === name)!;
    const found: Record<string, string> = {};
    for (const [index, column] of COLUMNS.entries()) {
      // A refused request changes nothing, so it can use the shared objects.
      const objects = /^4/.test(EXPECTED.get(name)?.[index] ?? "") ? own : await fresh(route);
      found[column] = String((await ask(route, column, objects)).status);
    }
    expect(found).toEqual(Object.fromEntries(COLUMNS.map((column, index) => [column, EXPECTED.get(name)?.[index]])));
  });
});

describe("S-02: another tenant's object looks like an object that does not exist", () => {
  const strip = ({ status, text, headers }: Answer) => ({
    status,
    text,
    headers: [...headers].filter(([header]) => header !== "date"),
  });

  test.each([...EXPECTED.keys()])("%s", async (name) => {
    const route = routes.find((each) => each.name === name)!;
    const absent = Object.fromEntries(Object.keys(own).map((key) => [key, randomUUID()]));
    for (const column of ["sibling", "mate"]) {
      const expected = EXPECTED.get(name)?.[COLUMNS.indexOf(column)];
      if (expected !== "404") continue;
      expect(strip(await ask(route, column, own))).toEqual(strip(await ask(route, column, absent)));
    }
  });
});

describe("S-04: the tenant comes only from the credential", () => {
  const theirs = () => `?tenant=${own.tenant}&project=${own.project}`;

  test("selectors of another tenant get 404, even with that tenant's X-Tenant-Id header", async () => {
    for (const column of ["sibling", "mate"]) {
      const key = tokens.get(column)!;
      const headers = { "x-tenant-id": own.tenant!, "x-request-id": REQUEST_ID };
      for (const path of [`/v1/vpcs${theirs()}`, `/v1/floating-ips${theirs()}`]) {
        expect((await t.call("GET", path, { key, headers })).status).toBe(404);
        expect((await t.call("POST", path, { key, headers, body: acceptedBodies["POST /v1/vpcs"]?.() })).status)
          .toBe(404);
      }
    }
  });

  test("a body cannot set the owner of a record", async () => {
    for (const field of ["tenant_id", "project_id", "id", "state", "project", "vni", "__proto__x"]) {
      const body = { ...acceptedBodies["POST /v1/vpcs"]?.(), [field]: randomUUID() };
      const answer = await t.call("POST", `/v1/vpcs${theirs()}`, { key: tokens.get("key"), body });
      expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining(field) } });
    }
  });

  test("a selector that is given twice gets 400", async () => {
    const path = `/v1/vpcs${theirs()}&tenant=${own.tenant}`;
    expect((await t.call("GET", path, { key: tokens.get("key") })).status).toBe(400);
  });

  test("a missing selector is reported before the rights check, to any authenticated caller", async () => {
    for (const column of COLUMNS) {
      const answer = await t.call("GET", `/v1/vpcs?project=${own.project}`, { key: tokens.get(column) });
      expect([column, answer.status, answer.body.error_code]).toEqual([column, 400, "MissingScope"]);
    }
    expect((await t.call("GET", "/v1/vpcs", { key: null })).status).toBe(401);
  });

  test("the silo selector is not accepted", async () => {
    const answer = await t.call("GET", `/v1/vpcs${theirs()}&silo=${own.silo}`, { key: tokens.get("key") });
    expect(answer).toMatchObject({ status: 400, body: { error_code: "ScopeNotAccepted" } });
  });
});
