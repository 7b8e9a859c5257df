// Tests routes (docs/networking.md, "Routes").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { openTenant } from "../tenancy/tenant.ts";
import { bad, clash, expectNameRule, type Networks, networksOf, NOT_FOUND, openNetworks, refusal } from "./networks.ts";

let n: Networks;
beforeAll(async () => {
  n = await openNetworks();
});
afterAll(() => n.t.close());

test.each(["blackhole", "reject", "virtual_gateway"])(
  "creating a route to %s returns the same record as GET",
  async (kind) => {
    const vpc = await n.vpc();
    const table = vpc.main_route_table_id;
    const route = await n.route(table, { name: "r", description: "d", destination: "192.0.2.0/24", target: { kind } });
    expect(route).toEqual({
      id: route.id,
      tenant_id: vpc.tenant_id,
      project_id: vpc.project_id,
      vpc_id: vpc.id,
      vpc: vpc.id,
      route_table_id: table,
      route_table: table,
      name: "r",
      description: "d",
      labels: {},
      destination: "192.0.2.0/24",
      target: { kind },
      realized: null,
      created_at: route.created_at,
    });
    expect(await n.show(`/v1/routes/${route.id}`)).toEqual(route);
  },
);

describe("the destination", () => {
  test.each([
    ["10.0.1.5/24", "10.0.1.0/24"],
    ["10.0.1.5/0", "0.0.0.0/0"],
    ["2001:DB8::5/64", "2001:db8::/64"],
    ["::1.2.3.4/120", "::102:300/120"],
  ])("%s is stored as %s, and a second route to it is refused", async (destination, network) => {
    const table = (await n.vpc()).main_route_table_id;
    const route = await n.route(table, { destination });
    expect(route.destination).toBe(network);
    expect((await n.show(`/v1/routes/${route.id}`)).destination).toBe(network);
    expect(refusal(await n.tryRoute(table, { destination: network, target: { kind: "reject" } }))).toEqual(
      clash(`the route table already has a route to ${network}`),
    );
  });

  test("may be in another table too, and inside another destination", async () => {
    const vpc = await n.vpc();
    await n.route(vpc.main_route_table_id, { destination: "10.0.0.0/8" });
    await n.route(vpc.main_route_table_id, { destination: "10.0.0.0/9" });
    await n.route((await n.table(vpc.id)).id, { destination: "10.0.0.0/8" });
  });

  test("of a family without a block in the VPC is refused", async () => {
    const { main_route_table_id } = await n.vpc({ ipv4_block: null });
    expect(refusal(await n.tryRoute(main_route_table_id, { destination: "0.0.0.0/0" }))).toEqual(
      clash("0.0.0.0/0 is IPv4, and the vpc has no ipv4_block"),
    );
  });

  test("that is an IPv4-mapped IPv6 network is refused", async () => {
    const { main_route_table_id } = await n.vpc();
    expect(refusal(await n.tryRoute(main_route_table_id, { destination: "::ffff:10.0.0.0/104" }))).toEqual(
      bad("destination ::ffff:10.0.0.0/104 is not an IPv4 or IPv6 network; use for example 10.0.0.0/24"),
    );
  });
});

describe("the target", () => {
  const toGateway = (id: string) => ({ target: { kind: "nat_gateway", nat_gateway_id: id } });

  test("floating_ip is reserved for the system", async () => {
    const { main_route_table_id } = await n.vpc();
    const target = { kind: "floating_ip", floating_ip_id: randomUUID() };
    expect(refusal(await n.tryRoute(main_route_table_id, { target }))).toEqual(
      bad("floating ip route targets are system-installed only in v1"),
    );
  });

  test("nat_gateway must belong to the same VPC", async () => {
    const [vpc, other] = [await n.vpc(), await n.vpc()];
    const make = async (at: string) =>
      okOf(await n.call("POST", `/v1/nat-gateways?vpc=${at}`, { body: { name: "out" } })).id as string;
    const [mine, elsewhere] = [await make(vpc.id), await make(other.id)];
    const route = await n.route(vpc.main_route_table_id, toGateway(mine));
    expect(route.target).toEqual({ kind: "nat_gateway", nat_gateway_id: mine });
    expect(await n.show(`/v1/routes/${route.id}`)).toEqual(route);
    const upper = { ...toGateway(mine.toUpperCase()), destination: "198.51.100.0/24" };
    expect((await n.route(vpc.main_route_table_id, upper)).target).toEqual(route.target);
    expect(refusal(await n.tryRoute(vpc.main_route_table_id, toGateway(elsewhere)))).toEqual(
      bad(`nat gateway ${elsewhere} is not in vpc ${vpc.id}`),
    );
  });

  test("S-06: a nat_gateway that does not exist or belongs to another tenant gets 404", async () => {
    const { main_route_table_id } = await n.vpc();
    const theirs = networksOf(await openTenant(n.t));
    const { id } = await theirs.vpc();
    const gateway = okOf(await theirs.call("POST", `/v1/nat-gateways?vpc=${id}`, { body: { name: "out" } }));
    for (const each of [gateway.id, randomUUID()]) {
      expect(refusal(await n.tryRoute(main_route_table_id, toGateway(each)))).toEqual(NOT_FOUND);
    }
  });

  test.each([{ kind: "drop" }, { kind: "nat_gateway" }, { kind: "reject", extra: 1 }, {}])(
    "the target %j gets 400",
    async (target) => {
      const { main_route_table_id } = await n.vpc();
      expect((await n.tryRoute(main_route_table_id, { target })).status).toBe(400);
    },
  );
});

test("names follow the name rule, and two routes may share a name", async () => {
  const { main_route_table_id } = await n.vpc();
  const { id } = await n.route(main_route_table_id, { name: "same", destination: "192.0.2.0/25" });
  await n.route(main_route_table_id, { name: "same", destination: "192.0.2.128/25" });
  await expectNameRule(
    (fields) => n.tryRoute(main_route_table_id, fields),
    (body) => n.call("PATCH", `/v1/routes/${id}`, { body }),
  );
});

test.each(["GET", "POST"])("%s without a route table gets 400 MissingScope", async (method) => {
  const answer = await n.call(method, "/v1/routes", method === "POST" ? { body: {} } : {});
  expect(refusal(answer)).toEqual([400, "MissingScope", `${method} /v1/routes requires \`?route_table=<uuid>\``]);
});

test("another tenant's route table gets 404, like a route table that does not exist", async () => {
  const { main_route_table_id } = await networksOf(await openTenant(n.t)).vpc();
  for (const table of [main_route_table_id, randomUUID()]) {
    expect(refusal(await n.tryRoute(table))).toEqual(NOT_FOUND);
    expect(refusal(await n.call("GET", `/v1/routes?route_table=${table}`))).toEqual(NOT_FOUND);
  }
});

test("the project selector of the list is ignored", async () => {
  const { main_route_table_id } = await n.vpc();
  const route = await n.route(main_route_table_id);
  const { items } = await n.show(`/v1/routes?route_table=${main_route_table_id}&project=${randomUUID()}`);
  expect(items).toEqual([route]);
});

test("a route can get a description, and can be deleted only once", async () => {
  const { main_route_table_id } = await n.vpc();
  const { id } = await n.route(main_route_table_id, { name: "kept" });
  const path = `/v1/routes/${id}`;
  const patched = await n.call("PATCH", path, { body: { description: "why" } });
  expect(patched.body).toMatchObject({ name: "kept", description: "why" });
  expect(await n.show(path)).toEqual(patched.body);
  expect(await n.remove(path)).toEqual([204]);
  expect(await n.remove(path)).toEqual(NOT_FOUND);
});
