// Connects the upgrades of nodes to the database and the engine. Reads the running upgrades, begins the upgrades and
// drains of single nodes, and ends their steps.
import type { Ending } from "../../actors/saga/state.ts";
import type { LabelUpgradeResult } from "../contract/label-upgrade.ts";
import { type Kysely, sql } from "kysely";
import type { Engine } from "../../actors/engine/engine.ts";
import type { Ports } from "../../actors/engine/ports.ts";
import { stepId, waitId } from "../../actors/engine/saga.ts";
import { CN_DRAIN } from "../../actors/cn/drain.ts";
import { CN_UPGRADE_LABEL, type LabelUpgradeParams } from "../../actors/cn/messages.ts";
import { CN_UPGRADE, type CnUpgradeParams, type UpgradeDrained } from "../../actors/cn/upgrade.ts";
import { WORKER_GRACE_MS } from "../../actors/sagas/cn-upgrade.ts";
import type { OperationState } from "../contract/enums.ts";
import { isFault } from "../contract/fault.ts";
import type { Database } from "../db/tables.ts";
import { addMs, toRfc3339 } from "../lib/text/instant.ts";
import type { Draining } from "../lib/placement/upgrade-progress.ts";
import type { RouteDeps } from "../routes/deps.ts";
import { bootsOf, drainOfUpgrade, upgradeOfPart } from "../services/label-upgrades.ts";
import { createUpgrades, type LabelUpgrade, type NodeUpgrade } from "../workers/upgrades.ts";

type Deps = Pick<RouteDeps, "kysely" | "byKey" | "settings">;
type Db = Kysely<Database>;

export function createUpgradesOfServer(deps: Deps, engine: Pick<Engine, "send">, ports: Pick<Ports, "report">) {
  const { kysely } = deps;
  return createUpgrades({
    labels: () => runningLabelUpgrades(kysely),
    nodes: () => runningNodeUpgrades(kysely),
    begin: async ({ operation_id: part_of }, { server_uuid, operation_id }) => {
      const { platform_image, reboot } = await labelParams(kysely, part_of);
      const message = await upgradeOfPart(deps, { server_uuid, operation_id, part_of }, { platform_image, reboot });
      if (isFault(message)) return { ok: false, fault: message };
      return await engine.send({ kind: "cn", id: server_uuid }, message);
    },
    drain: async ({ operation_id: part_of, server_uuid }) => {
      const part = { server_uuid, operation_id: drainId(part_of, server_uuid), part_of };
      const message = await drainOfUpgrade(deps, part, await laterNodes(kysely, part_of));
      if (isFault(message)) return { ok: false, fault: message };
      return await engine.send({ kind: "cn", id: server_uuid }, message);
    },
    endStep: ({ operation_id: id, at }, { next: outcome, ...end }) =>
      engine.send({ kind: "saga", id }, { type: "job_ended", job_id: waitId(id, at.step), outcome, ...end }),
    end: (id, result) =>
      engine.send({ kind: "saga", id }, {
        type: "job_ended",
        job_id: waitId(id, CN_UPGRADE_LABEL.upgrade),
        ...endingOf(result),
      }),
    ports,
  });
}

/** Returns the id of the drain that the upgrade of a node begins. */
function drainId(upgrade_id: string, server_uuid: string): string {
  return stepId(upgrade_id, CN_UPGRADE.drain, server_uuid);
}

async function labelParams(db: Db, id: string): Promise<LabelUpgradeParams> {
  const { rows } = await sql<{ params: LabelUpgradeParams }>`select params from saga where id = ${id}`.execute(db);
  return rows[0]!.params;
}

/** Returns the nodes of the same upgrade by label whose upgrades have not succeeded. */
async function laterNodes(db: Db, upgrade_id: string): Promise<ReadonlySet<string>> {
  const labels = await runningLabelUpgrades(db);
  const own = labels.find(({ nodes }) => nodes.some(({ operation_id }) => operation_id === upgrade_id));
  const later = own?.nodes.filter(({ upgrade }) => upgrade?.state !== "succeeded") ?? [];
  return new Set(later.map(({ server_uuid }) => server_uuid));
}

