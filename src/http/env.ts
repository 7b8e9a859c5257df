// What every request carries through the routes.
import type { Context } from "hono";
import type { Place, ScopedPlace } from "../auth/place.ts";
import type { Principal } from "../auth/principal.ts";

/** The other end of the connection. */
export type Peer = {
  /** As the socket names it. */
  readonly remoteAddress: string;
  /** What was sent, whole and within the cap; the request itself then has none. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Aborted when nobody waits for the answer any more. */
  readonly gone: AbortSignal;
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
    /** Where the object stands, on routes whose gate finds it. */
    place: Place | undefined;
    /** The same, also of what has a scope of its own. */
    stands: Place | ScopedPlace | undefined;
  };
};

/** Aborted when nobody waits for the answer any more. */
export function goneSignal(c: Context<HttpEnv>): AbortSignal {
  return c.env?.gone ?? c.req.raw.signal;
}
