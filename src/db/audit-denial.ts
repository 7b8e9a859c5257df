// A denial of a known caller leaves a row in the transition log like a mutation does, so that the same chain takes it: the
// first of a caller and an action at once, those that follow as one sum a minute, so that no caller makes the chain grow
// by asking again. Anonymous denials are not recorded, except refused logins. Document 4, 2.8; reliability.md S-49.
import type { AuditActor, AuditOutcome } from "../contract/audit.ts";
import { DENIAL_WINDOW_S } from "../contract/limits.ts";
import type { Db, DbClient } from "./pool.ts";

export type Denial = {
  /** A new UUIDv7. */
  readonly msg_id: string;
  readonly request_id: string;
  readonly actor: AuditActor;
  readonly action: string;
  readonly resource: string | null;
  /** What is counted apart from other denials of this caller and action; must come from a bounded set. */
  readonly apart?: string | null;
  /** Default: forbidden. */
  readonly outcome?: AuditOutcome;
  /** Must hold no secret; a claim code at most by its first three characters. */
  readonly payload?: object;
};

/** A repeat after a broken connection can count one denial twice, which is the safe side. */
const COUNT = "select count_denial($1, $2, $3, $4, $5)";

export async function recordDenial(db: Db, denial: Denial): Promise<void> {
  const { msg_id, request_id, actor, action, resource, outcome = { kind: "forbidden" }, payload = {} } = denial;
  const audit = { actor, action, resource, request_id, decision: "deny", outcome, payload };
  const key = JSON.stringify([actor, action, denial.apart ?? null]);
  await db.query(COUNT, [key, DENIAL_WINDOW_S, msg_id, request_id, JSON.stringify(audit, storable)]);
}

/** Audits what was counted in windows that are over. Returns how many were. */
export async function closeDenials(db: DbClient): Promise<number> {
  const { rows } = await db.query<{ closed: number }>("select close_denials($1) as closed", [DENIAL_WINDOW_S]);
  return rows[0]?.closed ?? 0;
}

/** jsonb holds neither NUL nor half of a surrogate pair; a caller's odd text must not hide its denial. */
function storable(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\uFFFD") : value;
}
