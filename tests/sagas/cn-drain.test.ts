// Tests the operations that empty a node: drain and evacuation. The process dies, or the connection is lost, at each
// commit that starts or ends an operation (docs/reliability.md). instance-steps.test.ts tests the faults of single
// migrations.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CN_DRAIN, CN_EVACUATE } from "../../actors/cn/drain.ts";
import { FAULT_POINTS } from "../../actors/engine/ports.ts";
import { waitId } from "../../actors/engine/saga.ts";
import type { DrainResult } from "../../src/contract/drain.ts";
import type { DrainPreview } from "../../src/contract/placement.ts";
import type { InstanceFixture } from "./bare-fixture.ts";
import { type InstanceSagas, makeFixture, openInstanceSagas } from "./instance-sagas.ts";

const PREVIEW: DrainPreview = {
  instances_on_cn: 0,
  placeable: [],
  not_placeable: [],
  capacity_ok: false,
  quorum_ok: true,
  quorum_at_risk: [],
};
const RESULT: DrainResult = { moved: 0, remaining: [] };
const CUTS = ["before", "after"] as const;

let fixture: InstanceFixture;
let p: InstanceSagas;
beforeAll(async () => {
  fixture = await makeFixture(1);
  p = await openInstanceSagas(fixture);
  await p.db.query("update cn_signal set last_seen = berth_now() - interval '1 hour' where server_uuid = $1", [
    p.silent,
  ]);
}, 120_000);
afterAll(async () => {
  await p.end();
  await fixture.database.drop();
});

describe.each([
  { type: "drain", saga: CN_DRAIN, on: () => p.node },
  { type: "evacuate", saga: CN_EVACUATE, on: () => p.silent },
])("the operation of $type", ({ type, saga, on }) => {
  const fresh = () => ({ operation_id: randomUUID(), id: `0198f0e0-0000-7000-8000-${randomUUID().slice(-12)}` });
  type Asked = ReturnType<typeof fresh>;
  const ask = ({ operation_id, id }: Asked, by = p.main) =>
    p.send({ kind: "cn", id: on() }, { type, operation_id, preview: PREVIEW }, { id, fresh: false }, by);
  const ends = ({ operation_id, id }: Asked, by = p.main) =>
    p.send(
      { kind: "saga", id: operation_id },
      { type: "job_ended", job_id: waitId(operation_id, saga.move), outcome: "completed", result: RESULT },
      { id: id.replace("7000", "7001"), fresh: false },
      by,
    );

  async function begun(): Promise<Asked> {
    const asked = fresh();
    expect(await ask(asked)).toMatchObject({ ok: true });
    await p.main.tick(asked.operation_id);
    return asked;
  }

  /** Expects that only this operation runs and that the node is cordoned. Then ends the operation. */
  async function expectBegun(asked: Asked): Promise<void> {
    const { rows } = await p.db.query("select id from saga where saga = $1 and state = 'running'", [saga.saga]);
    expect(rows).toEqual([{ id: asked.operation_id }]);
    const cordon = await p.db.query("select cordoned_reason from cn_placement where server_uuid = $1", [on()]);
    expect(cordon.rows).toEqual([{ cordoned_reason: "drain" }]);
    await p.main.tick(asked.operation_id);
    await ends(asked);
    await expectEnded(asked);
  }

  async function expectEnded({ operation_id }: Asked): Promise<void> {
    expect(await p.row(operation_id)).toMatchObject({ state: "succeeded", outputs: { [saga.move]: RESULT } });
    const events = "select event from transition where actor_kind = 'saga' and actor_id = $1 " +
      "and event in ('start', 'job_ended') order by event desc";
    expect((await p.db.query(events, [operation_id])).rows).toEqual([{ event: "start" }, { event: "job_ended" }]);
  }

  test("starts once when two processes send its message under one id, and refuses a second operation", async () => {
    const asked = fresh();
    const [one, two] = await Promise.all([ask(asked, p.newProcess()), ask(asked, p.newProcess())]);
    expect(one).toMatchObject({ ok: true });
    expect(two).toEqual(one);
    expect(await ask(fresh())).toMatchObject({ ok: false, fault: { kind: "conflict" } });
    await expectBegun(asked);
  });

  test.each(FAULT_POINTS)("starts once when its message is repeated after the process died %s", async (dies) => {
    const asked = fresh();
    const dying = p.newProcess({ dies });
    await ask(asked, dying).catch(() => {});
    expect(dying.faults()).toBe(1);
    expect(await ask(asked, p.newProcess())).toMatchObject({ ok: true });
    await expectBegun(asked);
  });

  test.each(CUTS)("starts once when the connection is cut %s the commit", async (cut) => {
    const asked = fresh();
    const cutting = p.newProcess({ cut });
    expect(await ask(asked, cutting)).toMatchObject({ ok: true });
    expect(cutting.faults()).toBe(1);
    await expectBegun(asked);
  });

  test.each(FAULT_POINTS)("continues to wait in another process when the first process dies %s", async (dies) => {
    const asked = fresh();
    expect(await ask(asked)).toMatchObject({ ok: true });
    const dying = p.newProcess({ dies });
    await dying.tick(asked.operation_id).catch(() => {});
    expect(dying.faults()).toBe(1);
    await p.newProcess().tick(asked.operation_id);
    await expectBegun(asked);
  });

  test.each(FAULT_POINTS)("ends once when its end is reported again after the process died %s", async (dies) => {
    const asked = await begun();
    const dying = p.newProcess({ dies });
    await ends(asked, dying).catch(() => {});
    expect(dying.faults()).toBe(1);
    await Promise.all([ends(asked, p.newProcess()), ends(asked, p.newProcess())]);
    await expectEnded(asked);
  });

  test.each(CUTS)("ends once when the connection is cut %s the commit of its end", async (cut) => {
    const asked = await begun();
    const cutting = p.newProcess({ cut });
    await ends(asked, cutting);
    expect(cutting.faults()).toBe(1);
    await expectEnded(asked);
  });

  test("unwinds when it is abandoned, and a late report of its end changes nothing", async () => {
    const asked = await begun();
    expect(await p.send({ kind: "saga", id: asked.operation_id }, { type: "abandon" })).toMatchObject({ ok: true });
    expect(await p.finish(asked.operation_id)).toMatchObject({ state: "unwound" });
    await ends(asked);
    expect(await p.row(asked.operation_id)).toMatchObject({ state: "unwound" });
  });
});
