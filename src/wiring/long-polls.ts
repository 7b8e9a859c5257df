// Builds the long polls of the server. A commit of this process answers the polls that wait for the values that the
// commit wrote. For commits of other processes, a hint (db/hints.ts) names the changed actors, and the polls that
// depend on such actors check at once.
import { findRegistered, type Registered } from "../../actors/cn/reads.ts";
import { findNodesWithWork, findNodesWork, type NodeWork } from "../../actors/job/reads.ts";
import { findDecided, findEnded } from "../../actors/saga/reads.ts";
import type { Committed } from "../../actors/engine/options.ts";
import type { RowWrite } from "../../actors/engine/store.ts";
import type { SagaState } from "../../actors/saga/state.ts";
import { HELD_KNOWN_EACH_MAX, HELD_STRANGER_EACH_MAX, HELD_STRANGERS_MAX } from "../contract/limits.ts";
import { createAudiences } from "../db/change-audience.ts";
import { createChanges } from "../db/changes.ts";
import { createLongPolls } from "../db/long-polls.ts";
import type { createHints } from "../db/hints.ts";
import { createLookup } from "../db/lookup.ts";
import type { Db } from "../db/pool.ts";
import { createShares } from "../http/shares.ts";
import type { Settings } from "../services/settings.ts";
import { createPollInterval } from "./poll-interval.ts";

/**
 * The maximum number of long polls of one kind in one process, about 22 kB each. This number is enough for ten thousand
 * nodes, and for some nodes that have reconnected before their earlier polls timed out.
 */
export const HELD_MAX = 12_000;
/** The number of kinds of long polls. Each kind can have HELD_MAX polls. */
const KINDS = 8;

type HoldPorts = {
  readonly db: Db;
  readonly hints: ReturnType<typeof createHints>;
  readonly report: (message: string, error: unknown) => void;
  readonly settings: Pick<Settings, "get">;
};

export function createLongPollsOfServer({ db, hints, report, settings }: HoldPorts) {
  const { kysely, byKey } = db;
  const held = { held_max: HELD_MAX, report };
  const polls = {
    approvals: createLongPolls<string, Registered | { readonly ended: true }>({
      sweep: async (hashes) => {
        const found = await findRegistered(kysely, hashes);
        const answers = hashes.map((hash) => [hash, found.get(hash) ?? { ended: true as const }] as const);
        return new Map(answers.filter(([, row]) => "ended" in row || row.state !== "pending"));
      },
      ...held,
    }),
    claims: createLongPolls<string, { readonly work: true }>({
      sweep: (nodes) => findNodesWithWork(kysely, nodes),
      ...held,
    }),
    endings: createLongPolls<string, { readonly ended: true }>({ sweep: (ids) => findEnded(kysely, ids), ...held }),
    outcomes: createLongPolls<string, { readonly ended: true }>({ sweep: (ids) => findDecided(kysely, ids), ...held }),
  };

  const changes = createChanges(hints, { held_max: HELD_MAX });

  hints.onHint((hint, own) => {
    const changed = (kind: string) => hint === "all" || hint.some((ref) => ref.kind === kind);
    if (changed("console-session")) polls.claims.nudge();
    if (changed("cn") || changed("enrolment-claim")) polls.approvals.nudge();
    if (own) return;
    if (changed("job")) polls.claims.nudge();
    if (changed("saga")) {
      polls.endings.nudge();
      polls.outcomes.nudge();
    }
  });

  /** Answers the long polls that wait for what this process has committed. */
  function committed({ rows }: Pick<Committed, "rows">): void {
    for (const { op, ref, row } of rows) {
      if (ref.kind === "job" && op === "insert") polls.claims.answer(String(row["target_cn"]), { work: true });
      if (ref.kind === "job" && row["tombstone"] === true) polls.claims.nudge();
      if (ref.kind === "saga" && op === "update") sagaMoved(ref.id, row);
    }
  }

  /** `row` has the changed columns. */
  function sagaMoved(id: string, row: RowWrite["row"]): void {
    const state = row["state"] as SagaState["state"] | undefined;
    if (state === "succeeded" || state === "unwound" || state === "stuck") {
      polls.endings.answer(id, { ended: true });
      polls.outcomes.answer(id, { ended: true });
    } else if (state === "unwinding" || typeof row["job_id"] === "string") {
      // Requests a check of these polls: only a query can find out whether a node must still undo its part of the
      // operation.
      polls.outcomes.nudge();
    }
  }

  /** Ends the waits of all long polls that are built here. */
  function release(): void {
    for (const poll of Object.values(polls)) poll.close();
    changes.close();
  }

  /** Looks up the work of nodes in batches, because many nodes ask at the same time, and most of them have no work. */
  const workOf = createLookup<NodeWork>((nodes) => findNodesWork(byKey.kysely, nodes));

  const holdShares = {
    known: createShares({ total_max: KINDS * HELD_MAX, each_max: HELD_KNOWN_EACH_MAX }),
    strangers: createShares({ total_max: HELD_STRANGERS_MAX, each_max: HELD_STRANGER_EACH_MAX }),
  };

  const leaseS = async () => Number((await settings.get("sweeper.stale_claim_threshold_secs")).value);
  const pollIntervalS = createPollInterval({ db, leaseS, now_ms: () => performance.now() });

  return { polls, changes, audiencesOf: createAudiences(db), holdShares, workOf, pollIntervalS, committed, release };
}
