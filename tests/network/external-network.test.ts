// Tests NIC tags, external subnets and network pools, with the key of an operator.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { capacity } from "../api/bodies.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import {
  conflictWith,
  expectRefused,
  makeFloatingIp,
  makeGateway,
  makeNetwork,
  makePool,
  makeTag,
  makeVpc,
  notFound,
} from "./public-addresses.ts";

let t: TestControlPlane;
let a: TestTenant;
let tag: string;
beforeAll(async () => {
  t = await openTestControlPlane();
  a = await openTenant(t);
  tag = await makeTag(t, "external");
});
afterAll(() => t.close());

const TAGS = "/v1/system/nic-tags";
const SUBNETS = "/v1/system/external-subnets";
const POOLS = "/v1/system/network-pools";
const post = (path: string, body: object) => t.call("POST", path, { body: { name: randomUUID(), ...body } });
const subnet = (fields: object) => post(SUBNETS, { nic_tag: tag, ...fields });

let nets = 0;
/** Returns a block that no other test uses. */
const block = () => `198.18.${nets++}.0/24`;

test.each([TAGS, SUBNETS, POOLS])("%s: an unknown id gets 404", async (path) => {
  notFound(await t.call("GET", `${path}/${randomUUID()}`));
  notFound(await t.call("DELETE", `${path}/${randomUUID()}`));
});

describe("a NIC tag", () => {
  test("is shown with all its fields, by its id and in the list", async () => {
    const made = await post(TAGS, { name: "storage", description: "d", mtu: 9_000 });
    expect(made.status).toBe(201);
    const { id, created_at } = made.body;
    expect(made.body).toEqual({ id, name: "storage", description: "d", mtu: 9_000, created_at });
    expect(okOf(await t.call("GET", `${TAGS}/${id}`))).toEqual(made.body);
    expect(okOf(await t.call("GET", TAGS)).items).toContainEqual(made.body);
    expect((await t.call("DELETE", `${TAGS}/${id}`)).status).toBe(204);
    notFound(await t.call("GET", `${TAGS}/${id}`));
  });

  test("has a name that is unique in the cluster and follows the name rule", async () => {
    conflictWith(await post(TAGS, { name: "external", mtu: 1_500 }), "a NIC tag named external already exists");
    conflictWith(await post(TAGS, { name: "a/b", mtu: 1_500 }), "name must not contain / or \\");
  });

  test.each([1_279, 9_217, null, "1500"])("with mtu %j gets 400", async (mtu) => {
    expect((await post(TAGS, { mtu })).status).toBe(400);
  });

  test("is not deleted while an external subnet uses it: 409 NicTagInUse", async () => {
    const { id, name } = okOf(await post(TAGS, { mtu: 1_500 }));
    const of = okOf(await subnet({ nic_tag: name, ipv4_block: block() }));
    const message =
      `NIC tag ${name} is still used by external subnet ${of.name} (${of.id}), which must be deleted first`;
    expectRefused(await t.call("DELETE", `${TAGS}/${id}`), 409, "NicTagInUse", message);
    okOf(await t.call("DELETE", `${SUBNETS}/${of.id}`));
    expect((await t.call("DELETE", `${TAGS}/${id}`)).status).toBe(204);
  });
});

