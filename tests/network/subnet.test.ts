// Tests subnets (docs/networking.md).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { POOL_OFFSET_MAX } from "../../src/contract/limits.ts";
import { openTenant } from "../tenancy/tenant.ts";
import { bad, clash, expectNameRule, type Networks, networksOf, NOT_FOUND, openNetworks, refusal } from "./networks.ts";

let n: Networks;
beforeAll(async () => {
  n = await openNetworks();
});
afterAll(() => n.t.close());

describe("create", () => {
  test("returns the record, and the subnet uses the VPC's main route table", async () => {
    const vpc = await n.vpc();
    const blocks = { ipv4_block: "10.0.1.9/24", ipv6_block: "fd00:10:0:1::9/64" };
    const answer = await n.trySubnet(vpc.id, { name: "web", description: "front", ...blocks });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: answer.body.id,
      tenant_id: vpc.tenant_id,
      project_id: vpc.project_id,
      vpc_id: vpc.id,
      vpc: vpc.id,
      route_table_id: vpc.main_route_table_id,
      name: "web",
      description: "front",
      labels: {},
      ipv4_block: "10.0.1.0/24",
      ipv6_block: "fd00:10:0:1::/64",
      kind: "internal",
      nic_tag: null,
      vlan_id: null,
      provision_start_ipv4: null,
      provision_end_ipv4: null,
      provision_start_ipv6: null,
      provision_end_ipv6: null,
      realized: null,
      created_at: answer.body.created_at,
    });
    expect(await n.show(`/v1/subnets/${answer.body.id}`)).toEqual(answer.body);
  });

  test("may span the whole VPC, and adjacent blocks are allowed", async () => {
    const whole = await n.vpc();
    await n.subnet(whole.id, { ipv4_block: "10.0.0.0/16", ipv6_block: "fd00:10::/48" });
    const halves = await n.vpc();
    await n.subnet(halves.id, { ipv4_block: "10.0.0.0/17" });
    await n.subnet(halves.id, { ipv4_block: "10.0.128.0/17" });
  });

  test("the same block in another VPC is allowed", async () => {
    for (const vpc of [await n.vpc(), await n.vpc()]) await n.subnet(vpc.id, { ipv4_block: "10.0.1.0/24" });
  });

  test("without a block is refused", async () => {
    const { id } = await n.vpc();
    expect(refusal(await n.trySubnet(id, {}))).toEqual(bad("subnet must specify ipv4_block, ipv6_block, or both"));
  });

  test.each([
    ["10.1.0.0/24", "10.1.0.0/24 is not inside 10.0.0.0/16, the block of the vpc"],
    ["10.0.0.0/15", "10.0.0.0/15 is not inside 10.0.0.0/16, the block of the vpc"],
    ["fd00:11::/64", "fd00:11::/64 is not inside fd00:10::/48, the block of the vpc"],
    ["fd00::/32", "fd00::/32 is not inside fd00:10::/48, the block of the vpc"],
  ])("%s, which is not inside the VPC's block, is refused", async (block, message) => {
    const { id } = await n.vpc();
    const field = block.includes(":") ? "ipv6_block" : "ipv4_block";
    expect(refusal(await n.trySubnet(id, { [field]: block }))).toEqual(clash(message));
  });

  test("a family without a block in the VPC is refused", async () => {
    const v4 = await n.vpc({ ipv6_block: null });
    expect(refusal(await n.trySubnet(v4.id, { ipv4_block: "10.0.1.0/24", ipv6_block: "fd00::/64" }))).toEqual(
      clash("fd00::/64 is IPv6, and the vpc has no ipv6_block"),
    );
    const v6 = await n.vpc({ ipv4_block: null });
    expect(refusal(await n.trySubnet(v6.id, { ipv4_block: "10.0.1.0/24" }))).toEqual(
      clash("10.0.1.0/24 is IPv4, and the vpc has no ipv4_block"),
    );
  });

  test.each([
    ["10.0.1.0/24", "the same"],
    ["10.0.1.128/25", "inside it"],
    ["10.0.0.0/23", "around it"],
  ])("%s overlaps another subnet (%s) and is refused with that subnet's name", async (ipv4_block) => {
    const { id } = await n.vpc();
    const peer = await n.subnet(id, { name: "peer", ipv4_block: "10.0.1.0/24" });
    expect(refusal(await n.trySubnet(id, { ipv4_block }))).toEqual(
      clash(`${ipv4_block} overlaps 10.0.1.0/24 of subnet peer (${peer.id}) in the same vpc`),
    );
  });

  test("an overlap in one family is refused, even if the block of the other family is free", async () => {
    const { id } = await n.vpc();
    const peer = await n.subnet(id, { name: "peer", ipv4_block: "10.0.1.0/24", ipv6_block: "fd00:10:0:1::/64" });
    const answer = await n.trySubnet(id, { ipv4_block: "10.0.2.0/24", ipv6_block: "fd00:10:0:1:8000::/65" });
    expect(refusal(answer)).toEqual(
      clash(`fd00:10:0:1:8000::/65 overlaps fd00:10:0:1::/64 of subnet peer (${peer.id}) in the same vpc`),
    );
  });

  test.each(["10.0.1.0/31", "10.0.1.1/32", "fd00:10::/127", "fd00:10::1/128"])(
    "%s is too small for one host and is refused",
    async (block) => {
      const { id } = await n.vpc();
      const field = block.includes(":") ? "ipv6_block" : "ipv4_block";
      expect(refusal(await n.trySubnet(id, { [field]: block }))).toEqual(
        bad(`${block} is too small: it has no address for a host`),
      );
    },
  );

  test("a duplicate name in the VPC is refused; in another VPC it is allowed", async () => {
    const { id } = await n.vpc();
    await n.subnet(id, { name: "twice", ipv4_block: "10.0.1.0/24" });
    expect(refusal(await n.trySubnet(id, { name: "twice", ipv4_block: "10.0.2.0/24" }))).toEqual(
      clash("a subnet named twice already exists in this vpc"),
    );
    await n.subnet((await n.vpc()).id, { name: "twice", ipv4_block: "10.0.1.0/24" });
  });

  test("names follow the name rule", async () => {
    const vpc = await n.vpc();
    const { id } = await n.subnet(vpc.id, { ipv4_block: "10.0.1.0/24" });
    await expectNameRule(
      (fields) => n.trySubnet(vpc.id, { ipv4_block: "10.0.2.0/24", ...fields }),
      (body) => n.call("PATCH", `/v1/subnets/${id}`, { body }),
    );
  });

  test.each(["GET", "POST"])("%s without a VPC gets 400 MissingScope", async (method) => {
    const answer = await n.call(method, "/v1/subnets", method === "POST" ? { body: {} } : {});
    expect(refusal(answer)).toEqual([400, "MissingScope", `${method} /v1/subnets requires \`?vpc=<uuid>\``]);
  });

  test("in another tenant's VPC gets 404, like a create in a VPC that does not exist", async () => {
    const other = await networksOf(await openTenant(n.t)).vpc();
    for (const vpc of [other.id, randomUUID()]) {
      expect(refusal(await n.trySubnet(vpc, { ipv4_block: "10.0.1.0/24" }))).toEqual(NOT_FOUND);
      expect(refusal(await n.call("GET", `/v1/subnets?vpc=${vpc}`))).toEqual(NOT_FOUND);
    }
  });
});

