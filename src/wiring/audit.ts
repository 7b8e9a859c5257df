// Connects routes to the audit chain. Routes read the chain, and record refusals for which no message is sent.
import { auditActor } from "../auth/authorize.ts";
import { recordDenial } from "../db/audit-denial.ts";
import { getEvent, listEvents, searchEvents } from "../db/audit-read.ts";
import { verify } from "../db/audit-verify.ts";
import type { Db } from "../db/pool.ts";
import type { Ctx, RouteDeps } from "../routes/deps.ts";

export type AuditOptions = {
  readonly newId: () => string;
  /** The public key that verifies the signatures of this server on segments of the archive. */
  readonly public_key: string;
};

export function createAudit(db: Db, { newId, public_key }: AuditOptions): RouteDeps["audit"] {
  const byCaller = (c: Ctx) => ({
    msg_id: newId(),
    request_id: c.get("requestId"),
    actor: auditActor(c.get("principal")),
  });
  return {
    list: (query) => listEvents(db, query),
    search: (query) => searchEvents(db, query),
    get: (seq) => getEvent(db, seq),
    verify: (range) => verify(db, range, public_key),
    refusedCode: (c, prefix) =>
      recordDenial(db, {
        ...byCaller(c),
        action: "cn_approve",
        resource: null,
        // Failed approvals are counted separately for each prefix of a claim code. APPROVE_FAILURES_PER_HOUR limits the
        // failures of the whole site.
        apart: prefix,
        outcome: { kind: "client_error", code: "NotFound", message: "Not Found" },
        payload: { code_prefix: prefix },
      }),
    denied: (c, action, resource) => recordDenial(db, { ...byCaller(c), action, resource }),
    refusedLogin: (c, user_id) =>
      recordDenial(db, {
        ...byCaller(c),
        action: "login",
        resource: user_id === null ? null : `User::"${user_id}"`,
        // Failed logins are counted separately per user. All unknown user names share one record.
        apart: user_id,
        outcome: { kind: "unauthenticated", reason: "unknown user or wrong password" },
      }),
  };
}
