// What every request carries through the routes.
import type { Place } from "../auth/place.ts";
import type { Principal } from "../auth/principal.ts";

export type HttpEnv = {
  /** Set by whoever serves the app: the other end of the connection, as the socket names it. */
  Bindings: { remoteAddress?: string };
  Variables: {
    /** A UUID: the caller's x-request-id when that is one, else our own. Echoed, logged, and in every error body. */
    requestId: string;
    /** Canonical text of the caller's address behind trusted proxies, or "unknown". */
    clientAddress: string;
    /** Anonymous until the credential was checked. */
    principal: Principal;
    /** Where the object stands, on routes whose gate finds it. */
    place: Place | undefined;
  };
};