describe("an external subnet", () => {
  test("is shown with all its fields and its provision range, by its id and in the list", async () => {
    const made = await subnet({
      name: "uplink",
      description: "d",
      vlan_id: 7,
      ipv4_block: "198.51.100.9/24",
      ipv6_block: "2001:DB8:A::/64",
      provision_end_ipv6: "2001:db8:a::ff",
      owner_silos: [a.silo_id.toUpperCase()],
    });
    expect(made.status).toBe(201);
    const { id, created_at } = made.body;
    expect(made.body).toEqual({
      id,
      name: "uplink",
      description: "d",
      kind: "external",
      nic_tag: tag,
      vlan_id: 7,
      ipv4_block: "198.51.100.0/24",
      ipv6_block: "2001:db8:a::/64",
      gateway_ipv4: "198.51.100.1",
      gateway_ipv6: "2001:db8:a::1",
      provision_start_ipv4: "198.51.100.2",
      provision_end_ipv4: "198.51.100.254",
      provision_start_ipv6: "2001:db8:a::2",
      provision_end_ipv6: "2001:db8:a::ff",
      owner_silos: [a.silo_id],
      created_at,
    });
    expect(okOf(await t.call("GET", `${SUBNETS}/${id}`))).toEqual(made.body);
    expect(okOf(await t.call("GET", SUBNETS)).items).toContainEqual(made.body);
    const body = { name: "downlink", owner_silos: [] };
    const changed = okOf(await t.call("PATCH", `${SUBNETS}/${id}`, { body }));
    expect(changed).toEqual({ ...made.body, ...body });
    expect((await t.call("DELETE", `${SUBNETS}/${id}`)).status).toBe(204);
    notFound(await t.call("GET", `${SUBNETS}/${id}`));
  });

  test("on an unknown NIC tag gets 409 NicTagNotProvided", async () => {
    const answer = await subnet({ nic_tag: "nowhere", ipv4_block: block() });
    expectRefused(answer, 409, "NicTagNotProvided", "there is no NIC tag nowhere");
  });

  test("has a name that is unique in the cluster and follows the name rule", async () => {
    const { name } = okOf(await subnet({ ipv4_block: block() }));
    const message = `an external subnet named ${name} already exists`;
    conflictWith(await subnet({ name, ipv4_block: block() }), message);
    const other = okOf(await subnet({ ipv4_block: block() }));
    conflictWith(await t.call("PATCH", `${SUBNETS}/${other.id}`, { body: { name } }), message);
    conflictWith(await subnet({ name: "", ipv4_block: block() }), "name must be 1 to 63 bytes long");
  });

  test.each<[object, string]>([
    [{}, "external subnet must specify ipv4_block, ipv6_block, or both"],
    [{ ipv4_block: null }, "external subnet must specify ipv4_block, ipv6_block, or both"],
    [
      { ipv4_block: "198.51.100.0/31" },
      "ipv4_block must be an IPv4 network with a prefix of at most 30, like 198.51.100.0/24",
    ],
    [{ ipv6_block: "2001:db8:b::/64", provision_end_ipv4: "198.51.100.7" }, "provision_end_ipv4 needs ipv4_block"],
    [
      { ipv4_block: "198.51.100.0/24", provision_start_ipv4: "198.51.101.7" },
      "provision_start_ipv4 is not inside 198.51.100.0/24",
    ],
    [
      { ipv4_block: "198.51.100.0/24", provision_start_ipv4: "2001:db8::1" },
      "provision_start_ipv4 must be an IPv4 address",
    ],
    [
      { ipv6_block: "2001:db8::/48", provision_start_ipv6: "2001:db8:0:1::" },
      "provision_start_ipv6 is above the highest address of the public pool",
    ],
  ])("%j gets 400", async (fields, message) => {
    expectRefused(await subnet(fields), 400, "BadRequest", message);
  });

  test("for a silo that does not exist gets 400 with the silo's id", async () => {
    const silo = randomUUID();
    const message = `owner_silos: there is no silo ${silo}`;
    expectRefused(await subnet({ ipv4_block: block(), owner_silos: [a.silo_id, silo] }), 400, "BadRequest", message);
    const { id } = okOf(await subnet({ ipv4_block: block() }));
    const patch = await t.call("PATCH", `${SUBNETS}/${id}`, { body: { owner_silos: [silo] } });
    expectRefused(patch, 400, "BadRequest", message);
  });

  test("that overlaps another external subnet in either family gets 409 SubnetCidrOverlap with the name of that subnet", async () => {
    const first = okOf(await subnet({ ipv4_block: "198.19.0.0/24", ipv6_block: "2001:db8:c::/64" }));
    const message = `the external subnet overlaps external subnet ${first.name} (${first.id})`;
    for (const ipv4_block of ["198.19.0.0/24", "198.19.0.128/25", "198.19.0.0/16"]) {
      expectRefused(await subnet({ ipv4_block }), 409, "SubnetCidrOverlap", message);
    }
    for (const ipv6_block of ["2001:db8:c::/64", "2001:db8:c::8:0/112", "2001:db8:c::/48"]) {
      const answer = await subnet({ ipv4_block: "198.19.1.0/24", ipv6_block });
      expectRefused(answer, 409, "SubnetCidrOverlap", message);
    }
    expect((await subnet({ ipv4_block: "198.19.1.0/24", ipv6_block: "2001:db8:c:1::/64" })).status).toBe(201);
  });

  test("that overlaps a fixed pool, but whose block is not the pool's block, gets 409 SubnetCidrOverlap", async () => {
    for (const ipv4_block of ["203.0.113.0/25", "203.0.112.0/23"]) {
      const message = "the external subnet overlaps the public pool 203.0.113.0/24";
      expectRefused(await subnet({ ipv4_block }), 409, "SubnetCidrOverlap", message);
    }
    const answer = await subnet({ ipv6_block: "2001:db8:0:1::/64" });
    expectRefused(answer, 409, "SubnetCidrOverlap", "the external subnet overlaps the public pool 2001:db8::/48");
  });

  test("whose block is the block of a fixed pool leaves the pool unchanged when the subnet is deleted", async () => {
    const network = okOf(await subnet({ ipv4_block: "203.0.113.0/24", ipv6_block: "2001:db8::/48" }));
    const gateway = okOf(await makeGateway(a, await makeVpc(a)));
    expect(gateway.public_address).toBe("203.0.113.2");
    const floating = okOf(await makeFloatingIp(a, { network_id: network.id }));
    expect(floating.address).toBe("203.0.113.3");
    expect((await t.call("DELETE", `${SUBNETS}/${network.id}`)).status).toBe(409);
    okOf(await a.call("DELETE", `/v1/floating-ips/${floating.id}`));
    // The NAT gateway does not prevent the deletion, because its address is from the pool, not from the subnet.
    expect((await t.call("DELETE", `${SUBNETS}/${network.id}`)).status).toBe(204);
    expect(okOf(await makeFloatingIp(a)).address).toBe("203.0.113.3");
  });

  test("is not deleted while one of its addresses is allocated or a pool lists it", async () => {
    const network = await makeNetwork(t, { nic_tag: tag, ipv4_block: block() });
    const path = `${SUBNETS}/${network.id}`;
    const still = (what: string) =>
      `external subnet ${network.id} is still used by ${what}, which must be deleted first`;
    const floating = okOf(await makeFloatingIp(a, { network_id: network.id }));
    conflictWith(await t.call("DELETE", path), still(`floating ip ${floating.id}`));
    okOf(await a.call("DELETE", `/v1/floating-ips/${floating.id}`));
    const pool = await makePool(t, [network.id], { name: "lists it" });
    conflictWith(await t.call("DELETE", path), still(`network pool lists it (${pool})`));
    okOf(await t.call("DELETE", `${POOLS}/${pool}`));
    expect((await t.call("DELETE", path)).status).toBe(204);
    const { rows } = await t.db.query("select from pool where id like 'external:' || $1 || ':%'", [network.id]);
    expect(rows).toEqual([]);
  });
});

