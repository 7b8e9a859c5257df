// A denial of a known caller leaves a row in the transition log like a mutation does, so that the same chain takes it.
// Anonymous denials are not recorded: strangers must not be able to make the chain grow. Document 4, 2.8.
import type { AuditActor, AuditOutcome } from "../contract/audit.ts";
import type { Db } from "./pool.ts";

export type Denial = {
  /** A new UUIDv7. */
  readonly msg_id: string;
  readonly request_id: string;
  readonly actor: AuditActor;
  readonly action: string;
  readonly resource: string | null;
  /** Default: forbidden. */
  readonly outcome?: AuditOutcome;
  /** Must hold no secret; a claim code at most by its first three characters. */
  readonly payload?: unknown;
};

/** A repeat with the same ids, after a broken connection, changes nothing. */
const RECORD = `
  insert into transition (actor_kind, actor_id, incarnation, seq, event, from_state, to_state, msg_id, at, audit)
  values ('request', $1, $2, 1, 'deny', 'none', 'denied', $2, berth_now(), $3)
  on conflict on constraint transition_one_writer do nothing`;

export async function recordDenial(db: Db, denial: Denial): Promise<void> {
  const { msg_id, request_id, actor, action, resource, outcome = { kind: "forbidden" }, payload = {} } = denial;
  const audit = { actor, action, resource, request_id, decision: "deny", outcome, payload };
  await db.query(RECORD, [request_id, msg_id, JSON.stringify(audit, storable)]);
}

/** jsonb holds neither NUL nor half of a surrogate pair; a caller's odd text must not hide its denial. */
function storable(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\uFFFD") : value;
}
