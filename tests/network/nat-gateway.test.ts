// Tests NAT gateways (docs/networking.md).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import {
  conflictWith,
  expectRefused,
  leaveOnly,
  makeFloatingIp,
  makeGateway,
  makeVpc,
  notFound,
  operationOf,
  takeBack,
} from "./public-addresses.ts";
import { asWritten } from "./networks.ts";

let t: TestControlPlane;
let a: TestTenant;
let b: TestTenant;
let vpc: string;
beforeAll(async () => {
  t = await openTestControlPlane();
  [a, b] = [await openTenant(t, "a"), await openTenant(t, "b")];
  vpc = await makeVpc(a);
});
afterAll(() => t.close());

const path = (id: string) => `/v1/nat-gateways/${id}`;

/** Creates a route to the gateway in the VPC's main table. Returns a function that deletes the route. */
async function routeTo(gateway: string): Promise<() => Promise<unknown>> {
  const { main_route_table_id } = okOf(await a.call("GET", `/v1/vpcs/${vpc}`));
  const body = {
    name: randomUUID(),
    destination: "0.0.0.0/0",
    target: { kind: "nat_gateway", nat_gateway_id: gateway },
  };
  const { id } = okOf(await a.call("POST", `/v1/routes?route_table=${main_route_table_id}`, { body }));
  return () => a.call("DELETE", `/v1/routes/${id}`);
}

describe("a gateway", () => {
  test("is v4 unless the request names another family, and its view has exactly the documented fields", async () => {
    const made = await makeGateway(a, vpc, { name: "egress", description: "out" });
    expect(made.status).toBe(201);
    const { id, public_address, created_at, updated_at } = made.body;
    expect(public_address).toMatch(/^203\.0\.113\.\d+$/);
    expect(made.body).toEqual({
      id,
      tenant_id: a.tenant_id,
      project_id: a.project_id,
      project: a.project_id,
      vpc_id: vpc,
      vpc,
      name: "egress",
      description: "out",
      labels: {},
      family: "v4",
      public_address,
      network_id: null,
      external_nic_tag: null,
      edge_cluster_id: null,
      desired_generation: 1,
      host_cn_uuid: null,
      counts: null,
      realized: null,
      created_at,
      updated_at,
    });
    expect(updated_at).toBe(created_at);
    expect(asWritten(okOf(await a.call("GET", path(id))))).toEqual(made.body);
    expect(asWritten(okOf(await a.call("GET", `/v1/nat-gateways?vpc=${vpc}`)))).toEqual({ items: [made.body] });
    okOf(await a.call("DELETE", path(id)));
  });

  test("of family v6 gets 2001:db8::2, the first address of its pool", async () => {
    const made = okOf(await makeGateway(a, vpc, { family: "v6" }));
    expect(made).toMatchObject({ family: "v6", public_address: "2001:db8::2" });
    okOf(await a.call("DELETE", path(made.id)));
  });

  test("can get a new name or description; omitted fields do not change", async () => {
    const made = okOf(await makeGateway(a, vpc, { name: "before", description: "d" }));
    const renamed = okOf(await a.call("PATCH", path(made.id), { body: { name: "after" } }));
    expect(renamed).toMatchObject({ ...made, name: "after", updated_at: expect.any(String) });
    const described = okOf(await a.call("PATCH", path(made.id), { body: { description: "e" } }));
    expect(described).toMatchObject({ name: "after", description: "e", created_at: made.created_at });
    expect(asWritten(okOf(await a.call("GET", path(made.id))))).toEqual(described);
    okOf(await a.call("DELETE", path(made.id)));
  });
});