describe("a network pool", () => {
  test("is shown with all its fields, keeps the order of its networks and is replaced as a whole", async () => {
    const [one, two] = [await makeNetwork(t, { ipv4_block: block() }), await makeNetwork(t, { ipv4_block: block() })];
    const body = { name: "public", description: "d", networks: [two.id, one.id], owner_silos: [a.silo_id] };
    const made = await t.call("POST", POOLS, { body });
    expect(made.status).toBe(201);
    const { id, created_at } = made.body;
    expect(made.body).toEqual({ id, ...body, created_at });
    expect(okOf(await t.call("GET", `${POOLS}/${id}`))).toEqual(made.body);
    expect(okOf(await t.call("GET", POOLS)).items).toContainEqual(made.body);
    const other = { name: "open", networks: [one.id] };
    const replaced = okOf(await t.call("PUT", `${POOLS}/${id}`, { body: other }));
    expect(replaced).toEqual({ id, ...other, description: "", owner_silos: [], created_at });
    expect((await t.call("DELETE", `${SUBNETS}/${two.id}`)).status).toBe(204);
    expect((await t.call("DELETE", `${SUBNETS}/${one.id}`)).status).toBe(409);
    expect((await t.call("DELETE", `${POOLS}/${id}`)).status).toBe(204);
    notFound(await t.call("PUT", `${POOLS}/${id}`, { body: other }));
  });

  test("has a name that is unique in the cluster and follows the name rule", async () => {
    const { id } = await makeNetwork(t, { ipv4_block: block() });
    await makePool(t, [id], { name: "taken" });
    conflictWith(
      await post(POOLS, { name: "taken", networks: [id] }),
      "a network pool named taken already exists",
    );
    conflictWith(await post(POOLS, { name: "a\\b", networks: [id] }), "name must not contain / or \\");
  });

  test("with a network that is not an external subnet gets 400 SubnetNotExternal with the network's id", async () => {
    const { id } = await makeNetwork(t, { ipv4_block: block() });
    const unknown = randomUUID();
    const answer = await post(POOLS, { networks: [id, unknown] });
    expectRefused(answer, 400, "SubnetNotExternal", `networks: ${unknown} is not an external subnet`);
  });

  test("for a silo that does not exist gets 400 with the silo's id", async () => {
    const { id } = await makeNetwork(t, { ipv4_block: block() });
    const silo = randomUUID();
    const answer = await post(POOLS, { networks: [id], owner_silos: [silo] });
    expectRefused(answer, 400, "BadRequest", `owner_silos: there is no silo ${silo}`);
  });

  test("without networks, or with the same network twice, gets 400", async () => {
    const { id } = await makeNetwork(t, { ipv4_block: block() });
    for (const networks of [[], [id, id], [id, id.toUpperCase()]]) {
      expect((await post(POOLS, { networks })).status).toBe(400);
    }
  });
});

