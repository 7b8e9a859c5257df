// How a request becomes a message. Its turn is the message's id; with an Idempotency-Key, the id that the first request
// with that key was given, so that a repeated one hears the same answer.
import type { createEngine } from "../../actors/engine/engine.ts";
import type { Outcome } from "../../actors/engine/types.ts";
import type { Messages } from "../../actors/registry.ts";
import { auditActor } from "../auth/gate.ts";
import type { Mint } from "../auth/mint.ts";
import type { Place, ScopedPlace } from "../auth/place.ts";
import type { Principal } from "../auth/principal.ts";
import type { Fault } from "../contract/fault.ts";
import { claimKey, findStood, type KeyUse } from "../db/idempotency.ts";
import type { Db } from "../db/pool.ts";
import { parseIdempotencyKey } from "../http/idempotency-key.ts";
import { type Ctx, isFault, type RouteDeps, type To, type Turn } from "../routes/deps.ts";

type TurnPorts = {
  readonly db: Db;
  readonly engine: Pick<ReturnType<typeof createEngine>, "send">;
  readonly mint: Mint;
  readonly newId: () => string;
};

type Turns = Pick<RouteDeps, "turn" | "send" | "act"> & {
  /** Where the object of this request stood, if its caller sent it before under its Idempotency-Key and was answered. */
  readonly stood: (c: Ctx, principal: Principal) => Promise<Place | ScopedPlace | null>;
};

export function createTurns({ db, engine, mint, newId }: TurnPorts): Turns {
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

  async function stood(c: Ctx, principal: Principal): Promise<Place | ScopedPlace | null> {
    const header = c.req.header("idempotency-key");
    if (header === undefined || c.req.method === "GET") return null;
    const key = parseIdempotencyKey(header);
    if (!key.ok) return null;
    // What turn() put there.
    return await findStood(db, await useOf(c, principal, key.value)) as Place | ScopedPlace | null;
  }

  async function turn(c: Ctx): Promise<Turn | Fault> {
    const header = c.req.header("idempotency-key");
    const new_msg_id = newId();
    if (header === undefined) return { id: new_msg_id, repeated: false };
    const key = parseIdempotencyKey(header);
    if (!key.ok) return key.fault;
    const claimed = await claimKey(db, {
      ...await useOf(c, c.get("principal"), key.value),
      new_msg_id,
      place: c.get("stands"),
    });
    return claimed.ok ? { id: claimed.msg_id, repeated: claimed.repeated } : claimed.fault;
  }

  async function send<K extends keyof Messages>(c: Ctx, to: To<K>, message: Messages[K], at?: Turn): Promise<Outcome> {
    const origin = { actor: auditActor(c.get("principal")), request_id: c.get("requestId") };
    return await engine.send(to, message, at === undefined ? { origin } : { id: at.id, fresh: !at.repeated, origin });
  }

  async function act<K extends keyof Messages>(c: Ctx, to: To<K>, message: Messages[K]): Promise<Outcome> {
    const at = await turn(c);
    return isFault(at) ? { ok: false, fault: at } : await send(c, to, message, at);
  }

  return { turn, send, act, stood };
}

/** Keys of one owner that are bound to different tenants are different callers. */
function callerOf(principal: Principal): string {
  if (principal.kind === "anonymous") return "anonymous";
  const { user_id, key_tenant_id } = principal;
  return key_tenant_id === null ? user_id : `${user_id}@${key_tenant_id}`;
}
