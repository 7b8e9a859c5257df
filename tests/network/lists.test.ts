// Tests lists of networking records: whole, in pages, and without records of other tenants (docs/wire.md, "Lists").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SCAN_ROWS_MAX } from "../../src/contract/limits.ts";
import { encodePageToken } from "../../src/lib/ids/page-token.ts";
import { openTenant } from "../tenancy/tenant.ts";
import { type Networks, networksOf, NOT_FOUND, openNetworks, refusal } from "./networks.ts";

const RECORDS = 5;

type Family = {
  readonly name: string;
  /** The path of the list, with its selectors. */
  readonly list: string;
  /** The records as the API returned them at their creation, in the order of their ids. */
  readonly records: readonly { readonly id: string }[];
};

let n: Networks;
let vpc: string;
const families = new Map<string, Family>();

beforeAll(async () => {
  n = await openNetworks();
  const { id, main_route_table_id } = await n.vpc({ ipv4_block: "10.0.0.0/8" });
  vpc = id;
  const repeat = async <T>(make: (i: number) => Promise<T>) => {
    const all: T[] = [];
    for (let i = 0; i < RECORDS; i++) all.push(await make(i));
    return all;
  };
  const main = await n.show(`/v1/route-tables/${main_route_table_id}`);
  const add = (name: string, query: string, records: Family["records"]) => {
    const inOrder = records.toSorted((a, b) => a.id < b.id ? -1 : 1);
    families.set(name, { name, list: `/v1/${name}${query}`, records: inOrder });
  };
  add("subnets", `?vpc=${vpc}`, await repeat((i) => n.subnet(vpc, { ipv4_block: `10.0.${i}.0/24` })));
  add("route-tables", `?vpc=${vpc}`, [main, ...await repeat(() => n.table(vpc))]);
  const routes = await repeat((i) => n.route(main_route_table_id, { destination: `10.${i}.0.0/16` }));
  add("routes", `?route_table=${main_route_table_id}`, routes);
  add("firewall-rules", `?vpc=${vpc}`, await repeat(() => n.rule(vpc)));
  const first = await n.show(`/v1/vpcs/${vpc}`);
  add("vpcs", n.tenant.selectors, [first, ...await repeat(() => n.vpc())]);
});
afterAll(() => n.t.close());

const FAMILIES = ["vpcs", "subnets", "route-tables", "routes", "firewall-rules"];

describe.each(FAMILIES)("%s", (name) => {
  const of = () => families.get(name)!;

  test("without a limit are listed whole, each as it was created", async () => {
    expect(await n.show(of().list)).toEqual({ items: of().records });
  });

  test.each([1, 2, RECORDS, 1_000])("in pages of %i are listed once each, in order", async (limit) => {
    const { list, records } = of();
    const found: unknown[] = [];
    for (let token: string | undefined = "", pages = 0; token !== undefined; pages++) {
      expect(pages).toBeLessThanOrEqual(records.length);
      const answer: { items: unknown[]; next_page?: string } = await n.show(
        `${list}&limit=${limit}${token === "" ? "" : `&page_token=${token}`}`,
      );
      expect(answer.items.length).toBeLessThanOrEqual(limit);
      found.push(...answer.items);
      token = answer.next_page;
    }
    expect(found).toEqual(records);
  });

  test("a page token that is invalid or of another list is refused", async () => {
    for (const token of ["x", encodePageToken({ id: "1" }), encodePageToken({ name: randomUUID() }), "%20"]) {
      const answer = await n.call("GET", `${of().list}&limit=1&page_token=${token}`);
      expect([token, answer.status]).toEqual([token, 400]);
      expect(answer.body.message).toContain("page_token");
    }
  });

  test("of another tenant get 404: for list, show, update and delete", async () => {
    const stranger = networksOf(await openTenant(n.t));
    const { list, records } = of();
    const path = `/v1/${name}/${records[0]!.id}`;
    const missing = `/v1/${name}/${randomUUID()}`;
    expect(refusal(await stranger.call("GET", list))).toEqual(NOT_FOUND);
    for (const each of [path, missing]) {
      expect(refusal(await stranger.call("GET", each))).toEqual(NOT_FOUND);
      expect(refusal(await stranger.call("PATCH", each, { body: { name: "mine" } }))).toEqual(NOT_FOUND);
      expect(await stranger.remove(each)).toEqual(NOT_FOUND);
    }
    expect(await n.show(path)).toEqual(records[0]);
  });
});

test.each(["subnets", "route-tables", "firewall-rules"])(
  "a list of %s is complete if the request names the VPC's own project, and gets 404 with another project",
  async (name) => {
    const { list, records } = families.get(name)!;
    expect(refusal(await n.call("GET", `${list}&project=${randomUUID()}`))).toEqual(NOT_FOUND);
    expect(await n.show(`${list}&project=${n.tenant.project_id}`)).toEqual({ items: records });
  },
);

test("a selector that is not a UUID gets a 400 that names the selector", async () => {
  for (const [path, name] of [["subnets?vpc=x", "vpc"], ["routes?route_table=x", "route_table"]] as const) {
    const answer = await n.call("GET", `/v1/${path}`);
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(name)]);
  }
});

test(`a list of more than ${SCAN_ROWS_MAX} rows is refused as a whole and can be read in pages`, async () => {
  const { id } = await n.vpc();
  await n.t.db.query(
    `insert into firewall_rule (id, incarnation, version, state, tenant_id, project_id, vpc_id, name, description,
       priority, direction, action, protocol, created_at)
     select gen_random_uuid(), gen_random_uuid(), 1, 'live', tenant_id, project_id, id, 'rule ' || k, '',
       k % 65536, 'inbound', 'allow', 'any', berth_now() from vpc, generate_series(0, $2::int) k where id = $1`,
    [id, SCAN_ROWS_MAX],
  );
  const list = `/v1/firewall-rules?vpc=${id}`;
  expect(refusal(await n.call("GET", list))).toEqual([
    400,
    "ScanLimitExceeded",
    `the list holds more than ${SCAN_ROWS_MAX} rows; read it in pages with limit=`,
  ]);
  const page = await n.show(`${list}&limit=1000`);
  expect([page.items.length, typeof page.next_page]).toEqual([1_000, "string"]);
});
