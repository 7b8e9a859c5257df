// Tests that all server processes together respect the limit on a drain's simultaneous migrations.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DRAIN_MIGRATIONS_MAX } from "../../src/contract/limits.ts";
import type { InstanceFixture } from "./bare-fixture.ts";
import { type InstanceSagas, makeFixture, openInstanceSagas } from "./instance-sagas.ts";
import { GIB, LIMIT_MS } from "./made-instances.ts";

/** More instances than a drain may move at the same time. */
const INSTANCES = DRAIN_MIGRATIONS_MAX + 3;

let fixture: InstanceFixture;
let p: InstanceSagas;
beforeAll(async () => {
  fixture = await makeFixture(INSTANCES);
  p = await openInstanceSagas(fixture);
}, 120_000);
afterAll(async () => {
  await p.end();
  await fixture.database.drop();
});

test("processes that begin migrations of one drain at the same time begin no more than the limit", async () => {
  const wanted = await Promise.all(Array.from({ length: INSTANCES }, async () => ({
    id: await p.running(),
    operation_id: randomUUID(),
    process: p.newProcess(),
  })));
  const begin = async ({ id, operation_id, process }: (typeof wanted)[number]) =>
    await p.send(
      { kind: "instance", id },
      {
        type: "migrate",
        silo_id: p.silo_id,
        from_cn: p.node,
        candidates: [p.other],
        bandwidth_bytes_per_s: GIB,
        operation_id,
        limit_ms: LIMIT_MS,
      },
      {},
      process,
    );
  const outcomes = await Promise.all(wanted.map(begin));
  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(DRAIN_MIGRATIONS_MAX);
  // These faults have no error code, so the drain tries the instances again later.
  const refused = wanted.filter((_, index) => !outcomes[index]!.ok);
  expect(outcomes.flatMap((outcome) => outcome.ok ? [] : [outcome.fault])).toEqual(refused.map(() => ({
    kind: "unavailable",
    message: `${DRAIN_MIGRATIONS_MAX} migrations from node ${p.node} are running, the most that a drain may run`,
  })));

  // A migration that ended leaves room for another migration.
  const [first] = wanted.filter((_, index) => outcomes[index]!.ok);
  await p.finish(first!.operation_id);
  const [one, two] = await Promise.all(refused.slice(0, 2).map(begin));
  expect([one!.ok, two!.ok].sort()).toEqual([false, true]);
});