test("the list of the nodes' NIC tags shows the tags of the last capacity reports, and has pages", async () => {
  expect(okOf(await t.call("GET", "/v1/system/cn-nic-tags"))).toEqual({ items: [] });
  const nodes = [];
  for (const hostname of ["n1", "n2", "n3"]) {
    const { server_uuid, api_key } = await t.approvedNode({ hostname });
    for (const nic_tags of [["admin"], ["admin", hostname]]) {
      const body = { ...capacity(), nic_tags };
      okOf(await t.call("POST", "/v1/agent/capacity", { key: api_key, body }));
    }
    nodes.push({ server_uuid, hostname, nic_tags: ["admin", hostname], reported: [] });
  }
  await t.register({ hostname: "silent" });
  nodes.sort((one, two) => (one.server_uuid < two.server_uuid ? -1 : 1));
  expect(okOf(await t.call("GET", "/v1/system/cn-nic-tags"))).toEqual({ items: nodes });
  const first = okOf(await t.call("GET", "/v1/system/cn-nic-tags?limit=2"));
  expect(first.items).toEqual(nodes.slice(0, 2));
  const rest = okOf(await t.call("GET", `/v1/system/cn-nic-tags?limit=2&page_token=${first.next_page}`));
  expect(rest).toEqual({ items: nodes.slice(2) });
});
