// Tests the operations that upgrade one node, or all nodes with a label. At each of their commits the process dies or
// the connection is lost (docs/reliability.md).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { CN_UPGRADE_LABEL, type LabelUpgradeParams } from "../../actors/cn/messages.ts";
import { CN_UPGRADE } from "../../actors/cn/upgrade.ts";
import { FAULT_POINTS } from "../../actors/engine/ports.ts";
import { stepId, waitId } from "../../actors/engine/saga.ts";
import type { UpgradeReboot } from "../../src/contract/enums.ts";
import type { LabelUpgradeResult } from "../../src/contract/label-upgrade.ts";
import type { InstanceFixture } from "./bare-fixture.ts";
import { type InstanceSagas, makeFixture, openInstanceSagas } from "./instance-sagas.ts";

const OLD = "20261001T000000Z";
const NEW = "20261121T000000Z";
const MACS = ["02:00:5e:00:53:01", "02:00:5e:00:53:02"];
const RESULT: LabelUpgradeResult = { upgraded: [], not_upgraded: [], not_begun: [] };
const CUTS = ["before", "after"] as const;
/** The faults that can occur at one commit. */
const FAULTS = [...FAULT_POINTS.map((dies) => ({ dies })), ...CUTS.map((cut) => ({ cut }))];

let fixture: InstanceFixture;
let p: InstanceSagas;
/** A node without instances. */
let node: string;
beforeAll(async () => {
  fixture = await makeFixture(1);
  p = await openInstanceSagas(fixture);
  node = p.silent;
  for (const mac of MACS) {
    await p.db.query(
      "insert into boot_record (mac, incarnation, version, state, provenance, server_uuid, assigned_pi, rescue, " +
        "created_at, updated_at) values ($1, gen_random_uuid(), 1, 'enrolled', '{}', $2, $3, false, berth_now(), berth_now())",
      [mac, node, OLD],
    );
  }
}, 120_000);
afterAll(async () => {
  await p.end();
  await fixture.database.drop();
});
beforeEach(async () => {
  await p.db.query("update boot_record set assigned_pi = $1, version = version + 1", [OLD]);
  await p.send({ kind: "cn", id: node }, { type: "set_placement", patch: { cordoned: false } });
});

type Asked = { readonly id: string; readonly message_id: string; readonly reboot: UpgradeReboot };
const fresh = (reboot: UpgradeReboot = "agent"): Asked => ({
  id: randomUUID(),
  message_id: `0198f0e0-0000-7000-8000-${randomUUID().slice(-12)}`,
  reboot,
});
const upgradeId = ({ id }: Asked) => stepId(id, CN_UPGRADE_LABEL.upgrade, node);

function ask(asked: Asked, by = p.main) {
  const nodes = [{ server_uuid: node, hostname: "node", operation_id: upgradeId(asked) }];
  const params: LabelUpgradeParams = {
    label: "rack=a3",
    platform_image: NEW,
    reboot: asked.reboot,
    max_unavailable: 1,
    nodes,
  };
  const references = [{ scope: "cn", id: node }];
  return p.send(
    { kind: "saga", id: asked.id },
    { type: "start", id: asked.id, saga: CN_UPGRADE_LABEL.saga, params, references, reply: { nodes } },
    { id: asked.message_id, fresh: false },
    by,
  );
}
const begins = (asked: Asked, by = p.main) =>
  p.send(
    { kind: "cn", id: node },
    {
      type: "upgrade",
      operation_id: upgradeId(asked),
      platform_image: NEW,
      reboot: asked.reboot,
      records: MACS.map((mac) => ({ mac, assigned_pi: OLD })),
      part_of: asked.id,
    },
    {},
    by,
  );
/** Ends a step at which the upgrade of the node waits for the background worker. */
const endsStep = (asked: Asked, step: "drain" | "return", by = p.main, end: object = {}) =>
  p.send(
    { kind: "saga", id: upgradeId(asked) },
    {
      type: "job_ended",
      job_id: waitId(upgradeId(asked), step),
      outcome: "completed",
      result: step === "drain" ? { operation_id: "d", moved: 0, boot_id: "boot-1" } : { boot_id: "boot-2" },
      ...end,
    },
    {},
    by,
  );
const endsLabel = ({ id }: Asked, by = p.main) =>
  p.send(
    { kind: "saga", id },
    { type: "job_ended", job_id: waitId(id, CN_UPGRADE_LABEL.upgrade), outcome: "completed", result: RESULT },
    {},
    by,
  );

async function begun(reboot: UpgradeReboot = "agent"): Promise<Asked> {
  const asked = fresh(reboot);
  expect(await ask(asked)).toMatchObject({ ok: true });
  await p.main.tick(asked.id);
  return asked;
}

