// How a request becomes a message. Its turn is the message's id; with an Idempotency-Key, the id that the first request
// with that key was given, so that a repeated one hears the same answer. A 503 is not kept for the key: the message that
// was refused keeps its stored refusal, and the key is forgotten, so that the repeated request is a new message. A 503
// whose effect is not known (the database did not answer) keeps its key, or the effect could be had twice.
import { type createEngine, OVERLOADED } from "../../actors/engine/engine.ts";
import type { Outcome } from "../../actors/engine/types.ts";
import type { Messages } from "../../actors/registry.ts";
import { auditActor } from "../auth/authorize.ts";
import type { Mint } from "../auth/mint.ts";
import type { RecordScope, ResourceScope } from "../auth/resource-scope.ts";
import type { Principal } from "../auth/principal.ts";
import type { Fault } from "../contract/fault.ts";
import { claimKey, findSavedScope, forgetKey, type KeyUse } from "../db/idempotency.ts";
import type { Db } from "../db/pool.ts";
import { parseIdempotencyKey } from "../http/idempotency-key.ts";
import type { Ctx, IdempotencyClaim, MessageOf, ReplyOf, RouteDeps, To } from "../routes/deps.ts";
import { isFault } from "../contract/fault.ts";

type ClaimPorts = {
  readonly db: Db;
  readonly engine: Pick<ReturnType<typeof createEngine>, "send">;
  readonly mint: Mint;
  readonly newId: () => string;
};

type IdempotencyClaims = Pick<RouteDeps, "idempotency" | "send" | "sendOnce"> & {
  /** Where the object of this request stood, if its caller sent it before under its Idempotency-Key and was answered. */
  readonly savedScope: (c: Ctx, principal: Principal) => Promise<ResourceScope | RecordScope | null>;
  /** Called when the request has its answer, before that is sent: forgets the key of a request that had no effect. */
  readonly answered: (c: Ctx) => Promise<void>;
};

export function createIdempotencyClaims({ db, engine, mint, newId }: ClaimPorts): IdempotencyClaims {
  async function useOf(c: Ctx, principal: Principal, key: string): Promise<KeyUse> {
    return {
      principal: callerOf(principal),
      method: c.req.method,
      // A selector says where the record is made as much as a path does.
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
    // What idempotency() stored.
    return await findSavedScope(db, await useOf(c, principal, key.value)) as ResourceScope | RecordScope | null;
  }

  async function idempotency(c: Ctx): Promise<IdempotencyClaim | Fault> {
    const header = c.req.header("idempotency-key");
    const new_msg_id = newId();
    if (header === undefined) return { id: new_msg_id, repeated: false };
    const key = parseIdempotencyKey(header);
    if (!key.ok) return key.fault;
    const use = await useOf(c, c.get("principal"), key.value);
    const claimed = await claimKey(db, { ...use, new_msg_id, place: c.get("stands") });
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
    // The engine stores replies as JSON; `Replies` states what each kind replies.
    type Replied = Outcome<ReplyOf<K, T>>;
    if (at === undefined) return await engine.send(to, message, { origin }) as Replied;
    const keyed = c.get("keyed");
    // Unknown until it is answered: a message that throws may have had its effect.
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

/** A message that a full queue turned away is not stored, and one with the same id may have been written before. */
function isStoredUnavailability(outcome: Outcome): boolean {
  return !outcome.ok && outcome.fault.kind === "unavailable" && outcome.fault !== OVERLOADED;
}

/** Keys of one owner that are bound to different tenants are different callers. */
function callerOf(principal: Principal): string {
  if (principal.kind === "anonymous") return "anonymous";
  const { user_id, key_tenant_id } = principal;
  return key_tenant_id === null ? user_id : `${user_id}@${key_tenant_id}`;
}
