// Creates networks of a tenant for tests, through the API with the tenant's key.
import { expect } from "vitest";
import type { FirewallRule, Route, RouteTable, Subnet, Vpc } from "../../src/contract/network.ts";
import { type Answer, okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";

type Fields = Readonly<Record<string, unknown>>;

export type Networks = ReturnType<typeof networksOf> & { readonly t: TestControlPlane };

/** Opens a control plane and creates one tenant in it. */
export async function openNetworks(): Promise<Networks> {
  const t = await openTestControlPlane();
  return { ...networksOf(await openTenant(t)), t };
}

let made = 0;
/** Returns a new name each time. */
const fresh = (what: string) => `${what}-${made += 1}`;

/**
 * Returns functions that create records of the tenant. Defaults: a new name and, for a VPC, an IPv4 and an IPv6 block.
 */
export function networksOf(tenant: TestTenant) {
  const { call, selectors } = tenant;
  const post = (path: string, body: Fields) => call("POST", path, { body });
  const tryVpc = (fields: Fields = {}) =>
    post(`/v1/vpcs${selectors}`, {
      name: fresh("vpc"),
      ipv4_block: "10.0.0.0/16",
      ipv6_block: "fd00:10::/48",
      ...fields,
    });
  const trySubnet = (vpc: string, fields: Fields) =>
    post(`/v1/subnets?vpc=${vpc}`, { name: fresh("subnet"), ...fields });
  const tryTable = (vpc: string, fields: Fields = {}) =>
    post(`/v1/route-tables?vpc=${vpc}`, { name: fresh("table"), ...fields });
  const tryRoute = (table: string, fields: Fields = {}) =>
    post(`/v1/routes?route_table=${table}`, {
      name: fresh("route"),
      destination: "0.0.0.0/0",
      target: { kind: "blackhole" },
      ...fields,
    });
  const tryRule = (vpc: string, fields: Fields = {}) =>
    post(`/v1/firewall-rules?vpc=${vpc}`, {
      name: fresh("rule"),
      action: "allow",
      direction: "inbound",
      priority: 100,
      ...fields,
    });
  return {
    tenant,
    call,
    tryVpc,
    trySubnet,
    tryTable,
    tryRoute,
    tryRule,
    vpc: async (fields?: Fields): Promise<Vpc> => created(await tryVpc(fields)),
    subnet: async (vpc: string, fields: Fields): Promise<Subnet> => created(await trySubnet(vpc, fields)),
    table: async (vpc: string, fields?: Fields): Promise<RouteTable> => created(await tryTable(vpc, fields)),
    route: async (table: string, fields?: Fields): Promise<Route> => created(await tryRoute(table, fields)),
    rule: async (vpc: string, fields?: Fields): Promise<FirewallRule> => created(await tryRule(vpc, fields)),
    show: async (path: string) => asWritten(okOf(await call("GET", path))),
    remove: async (path: string) => refusal(await call("DELETE", path)),
  };
}

/** Returns the view with null as `realized`, like the view in the response to a create or an update. */
// deno-lint-ignore no-explicit-any -- as Answer's body
export function asWritten(view: any): any {
  if ("items" in view) return { ...view, items: view.items.map(asWritten) };
  return "realized" in view ? { ...view, realized: null } : view;
}

// deno-lint-ignore no-explicit-any -- as Answer's body
function created(answer: Answer): any {
  if (answer.status !== 201) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.body;
}

/** Returns the status of a response, with code and message if it is an error. */
export function refusal({ status, body }: Answer): readonly unknown[] {
  return status < 300 ? [status] : [status, body.error_code, body.message];
}

export const bad = (message: string) => [400, "BadRequest", message];
export const clash = (message: string) => [409, "Conflict", message];
export const NOT_FOUND = [404, "NotFound", "Not Found"];

/** Invalid names, each with the reason. */
const BAD_NAMES: readonly (readonly [name: string, why: string])[] = [
  ["", "must be 1 to 63 bytes long"],
  ["a".repeat(64), "must be 1 to 63 bytes long"],
  ["ä".repeat(32), "must be 1 to 63 bytes long"],
  ["a/b", "must not contain / or \\"],
  ["a\\b", "must not contain / or \\"],
  ["a\u0007b", "must not contain control characters"],
  [" a", "must not begin or end with white space"],
  ["a ", "must not begin or end with white space"],
];

/** Expects `create` and `rename` to refuse every invalid name, and `rename` to accept the longest valid name. */
export async function expectNameRule(
  create: (fields: Fields) => Promise<Answer>,
  rename: (body: Fields) => Promise<Answer>,
): Promise<void> {
  for (const [name, why] of BAD_NAMES) {
    expect([name, refusal(await create({ name }))]).toEqual([name, clash(`name ${why}`)]);
    expect([name, refusal(await rename({ name }))]).toEqual([name, clash(`name ${why}`)]);
  }
  expect((await rename({ name: "ä".repeat(31) + "a" })).body.name).toBe("ä".repeat(31) + "a");
}