/** Runs the upgrade of the node until its next action is this step, or until the upgrade is no longer running. */
async function toStep(asked: Asked, step: string, by = p.main): Promise<void> {
  const id = upgradeId(asked);
  for (let count = 0; count < 20; count++) {
    const now = await p.row(id);
    if (now.state !== "running" || now.step === step && now.job_id === null) return;
    if (now.job_id === null) await by.tick(id);
    else if (now.step === CN_UPGRADE.reboot) await endReboot(now.job_id);
    else await endsStep(asked, now.step as "drain" | "return", by);
  }
  throw new Error(`never came to ${step}: ${JSON.stringify(await p.row(id))}`);
}

async function endReboot(job_id: string): Promise<void> {
  const { rows } = await p.db.query("select state, kind, target_cn, payload from job where id = $1", [job_id]);
  expect(rows[0]).toMatchObject({ kind: "reboot", target_cn: node });
  expect(rows[0]!.payload).toEqual({ boot_id: "boot-1", platform_image: NEW });
  const job = { kind: "job", id: job_id };
  if (rows[0]!.state === "pending") await p.send(job, { type: "claim", by: node, lease_s: 600 });
  await p.send(job, { type: "complete", by: node, result: null });
  await p.main.deliver();
}

const images = async () =>
  (await p.db.query("select distinct assigned_pi from boot_record")).rows.map(({ assigned_pi }) => assigned_pi);
const cordon = async () =>
  (await p.db.query("select cordoned, cordoned_reason from cn_placement where server_uuid = $1", [node])).rows[0];
const jobs = async (asked: Asked) =>
  (await p.db.query("select kind from job where saga_id = $1", [upgradeId(asked)])).rows.length;

/** Runs the upgrade of the node to its end. Expects that the upgrade succeeded and sent at most one restart job. */
async function expectUpgraded(asked: Asked): Promise<void> {
  await toStep(asked, "end");
  expect(await p.row(upgradeId(asked))).toMatchObject({ state: "succeeded" });
  expect(await images()).toEqual([NEW]);
  expect(await cordon()).toEqual({ cordoned: false, cordoned_reason: null });
  expect(await jobs(asked)).toBe(asked.reboot === "agent" ? 1 : 0);
  await endsLabel(asked);
  expect(await p.row(asked.id)).toMatchObject({ state: "succeeded", outputs: { [CN_UPGRADE_LABEL.upgrade]: RESULT } });
}

test("the operation starts once when two processes send its message under one id, and both get the same answer", async () => {
  const asked = fresh();
  const [one, two] = await Promise.all([ask(asked, p.newProcess()), ask(asked, p.newProcess())]);
  expect(one).toMatchObject({ ok: true, reply: { nodes: [{ operation_id: upgradeId(asked) }] } });
  expect(two).toEqual(one);
  const { rows } = await p.db.query("select audit from transition where actor_id = $1 and audit is not null", [
    asked.id,
  ]);
  expect(JSON.stringify(rows).split("cn_upgrade_label")).toHaveLength(2);
  await p.main.tick(asked.id);
  await endsLabel(asked);
});

test.each(FAULTS)("the operation starts once when its message is repeated after %o", async (trouble) => {
  const asked = fresh();
  const faulty = p.newProcess(trouble);
  await ask(asked, faulty).catch(() => {});
  expect(faulty.faults()).toBe(1);
  expect(await ask(asked, p.newProcess())).toMatchObject({ ok: true });
  await p.main.tick(asked.id);
  await begins(asked);
  await expectUpgraded(asked);
});

test.each(FAULTS)("the upgrade of a node begins once after %o, and never again after its end", async (trouble) => {
  const asked = await begun();
  const faulty = p.newProcess(trouble);
  await begins(asked, faulty).catch(() => {});
  expect(faulty.faults()).toBe(1);
  await Promise.all([begins(asked, p.newProcess()), begins(asked, p.newProcess())]);
  const { rows } = await p.db.query("select id from saga where saga = $1 and state = 'running'", [CN_UPGRADE.saga]);
  expect(rows).toEqual([{ id: upgradeId(asked) }]);
  expect(await cordon()).toEqual({ cordoned: true, cordoned_reason: "drain" });
  await toStep(asked, "end");
  // A process that acts on an old state does not cordon the node a second time.
  expect(await begins(asked, p.newProcess())).toMatchObject({ ok: false });
  await expectUpgraded(asked);
});

test.each(
  [CN_UPGRADE.drain, CN_UPGRADE.assign, CN_UPGRADE.reboot, CN_UPGRADE.back, CN_UPGRADE.uncordon].flatMap((step) =>
    FAULTS.map((trouble) => ({ step, trouble }))
  ),
)("the upgrade of a node does step $step once after $trouble", async ({ step, trouble }) => {
  const asked = await begun();
  await begins(asked);
  await toStep(asked, step);
  const faulty = p.newProcess(trouble);
  await faulty.tick(upgradeId(asked)).catch(() => {});
  expect(faulty.faults()).toBe(1);
  await p.newProcess().tick(upgradeId(asked));
  await expectUpgraded(asked);
});

