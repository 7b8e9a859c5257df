// Tests floating IPs (docs/networking.md, "Floating IPs").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import {
  conflictWith,
  expectRefused,
  leaveOnly,
  makeFloatingIp,
  makeNetwork,
  makePool,
  makeVpc,
  notFound,
  operationOf,
  takeBack,
} from "./public-addresses.ts";
import { asWritten } from "./networks.ts";

let t: TestControlPlane;
let a: TestTenant;
let b: TestTenant;
beforeAll(async () => {
  t = await openTestControlPlane();
  [a, b] = [await openTenant(t, "a"), await openTenant(t, "b")];
});
afterAll(() => t.close());

const path = (id: string) => `/v1/floating-ips/${id}`;
const giveBack = async (a: TestTenant, ...ips: readonly { id: string }[]) => {
  for (const { id } of ips) okOf(await a.call("DELETE", path(id)));
};

describe("a floating IP", () => {
  test("that is requested by family comes from the fixed pool and is shown with all its fields", async () => {
    const made = await makeFloatingIp(a, { name: "front", description: "d", family: "v4" });
    expect(made.status).toBe(201);
    const { id, created_at, updated_at } = made.body;
    expect(made.body).toEqual({
      id,
      tenant_id: a.tenant_id,
      project_id: a.project_id,
      name: "front",
      description: "d",
      labels: {},
      address: "203.0.113.2",
      family: "v4",
      attached_to: null,
      attached_instance_id: null,
      network_id: null,
      external_nic_tag: null,
      hosted_cn: null,
      realized: null,
      created_at,
      updated_at,
    });
    expect(asWritten(okOf(await a.call("GET", path(id))))).toEqual(made.body);
    expect(asWritten(okOf(await a.call("GET", `/v1/floating-ips${a.selectors}`)))).toEqual({ items: [made.body] });
    const six = okOf(await makeFloatingIp(a, { family: "v6" }));
    expect(six).toMatchObject({ family: "v6", address: "2001:db8::2" });
    await giveBack(a, made.body, six);
  });

  test("can get a new name or description; omitted fields do not change", async () => {
    const made = okOf(await makeFloatingIp(a, { family: "v4", name: "before", description: "d" }));
    const renamed = okOf(await a.call("PATCH", path(made.id), { body: { name: "after" } }));
    expect(renamed).toMatchObject({ name: "after", description: "d", address: made.address });
    const described = okOf(await a.call("PATCH", path(made.id), { body: { description: "e" } }));
    expect(described).toMatchObject({ name: "after", description: "e" });
    await giveBack(a, made);
  });

  test("frees its address for another project when it is deleted", async () => {
    const first = okOf(await makeFloatingIp(a));
    await giveBack(a, first);
    notFound(await a.call("GET", path(first.id)));
    notFound(await a.call("DELETE", path(first.id)));
    const second = okOf(await makeFloatingIp(b));
    expect(second.address).toBe(first.address);
    await giveBack(b, second);
  });

  test("prevents the delete of its project", async () => {
    const c = await openTenant(t, "c");
    const made = okOf(await makeFloatingIp(c, { family: "v4", name: "kept" }));
    const project = `/v1/tenants/${c.tenant_id}/projects/${c.project_id}`;
    const message = `project ${c.project_id} still holds floating ip kept (${made.id}), which must be deleted first`;
    conflictWith(await c.call("DELETE", project), message);
    await giveBack(c, made);
    expect((await c.call("DELETE", project)).status).toBe(204);
  });
});

