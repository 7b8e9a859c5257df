// Turns requests into messages. A request with an Idempotency-Key claims a message id. A repeated request with the same
// key gets the id of the first request, and therefore the stored reply. If a refusal with 503 is stored, the key is
// released, and the repeated request becomes a new message. If the outcome is unknown because the database did not
// answer, the key stays claimed, so that the request cannot take effect twice.
import { type createEngine, OVERLOADED } from "../../actors/engine/engine.ts";
import type { Outcome } from "../../actors/engine/types.ts";
import type { Messages } from "../../actors/registry.ts";
import { auditActor } from "../auth/authorize.ts";
import type { Mint } from "../auth/mint.ts";
import type { RecordScope, ResourceScope } from "../auth/resource-scope.ts";
import type { Principal } from "../auth/principal.ts";
import { type Fault, isFault } from "../contract/fault.ts";
import { findSavedScope, forgetKey, type KeyUse } from "../db/idempotency.ts";
import { createKeyClaims } from "../db/key-claims.ts";
import type { Db } from "../db/pool.ts";
import { parseIdempotencyKey } from "../http/idempotency-key.ts";
import type { Ctx, IdempotencyClaim, MessageOf, ReplyOf, RouteDeps, To } from "../routes/deps.ts";

type ClaimPorts = {
  readonly db: Db;
  readonly engine: Pick<ReturnType<typeof createEngine>, "send">;
  readonly mint: Mint;
  readonly newId: () => string;
};

type IdempotencyClaims = Pick<RouteDeps, "idempotency" | "send" | "sendOnce"> & {
  /** Returns the scope that was saved with this caller's key; null if the key has no saved scope or no reply yet. */
  readonly savedScope: (c: Ctx, principal: Principal) => Promise<ResourceScope | RecordScope | null>;
  /** Called before the answer is sent. Releases the key of a request that had no effect. */
  readonly answered: (c: Ctx) => Promise<void>;
};

export function createIdempotencyClaims({ db, engine, mint, newId }: ClaimPorts): IdempotencyClaims {
  const claimKey = createKeyClaims(db);

  async function useOf(c: Ctx, principal: Principal, key: string): Promise<KeyUse> {
    return {
      principal: claimantOf(principal),
      method: c.req.method,
      // Includes the query, because the query names the record's parent if the path does not.
      path: c.req.path + new URL(c.req.url).search,
      key,
      body_sha256: mint.bodyDigest(await c.req.text()),
    };
  }

  async function savedScope(c: Ctx, principal: Principal): Promise<ResourceScope | RecordScope | null> {
    const header = c.req.header("idempotency-key");
    if (header === undefined || c.req.method === "GET") return null;
    const key = parseIdempotencyKey(header);
    if (!key.ok) return null;
    // idempotency() stored this value.
    return await findSavedScope(db, await useOf(c, principal, key.value)) as ResourceScope | RecordScope | null;
  }

  async function idempotency(c: Ctx): Promise<IdempotencyClaim | Fault> {
    const header = c.req.header("idempotency-key");
    const new_msg_id = newId();
    if (header === undefined) return { id: new_msg_id, repeated: false };
    const key = parseIdempotencyKey(header);
    if (!key.ok) return key.fault;
    const use = await useOf(c, c.get("principal"), key.value);
    const claimed = await claimKey({ ...use, new_msg_id, place: c.get("recordScope") });
    if (!claimed.ok) return claimed.fault;
    c.set("keyed", { use, msg_id: claimed.msg_id, unavailable: false });
    return { id: claimed.msg_id, repeated: claimed.repeated };
  }

  async function answered(c: Ctx): Promise<void> {
    const keyed = c.get("keyed");
    if (keyed?.unavailable === true && c.res.status === 503) await forgetKey(db, keyed.use, keyed.msg_id);
  }

  async function send<K extends keyof Messages, T extends Messages[K]["type"]>(
    c: Ctx,
    to: To<K>,
    message: MessageOf<K, T>,
    at?: IdempotencyClaim,
  ): Promise<Outcome<ReplyOf<K, T>>> {
    const origin = { actor: auditActor(c.get("principal")), request_id: c.get("requestId") };
    // The engine stores replies as JSON; `Replies` declares the reply type of each kind.
    type Replied = Outcome<ReplyOf<K, T>>;
    if (at === undefined) return await engine.send(to, message, { origin }) as Replied;
    const keyed = c.get("keyed");
    // The key stays claimed until the outcome is known, because a message may take effect even if `send` throws.
    if (keyed !== undefined) keyed.unavailable = false;
    const outcome = await engine.send(to, message, { id: at.id, fresh: !at.repeated, origin });
    if (keyed !== undefined) keyed.unavailable = isStoredUnavailability(outcome);
    return outcome as Replied;
  }

  async function sendOnce<K extends keyof Messages, T extends Messages[K]["type"]>(
    c: Ctx,
    to: To<K>,
    message: MessageOf<K, T>,
  ): Promise<Outcome<ReplyOf<K, T>>> {
    const at = await idempotency(c);
    return isFault(at) ? { ok: false, fault: at } : await send(c, to, message, at);
  }

  return { idempotency, send, sendOnce, savedScope, answered };
}

/**
 * Returns whether the outcome is a stored refusal with 503. OVERLOADED is not stored. After OVERLOADED the key stays
 * claimed, because an earlier message with the same id may have been committed.
 */
function isStoredUnavailability(outcome: Outcome): boolean {
  return !outcome.ok && outcome.fault.kind === "unavailable" && outcome.fault !== OVERLOADED;
}

/** Returns the owner of a claim. Keys of one user that are bound to different tenants have separate claims. */
function claimantOf(principal: Principal): string {
  if (principal.kind === "anonymous") return "anonymous";
  const { user_id, key_tenant_id } = principal;
  return key_tenant_id === null ? user_id : `${user_id}@${key_tenant_id}`;
}