test.each(
  (["drain", "return"] as const).flatMap((step) => FAULTS.map((trouble) => ({ step, trouble }))),
)("step $step ends once when its end is reported again after $trouble", async ({ step, trouble }) => {
  const asked = await begun();
  await begins(asked);
  await toStep(asked, step);
  await p.main.tick(upgradeId(asked));
  const faulty = p.newProcess(trouble);
  await endsStep(asked, step, faulty).catch(() => {});
  expect(faulty.faults()).toBe(1);
  await Promise.all([endsStep(asked, step, p.newProcess()), endsStep(asked, step, p.newProcess())]);
  await expectUpgraded(asked);
});

test.each(FAULTS)(
  "an undo restores the previous image of the boot records once after %o, and the node stays cordoned",
  async (
    trouble,
  ) => {
    const asked = await begun("operator");
    await begins(asked);
    await toStep(asked, CN_UPGRADE.back);
    expect(await jobs(asked)).toBe(0);
    await p.main.tick(upgradeId(asked));
    expect(await images()).toEqual([NEW]);
    await endsStep(asked, "return", p.main, { outcome: "failed", reason: "it did not come back" });
    expect(await p.row(upgradeId(asked))).toMatchObject({ state: "unwinding", step: CN_UPGRADE.assign });
    const faulty = p.newProcess(trouble);
    await faulty.tick(upgradeId(asked)).catch(() => {});
    expect(faulty.faults()).toBe(1);
    expect(await p.finish(upgradeId(asked))).toMatchObject({ state: "unwound", error: "it did not come back" });
    expect(await images()).toEqual([OLD]);
    expect(await cordon()).toEqual({ cordoned: true, cordoned_reason: "drain" });
    await endsLabel(asked);
  },
);

test("an instance that came to the node after the drain stops the upgrade before the image is assigned", async () => {
  const asked = await begun();
  await begins(asked);
  await toStep(asked, CN_UPGRADE.assign);
  const id = await p.running();
  const host = "update instance set host_cn_uuid = $1 where id = $2 returning host_cn_uuid";
  await p.db.query(host, [node, id]);
  await p.main.tick(upgradeId(asked));
  expect(await p.finish(upgradeId(asked))).toMatchObject({
    state: "unwound",
    error: "instances are on the node again; drain it and upgrade it again",
  });
  expect(await images()).toEqual([OLD]);
  await p.db.query(host, [p.node, id]);
  await endsLabel(asked);
});

test("a cordon that an operator sets during the upgrade stays after the upgrade", async () => {
  const asked = await begun();
  await begins(asked);
  await toStep(asked, CN_UPGRADE.uncordon);
  const patch = { cordoned: true, cordoned_reason: "bad DIMM" };
  expect(await p.send({ kind: "cn", id: node }, { type: "set_placement", patch })).toMatchObject({ ok: true });
  await toStep(asked, "end");
  expect(await p.row(upgradeId(asked))).toMatchObject({ state: "succeeded" });
  expect(await cordon()).toEqual(patch);
  await endsLabel(asked);
  await p.send({ kind: "cn", id: node }, { type: "set_placement", patch: { cordoned: false } });
});

test("an operator's cordon and its reason stay after a failed upgrade, and after a later upgrade that succeeds", async () => {
  const patch = { cordoned: true, cordoned_reason: "a fan" };
  await p.send({ kind: "cn", id: node }, { type: "set_placement", patch });
  const failed = await begun("operator");
  await begins(failed);
  await toStep(failed, CN_UPGRADE.back);
  await p.main.tick(upgradeId(failed));
  await endsStep(failed, "return", p.main, { outcome: "failed", reason: "it did not come back" });
  expect(await p.finish(upgradeId(failed))).toMatchObject({ state: "unwound" });
  await p.main.deliver();
  expect(await cordon()).toEqual(patch);
  await endsLabel(failed);

  const again = await begun();
  await begins(again);
  await toStep(again, "end");
  expect(await p.row(upgradeId(again))).toMatchObject({ state: "succeeded" });
  expect(await cordon()).toEqual(patch);
  await endsLabel(again);
});

test("an abandoned operation begins no upgrade, and a second upgrade of the node is refused", async () => {
  const asked = await begun();
  await begins(asked);
  const other = await begun();
  expect(await begins(other)).toMatchObject({
    ok: false,
    fault: {
      kind: "conflict",
      message: `operation ${upgradeId(asked)} already drains, evacuates or upgrades the node`,
    },
  });
  expect(await p.send({ kind: "saga", id: other.id }, { type: "abandon" })).toMatchObject({ ok: true });
  await expectUpgraded(asked);
  expect(await begins(other)).toMatchObject({
    ok: false,
    fault: { kind: "conflict", message: `operation ${other.id} is not running any more` },
  });
});
