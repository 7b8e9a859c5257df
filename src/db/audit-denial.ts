// A denial of a known caller writes a row to the transition log, as a mutation does, so the audit chain includes it. The
// first denial of a caller and an action is written at once, later ones as one sum a minute: a caller cannot make the
// chain grow by repeating a request. Anonymous denials are not recorded, except rejected logins. docs/reliability.md S-49.
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
  /** Separates the count from the caller's other denials of this action. Values must come from a bounded set. */
  readonly apart?: string | null;
  /** Default: forbidden. */
  readonly outcome?: AuditOutcome;
  /** Must not hold a secret; at most the first three characters of a claim code. */
  readonly payload?: object;
};

/** A retry after a broken connection may count one denial twice, which is harmless. */
const COUNT = "select count_denial($1, $2, $3, $4, $5)";

export async function recordDenial(db: Db, denial: Denial): Promise<void> {
  const { msg_id, request_id, actor, action, resource, outcome = { kind: "forbidden" }, payload = {} } = denial;
  const audit = { actor, action, resource, request_id, decision: "deny", outcome, payload };
  const key = JSON.stringify([actor, action, denial.apart ?? null]);
  await db.query(COUNT, [key, DENIAL_WINDOW_S, msg_id, request_id, JSON.stringify(audit, storable)]);
}

/** Audits the counts of closed windows. Returns the number of closed windows. */
export async function closeDenials(db: DbClient): Promise<number> {
  const { rows } = await db.query<{ closed: number }>("select close_denials($1) as closed", [DENIAL_WINDOW_S]);
  return rows[0]?.closed ?? 0;
}

/** jsonb accepts neither NUL nor half of a surrogate pair; such text from a caller must not prevent the record. */
function storable(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\uFFFD") : value;
}
