// Connects the drains and evacuations of nodes to the database and the engine. Reads the running drains and
// evacuations, and begins their migrations.
import { type Kysely, sql } from "kysely";
import type { Engine } from "../../actors/engine/engine.ts";
import type { Ports } from "../../actors/engine/ports.ts";
import { stepId, waitId } from "../../actors/engine/saga.ts";
import { CN_DRAIN, CN_EVACUATE, type CnDrainParams } from "../../actors/cn/drain.ts";
import type { InstanceMessage } from "../../actors/instance/messages.ts";
import { CAPACITY_EXHAUSTED, type Fault, isFault, NO_ELIGIBLE_NODE } from "../contract/fault.ts";
import type { Ending } from "../../actors/saga/state.ts";
import type { DrainResult } from "../contract/drain.ts";
import type { Database } from "../db/tables.ts";
import { type Drain, drainError, type Move } from "../lib/placement/drain-progress.ts";
import type { RouteDeps } from "../routes/deps.ts";
import { newEvacuation } from "../services/evacuations.ts";
import { newMigration } from "../services/migrations.ts";
import { createDrains } from "../workers/drains.ts";

type Deps = Pick<RouteDeps, "kysely" | "byKey" | "nodesToPlace" | "settings">;

export function createNodeDrains(deps: Deps, engine: Pick<Engine, "send">, ports: Pick<Ports, "report">) {
  return createDrains({
    running: () => runningDrains(deps.kysely),
    begin: async (drain, move, tries) => {
      const message = await (drain.is_evacuation ? evacuation : drainMigration)(deps, drain, move, tries);
      if (isFault(message)) return { ok: false, fault: message === NO_ELIGIBLE_NODE ? CAPACITY_EXHAUSTED : message };
      return await engine.send({ kind: "instance", id: move.instance_id }, message);
    },
    end: (id, result) =>
      engine.send({ kind: "saga", id }, {
        type: "job_ended",
        job_id: waitId(id, CN_DRAIN.move),
        ...endingOf(result),
      }),
    ports,
  });
}

/**
 * Returns a failure if instances are still on the node. So a script that waits for the drain does not switch off the
 * node.
 */
function endingOf(result: DrainResult): Ending {
  const reason = drainError(result);
  return reason === null ? { outcome: "completed", result } : { outcome: "failed", reason, result };
}

/** Reads the drains and evacuations that wait for their migrations. */
async function runningDrains(db: Kysely<Database>): Promise<Drain[]> {
  type Row = { id: string; saga: string; params: CnDrainParams; created_at: Date; active: number };
  const { rows } = await sql<Row>`
    select s.id, s.saga, s.params, s.created_at, (select count(*)::int from migration m where m.instance_id is not null
             and m.source_cn = (s.params->>'server_uuid')::uuid and not berth_migration_ended(m.state)) as active
      from saga s where s.wake_at is not null and s.saga in (${CN_DRAIN.saga}, ${CN_EVACUATE.saga}) and s.state = 'running'
                    and s.step = ${CN_DRAIN.move}
     order by s.id`.execute(db);
  return await Promise.all(rows.map(async ({ id, saga, params, created_at, active }) => {
    const { server_uuid, preview } = params;
    // A dead node gets no more instances.
    const arrivals = saga === CN_EVACUATE.saga ? [] : await listArrivals(db, params, created_at);
    const moves = [...preview.placeable, ...arrivals];
    const ids = [...moves, ...preview.not_placeable].map(({ instance_id }) => instance_id);
    const now = await stateOf(db, server_uuid, id, ids);
    const isHere = (instance_id: string) => now.get(instance_id)?.is_here === true;
    return {
      operation_id: id,
      is_evacuation: saga === CN_EVACUATE.saga,
      server_uuid,
      active,
      moves: moves.map(({ instance_id, instance_name, target_cn_uuid }): Move => ({
        instance_id,
        instance_name,
        target_cn_uuid,
        is_here: isHere(instance_id),
        was_deleted: now.get(instance_id)?.was_deleted ?? false,
        is_occupied: now.get(instance_id)?.is_occupied ?? false,
        failure: now.get(instance_id)?.failure ?? null,
      })),
      not_placeable: preview.not_placeable.filter(({ instance_id }) => isHere(instance_id)),
    };
  }));
}

