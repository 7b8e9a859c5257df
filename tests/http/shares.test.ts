// Tests the share of slots that each source of requests may have (docs/reliability.md, S-50).
// tests/security/edge-shares.test.ts tests the shares in a running server.
import { expect, test } from "vitest";
import { createShares } from "../../src/http/shares.ts";

/**
 * Returns a function that takes a slot with a weight, by default 1, and the list of evicted slots. The name of a slot
 * is its source and its number, such as `a0` for the first slot.
 */
function shares(total_max: number, each_max: number) {
  const evicted: string[] = [];
  const all = createShares({ total_max, each_max });
  let taken = 0;
  const take = (source: string, weight = 1) => {
    const name = `${source}${taken++}`;
    return all.take(source, weight, () => evicted.push(name));
  };
  return { take, evicted };
}

test("a source has at most its share of the slots, and can take a slot again after it releases a slot", () => {
  const { take, evicted } = shares(10, 2);
  const first = take("a");
  expect(take("a")).not.toBeNull();
  expect(take("a")).toBeNull();
  first!.release();
  first!.release();
  expect(take("a")).not.toBeNull();
  expect(take("a")).toBeNull();
  expect(evicted).toEqual([]);
});

test("when all slots are taken, a new source gets the oldest slot of the source with the most slots", () => {
  const { take, evicted } = shares(4, 3);
  for (const source of ["b", "a", "a", "a"]) take(source);
  expect(take("c")).not.toBeNull();
  expect(evicted).toEqual(["a1"]);
  expect(take("d")).not.toBeNull();
  expect(evicted).toEqual(["a1", "a2"]);
});

test("a source cannot take slots from a source that has as many slots or fewer", () => {
  const { take, evicted } = shares(4, 3);
  for (const source of ["a", "a", "b", "b"]) take(source);
  expect(take("a")).toBeNull();
  expect(take("b")).toBeNull();
  expect(evicted).toEqual([]);
});

test("a slot that grows counts with its new weight", () => {
  const { take, evicted } = shares(10, 6);
  const large = take("a", 2)!;
  expect(large.grow(6)).toBe(true);
  expect(large.grow(7)).toBe(false);
  expect(take("a")).toBeNull();
  const other = take("b", 2)!;
  expect(other.grow(4)).toBe(true);
  // All slots are taken, so a third source takes a slot of the largest source.
  expect(take("c", 3)).not.toBeNull();
  expect(evicted).toEqual(["a0"]);
  expect(large.grow(8)).toBe(false);
  large.release();
  expect(take("d", 3)).not.toBeNull();
});
