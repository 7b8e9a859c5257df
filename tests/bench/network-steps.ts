// Builds one request of each kind that reads routes or firewall rules, for the check of query plans. A request lists,
// reads, creates, changes or deletes routes and rules, or removes another object. Before the database removes such an
// object, a guard or a foreign key reads routes or rules.
import type { Vpc } from "../../src/contract/network.ts";
import { encodePageToken } from "../../src/lib/ids/page-token.ts";
import { type Call, made, type NetworkSite } from "./network-site.ts";

export type Step = {
  readonly name: string;
  /** The tables that the plans must read. This proves that the request ran its queries. */
  readonly reads: readonly Table[];
  readonly run: () => Promise<unknown>;
};

type Table = "route" | "firewall_rule";
type Record = { readonly id: string };

export const PAGE_ROWS = 100;
export const LISTS = {
  route: (site: NetworkSite) => `/v1/routes?route_table=${site.route_table_id}`,
  firewall_rule: (site: NetworkSite) => `/v1/firewall-rules?vpc=${site.vpc_id}`,
} as const;
export const RECORDS = { route: "/v1/routes", firewall_rule: "/v1/firewall-rules" } as const;
export const TABLES: readonly Table[] = ["route", "firewall_rule"];

export const firstPage = (site: NetworkSite, table: Table) => `${LISTS[table](site)}&limit=${PAGE_ROWS}`;
export const pageAfter = (site: NetworkSite, table: Table, id: string) =>
  `${firstPage(site, table)}&page_token=${encodePageToken({ id })}`;
export const idsOf = (site: NetworkSite, table: Table) => table === "route" ? site.routes : site.rules;

/** The first number that callers may pass to bodyOf. The steps of this file use smaller numbers. */
export const FREE_NUMBERS = 2;

/** Returns the body of a create request. It differs for each number. */
export function bodyOf(table: Table, number: number): object {
  const name = `made-${number}`;
  // These are IPv6 networks. They conflict with no existing row, because all existing rows have IPv4 networks.
  const network = `fd01:${(number >> 16).toString(16)}:${(number & 0xffff).toString(16)}::/64`;
  return table === "route"
    ? { name, destination: network, target: { kind: "blackhole" } }
    : { name, action: "allow", direction: "inbound", priority: 100, protocol: "tcp", destination_cidr: network };
}

/** Returns all steps for a site. They must run once and in this order. */
export function networkSteps(site: NetworkSite): readonly Step[] {
  return [...recordSteps(site), ...guardSteps(site)];
}

/** Returns the requests about routes and rules themselves. */
export function recordSteps(site: NetworkSite): readonly Step[] {
  const expectStatus = expecting(site.call);
  return TABLES.flatMap((table): Step[] => {
    let id = "";
    const middle = idsOf(site, table)[idsOf(site, table).length >> 1]!;
    const list = LISTS[table](site);
    const step = (name: string, run: () => Promise<unknown>) => ({ name: `${table}: ${name}`, reads: [table], run });
    return [
      step("the first page", () => expectStatus(200, "GET", firstPage(site, table))),
      step("a page in the middle", () => expectStatus(200, "GET", pageAfter(site, table, middle))),
      step("the whole list, which is refused because it is too long", () => expectStatus(400, "GET", list)),
      step("one record", () => expectStatus(200, "GET", `${RECORDS[table]}/${middle}`)),
      step("create", async () => {
        id = (await made<Record>(site.call, list, bodyOf(table, 1))).id;
      }),
      step("create with a name or destination that is in use", () => expectStatus(409, "POST", list, bodyOf(table, 1))),
      step("rename", () => expectStatus(200, "PATCH", `${RECORDS[table]}/${id}`, { name: "renamed" })),
      step("delete", () => expectStatus(204, "DELETE", `${RECORDS[table]}/${id}`)),
    ];
  });
}

/**
 * Returns the requests that remove another object, and the requests that prepare the removals. Before a removal, the
 * database reads routes or rules, because some routes and rules prevent the removal.
 */
export function guardSteps(site: NetworkSite): readonly Step[] {
  const { call, vpc_id, project_id, tenant_id } = site;
  const expectStatus = expecting(call);
  const held: { [name: string]: string } = {};
  const keep = async (name: string, answer: Promise<Record>) => void (held[name] = (await answer).id);
  const selectors = `?tenant=${tenant_id}&project=${project_id}`;
  const routeOf = (table: string, fields: object) =>
    made<Record>(call, `/v1/routes?route_table=${table}`, { ...bodyOf("route", 0), ...fields });
  return [
    {
      name: "create a second route table and a route in this table",
      reads: [],
      run: async () => {
        await keep("table", made(call, `/v1/route-tables?vpc=${vpc_id}`, { name: "second" }));
        await keep("route", routeOf(held.table!, {}));
      },
    },
    {
      name: "delete a route table, which is refused because of a route",
      reads: ["route"],
      run: () => expectStatus(409, "DELETE", `/v1/route-tables/${held.table}`),
    },
    {
      name: "delete a route table that is unused",
      reads: ["route"],
      run: async () => {
        await expectStatus(204, "DELETE", `/v1/routes/${held.route}`);
        await expectStatus(204, "DELETE", `/v1/route-tables/${held.table}`);
      },
    },
    {
      name: "create a NAT gateway and a route to this gateway",
      reads: [],
      run: async () => {
        await keep("gateway", made(call, `/v1/nat-gateways?vpc=${vpc_id}`, { name: "gateway" }));
        const target = { kind: "nat_gateway", nat_gateway_id: held.gateway };
        await keep("route", routeOf(site.route_table_id, { target }));
      },
    },
    {
      name: "delete a NAT gateway, which is refused because of a route",
      reads: ["route"],
      run: () => expectStatus(409, "DELETE", `/v1/nat-gateways/${held.gateway}`),
    },
    {
      name: "delete a NAT gateway that is unused",
      reads: ["route"],
      run: async () => {
        await expectStatus(204, "DELETE", `/v1/routes/${held.route}`);
        await expectStatus(204, "DELETE", `/v1/nat-gateways/${held.gateway}`);
      },
    },
    {
      name: "delete a VPC, which is refused because of a firewall rule",
      reads: ["firewall_rule"],
      run: () => expectStatus(409, "DELETE", `/v1/vpcs/${vpc_id}`),
    },
    {
      name: "delete another VPC with a route in its main table",
      reads: ["route", "firewall_rule"],
      run: async () => {
        const vpc = await made<Vpc>(call, `/v1/vpcs${selectors}`, { name: "small", ipv6_block: "fd01::/16" });
        await routeOf(vpc.main_route_table_id, {});
        await expectStatus(204, "DELETE", `/v1/vpcs/${vpc.id}`);
      },
    },
    {
      name: "delete the project, which is refused because of a VPC",
      reads: [],
      run: () => expecting(site.asRoot)(409, "DELETE", `/v1/tenants/${tenant_id}/projects/${project_id}`),
    },
  ];
}

function expecting(call: Call) {
  return async (status: number, method: string, path: string, body?: unknown): Promise<void> => {
    const answer = await call(method, path, body);
    if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  };
}
