// Tests route tables (docs/networking.md, "Routes").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clash, expectNameRule, type Networks, NOT_FOUND, openNetworks, refusal } from "./networks.ts";

let n: Networks;
beforeAll(async () => {
  n = await openNetworks();
});
afterAll(() => n.t.close());

test("a table that a tenant creates is not the main table", async () => {
  const vpc = await n.vpc();
  const table = await n.table(vpc.id, { name: "egress", description: "out" });
  expect(table).toEqual({
    id: table.id,
    tenant_id: vpc.tenant_id,
    project_id: vpc.project_id,
    project: vpc.project_id,
    vpc_id: vpc.id,
    vpc: vpc.id,
    name: "egress",
    description: "out",
    labels: {},
    is_main: false,
    created_at: table.created_at,
  });
  expect(await n.show(`/v1/route-tables/${table.id}`)).toEqual(table);
});

test("a duplicate name in the VPC is refused, and so is the name main", async () => {
  const { id } = await n.vpc();
  await n.table(id, { name: "egress" });
  for (const name of ["egress", "main"]) {
    const taken = clash(`a route table named ${name} already exists in this vpc`);
    expect(refusal(await n.tryTable(id, { name }))).toEqual(taken);
    const other = await n.table(id);
    expect(refusal(await n.call("PATCH", `/v1/route-tables/${other.id}`, { body: { name } }))).toEqual(taken);
  }
});

test("names follow the name rule", async () => {
  const vpc = await n.vpc();
  const { id } = await n.table(vpc.id);
  await expectNameRule(
    (fields) => n.tryTable(vpc.id, fields),
    (body) => n.call("PATCH", `/v1/route-tables/${id}`, { body }),
  );
});

test("the main table cannot be deleted or renamed, but can get a description", async () => {
  const { main_route_table_id } = await n.vpc();
  const path = `/v1/route-tables/${main_route_table_id}`;
  expect(await n.remove(path)).toEqual(clash("the main route table of a vpc cannot be deleted"));
  expect(refusal(await n.call("PATCH", path, { body: { name: "other" } }))).toEqual(
    clash("the main route table of a vpc cannot be renamed"),
  );
  const described = await n.call("PATCH", path, { body: { name: "main", description: "ours" } });
  expect(described.body).toMatchObject({ name: "main", description: "ours", is_main: true });
});

describe("delete", () => {
  test("is refused while the table holds a route", async () => {
    const vpc = await n.vpc();
    const { id } = await n.table(vpc.id);
    const route = await n.route(id, { name: "default" });
    const path = `/v1/route-tables/${id}`;
    expect(await n.remove(path)).toEqual(clash(`route table ${id} is still used by route default (${route.id})`));
    expect(await n.remove(`/v1/routes/${route.id}`)).toEqual([204]);
    expect(await n.remove(path)).toEqual([204]);
    expect(await n.remove(path)).toEqual(NOT_FOUND);
  });

  test("is refused while a subnet is associated with the table", async () => {
    const vpc = await n.vpc();
    const { id } = await n.table(vpc.id);
    const subnet = await n.subnet(vpc.id, { name: "web", ipv4_block: "10.0.1.0/24" });
    const associate = (route_table_id: string) =>
      n.call("PUT", `/v1/subnets/${subnet.id}/route-table`, { body: { route_table_id } });
    await associate(id);
    const path = `/v1/route-tables/${id}`;
    expect(await n.remove(path)).toEqual(clash(`route table ${id} is still used by subnet web (${subnet.id})`));
    await associate(vpc.main_route_table_id);
    expect(await n.remove(path)).toEqual([204]);
  });
});

test.each(["GET", "POST"])("%s without a VPC gets 400 MissingScope", async (method) => {
  const answer = await n.call(method, "/v1/route-tables", method === "POST" ? { body: {} } : {});
  expect(refusal(answer)).toEqual([400, "MissingScope", `${method} /v1/route-tables requires \`?vpc=<uuid>\``]);
});