type Step = { readonly status: string };
type UpgradeRow = {
  id: string;
  state: OperationState;
  error: string | null;
  steps: Readonly<Record<string, Step>>;
  drained: UpgradeDrained | null;
};

/** Reads the upgrades by label that wait for the upgrades of their nodes. */
async function runningLabelUpgrades(db: Db): Promise<LabelUpgrade[]> {
  const { rows } = await sql<{ id: string; params: LabelUpgradeParams }>`
    select id, params from saga
     where wake_at is not null and saga = ${CN_UPGRADE_LABEL.saga} and state = 'running'
       and step = ${CN_UPGRADE_LABEL.upgrade} order by id`.execute(db);
  return await Promise.all(rows.map(async ({ id, params: { max_unavailable, nodes } }) => {
    const ids = nodes.map(({ operation_id }) => operation_id);
    const { rows: found } = await sql<UpgradeRow>`
      select id, state, error, steps, outputs->${CN_UPGRADE.drain} as drained
        from saga where id = any(${ids}::uuid[])`.execute(db);
    const byId = new Map(found.map((row) => [row.id, row]));
    return {
      operation_id: id,
      max_unavailable,
      nodes: nodes.map((node) => ({ ...node, upgrade: upgradeOf(byId.get(node.operation_id)) })),
    };
  }));
}

function upgradeOf(row: UpgradeRow | undefined) {
  if (row === undefined) return null;
  const { state, error, steps, drained } = row;
  const failed_step = Object.entries(steps).find(([, { status }]) => status === "failed")?.[0] ?? null;
  return { state, error, failed_step, moved: drained?.moved ?? 0 };
}

type NodeRow = {
  id: string;
  step: string;
  params: CnUpgradeParams;
  drained: UpgradeDrained | null;
  waits: boolean;
  wake_at: Date;
  now: Date;
  last_seen: Date | null;
};

/** Reads the upgrades of nodes that wait for a drain or for the node's return. */
async function runningNodeUpgrades(db: Db): Promise<NodeUpgrade[]> {
  const { rows } = await sql<NodeRow>`
    select s.id, s.step, s.params, s.outputs->${CN_UPGRADE.drain} as drained, s.job_id is not null as waits, s.wake_at,
           berth_now() as now, g.last_seen
      from saga s left join cn_signal g on g.server_uuid = (s.params->>'server_uuid')::uuid
     where s.wake_at is not null and s.saga = ${CN_UPGRADE.saga} and s.state = 'running'
       and s.step in (${CN_UPGRADE.drain}, ${CN_UPGRADE.back}) order by s.id`.execute(db);
  if (rows.length === 0) return [];
  const boots = await bootsOf(db, rows.map(({ params }) => params.server_uuid));
  const drains = await drainsOf(db, rows.map(({ id, params }) => drainId(id, params.server_uuid)));
  return rows.map(({ id, step, params, drained, waits, wake_at, now, last_seen }) => {
    const { server_uuid, platform_image } = params;
    const drain_id = drainId(id, server_uuid);
    return {
      operation_id: id,
      server_uuid,
      booted: boots.get(server_uuid) ?? { boot_id: null, platform_image: null },
      at: step === CN_UPGRADE.drain ? { step: "drain", drain_id, drain: drains.get(drain_id) ?? null } : {
        step: "return",
        from_boot_id: drained?.boot_id ?? "",
        wanted_image: platform_image,
        last_seen: last_seen === null ? null : toRfc3339(last_seen),
        is_late: waits && now >= addMs(wake_at, -WORKER_GRACE_MS),
      },
    };
  });
}

async function drainsOf(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, Draining["drain"]>> {
  const { rows } = await sql<NonNullable<Draining["drain"]> & { id: string }>`
    select id, state, error, outputs->${CN_DRAIN.move} as result from saga where id = any(${ids}::uuid[])`.execute(db);
  return new Map(rows.map(({ id, ...drain }) => [id, drain]));
}

function endingOf(result: LabelUpgradeResult): Ending {
  const [first] = result.not_upgraded;
  if (first === undefined) return { outcome: "completed", result };
  return { outcome: "failed", reason: `stopped at node ${first.hostname}: ${first.reason}`, result };
}
