// Tests that a running operation by label keeps the ended operations of its nodes, however short the retention is.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CN_DRAIN_LABEL, CN_UPGRADE_LABEL } from "../../actors/cn/messages.ts";
import { waitId } from "../../actors/engine/saga.ts";
import type { DrainPreview } from "../../src/contract/placement.ts";
import { SAGA_RETENTION_S_MIN } from "../../src/contract/limits.ts";
import { createSettings } from "../../src/services/settings.ts";
import { createLabelDrainsOfServer } from "../../src/wiring/label-drains.ts";
import { createUpgradesOfServer } from "../../src/wiring/upgrades.ts";
import { createWholeReads } from "../../src/wiring/whole-reads.ts";
import { maintainNow } from "../support/maintenance.ts";
import type { InstanceFixture } from "./bare-fixture.ts";
import { type InstanceSagas, makeFixture, openInstanceSagas } from "./instance-sagas.ts";

const PREVIEW: DrainPreview = {
  instances_on_cn: 0,
  placeable: [],
  not_placeable: [],
  capacity_ok: true,
  quorum_ok: true,
  quorum_at_risk: [],
};

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

/** Runs one pass over the drains by label, and one pass over the upgrades by label. */
async function pass(): Promise<void> {
  const whole = createWholeReads(p.db);
  const settings = createSettings(whole.storedSettings, {});
  const deps = { kysely: p.db.kysely, byKey: p.db.byKey.kysely, settings };
  const report = (message: string, error: unknown) => expect.fail(`${message}: ${error}`);
  await createLabelDrainsOfServer(deps, p.main.engine, { report }).pass();
  await createUpgradesOfServer(deps, p.main.engine, { report }).pass();
}

const states = async (ids: readonly string[]) =>
  (await p.db.query("select state from saga where id = any($1) order by created_at", [ids])).rows
    .map(({ state }) => state);

test.each([
  {
    type: "drain",
    of: { saga: CN_DRAIN_LABEL.saga, waits: CN_DRAIN_LABEL.drain },
    more: {},
    begins: { preview: PREVIEW },
  },
  {
    type: "upgrade",
    of: { saga: CN_UPGRADE_LABEL.saga, waits: CN_UPGRADE_LABEL.upgrade },
    more: { platform_image: "20261121T000000Z", reboot: "operator" },
    begins: { platform_image: "20261121T000000Z", reboot: "operator", records: [] },
  },
])("a running $type by label keeps the ended operations of its nodes", async ({ type, of, more, begins }) => {
  const [label, done, next] = [randomUUID(), randomUUID(), randomUUID()];
  const nodes = [
    { server_uuid: p.other, hostname: "a", operation_id: done },
    { server_uuid: p.silent, hostname: "b", operation_id: next },
  ];
  const params = { label: "rack=a3", max_unavailable: 1, nodes, ...more };
  await p.send({ kind: "saga", id: label }, {
    type: "start",
    id: label,
    saga: of.saga,
    params,
    references: [],
    reply: {},
  });
  await p.main.tick(label);
  for (const { server_uuid, operation_id } of nodes) {
    const message = { type, operation_id, part_of: label, ...begins };
    expect(await p.send({ kind: "cn", id: server_uuid }, message)).toMatchObject({ ok: true });
  }
  // The operation of the first node ended three days ago, and an operator uncordoned the node.
  await p.db.query(
    `update saga set state = 'succeeded', step = null, wake_at = null, due_at = null,
                     done_at = berth_now() - interval '3 days' where id = $1`,
    [done],
  );
  const patch = { cordoned: false };
  expect(await p.send({ kind: "cn", id: p.other }, { type: "set_placement", patch })).toMatchObject({ ok: true });

  await maintainNow(p.db, SAGA_RETENTION_S_MIN);
  await pass();
  expect(await states([label, done, next])).toEqual(["running", "succeeded", "running"]);
  const placement = "select cordoned from cn_placement where server_uuid = $1";
  expect((await p.db.query(placement, [p.other])).rows).toEqual([{ cordoned: false }]);

  // After the end of the operation by label, the retention applies.
  const ended = { type: "job_ended", job_id: waitId(label, of.waits), outcome: "completed", result: {} };
  expect(await p.send({ kind: "saga", id: label }, ended)).toMatchObject({ ok: true });
  await maintainNow(p.db, SAGA_RETENTION_S_MIN);
  expect(await states([label, done])).toEqual(["succeeded"]);
  await p.send({ kind: "saga", id: next }, { type: "abandon" });
});
