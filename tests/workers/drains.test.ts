// Tests the background worker of drains, in which each drain advances independently of the other drains.
import { expect, test } from "vitest";
import type { Drain } from "../../src/lib/placement/drain-progress.ts";
import { createDrains } from "../../src/workers/drains.ts";

const drain = (name: string): Drain => ({
  operation_id: `drain-${name}`,
  is_evacuation: false,
  server_uuid: name,
  active: 0,
  not_placeable: [],
  moves: [{
    instance_id: `instance-${name}`,
    instance_name: name,
    target_cn_uuid: "target",
    is_here: true,
    was_deleted: false,
    is_occupied: false,
    failure: null,
  }],
});

function worker(begin: (drain: Drain) => Promise<void>) {
  const reported: unknown[] = [];
  const drains = createDrains({
    running: () => Promise.resolve([drain("a"), drain("b")]),
    begin: async (of) => {
      await begin(of);
      return { ok: true, reply: null };
    },
    end: () => Promise.resolve(),
    ports: { report: (_message, error) => void reported.push(error) },
  });
  return { pass: drains.pass, reported };
}

test("drains of several nodes begin their migrations at the same time", async () => {
  const other = Promise.withResolvers<void>();
  const begun: string[] = [];
  const { pass } = worker(async ({ server_uuid }) => {
    // The first drain waits until the second drain begins.
    if (server_uuid === "a") await other.promise;
    begun.push(server_uuid);
    other.resolve();
  });
  await pass();
  expect(begun).toEqual(["b", "a"]);
});

test("a drain whose migration cannot begin stops no other drain", async () => {
  const begun: string[] = [];
  const broken = new Error("the connection broke");
  const { pass, reported } = worker(({ server_uuid }) => {
    if (server_uuid === "a") return Promise.reject(broken);
    begun.push(server_uuid);
    return Promise.resolve();
  });
  await pass();
  expect(begun).toEqual(["b"]);
  expect(reported).toEqual([broken]);
});
