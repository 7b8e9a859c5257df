// Defines the schemas of the audit chain.
import { z } from "zod";
import { Timestamp } from "./common.ts";
import { AUDIT_DECISIONS } from "./enums.ts";

/** The actor: a user with a session, a key and its owner, an anonymous caller, or the server itself. */
export const AuditActor = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("operator"), user_id: z.string(), is_root: z.boolean() }),
  z.object({ kind: z.literal("api_key"), key_id: z.string(), user_id: z.string() }),
  z.object({ kind: z.literal("anonymous") }),
  z.object({ kind: z.literal("system") }),
]);
export type AuditActor = z.infer<typeof AuditActor>;

/** The outcome of the audited request. It contains no secret. */
export const AuditOutcome = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("success"), resource: z.string().nullable() }),
  z.object({ kind: z.literal("forbidden") }),
  z.object({ kind: z.literal("unauthenticated"), reason: z.string() }),
  z.object({ kind: z.literal("client_error"), code: z.string().nullable(), message: z.string() }),
  z.object({ kind: z.literal("server_error"), message: z.string() }),
]);
export type AuditOutcome = z.infer<typeof AuditOutcome>;

/** One link of the chain. `hash` is the SHA-256, in hex, of the canonical JSON of the other fields. */
export const AuditEvent = z.object({
  seq: z.number().int(),
  ts: Timestamp,
  actor: AuditActor,
  action: z.string(),
  resource: z.string().nullable(),
  request_id: z.string().nullable(),
  decision: z.enum(AUDIT_DECISIONS),
  outcome: AuditOutcome,
  payload: z.unknown(),
  prev_hash: z.string(),
  hash: z.string(),
});
export type AuditEvent = z.infer<typeof AuditEvent>;

/** The newest event of the chain. A saved copy shows later whether the chain was rewritten. */
export const AuditHead = z.object({ seq: z.number().int(), hash: z.string() });
export type AuditHead = z.infer<typeof AuditHead>;

/** A page of events. `head` is null while the chain has no events, and in a page of one tenant. */
export const AuditPage = z.object({
  events: z.array(AuditEvent),
  head: AuditHead.nullable(),
  next_before_seq: z.number().int().nullable().describe(
    "With order=desc: the `before_seq` of the next page, or null if this page is the last. With order=asc: null",
  ),
});
export type AuditPage = z.infer<typeof AuditPage>;

/** The result of verifying the chain. `outcome` has exactly one of the two keys. */
export const AuditVerification = z.object({
  outcome: z.union([
    z.object({ Ok: z.object({ verified_to: z.number().int().nullable() }) }),
    z.object({ Mismatch: z.object({ seq: z.number().int(), message: z.string() }) }),
  ]),
  head: AuditHead.nullable(),
});
export type AuditVerification = z.infer<typeof AuditVerification>;