type Arrival = Pick<Move, "instance_id" | "instance_name" | "target_cn_uuid">;

/**
 * Lists the instances that came to the node after the preview. They were created on the node, or began to migrate to
 * the node, before the drain cordoned the node. The list includes instances that have left the node since.
 */
async function listArrivals(
  db: Kysely<Database>,
  { server_uuid, preview }: CnDrainParams,
  began_at: Date,
): Promise<Arrival[]> {
  const known = [...preview.placeable, ...preview.not_placeable].map(({ instance_id }) => instance_id);
  const { rows } = await sql<Arrival>`
    select i.id as instance_id, i.name as instance_name, null as target_cn_uuid from instance i
     where i.id <> all (${known}::uuid[]) and i.id in (
       select id from instance where host_cn_uuid = ${server_uuid}::uuid
       union select instance_id from migration
              where target_cn = ${server_uuid}::uuid and instance_id is not null and not berth_migration_ended(state)
       union select instance_id from migration where source_cn = ${server_uuid}::uuid and created_at >= ${began_at})
     order by i.id`.execute(db);
  return rows;
}

/** SQL that is true if the instance `i` migrates to the node. */
function arrives(server_uuid: string) {
  return sql<boolean>`exists (select from migration a where a.instance_id = i.id
    and a.target_cn = ${server_uuid}::uuid and not berth_migration_ended(a.state))`;
}

type Now = Pick<Move, "is_here" | "was_deleted" | "is_occupied" | "failure">;

async function stateOf(
  db: Kysely<Database>,
  server_uuid: string,
  drain_id: string,
  ids: readonly string[],
): Promise<Map<string, Now>> {
  const migrations = ids.map((id) => migrationId(drain_id, id));
  const { rows } = await sql<Now & { id: string }>`
    select w.instance_id as id, i.operation_id is not null as is_occupied,
           i.id is null and m.state is distinct from 'completed' as was_deleted,
           i.host_cn_uuid = ${server_uuid}::uuid or coalesce(not berth_migration_ended(m.state), false)
             or ${arrives(server_uuid)} as is_here,
           case when m.state in ('failed', 'aborted') then coalesce(m.reason, 'the migration ' || m.state) end as failure
      from unnest(${ids}::uuid[], ${migrations}::uuid[]) as w (instance_id, migration_id)
      left join instance i on i.id = w.instance_id left join migration m on m.id = w.migration_id`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

/** The id of the one migration that a drain or an evacuation starts for an instance. */
function migrationId(drain_id: string, instance_id: string): string {
  return stepId(drain_id, CN_DRAIN.move, instance_id);
}

/**
 * Builds the message that starts a migration of a drain. The first try requests the node that the preview chose. If
 * that node cannot take the instance, and on later tries, placement chooses the node.
 */
async function drainMigration(
  deps: Deps,
  drain: Drain,
  { instance_id, target_cn_uuid }: Move,
  tries: number,
): Promise<InstanceMessage | Fault> {
  const operation_id = migrationId(drain.operation_id, instance_id);
  const wanted = { instance_id, operation_id, tries: 0, leaves: drain.server_uuid };
  const planned = tries === 0 && target_cn_uuid !== null
    ? await newMigration(deps, { ...wanted, body: { target_server_uuid: target_cn_uuid } })
    : null;
  const message = planned === null || isFault(planned) ? await newMigration(deps, { ...wanted, body: {} }) : planned;
  const { server_uuid: from_cn, operation_id: part_of } = drain;
  return isFault(message) ? message : { ...message, from_cn, part_of } as InstanceMessage;
}

/**
 * Builds the message that creates an instance of a dead node on another node. Does not use the target of the preview,
 * because placement now chooses the node.
 */
async function evacuation(
  deps: Deps,
  drain: Drain,
  { instance_id }: Move,
  tries: number,
): Promise<InstanceMessage | Fault> {
  const operation_id = migrationId(drain.operation_id, instance_id);
  const { server_uuid: from_cn, operation_id: part_of } = drain;
  return await newEvacuation(deps, { instance_id, operation_id, from_cn, part_of, tries });
}