describe("selectors", () => {
  test.each(["GET", "POST"])("%s without vpc= gets 400 MissingScope", async (method) => {
    const answer = await a.call(method, "/v1/nat-gateways", method === "POST" ? { body: { name: "n" } } : {});
    expectRefused(answer, 400, "MissingScope", `${method} /v1/nat-gateways requires \`?vpc=<uuid>\``);
  });

  test("project= must be the project of the VPC: another project gets 404", async () => {
    expect((await a.call("GET", `/v1/nat-gateways?vpc=${vpc}&project=${a.project_id}`)).status).toBe(200);
    notFound(await a.call("GET", `/v1/nat-gateways?vpc=${vpc}&project=${b.project_id}`));
    notFound(await a.call("GET", `/v1/nat-gateways?vpc=${vpc}&project=${randomUUID()}`));
  });

  test("a VPC of another tenant and a missing VPC get the same 404", async () => {
    for (const  of of[vpc, randomUUID()]) {
      notFound(await b.call("GET", `/v1/nat-gateways?vpc=${of}`));
      notFound(await makeGateway(b, of));
    }
  });

  test("a gateway of another tenant and a missing gateway get the same 404", async () => {
    const { id } = okOf(await makeGateway(a, vpc));
    for (const each of [id, randomUUID()]) {
      notFound(await b.call("GET", path(each)));
      notFound(await b.call("PATCH", path(each), { body: { name: "mine" } }));
      notFound(await b.call("DELETE", path(each)));
    }
    okOf(await a.call("DELETE", path(id)));
    notFound(await a.call("DELETE", path(id)));
  });
});

describe("names", () => {
  test("are unique in a VPC, free again after a delete, and free in other VPCs", async () => {
    const first = okOf(await makeGateway(a, vpc, { name: "taken" }));
    conflictWith(await makeGateway(a, vpc, { name: "taken" }), "a nat gateway named taken already exists in this VPC");
    const other = okOf(await makeGateway(a, await makeVpc(a), { name: "taken" }));
    const second = okOf(await makeGateway(a, vpc, { name: "free" }));
    conflictWith(
      await a.call("PATCH", path(second.id), { body: { name: "taken" } }),
      "a nat gateway named taken already exists in this VPC",
    );
    okOf(await a.call("DELETE", path(first.id)));
    const third = okOf(await makeGateway(a, vpc, { name: "taken" }));
    for (const { id } of [second, other, third]) okOf(await a.call("DELETE", path(id)));
  });

  test("that break the name rule get 409, on create and on rename, and allocate no address", async () => {
    const before = okOf(await makeGateway(a, vpc));
    for (const [name, rule] of [["", "must be 1 to 63 bytes long"], ["a/b", "must not contain / or \\"]]) {
      conflictWith(await makeGateway(a, vpc, { name }), `name ${rule}`);
      conflictWith(await a.call("PATCH", path(before.id), { body: { name } }), `name ${rule}`);
    }
    const after = okOf(await makeGateway(a, vpc));
    expect(lastByte(after.public_address)).toBe(lastByte(before.public_address) + 1);
    for (const { id } of [before, after]) okOf(await a.call("DELETE", path(id)));
  });
});

const lastByte = (address: string) => Number(address.split(".").at(-1));

describe("a route to a gateway", () => {
  test("makes a delete of the gateway fail with 409 until the route is deleted", async () => {
    const { id } = okOf(await makeGateway(a, vpc));
    const removeRoute = await routeTo(id);
    conflictWith(await a.call("DELETE", path(id)), `nat gateway ${id} is still referenced by routes`);
    expect((await a.call("GET", path(id))).status).toBe(200);
    await removeRoute();
    expect((await a.call("DELETE", path(id))).status).toBe(204);
  });

  test("must be in the gateway's VPC: the database refuses a route in another VPC", async () => {
    const { id } = okOf(await makeGateway(a, await makeVpc(a)));
    const write = t.db.query(
      `insert into route (id, incarnation, version, state, tenant_id, project_id, vpc_id, route_table_id, name,
                          description, destination, target_kind, nat_gateway_id, created_at)
         select gen_random_uuid(), gen_random_uuid(), 1, 'live', tenant_id, project_id, id, main_route_table_id, 'r', '',
                '0.0.0.0/0', 'nat_gateway', $2, berth_now() from vpc where id = $1`,
      [vpc, id],
    );
    await expect(write).rejects.toThrow("route_nat_gateway_fkey");
    okOf(await a.call("DELETE", path(id)));
  });
});

test("a VPC with a gateway cannot be deleted", async () => {
  const of = await makeVpc(a);
  const { id } = okOf(await makeGateway(a, of, { name: "last" }));
  const refused = await a.call("DELETE", `/v1/vpcs/${of}`);
  expect(refused).toMatchObject({ status: 409, body: { error_code: "Conflict" } });
  expect(refused.body.message).toContain(`nat gateway last (${id})`);
  okOf(await a.call("DELETE", path(id)));
  expect((await a.call("DELETE", `/v1/vpcs/${of}`)).status).toBe(204);
});

