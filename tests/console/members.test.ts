// Tests that the console joins the objects of a large project in linear time: it reads each object once.
import { expect, test } from "vitest";
import { memberCounts, namedNics, namesOf } from "../../console/core/members.ts";
import type { Instance, Nic } from "../../src/contract/instance.ts";

const COUNT = 10_000;

/** Counts the reads of the fields of these objects. */
function counting<T extends object>(objects: readonly T[]) {
  let reads = 0;
  const get = (object: T, field: string | symbol) => {
    reads++;
    return Reflect.get(object, field);
  };
  return { objects: objects.map((object) => new Proxy(object, { get })), reads: () => reads };
}

// The tests read only these fields.
const instances = Array.from({ length: COUNT }, (_, n) => ({
  id: `i${n}`,
  name: `web${n}`,
  placement_group_id: n % 2 === 0 ? `g${n % 100}` : null,
})) as Instance[];
const nics = Array.from({ length: COUNT }, (_, n) => ({ id: `n${n}`, instance_id: `i${COUNT - n}` })) as Nic[];

test("10,000 NICs get the names of 10,000 instances, each read once, and are in the order of these names", () => {
  const [all, own] = [counting(instances), counting(nics)];
  const named = namedNics(own.objects, namesOf(all.objects));
  // No instance has the id i10000, so the NIC n0 has the id in place of a name.
  expect(named.slice(0, 3).map(({ id, instance }) => [id, instance]))
    .toEqual([["n0", "i10000"], ["n9999", "web1"], ["n9998", "web2"]]);
  expect(all.reads()).toBeLessThanOrEqual(COUNT * 2);
  expect(own.reads()).toBeLessThanOrEqual(COUNT * 5);
});

test("10,000 instances are counted by their placement groups, each read once", () => {
  const all = counting(instances);
  const counts = memberCounts(all.objects);
  expect([counts.size, counts.get("g2"), counts.get("g1")]).toEqual([50, 100, undefined]);
  expect([...counts.values()].reduce((sum, each) => sum + each, 0)).toBe(COUNT / 2);
  expect(all.reads()).toBeLessThanOrEqual(COUNT * 2);
});