describe("selectors", () => {
  test.each(["GET", "POST"])("%s without one of the two selectors gets 400 MissingScope", async (method) => {
    const given = method === "POST" ? { body: { name: "n", family: "v4" } } : {};
    for (const query of ["", `?tenant=${a.tenant_id}`, `?project=${a.project_id}`]) {
      const message = `${method} /v1/floating-ips requires \`?tenant=<uuid>&project=<uuid>\` selectors`;
      expectRefused(await a.call(method, `/v1/floating-ips${query}`, given), 400, "MissingScope", message);
    }
  });

  test("a project of another tenant and a missing project get the same 404", async () => {
    for (const project of [a.project_id, randomUUID()]) {
      for (const tenant of [a.tenant_id, b.tenant_id]) {
        const query = `?tenant=${tenant}&project=${project}`;
        notFound(await b.call("GET", `/v1/floating-ips${query}`));
        notFound(await b.call("POST", `/v1/floating-ips${query}`, { body: { name: "n", family: "v4" } }));
      }
    }
  });

  test("a floating IP of another tenant and a missing floating IP get the same 404", async () => {
    const made = okOf(await makeFloatingIp(a));
    for (const id of [made.id, randomUUID()]) {
      notFound(await b.call("GET", path(id)));
      notFound(await b.call("PATCH", path(id), { body: { name: "mine" } }));
      notFound(await b.call("DELETE", path(id)));
    }
    await giveBack(a, made);
  });
});

describe("names", () => {
  test("are unique in a project, and can be used again in other projects", async () => {
    const first = okOf(await makeFloatingIp(a, { family: "v4", name: "taken" }));
    const message = "a floating ip named taken already exists in this project";
    conflictWith(await makeFloatingIp(a, { family: "v6", name: "taken" }), message);
    const other = okOf(await makeFloatingIp(b, { family: "v4", name: "taken" }));
    const second = okOf(await makeFloatingIp(a));
    conflictWith(await a.call("PATCH", path(second.id), { body: { name: "taken" } }), message);
    await giveBack(a, first, second);
    await giveBack(b, other);
  });

  test("that break the name rule get 409 and allocate no address", async () => {
    conflictWith(await makeFloatingIp(a, { family: "v4", name: " n" }), "name must not begin or end with white space");
    const made = okOf(await makeFloatingIp(a));
    expect(made.address).toBe("203.0.113.2");
    await giveBack(a, made);
  });
});

describe("the source", () => {
  test.each([
    ["none", {}],
    ["only nulls", { family: null, network_id: null, pool_id: null }],
    ["family and network", { family: "v4", network_id: randomUUID() }],
    ["family and pool", { family: "v4", pool_id: randomUUID() }],
    ["network and pool", { network_id: randomUUID(), pool_id: randomUUID() }],
    ["all three", { family: "v4", network_id: randomUUID(), pool_id: randomUUID() }],
  ])("%s gets 400 BadRequest", async (_which, fields) => {
    const message = "set exactly one of family, network_id and pool_id";
    expectRefused(await makeFloatingIp(a, fields), 400, "BadRequest", message);
  });

  test("an unknown network or pool gets 404", async () => {
    notFound(await makeFloatingIp(a, { network_id: randomUUID() }));
    notFound(await makeFloatingIp(a, { pool_id: randomUUID() }));
  });

  test("a subnet of the caller's own tenant gets 400 SubnetNotExternal; a subnet that the caller cannot see gets 404", async () => {
    const body = { name: "inside", ipv4_block: "10.0.1.0/24" };
    const { id } = okOf(await a.call("POST", `/v1/subnets?vpc=${await makeVpc(a)}`, { body }));
    const message = `subnet ${id} is not an external subnet`;
    expectRefused(await makeFloatingIp(a, { network_id: id }), 400, "SubnetNotExternal", message);
    notFound(await makeFloatingIp(b, { network_id: id }));
  });

  test("a request gets 409 PoolExhausted if the fixed pool of its family is empty", async () => {
    for (const family of ["v4", "v6"]) await leaveOnly(t, `public:${family}`, [77]);
    for (const [family, address] of [["v4", "203.0.113.77"], ["v6", "2001:db8::4d"]]) {
      const made = okOf(await makeFloatingIp(a, { family }));
      expect(made.address).toBe(address);
      const message = `the public ${family} address pool has no free address`;
      expectRefused(await makeFloatingIp(b, { family }), 409, "PoolExhausted", message);
      await giveBack(a, made);
      const again = okOf(await makeFloatingIp(b, { family }));
      expect(again.address).toBe(address);
      await giveBack(b, again);
    }
  });
});

