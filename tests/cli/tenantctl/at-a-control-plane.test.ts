// Tests the networking commands and the logins of tenantctl with a real control plane.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../../support/control-plane.ts";
import { openTenant, type TestTenant } from "../../tenancy/tenant.ts";
import { serverOf } from "../at-control-plane.ts";
import { ENDPOINT, type FakeOptions } from "../fake-environment.ts";
import { type Ran, tenantctl } from "./run.ts";

const PASSWORD = "correct horse battery";
const ABSENT = "00000000-0000-4000-8000-000000000000";
let t: TestControlPlane;
let tenant: TestTenant;
let env: Record<string, string>;

beforeAll(async () => {
  t = await openTestControlPlane({ env: { BERTH_LOGIN_PER_MINUTE: "1000000" } });
  tenant = await openTenant(t, "acme");
  env = {
    TENANTCTL_ENDPOINT: ENDPOINT,
    TENANTCTL_API_KEY: tenant.key,
    TENANTCTL_TENANT: tenant.tenant_id,
    TENANTCTL_PROJECT: tenant.project_id,
    NO_COLOR: "1",
  };
});
afterAll(() => t?.close());

const at = (argv: string, options: FakeOptions = {}): Promise<Ran> =>
  tenantctl(argv.split(" "), { env, server: serverOf(t), newId: randomUUID, ...options });

async function printed(argv: string, options: FakeOptions = {}): Promise<string> {
  const ran = await at(argv, options);
  expect(ran.code, `tenantctl ${argv}: ${ran.err()}`).toBe(0);
  return ran.out();
}

async function json(argv: string, options: FakeOptions = {}) {
  return JSON.parse(await printed(`${argv} -o json`, options));
}

async function refused(argv: string, options: FakeOptions = {}): Promise<string> {
  const ran = await at(argv, options);
  expect(ran.code, ran.out()).not.toBe(0);
  expect(ran.out()).toBe("");
  return ran.err();
}

test("a tenant creates the records of a network, finds them by name, and changes and deletes them", async () => {
  const vpc = await json("vpc create --name web --ipv4-block 10.0.0.5/16 --ipv6-block fd00::/48");
  expect(vpc).toMatchObject({ name: "web", ipv4_block: "10.0.0.0/16", project: tenant.project_id });
  const shown = await printed("vpc show web");
  expect(shown).toContain(`name:         web\n`);
  expect(shown).toContain(`ipv4_block:   10.0.0.0/16\n`);
  expect(shown).toContain(`project:      ${tenant.project_id}\n`);
  expect(await printed("vpc list -q")).toBe(`${vpc.id}\n`);

  const dmz = await json("subnet create --vpc web --name dmz --ipv4-block 10.0.1.0/24");
  const db = await json("subnet create --vpc web --name db --ipv4-block 10.0.2.0/24 --ipv6-block fd00:0:0:1::/64");
  expect((await json("subnet list --vpc web")).items.map(({ name }: { name: string }) => name)).toEqual(["dmz", "db"]);
  expect(dmz.route_table_id).toBe(vpc.main_route_table_id);

  const gateway = await json("nat-gateway create --vpc web --name egress --family IPV4");
  expect(await printed("nat-gateway list --vpc web --no-headers -o wide")).toBe(
    `egress  ${gateway.id}  ${gateway.public_address}  -        -            no node\n`,
  );
  const second = await json("route-table create --vpc web --name second --description other");
  expect(await printed(`subnet set-route-table db --vpc web --route-table second`)).toBe(
    `Subnet ${db.id} uses route table ${second.id}\n`,
  );
  const route = await json(
    "route create --vpc web --route-table main --name default --destination 0.0.0.0/0 --target-nat-gateway egress",
  );
  expect(route.target).toEqual({ kind: "nat_gateway", nat_gateway_id: gateway.id });
  for (const [name, flag] of [["a", "blackhole"], ["b", "reject"], ["c", "virtual-gateway"]]) {
    const argv = `route create --vpc web --route-table second --name ${name}`;
    const made = await json(`${argv} --destination 192.168.${name!.charCodeAt(0)}.1/24 --target-${flag}`);
    expect(made.target).toEqual({ kind: flag!.replace("-", "_") });
    expect(await printed(`route delete ${name} --vpc web --route-table second`)).toBe(`Route ${made.id} deleted.\n`);
  }
  const rule = await json(
    "firewall-rule create --vpc web --name http --action allow --direction in --priority 100 --protocol tcp " +
      "--destination-ports 80-443 --source-ports 1024 --destination-cidr 10.0.1.7/24 --source-cidr 0.0.0.0/0",
  );
  expect(rule).toMatchObject({
    direction: "inbound",
    source_ports: { low: 1_024, high: 1_024 },
    destination_ports: { low: 80, high: 443 },
    destination_cidr: "10.0.1.0/24",
  });
  const ip = await json("floating-ip create --name www --family ipv6");
  expect(ip).toMatchObject({ family: "v6", attached_to: null });

  expect(await printed("vpc update web --name front --description shop")).toMatch(/^name: +front$/m);
  expect(await json("subnet update dmz --vpc front --description edge")).toMatchObject({ description: "edge" });
  expect(await json("nat-gateway update egress --vpc front --name out")).toMatchObject({ name: "out" });
  expect(await json("route-table update second --vpc front --name third")).toMatchObject({ name: "third" });
  expect(await json(`route update ${route.id} --name all`)).toMatchObject({ name: "all" });
  expect(await json(`firewall-rule update ${rule.id} --description web`)).toMatchObject({ description: "web" });
  expect(await json("floating-ip update www --name shop")).toMatchObject({ name: "shop", address: ip.address });

  expect(await refused("vpc delete front")).toContain("(Conflict, request ");
  expect(await refused("nat-gateway delete out --vpc front")).toContain(
    `nat gateway ${gateway.id} is still referenced by routes`,
  );
  expect(await printed("route delete all --vpc front --route-table main")).toBe(`Route ${route.id} deleted.\n`);
  expect(await printed("nat-gateway delete out --vpc front")).toBe(`NAT gateway ${gateway.id} deleted.\n`);
  expect(await printed("subnet delete db --vpc front")).toBe(`Subnet ${db.id} deleted.\n`);
  expect(await printed(`subnet delete ${dmz.id} -o json`)).toBe(`Subnet ${dmz.id} deleted.\n`);
  expect(await printed("route-table delete third --vpc front")).toBe(`Route table ${second.id} deleted.\n`);
  expect(await printed("firewall-rule delete http --vpc front")).toBe(`FirewallRule ${rule.id} deleted.\n`);
  expect(await printed("floating-ip delete shop")).toBe(`Floating IP ${ip.id} deleted.\n`);
  expect(await printed("vpc delete front")).toBe(`Vpc ${vpc.id} deleted.\n`);
  expect(await printed("vpc list")).toBe("(no VPCs)\n");
});

