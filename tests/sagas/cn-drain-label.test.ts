// Tests the operation that drains the nodes with a label. The process dies at each of these commits: the start of the
// operation, the start of its wait, the start of a node's drain, and the end of the operation. At the start of the
// operation, the connection is also cut (docs/reliability.md).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CN_DRAIN } from "../../actors/cn/drain.ts";
import { FAULT_POINTS } from "../../actors/engine/ports.ts";
import { stepId, waitId } from "../../actors/engine/saga.ts";
import { CN_DRAIN_LABEL, type LabelDrainParams } from "../../actors/cn/messages.ts";
import type { LabelDrainResult } from "../../src/contract/label-drain.ts";
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
const RESULT: LabelDrainResult = { drained: [], not_emptied: [], not_begun: [] };
const CUTS = ["before", "after"] as const;

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

const fresh = () => ({ id: randomUUID(), message_id: `0198f0e0-0000-7000-8000-${randomUUID().slice(-12)}` });
type Asked = ReturnType<typeof fresh>;
const drainId = ({ id }: Asked) => stepId(id, CN_DRAIN_LABEL.drain, p.node);

function ask(asked: Asked, by = p.main) {
  const nodes = [{ server_uuid: p.node, hostname: "node", operation_id: drainId(asked) }];
  const params: LabelDrainParams = { label: "rack=a3", max_unavailable: 1, nodes };
  const references = [{ scope: "cn", id: p.node }];
  return p.send(
    { kind: "saga", id: asked.id },
    { type: "start", id: asked.id, saga: CN_DRAIN_LABEL.saga, params, references, reply: { nodes } },
    { id: asked.message_id, fresh: false },
    by,
  );
}
const begins = (asked: Asked, by = p.main) =>
  p.send(
    { kind: "cn", id: p.node },
    { type: "drain", operation_id: drainId(asked), preview: PREVIEW, part_of: asked.id },
    {},
    by,
  );
const ends = ({ id }: Asked, by = p.main) =>
  p.send(
    { kind: "saga", id },
    { type: "job_ended", job_id: waitId(id, CN_DRAIN_LABEL.drain), outcome: "completed", result: RESULT },
    {},
    by,
  );
const endDrain = async (asked: Asked) => {
  const id = drainId(asked);
  await p.main.tick(id);
  const result = { moved: 0, remaining: [] };
  await p.send(
    { kind: "saga", id },
    { type: "job_ended", job_id: waitId(id, CN_DRAIN.move), outcome: "completed", result },
  );
  expect(await p.row(id)).toMatchObject({ state: "succeeded" });
};

async function begun(): Promise<Asked> {
  const asked = fresh();
  expect(await ask(asked)).toMatchObject({ ok: true, reply: { nodes: [{ server_uuid: p.node }] } });
  await p.main.tick(asked.id);
  return asked;
}

/** Expects that the operation started once and wrote one audit entry. Then ends the operation. */
async function expectBegun(asked: Asked): Promise<void> {
  const audited = "select audit from transition where actor_id = $1 and audit is not null";
  const { rows } = await p.db.query(audited, [asked.id]);
  expect(JSON.stringify(rows).split("cn_drain_label")).toHaveLength(2);
  expect(await p.row(asked.id)).toMatchObject({ state: "running", step: CN_DRAIN_LABEL.drain });
  await p.main.tick(asked.id);
  await ends(asked);
  await expectEnded(asked);
}

async function expectEnded({ id }: Asked): Promise<void> {
  expect(await p.row(id)).toMatchObject({ state: "succeeded", outputs: { [CN_DRAIN_LABEL.drain]: RESULT } });
  const events = "select event from transition where actor_kind = 'saga' and actor_id = $1 " +
    "and event in ('start', 'job_ended') order by event desc";
  expect((await p.db.query(events, [id])).rows).toEqual([{ event: "start" }, { event: "job_ended" }]);
}

test("the operation starts once when two processes send its message under one id, and both get the same answer", async () => {
  const asked = fresh();
  const [one, two] = await Promise.all([ask(asked, p.newProcess()), ask(asked, p.newProcess())]);
  expect(one).toMatchObject({ ok: true, reply: { nodes: [{ operation_id: drainId(asked) }] } });
  expect(two).toEqual(one);
  await expectBegun(asked);
});

test.each(FAULT_POINTS)(
  "the operation starts once when its message is repeated after the process died %s",
  async (dies) => {
    const asked = fresh();
    const dying = p.newProcess({ dies });
    await ask(asked, dying).catch(() => {});
    expect(dying.faults()).toBe(1);
    expect(await ask(asked, p.newProcess())).toMatchObject({ ok: true });
    await expectBegun(asked);
  },
);

test.each(CUTS)("the operation starts once when the connection is cut %s the commit", async (cut) => {
  const asked = fresh();
  const cutting = p.newProcess({ cut });
  expect(await ask(asked, cutting)).toMatchObject({ ok: true });
  expect(cutting.faults()).toBe(1);
  await expectBegun(asked);
});

test.each(FAULT_POINTS)(
  "the operation continues to wait in another process when the first process dies %s",
  async (dies) => {
    const asked = fresh();
    expect(await ask(asked)).toMatchObject({ ok: true });
    const dying = p.newProcess({ dies });
    await dying.tick(asked.id).catch(() => {});
    expect(dying.faults()).toBe(1);
    await p.newProcess().tick(asked.id);
    await expectBegun(asked);
  },
);

test.each(FAULT_POINTS)("the drain of a node begins once when a process died %s", async (dies) => {
  const asked = await begun();
  const dying = p.newProcess({ dies });
  await begins(asked, dying).catch(() => {});
  expect(dying.faults()).toBe(1);
  await Promise.all([begins(asked, p.newProcess()), begins(asked, p.newProcess())]);
  const { rows } = await p.db.query("select id from saga where saga = $1 and state = 'running'", [CN_DRAIN.saga]);
  expect(rows).toEqual([{ id: drainId(asked) }]);
  await endDrain(asked);
  // A process that acts on an old state cannot begin the drain a second time.
  await begins(asked, p.newProcess());
  expect(await p.row(drainId(asked))).toMatchObject({ state: "succeeded" });
  await ends(asked);
});

test.each(FAULT_POINTS)(
  "the operation ends once when its end is reported again after the process died %s",
  async (dies) => {
    const asked = await begun();
    const dying = p.newProcess({ dies });
    await ends(asked, dying).catch(() => {});
    expect(dying.faults()).toBe(1);
    await Promise.all([ends(asked, p.newProcess()), ends(asked, p.newProcess())]);
    await expectEnded(asked);
  },
);

test("the operation begins no drain after it was abandoned, and a late report of its end changes nothing", async () => {
  const asked = await begun();
  expect(await p.send({ kind: "saga", id: asked.id }, { type: "abandon" })).toMatchObject({ ok: true });
  expect(await p.finish(asked.id)).toMatchObject({ state: "unwound" });
  expect(await begins(asked)).toMatchObject({
    ok: false,
    fault: { kind: "conflict", message: `operation ${asked.id} is not running any more` },
  });
  await ends(asked);
  expect(await p.row(asked.id)).toMatchObject({ state: "unwound" });
});
