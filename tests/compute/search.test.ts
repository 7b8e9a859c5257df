// Tests the search for instances by name, id and address, and for operations and jobs by id.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SearchHit } from "../../src/contract/search.ts";
import { okOf } from "../support/control-plane.ts";
import { openTenant } from "../tenancy/tenant.ts";
import { type ComputeFixture, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
let instance: { readonly id: string; readonly name: string };
beforeAll(async () => {
  a = await openComputeFixture();
  instance = await a.stopped();
});
afterAll(() => a.t.close());

async function search(q: string, call: ComputeFixture["call"] = a.t.call): Promise<string[]> {
  const { items } = okOf(await call("GET", `/v1/search?q=${encodeURIComponent(q)}`));
  return items.map(({ kind, id }: SearchHit) => `${kind} ${id}`);
}

test("an instance is found by a part of its name, by the beginning of its id, and by an address of a NIC", async () => {
  const [nic] = await a.nicsOf(instance.id);
  const { additional_ips: [more] } = okOf(
    await a.call("PATCH", `/v1/nics/${nic!.id}`, { body: { additional_ips: ["10.0.1.77"] } }),
  );
  const hit = `instance ${instance.id}`;
  for (const q of [instance.name.slice(1).toUpperCase(), instance.id.slice(0, 30), nic!.primary_ipv4!, more]) {
    expect(await search(q), q).toContain(hit);
    expect(await search(q, a.call), q).toContain(hit);
  }
  const other = await openTenant(a.t);
  expect(await search(nic!.primary_ipv4!, other.call)).toEqual([]);
  expect(await search(instance.id, other.call)).toEqual([]);
});

test("operators can search the list of all instances for a part of the name, the id or an address", async () => {
  const [nic] = await a.nicsOf(instance.id);
  const listed = async (q: string) =>
    okOf(await a.t.call("GET", `/v1/system/instances?q=${q}`)).items.map(({ id }: { id: string }) => id);
  for (const q of [instance.name.slice(1).toUpperCase(), instance.id.slice(3, 20), nic!.primary_ipv4!.slice(1)]) {
    expect(await listed(q), q).toContain(instance.id);
  }
  for (const q of ["10.99.99", "nothing-has-this", "ffffffff-ffff"]) expect(await listed(q), q).toEqual([]);
});

test("an operation and a job are found by the beginning of their ids, but not by a later part or by a changed id", async () => {
  const [operation] = okOf(await a.t.call("GET", "/v1/operations?kind=instance-create&limit=1"));
  const { items: [job] } = okOf(await a.t.call("GET", "/v1/system/jobs?limit=1"));
  for (const [kind, { id }] of [["operation", operation], ["job", job]] as const) {
    for (const length of [14, 24, 30, 36]) {
      expect(await search(id.slice(0, length).toUpperCase()), `${length}`).toContain(`${kind} ${id}`);
    }
    for (const q of [id.replaceAll("-", ""), `${id}0`, id.slice(1)]) expect(await search(q), q).toEqual([]);
  }
});