describe("the address pools", () => {
  const poolsOf = async (id: string) =>
    (await n.t.db.query(
      `select p.id, host(p.base) as base, r.low, r.high from pool p join pool_range r on r.pool_id = p.id
        where p.id in ($1, $2) order by p.id`,
      [`subnet:${id}:v4`, `subnet:${id}:v6`],
    )).rows;

  test("leave out the network address, the gateway and the broadcast address", async () => {
    const { id } = await n.subnet((await n.vpc()).id, { ipv4_block: "10.0.1.0/24", ipv6_block: "fd00:10::/126" });
    expect(await poolsOf(id)).toEqual([
      { id: `subnet:${id}:v4`, base: "10.0.1.0", low: 2, high: 254 },
      { id: `subnet:${id}:v6`, base: "fd00:10::", low: 2, high: 3 },
    ]);
  });

  test("have one address in the smallest IPv4 subnet, and end at POOL_OFFSET_MAX in a /64 IPv6 subnet", async () => {
    const { id } = await n.subnet((await n.vpc()).id, { ipv4_block: "10.0.1.0/30", ipv6_block: "fd00:10::/64" });
    expect(await poolsOf(id)).toMatchObject([{ low: 2, high: 2 }, { low: 2, high: POOL_OFFSET_MAX }]);
  });

  test("exist only for the families of the subnet, and are deleted with the subnet", async () => {
    const { id } = await n.subnet((await n.vpc()).id, { ipv6_block: "fd00:10::/64" });
    expect((await poolsOf(id)).map((pool) => pool.id)).toEqual([`subnet:${id}:v6`]);
    expect(await n.remove(`/v1/subnets/${id}`)).toEqual([204]);
    expect(await poolsOf(id)).toEqual([]);
  });
});

