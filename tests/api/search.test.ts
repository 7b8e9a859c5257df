// Tests the search across all kinds of objects, and which objects each caller finds.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SearchHit } from "../../src/contract/search.ts";
import { okOf, openTestControlPlane, ROOT_KEY, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { newLogin } from "./login.ts";

let t: TestControlPlane;
let ours: TestTenant;
let theirs: TestTenant;
let vpc: string;
beforeAll(async () => {
  t = await openTestControlPlane();
  ours = await openTenant(t, "orange");
  theirs = await openTenant(t, "green");
  const newVpc = async (tenant: TestTenant) =>
    okOf(
      await t.call("POST", `/v1/vpcs${tenant.selectors}`, { body: { name: "front", ipv4_block: "10.0.0.0/16" } }),
    ).id;
  vpc = await newVpc(ours);
  await newVpc(theirs);
});
afterAll(() => t.close());

async function search(q: string, key = ROOT_KEY, more = ""): Promise<SearchHit[]> {
  return okOf(await t.call("GET", `/v1/search?q=${encodeURIComponent(q)}${more}`, { key })).items;
}
const kinds = async (q: string, key?: string) => (await search(q, key)).map(({ kind, name }) => `${kind} ${name}`);

test("an operator finds a node by name, serial, address, UUID and claim code", async () => {
  const sysinfo = { "Serial Number": "SER-77" };
  const { server_uuid, claim_code } = await t.register({ hostname: "rack7-a", admin_ip: "192.0.2.77", sysinfo });
  for (const q of ["RACK7", "ser-77", "192.0.2.77", server_uuid.slice(0, 13), claim_code]) {
    expect((await search(q)).map(({ id }) => id), q).toContain(server_uuid);
  }
  expect(await search("192.0.2.77")).toEqual([{ kind: "cn", id: server_uuid, name: "rack7-a", hint: "192.0.2.77" }]);
});

test("an operator finds silos, tenants and projects; names that begin with the text come first", async () => {
  const [first, ...others] = await kinds("orange");
  expect(first).toBe("tenant orange");
  // The silo's name ends with a number that depends on earlier tests.
  expect(others.sort()).toEqual(["project orange-project", expect.stringMatching(/^silo orange-silo-\d+$/)]);
  const [tenant] = await search("orange");
  expect(tenant?.hint).toBe(okOf(await t.call("GET", `/v1/silos/${ours.silo_id}`)).name);
  okOf(await t.call("POST", "/v1/silos", { body: { name: "an-orange" } }));
  expect((await kinds("orange")).at(-1)).toBe("silo an-orange");
});

test("with a kind, only objects of this kind are found, and hits of other kinds do not hide them", async () => {
  for (let n = 0; n < 3; n++) {
    okOf(
      await t.call("POST", `/v1/vpcs${ours.selectors}`, { body: { name: `lemon-${n}`, ipv4_block: "10.0.0.0/16" } }),
    );
  }
  const path = `/v1/silos/${ours.silo_id}/tenants`;
  const { id } = okOf(await t.call("POST", path, { body: { name: "the-lemon-shop" } }));
  const ids = async (more: string) => (await search("lemon", ROOT_KEY, more)).map((hit) => hit.id);
  expect(await ids("&limit=3")).not.toContain(id);
  expect(await ids("&limit=3&kind=tenant")).toEqual([id]);
  expect(await ids("&kind=vpc")).toHaveLength(3);
  expect(await ids("&kind=job")).toEqual([]);
  const refused = await t.call("GET", "/v1/search?q=lemon&kind=shop");
  expect(refused).toMatchObject({
    status: 400,
    body: { message: expect.stringMatching(/^query.kind: must be one of cn, /) },
  });
});

test("a search for an id finds the object with this id first, even if other objects have this id as their name", async () => {
  for (const name of [ours.tenant_id, `${ours.tenant_id}-net`]) {
    okOf(await t.call("POST", `/v1/vpcs${ours.selectors}`, { body: { name, ipv4_block: "10.0.0.0/16" } }));
  }
  expect((await search(ours.tenant_id, ROOT_KEY, "&limit=1")).map(({ kind }) => kind)).toEqual(["tenant"]);
});

test("an exact hit is first, then names that begin with the text, whatever their alphabetical order and the limit are", async () => {
  for (const name of ["a-depth", "b-depth", "c-depth", "depth-1", "depth"]) {
    okOf(await t.call("POST", `/v1/vpcs${ours.selectors}`, { body: { name, ipv4_block: "10.0.0.0/16" } }));
  }
  expect((await search("depth", ROOT_KEY, "&limit=2")).map(({ name }) => name)).toEqual(["depth", "depth-1"]);
  for (
    const [hostname, admin_ip] of [["a", "192.0.2.10"], ["b", "192.0.2.11"], ["c", "192.0.2.12"], ["z", "192.0.2.1"]]
  ) {
    await t.register({ hostname: `exact-${hostname}`, admin_ip });
  }
  expect((await search("192.0.2.1", ROOT_KEY, "&limit=2"))[0]?.name).toBe("exact-z");
});

test("S-02: a tenant finds only its own objects, even if it searches for the id of another tenant's object", async () => {
  expect(await search("front", ours.key)).toEqual([{ kind: "vpc", id: vpc, name: "front", hint: null }]);
  expect(await search(vpc, theirs.key)).toEqual([]);
  expect(await kinds("rack7", ours.key)).toEqual([]);
  expect(await kinds("orange", ours.key)).toEqual(["project orange-project"]);
  expect(await kinds("orange", theirs.key)).toEqual([]);
});

test("a user with system-read finds the objects of all tenants; a user without a tenant finds no objects", async () => {
  const reader = await newLogin(t, { capabilities: ["system-read"] });
  const other = await newLogin(t);
  expect(await search("front", reader.token)).toHaveLength(2);
  expect(await search("front", other.token)).toEqual([]);
});

test("the characters of SQL patterns match only themselves, and the limit is obeyed", async () => {
  expect(await search("%")).toEqual([]);
  expect(await search("_")).toEqual([]);
  expect(await search("\\")).toEqual([]);
  expect(await search("o", ROOT_KEY, "&limit=2")).toHaveLength(2);
  expect((await t.call("GET", "/v1/search")).status).toBe(400);
  expect((await t.call("GET", `/v1/search?q=${randomUUID()}&limit=51`)).status).toBe(400);
});