describe("an external network", () => {
  test("allocates IPv4 addresses lowest first, then IPv6 addresses, then returns 409; released addresses are allocated again", async () => {
    const network = await makeNetwork(t, {
      ipv4_block: "198.51.100.0/29",
      provision_start_ipv4: "198.51.100.4",
      provision_end_ipv4: "198.51.100.5",
      ipv6_block: "2001:db8:f::/64",
      provision_start_ipv6: "2001:db8:f:0:ffff::8",
      provision_end_ipv6: "2001:db8:f:0:ffff::8",
    });
    const made = [];
    for (let n = 0; n < 3; n++) made.push(okOf(await makeFloatingIp(a, { network_id: network.id })));
    expect(made.map(({ address, family }) => [address, family])).toEqual([
      ["198.51.100.4", "v4"],
      ["198.51.100.5", "v4"],
      ["2001:db8:f:0:ffff::8", "v6"],
    ]);
    expect(made[0]).toMatchObject({ network_id: network.id, external_nic_tag: network.nic_tag });
    const message = `network ${network.id} has no free address`;
    expectRefused(await makeFloatingIp(a, { network_id: network.id }), 409, "PoolExhausted", message);
    await giveBack(a, made[1], made[2]);
    const again = okOf(await makeFloatingIp(b, { network_id: network.id.toUpperCase() }));
    expect(again.address).toBe("198.51.100.5");
    await giveBack(a, made[0]);
    await giveBack(b, again);
  });

  test("never allocates its network address, gateway or broadcast address", async () => {
    const network = await makeNetwork(t, {
      ipv4_block: "198.51.100.8/29",
      provision_start_ipv4: "198.51.100.9",
      provision_end_ipv4: "198.51.100.14",
    });
    const made = [];
    for (let n = 0; n < 5; n++) made.push(okOf(await makeFloatingIp(a, { network_id: network.id })));
    expect(made.map(({ address }) => address)).toEqual([10, 11, 12, 13, 14].map((n) => `198.51.100.${n}`));
    expect((await makeFloatingIp(a, { network_id: network.id })).status).toBe(409);
    await giveBack(a, ...made);
  });

  test("that belongs to other silos gets 404, by its id and in a pool", async () => {
    const network = await makeNetwork(t, { ipv4_block: "198.51.100.16/29", owner_silos: [a.silo_id] });
    const pool_id = await makePool(t, [network.id]);
    const made = okOf(await makeFloatingIp(a, { network_id: network.id }));
    notFound(await makeFloatingIp(b, { network_id: network.id }));
    const message = `network pool ${pool_id} has no free address`;
    expectRefused(await makeFloatingIp(b, { pool_id }), 409, "PoolExhausted", message);
    okOf(await t.call("PATCH", `/v1/system/external-subnets/${network.id}`, { body: { owner_silos: [] } }));
    const other = okOf(await makeFloatingIp(b, { network_id: network.id }));
    await giveBack(a, made);
    await giveBack(b, other);
  });

  test("on the block of the fixed pool shares the pool's addresses within its own range", async () => {
    await leaveOnly(t, "public:v4", [2, 3, 100, 101, 102, 103]);
    const network = await makeNetwork(t, {
      ipv4_block: "203.0.113.0/24",
      provision_start_ipv4: "203.0.113.101",
      provision_end_ipv4: "203.0.113.102",
    });
    const first = okOf(await makeFloatingIp(a, { network_id: network.id }));
    const fixed = [];
    for (let n = 0; n < 4; n++) fixed.push(okOf(await makeFloatingIp(a, { family: "v4" })));
    expect([first, ...fixed].map(({ address }) => address)).toEqual(
      [101, 2, 3, 100, 102].map((n) => `203.0.113.${n}`),
    );
    expect(first.network_id).toBe(network.id);
    const message = `network ${network.id} has no free address`;
    expectRefused(await makeFloatingIp(a, { network_id: network.id }), 409, "PoolExhausted", message);
    const last = okOf(await makeFloatingIp(a, { family: "v4" }));
    expect(last.address).toBe("203.0.113.103");
    await giveBack(a, first, ...fixed, last);
  });
});

