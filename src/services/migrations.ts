// Lists the migrations of an instance, and builds the message that starts a migration.
import { type Kysely, sql } from "kysely";
import type { InstanceMessage } from "../../actors/instance/messages.ts";
import type { MigrationState } from "../contract/enums.ts";
import { conflict, type Fault, NO_ELIGIBLE_NODE, NOT_FOUND } from "../contract/fault.ts";
import { BANDWIDTH_BYTES_PER_S, NODE_WAIT_MS, PLACEMENT_CANDIDATES_MAX } from "../contract/limits.ts";
import type { MigrateBody, Migration } from "../contract/migration.ts";
import type { Database } from "../db/tables.ts";
import type { RouteDeps } from "../routes/deps.ts";
import { movingRequest, whyNot } from "../lib/placement/drain.ts";
import { drawn, pick } from "../lib/placement/pick.ts";
import { toRfc3339 } from "../lib/text/instant.ts";
import { findCapacity, findInstanceToPlace, snapshotOf } from "./placement-snapshot.ts";

type Deps = Pick<RouteDeps, "kysely" | "byKey" | "nodesToPlace" | "settings">;

export type MoveWanted = {
  readonly instance_id: string;
  readonly body: MigrateBody;
  readonly operation_id: string;
  /** The number of earlier tries. The candidates of each earlier try filled up before the commit. */
  readonly tries: number;
  /** The node that is being drained. */
  readonly leaves?: string;
};

/**
 * Builds the message that starts a migration. Returns a Fault if the instance is missing or no node can take it. If the
 * body names the target node, the Fault contains the reasons.
 */
export async function newMigration(deps: Deps, wanted: MoveWanted): Promise<InstanceMessage | Fault> {
  const { instance_id, body, operation_id, tries } = wanted;
  const instance = await findInstanceToPlace(deps.kysely, instance_id);
  if (instance === undefined) return NOT_FOUND;
  const { silo_id, host_cn_uuid } = instance;
  const message = (candidates: readonly string[]): InstanceMessage => ({
    type: "migrate",
    silo_id,
    candidates,
    bandwidth_bytes_per_s: body.bandwidth_bytes_per_s ?? BANDWIDTH_BYTES_PER_S,
    operation_id,
    limit_ms: NODE_WAIT_MS,
  });
  // If the instance is on no node, cannot move, or is on the target already, its actor refuses the message with the
  // reason.
  const is_movable = instance.state === "running" || instance.state === "stopped";
  if (host_cn_uuid === null || !is_movable) return message([]);
  const target = body.target_server_uuid ?? null;
  if (target === host_cn_uuid) return message([target]);
  const [source, nodes, { profile, load_stale_s }] = await Promise.all([
    findCapacity(deps.byKey, host_cn_uuid),
    deps.nodesToPlace(),
    deps.settings.placement(),
  ]);
  const snapshot = snapshotOf(nodes, load_stale_s);
  const among = snapshot.nodes.filter(({ server_uuid }) =>
    target === null ? server_uuid !== host_cn_uuid : server_uuid === target
  );
  if (target !== null && among.length === 0) return conflict(`node ${target} is not approved`);
  const request = movingRequest({ capacity: source?.capacity ?? null }, instance, wanted.leaves);
  const { candidates, report } = pick(request, { ...snapshot, nodes: among }, profile);
  if (candidates.length > 0) {
    return message(tries === 0 ? candidates : drawn(report, PLACEMENT_CANDIDATES_MAX ** (tries + 1)));
  }
  if (target === null) return NO_ELIGIBLE_NODE;
  const reasons = report.per_cn[0]?.filter_results.flatMap(({ verdict, reason }) =>
    verdict === "reject" && reason !== null && reason !== undefined ? [reason] : []
  );
  return conflict(`node ${target} cannot take the instance: ${reasons?.join("; ") || whyNot(report.per_cn)}`);
}

type Row = {
  readonly id: string;
  readonly instance_id: string;
  readonly state: MigrationState;
  readonly source_cn: string;
  readonly target_cn: string;
  readonly live: boolean | null;
  readonly reason: string | null;
  readonly created_at: Date;
  readonly ended_at: Date | null;
  readonly step: string | null;
  readonly percent: number | null;
  readonly progress_at: Date | null;
  readonly sent_bytes: unknown;
  readonly downtime_ms: unknown;
};

/** Lists the migrations of an instance, newest first. */
export async function listMigrations(
  db: Kysely<Database>,
  of: { readonly instance_id: string; readonly rows: number },
): Promise<Migration[]> {
  const { rows } = await sql<Row>`
    select m.id, m.instance_id, m.state, m.source_cn, m.target_cn, m.live, m.reason, m.created_at, m.ended_at,
           s.step, s.percent, s.progress_at,
           s.result->'sent_bytes' as sent_bytes, a.result->'downtime_ms' as downtime_ms
      from migration m left join job_loaded s on s.id = m.send_job_id left join job_loaded a on a.id = m.activate_job_id
     where m.instance_id = ${of.instance_id}::uuid and m.created_at is not null
     order by m.created_at desc, m.id desc limit ${of.rows}`.execute(db);
  return rows.map((row) => ({
    id: row.id,
    instance_id: row.instance_id,
    state: row.state,
    source_server_uuid: row.source_cn,
    target_server_uuid: row.target_cn,
    live: row.live === true,
    reason: row.reason,
    progress: row.step === null || row.progress_at === null
      ? null
      : { step: row.step, percent: row.percent, updated_at: toRfc3339(row.progress_at) },
    sent_bytes: countOf(row.sent_bytes),
    downtime_ms: countOf(row.downtime_ms),
    created_at: toRfc3339(row.created_at),
    ended_at: row.ended_at === null ? null : toRfc3339(row.ended_at),
  }));
}

/** A job's result is any JSON that its node sends, so a member of another type counts as missing. */
function countOf(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
