// Tests the passes in which a server process continues drains and evacuations. An abandoned operation moves no more
// instances, even if a pass read the operation before it was abandoned. A pass does not read all migrations.
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Engine } from "../../actors/engine/engine.ts";
import type { Outcome } from "../../actors/engine/types.ts";
import type { DrainPreview } from "../../src/contract/placement.ts";
import { createSettings } from "../../src/services/settings.ts";
import { createNodeDrains } from "../../src/wiring/drains.ts";
import { createWholeReads } from "../../src/wiring/whole-reads.ts";
import type { InstanceFixture } from "./bare-fixture.ts";
import { type InstanceSagas, makeFixture, openInstanceSagas } from "./instance-sagas.ts";

let fixture: InstanceFixture;
let p: InstanceSagas;
beforeAll(async () => {
  fixture = await makeFixture(1);
  p = await openInstanceSagas(fixture);
}, 120_000);
afterAll(async () => {
  await p.end();
  await fixture.database.drop();
});

function planOf(instance_id: string): DrainPreview {
  return {
    instances_on_cn: 1,
    placeable: [{
      instance_id,
      instance_name: instance_id,
      instance_tenant_id: fixture.tenant_id,
      instance_project_id: fixture.project_id,
      instance_cpu: 1,
      instance_ram_mb: 1_024,
      target_cn_uuid: p.other,
      target_cn_hostname: "other",
    }],
    not_placeable: [],
    capacity_ok: true,
    quorum_ok: true,
    quorum_at_risk: [],
  };
}

/** Runs one pass of the drains of nodes. Calls `before` before the first message to an instance. */
async function pass(before: () => Promise<void>, kysely = p.db.kysely): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let first: Promise<void> | undefined;
  const send: Engine["send"] = async (to, message, how) => {
    await (first ??= before());
    const outcome = await p.main.engine.send(to, message, how);
    outcomes.push(outcome);
    return outcome;
  };
  const whole = createWholeReads(p.db);
  const deps = {
    kysely,
    byKey: p.db.byKey.kysely,
    nodesToPlace: whole.nodesToPlace,
    settings: createSettings(whole.storedSettings, {}),
  };
  const report = (message: string, error: unknown) => expect.fail(`${message}: ${error}`);
  await createNodeDrains(deps, { send }, { report }).pass();
  return outcomes;
}

test.each([
  { type: "drain", on: () => p.node, instance: () => p.running() },
  { type: "evacuate", on: () => p.silent, instance: () => p.onSilent("running") },
])(
  "an operation of $type moves no instance if the operation was abandoned after a pass had read it",
  async ({ type, on, instance }) => {
    const instance_id = await instance();
    const operation_id = randomUUID();
    const node = { kind: "cn", id: on() };
    expect(await p.send(node, { type, operation_id, preview: planOf(instance_id) })).toMatchObject({ ok: true });
    await p.main.tick(operation_id);
    const outcomes = await pass(async () => {
      expect(await p.send({ kind: "saga", id: operation_id }, { type: "abandon" })).toMatchObject({ ok: true });
    });
    // The drained node also has the other instances of the fixture.
    const answers = new Set(outcomes.map((outcome) => outcome.ok ? "the instance moves" : outcome.fault.message));
    expect(answers).toEqual(new Set([`operation ${operation_id} is not running any more`]));
    const { rows } = await p.db.query("select host_cn_uuid from instance where id = $1", [instance_id]);
    expect(rows).toEqual([{ host_cn_uuid: on() }]);
    expect(await p.migrationOf(instance_id)).toEqual([]);
  },
);

test("a pass of a drain does not read every ended migration, because ended migrations are kept forever", async () => {
  const operation_id = randomUUID();
  const preview = { ...planOf(randomUUID()), placeable: [] };
  expect(await p.send({ kind: "cn", id: p.node }, { type: "drain", operation_id, preview })).toMatchObject({
    ok: true,
  });
  await p.main.tick(operation_id);
  await p.db.query(
    `insert into migration (id, state, source_cn, target_cn, instance_id, created_at, ended_at)
       select gen_random_uuid(), 'completed', n.source, n.target, gen_random_uuid(), d.day, d.day
         from (values ($1::uuid, $2::uuid), ($2, $1)) n (source, target), generate_series(1, 10_000) number,
              lateral (select berth_now() - interval '1 day' - number * interval '1 minute' as day) d`,
    [p.node, p.other],
  );
  await p.db.query("analyze migration");
  let read = Infinity;
  await p.db.kysely.transaction().execute(async (transaction) => {
    await pass(async () => {}, transaction);
    const { rows } = await sql<{ rows: number }>`
      select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as rows
        from pg_stat_xact_user_tables where relname = 'migration'`.execute(transaction);
    read = rows[0]!.rows;
  });
  expect(read).toBeLessThan(100);
});