describe("a network pool", () => {
  test("tries its networks in its own order; if all are full, the request gets 409", async () => {
    const one = await makeNetwork(t, { ipv4_block: "198.51.100.32/30" });
    const two = await makeNetwork(t, { ipv4_block: "198.51.100.36/30", ipv6_block: "2001:db8:e::/126" });
    const pool_id = await makePool(t, [two.id, one.id]);
    const made = [];
    for (let n = 0; n < 4; n++) made.push(okOf(await makeFloatingIp(a, { pool_id })));
    expect(made.map(({ address, network_id }) => [address, network_id])).toEqual([
      ["198.51.100.38", two.id],
      ["2001:db8:e::2", two.id],
      ["2001:db8:e::3", two.id],
      ["198.51.100.34", one.id],
    ]);
    const message = `network pool ${pool_id} has no free address`;
    expectRefused(await makeFloatingIp(a, { pool_id }), 409, "PoolExhausted", message);
    await giveBack(a, made[1], made[3]);
    const again = okOf(await makeFloatingIp(a, { pool_id }));
    expect(again.address).toBe("2001:db8:e::2");
    await giveBack(a, made[0], made[2], again);
  });

  test("that belongs to other silos gets 404", async () => {
    const network = await makeNetwork(t, { ipv4_block: "198.51.100.40/30" });
    const pool_id = await makePool(t, [network.id], { owner_silos: [a.silo_id] });
    notFound(await makeFloatingIp(b, { pool_id }));
    const made = okOf(await makeFloatingIp(a, { pool_id }));
    await giveBack(a, made);
  });
});

describe("the operation", () => {
  test("is visible under the operation id of the audit entry", async () => {
    const made = okOf(await makeFloatingIp(a, { family: "v6", name: "audited" }));
    const operation = await operationOf(t, "floating_ip_create", made.id);
    expect(operation).toMatchObject({
      kind: "floating-ip-allocate",
      state: "succeeded",
      params: { floating_ip_id: made.id, address: made.address, name: "audited", family: "v6", network_id: null },
      references: [
        { scope: "floating_ip", id: made.id },
        { scope: "project", id: a.project_id },
        { scope: "tenant", id: a.tenant_id },
      ],
    });
    await giveBack(a, made);
  });

  test("that is rolled back deletes the floating IP and releases its address", async () => {
    const made = okOf(await makeFloatingIp(a, { family: "v6" }));
    const operation = await operationOf(t, "floating_ip_create", made.id);
    expect((await takeBack(t, operation)).state).toBe("unwound");
    notFound(await a.call("GET", path(made.id)));
    const next = okOf(await makeFloatingIp(a, { family: "v6" }));
    expect(next.address).toBe(made.address);
    await giveBack(a, next);
    expect((await takeBack(t, await operationOf(t, "floating_ip_create", next.id))).state).toBe("unwound");
  });
});

test("a repeated request gets its first response even after its network was deleted", async () => {
  const network = await makeNetwork(t, { ipv4_block: "198.51.100.44/30" });
  const call = () =>
    a.call("POST", `/v1/floating-ips${a.selectors}`, {
      body: { name: "once", network_id: network.id },
      headers: { "idempotency-key": "one" },
    });
  const first = await call();
  expect(first.status).toBe(201);
  await giveBack(a, first.body);
  okOf(await t.call("DELETE", `/v1/system/external-subnets/${network.id}`));
  const second = await call();
  expect([second.status, second.body]).toEqual([201, first.body]);
});

test("the pages of a list are in the order of creation", async () => {
  const c = await openTenant(t, "pages");
  await leaveOnly(t, "public:v6", [2, 3, 4, 5, 6]);
  const made = [];
  for (let n = 0; n < 5; n++) made.push(okOf(await makeFloatingIp(c, { family: "v6" })));
  const found = [];
  for (let token = ""; token !== undefined;) {
    const query = `${c.selectors}&limit=2${token === "" ? "" : `&page_token=${token}`}`;
    const { items, next_page } = okOf(await c.call("GET", `/v1/floating-ips${query}`));
    expect(items.length).toBeLessThanOrEqual(2);
    found.push(...items);
    token = next_page;
  }
  expect(found).toEqual(made);
});
