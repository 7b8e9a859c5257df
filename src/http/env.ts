// What every request carries through the routes.
import type { Context } from "hono";
import type { RecordScope, ResourceScope } from "../auth/resource-scope.ts";
import type { Principal } from "../auth/principal.ts";
import type { Fault } from "../contract/fault.ts";
import type { KeyUse } from "../db/idempotency.ts";
import type { Checked } from "./body-admission.ts";

/** The other end of the connection. */
export type Peer = {
  /** As the socket names it. */
  readonly remoteAddress: string;
  /** What was sent, whole and within the cap; the request itself then has none. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Aborted when nobody waits for the answer any more. */
  readonly gone: AbortSignal;
  /** What the headers proved before the body was read; undefined where nothing was checked. */
  readonly checked: Checked | undefined;
  /** The connection belongs to a caller with a good credential: it is no stranger's any more. */
  readonly known: (caller: string) => void;
};

/** A request's Idempotency-Key and the message that it belongs to. */
export type Keyed = {
  readonly use: KeyUse;
  readonly msg_id: string;
  /** Whether the message was refused as unavailable, and that refusal stored: it had no effect and never will. */
  unavailable: boolean;
};

export type HttpEnv = {
  /** Set by whoever serves the app. */
  Bindings: Partial<Peer>;
  Variables: {
    /** A UUID: the caller's x-request-id when that is one, else our own. Echoed, logged, and in every error body. */
    requestId: string;
    /** Canonical text of the caller's address behind trusted proxies, or "unknown". */
    clientAddress: string;
    /** Anonymous until the credential was checked. */
    principal: Principal;
    /** The Idempotency-Key of this request, once its message has an id. */
    keyed: Keyed | undefined;
    /** What the headers proved before the body was read; undefined where nothing was checked. */
    checked: Checked | undefined;
    /** Set when the request was held: its credential is checked again before it is answered. */
    held: boolean | undefined;
    /** Checks the credential and its rights again: null, or the refusal. */
    checkAgain: (() => Promise<Fault | null>) | undefined;
    /** Where the object stands, on routes whose gate finds it. */
    place: ResourceScope | undefined;
    /** The same, also of what has a scope of its own. */
    stands: ResourceScope | RecordScope | undefined;
  };
};

/** Aborted when nobody waits for the answer any more. */
export function goneSignal(c: Context<HttpEnv>): AbortSignal {
  return c.env?.gone ?? c.req.raw.signal;
}
