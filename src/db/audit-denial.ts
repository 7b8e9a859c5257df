// When the server denies an authenticated caller an action, it writes a row to the table `transition`, as for a
// mutation. So the audit chain includes the denial. The server writes the first denial of an action to a caller at
// once. It counts later denials of this action to this caller and writes one sum per minute, so that a caller cannot
// make the chain grow by repeating a request. Denials of anonymous callers are not recorded, except rejected logins
// (docs/reliability.md, S-49).
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
  /** Must not contain a secret. It may contain the first three characters of a claim code. */
  readonly payload?: object;
};

const COUNT = "select count_denial($1, $2, $3, $4, $5)";

export async function recordDenial(db: Db, denial: Denial): Promise<void> {
  const { msg_id, request_id, actor, action, resource, outcome = { kind: "forbidden" }, payload = {} } = denial;
  const audit = { actor, action, resource, request_id, decision: "deny", outcome, payload };
  const key = JSON.stringify([actor, action, denial.apart ?? null]);
  await db.query(COUNT, [key, DENIAL_WINDOW_S, msg_id, request_id, JSON.stringify(audit, storable)]);
}

/**
 * Closes each counting window that has ended, and writes an audit row if the window has denials. Returns the number of
 * windows.
 */
export async function closeDenials(db: DbClient): Promise<number> {
  const { rows } = await db.query<{ closed: number }>("select close_denials($1) as closed", [DENIAL_WINDOW_S]);
  return rows[0]?.closed ?? 0;
}

/**
 * Replaces NUL and lone surrogates, which jsonb rejects. A caller must not be able to prevent the record of a denial by
 * sending such characters.
 */
function storable(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\uFFFD") : value;
}