describe("operations", () => {
  test("the create is visible under the operation id of its audit entry", async () => {
    const made = okOf(await makeGateway(a, vpc, { name: "audited" }));
    const operation = await operationOf(t, "nat_gateway_create", made.id);
    expect(operation).toMatchObject({
      kind: "nat-gateway-create",
      state: "succeeded",
      params: { nat_gateway_id: made.id, public_address: made.public_address, vpc_id: vpc, name: "audited" },
      references: [
        { scope: "nat_gateway", id: made.id },
        { scope: "vpc", id: vpc },
        { scope: "project", id: a.project_id },
        { scope: "tenant", id: a.tenant_id },
      ],
    });
    expect(operation.steps.map(({ name, status }: { name: string; status: string }) => [name, status])).toEqual([
      ["create_record", "succeeded"],
      ["finish", "succeeded"],
    ]);
    const found = okOf(await t.call("GET", `/v1/operations?resource_scope=nat_gateway&resource_id=${made.id}`));
    expect(found).toMatchObject([{ id: operation.id }]);
    okOf(await a.call("DELETE", path(made.id)));
    const end = await operationOf(t, "nat_gateway_delete", made.id);
    expect(end).toMatchObject({ kind: "nat-gateway-delete", state: "succeeded" });
    expect(end.id).not.toBe(operation.id);
  });

  test("a rollback deletes the gateway and releases its address", async () => {
    const made = okOf(await makeGateway(a, vpc));
    const operation = await operationOf(t, "nat_gateway_create", made.id);
    expect((await takeBack(t, operation)).state).toBe("unwound");
    notFound(await a.call("GET", path(made.id)));
    const next = okOf(await makeGateway(a, vpc));
    expect(next.public_address).toBe(made.public_address);
    okOf(await a.call("DELETE", path(next.id)));
  });
});

test("requests with one Idempotency-Key create one gateway and get the same response", async () => {
  const headers = { "idempotency-key": randomUUID() };
  const body = { name: "once" };
  const answers = [];
  for (let n = 0; n < 2; n++) answers.push(await a.call("POST", `/v1/nat-gateways?vpc=${vpc}`, { body, headers }));
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  expect(answers[1]?.body).toEqual(answers[0]?.body);
  okOf(await a.call("DELETE", path(answers[0]?.body.id)));
});

describe("the pool", () => {
  test(
    "allocates its 253 addresses lowest first, then returns 409; a freed address is allocated next, even to a floating IP",
    async () => {
      const of = await makeVpc(a);
      const made = [];
      for (let n = 0; n < 253; n++) made.push(okOf(await makeGateway(a, of)));
      expect(made.map(({ public_address }) => public_address)).toEqual(
        Array.from({ length: 253 }, (_, n) => `203.0.113.${n + 2}`),
      );
      expectRefused(await makeGateway(a, of), 409, "PoolExhausted", "the public v4 address pool has no free address");
      expectRefused(
        await makeFloatingIp(a),
        409,
        "PoolExhausted",
        "the public v4 address pool has no free address",
      );
      for (const index of [100, 7]) okOf(await a.call("DELETE", path(made[index].id)));
      const floating = okOf(await makeFloatingIp(b));
      expect(floating.address).toBe(made[7].public_address);
      expect(okOf(await makeGateway(a, of)).public_address).toBe(made[100].public_address);
      expect((await makeGateway(a, of)).status).toBe(409);
      okOf(await b.call("DELETE", `/v1/floating-ips/${floating.id}`));
      expect(okOf(await makeGateway(a, of)).public_address).toBe(made[7].public_address);
    },
    120_000,
  );

  test("of IPv6 also returns 409 when it is empty", async () => {
    await leaveOnly(t, "public:v6", []);
    expectRefused(
      await makeGateway(a, vpc, { family: "v6" }),
      409,
      "PoolExhausted",
      "the public v6 address pool has no free address",
    );
  });
});

test("the database refuses to record an address twice, or to delete the record of a gateway's address", async () => {
  const twice = t.db.query(
    "insert into public_address (address, nat_gateway_id) select public_address, id from nat_gateway limit 1",
  );
  await expect(twice).rejects.toThrow("public_address_once");
  await expect(t.db.query("delete from public_address where nat_gateway_id is not null")).rejects.toThrow(
    "nat_gateway_has_address",
  );
});