describe("the database itself", () => {
  test("refuses a subnet that is outside the VPC's block, overlaps another subnet or belongs to another project", async () => {
    const vpc = await n.vpc();
    const { id } = await n.subnet(vpc.id, { ipv4_block: "10.0.1.0/24" });
    const other = await n.subnet(vpc.id, { ipv4_block: "10.0.2.0/24" });
    const foreign = await openTenant(n.t);
    const set = (change: string) => n.t.db.query(`update subnet set ${change} where id = '${id}'`);
    await expect(set("ipv4_block = '10.1.0.0/24'")).rejects.toMatchObject({ code: "23514" });
    await expect(set("ipv4_block = '10.1.0.0/24', vpc_ipv4_block = '10.1.0.0/16'")).rejects.toMatchObject({
      constraint: "subnet_ipv4_plan_fkey",
    });
    await expect(set(`ipv4_block = '${other.ipv4_block}'`)).rejects.toMatchObject({ constraint: "subnet_ipv4_apart" });
    await expect(set(`tenant_id = '${foreign.tenant_id}', project_id = '${foreign.project_id}'`)).rejects
      .toMatchObject({ constraint: "subnet_vpc_fkey" });
  });
});

describe("the route table of a subnet", () => {
  test("can change to another table of its VPC, and back to the main table", async () => {
    const vpc = await n.vpc();
    const { id, route_table_id } = await n.subnet(vpc.id, { ipv4_block: "10.0.1.0/24" });
    const table = await n.table(vpc.id);
    const path = `/v1/subnets/${id}/route-table`;
    const moved = await n.call("PUT", path, { body: { route_table_id: table.id } });
    expect([moved.status, moved.body.route_table_id]).toEqual([200, table.id]);
    expect(await n.show(`/v1/subnets/${id}`)).toEqual(moved.body);
    expect((await n.call("PUT", path, { body: { route_table_id: table.id } })).body).toEqual(moved.body);
    expect((await n.call("PUT", path, { body: { route_table_id } })).body.route_table_id).toBe(route_table_id);
  });

  test("of another VPC is refused; a table that does not exist or is another tenant's gets 404", async () => {
    const vpc = await n.vpc();
    const { id } = await n.subnet(vpc.id, { ipv4_block: "10.0.1.0/24" });
    const put = async (route_table_id: string) =>
      refusal(await n.call("PUT", `/v1/subnets/${id}/route-table`, { body: { route_table_id } }));
    const { main_route_table_id } = await n.vpc();
    expect(await put(main_route_table_id)).toEqual(
      bad(`route table ${main_route_table_id} is not in vpc ${vpc.id}`),
    );
    expect(await put((await networksOf(await openTenant(n.t)).vpc()).main_route_table_id)).toEqual(NOT_FOUND);
    expect(await put(randomUUID())).toEqual(NOT_FOUND);
  });
});

test("a subnet can get a description and a name that is not in use, and can be deleted only once", async () => {
  const vpc = await n.vpc();
  await n.subnet(vpc.id, { name: "taken", ipv4_block: "10.0.1.0/24" });
  const { id } = await n.subnet(vpc.id, { ipv4_block: "10.0.2.0/24" });
  const path = `/v1/subnets/${id}`;
  const patched = await n.call("PATCH", path, { body: { name: "db", description: "rows" } });
  expect(patched.body).toMatchObject({ id, name: "db", description: "rows", ipv4_block: "10.0.2.0/24" });
  expect(await n.show(path)).toEqual(patched.body);
  expect(refusal(await n.call("PATCH", path, { body: { name: "taken" } }))).toEqual(
    clash("a subnet named taken already exists in this vpc"),
  );
  expect(await n.remove(path)).toEqual([204]);
  expect(await n.remove(path)).toEqual(NOT_FOUND);
});