test("a request without a required selector prints the server's 400 with a hint", async () => {
  const { TENANTCTL_TENANT: _tenant, TENANTCTL_PROJECT: _project, ...own } = env;
  // This needs an operator's key, because a tenant's key selects its tenant.
  const bare = { ...own, TENANTCTL_API_KEY: ROOT_KEY };
  const project = `--project ${tenant.project_id}`;
  expect(await printed(`vpc list ${project}`, { env: own })).toBe("(no VPCs)\n");
  const blocks = "--ipv4-block 10.0.0.0/8";
  for (
    const [argv, hint] of [
      [`vpc list ${project}`, "pass --tenant (or TENANTCTL_TENANT)"],
      [`vpc create --name x ${blocks} ${project}`, "pass --tenant (or TENANTCTL_TENANT)"],
      [`floating-ip list`, "pass --tenant (or TENANTCTL_TENANT) and --project (or TENANTCTL_PROJECT)"],
      [`floating-ip create --name x ${project}`, "pass --tenant (or TENANTCTL_TENANT)"],
      ["nat-gateway list", "pass --vpc"],
      ["route-table list", "pass --vpc"],
      ["route-table create --name x", "pass --vpc"],
      ["firewall-rule list", "pass --vpc"],
      ["firewall-rule create --name x --action deny --direction out --priority 0", "pass --vpc"],
      ["route list", "pass --route-table"],
      ["route create --name x --destination 0.0.0.0/0 --target-reject", "pass --route-table"],
    ] as const
  ) {
    expect(await refused(argv, { env: bare }), argv).toContain(`; ${hint} (MissingScope, request `);
  }
});

test("a missing record is not found, and a VPC is not found in another project", async () => {
  for (const noun of ["vpc", "subnet", "nat-gateway", "floating-ip", "route-table", "route", "firewall-rule"]) {
    const ran = await at(`${noun} show ${ABSENT}`);
    expect([ran.code, noun]).toEqual([3, noun]);
    expect(ran.err()).toMatch(/^error: Not Found \(NotFound, request /);
  }
  const vpc = await json("vpc create --name other --ipv6-block fd01::/48");
  expect((await at(`firewall-rule list --vpc ${vpc.id} --project ${ABSENT}`)).code).toBe(3);
  expect((await at(`firewall-rule list --vpc ${vpc.id}`)).code).toBe(0);
});

test("a user logs in with a password, works in the tenant of the token, and logs out; then the token is invalid", async () => {
  const body = { username: "ada", password: PASSWORD, tenant_id: tenant.tenant_id };
  expect((await t.call("POST", "/v1/system/users", { body })).status).toBe(201);
  const login = await at(`login --endpoint ${ENDPOINT} --username ada`, { env: {}, typed: PASSWORD });
  expect(login.out()).toBe(`Logged in to ${ENDPOINT} as ada\n`);
  const session = { env: { NO_COLOR: "1" }, home_dir: login.home_dir };
  expect(await printed("whoami", session)).toContain(`tenant_id:  ${tenant.tenant_id}\n`);
  expect(await printed("project list --no-headers -o wide", session)).toContain(`acme-project  ${tenant.project_id}  `);
  await printed("vpc create --name mine --ipv4-block 10.9.0.0/16 --project acme-project", session);
  expect(await printed("vpc show mine --project acme-project --tenant acme", session)).toMatch(/^name: +mine$/m);
  const { TENANTCTL_ACCESS_TOKEN: token = "" } = await json("env", session);

  const { exp } = await json("whoami", session);
  // Without this pause the old and the new token could be equal, because tokens contain times in whole seconds.
  await t.advance(5);
  const late = { ...session, wall_ms: exp * 1_000 - 59_999 };
  expect((await json("env", late)).TENANTCTL_ACCESS_TOKEN).not.toBe(token);
  expect(await printed("logout", session)).toBe("Logged out; the session has ended\n");
  const exported = { env: { TENANTCTL_ENDPOINT: ENDPOINT, TENANTCTL_ACCESS_TOKEN: token } };
  expect((await at("project list", exported)).code).toBe(4);
});

test("a saved key selects its tenant", async () => {
  const login = await at(`login --endpoint ${ENDPOINT} --api-key-stdin`, { env: {}, typed: tenant.key });
  expect(login.code, login.err()).toBe(0);
  const session = { env: {}, home_dir: login.home_dir };
  expect((await json("project list", session)).items.map(({ id }: { id: string }) => id)).toEqual([tenant.project_id]);
  expect(await printed("quota show --project acme-project -o table", session)).toMatch(/^instances +- +0 +-$/m);
});
