// When an authenticated caller is denied, a row is written to the table `transition`, as for a mutation, so the audit
// chain includes the denial. The first denial of a caller and an action is written at once; later ones are counted and
// written as one sum per minute, so a caller cannot make the chain grow by repeating a request. Denials of anonymous
// callers are not recorded, except rejected logins. docs/reliability.md S-49.
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
  /** Denials with different values are counted separately. Values must come from a bounded set. */
  readonly apart?: string | null;
  /** Default: forbidden. */
  readonly outcome?: AuditOutcome;
  /** Must not contain a secret. Of a claim code it may contain the first three characters. */
  readonly payload?: object;
};

/** Counts a denial. A retry after a broken connection may count one denial twice, which is harmless. */
const COUNT = "select count_denial($1, $2, $3, $4, $5)";

export async function recordDenial(db: Db, denial: Denial): Promise<void> {
  const { msg_id, request_id, actor, action, resource, outcome = { kind: "forbidden" }, payload = {} } = denial;
  const audit = { actor, action, resource, request_id, decision: "deny", outcome, payload };
  const key = JSON.stringify([actor, action, denial.apart ?? null]);
  await db.query(COUNT, [key, DENIAL_WINDOW_S, msg_id, request_id, JSON.stringify(audit, storable)]);
}

/** Writes one audit row for each counting window that has ended. Returns the number of windows. */
export async function closeDenials(db: DbClient): Promise<number> {
  const { rows } = await db.query<{ closed: number }>("select close_denials($1) as closed", [DENIAL_WINDOW_S]);
  return rows[0]?.closed ?? 0;
}

/**
 * Replaces NUL and lone surrogates, which jsonb rejects: a caller must not be able to prevent the record by sending
 * them.
 */
function storable(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\uFFFD") : value;
}
