// Connects the drains of nodes by label to the database and the engine. Reads the running drains by label, and begins
// the drains of their nodes.
import type { Ending } from "../../actors/saga/state.ts";
import type { LabelDrainResult } from "../contract/label-drain.ts";
import { type Kysely, sql } from "kysely";
import type { Engine } from "../../actors/engine/engine.ts";
import type { Ports } from "../../actors/engine/ports.ts";
import { waitId } from "../../actors/engine/saga.ts";
import { CN_DRAIN } from "../../actors/cn/drain.ts";
import { CN_DRAIN_LABEL, type LabelDrainParams } from "../../actors/cn/messages.ts";
import type { DrainResult } from "../contract/drain.ts";
import type { OperationState } from "../contract/enums.ts";
import { isFault } from "../contract/fault.ts";
import type { Database } from "../db/tables.ts";
import type { RouteDeps } from "../routes/deps.ts";
import { drainOfPart } from "../services/label-drains.ts";
import { createLabelDrains, type LabelDrain } from "../workers/label-drains.ts";

type Deps = Pick<RouteDeps, "kysely" | "byKey" | "settings">;

export function createLabelDrainsOfServer(deps: Deps, engine: Pick<Engine, "send">, ports: Pick<Ports, "report">) {
  return createLabelDrains({
    running: () => runningLabelDrains(deps.kysely),
    begin: async ({ operation_id: part_of, nodes }, { server_uuid, operation_id }) => {
      const all = new Set(nodes.map((node) => node.server_uuid));
      const message = await drainOfPart(deps, { server_uuid, operation_id, part_of }, all);
      if (isFault(message)) return { ok: false, fault: message };
      return await engine.send({ kind: "cn", id: server_uuid }, message);
    },
    end: (id, result) =>
      engine.send({ kind: "saga", id }, {
        type: "job_ended",
        job_id: waitId(id, CN_DRAIN_LABEL.drain),
        ...endingOf(result),
      }),
    ports,
  });
}

function endingOf(result: LabelDrainResult): Ending {
  const [first] = result.not_emptied;
  if (first === undefined) return { outcome: "completed", result };
  return { outcome: "failed", reason: `stopped at node ${first.hostname}: ${first.reason}`, result };
}

type DrainRow = { id: string; state: OperationState; error: string | null; result: DrainResult | null };

/** Reads the drains by label that wait for the drains of their nodes. */
async function runningLabelDrains(db: Kysely<Database>): Promise<LabelDrain[]> {
  const { rows } = await sql<{ id: string; params: LabelDrainParams }>`
    select id, params from saga
     where wake_at is not null and saga = ${CN_DRAIN_LABEL.saga} and state = 'running' and step = ${CN_DRAIN_LABEL.drain}
     order by id`.execute(db);
  return await Promise.all(rows.map(async ({ id, params: { max_unavailable, nodes } }) => {
    const ids = nodes.map(({ operation_id }) => operation_id);
    const { rows: drains } = await sql<DrainRow>`
      select id, state, error, outputs->${CN_DRAIN.move} as result from saga where id = any(${ids}::uuid[])`.execute(
      db,
    );
    const byId = new Map(drains.map((drain) => [drain.id, drain]));
    return {
      operation_id: id,
      max_unavailable,
      nodes: nodes.map((node) => ({ ...node, drain: byId.get(node.operation_id) ?? null })),
    };
  }));
}
