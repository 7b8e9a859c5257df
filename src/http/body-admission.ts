// Limits the memory and the time for request bodies that are being received. The credential is checked before the body
// is read. Authenticated callers have a budget that other callers (strangers) cannot use up. Strangers have a smaller
// budget and less time. In each budget, one source (a caller or an address) can use only a limited share
// (docs/reliability.md, S-50).
import type { Credential, Credentials, Presented } from "../auth/credential.ts";
import { webSessionToken } from "../auth/web-session-cookie.ts";
import { shareOf } from "../auth/caller.ts";
import {
  BODIES_KNOWN_BYTES,
  BODIES_KNOWN_EACH_BYTES,
  BODIES_STRANGER_BYTES,
  BODIES_STRANGER_EACH_BYTES,
  BODY_READ_MS,
  BODY_READ_STRANGER_MS,
  BODY_WEIGHT_MIN_BYTES,
} from "../contract/limits.ts";
import { addressBucket } from "../lib/net/client-address.ts";
import { type BodyLimits, bodyLimits } from "./body-limits.ts";
import { createShares } from "./shares.ts";

export type BodyAsk = {
  /** The path of the request, without its query. */
  readonly path: string;
  /** The caller's address behind trusted proxies. */
  readonly address: string;
  readonly authorization: string | undefined;
  /** The Cookie header. */
  readonly cookies: string | undefined;
  /** Content-Length, or null for a body of unknown length. */
  readonly length: number | null;
  /** Called when another source takes over the place of this body in the budget. The place is already released then. */
  readonly evict: () => void;
};

export type Admitted = {
  /** The result of checking the credential; undefined when none was sent or the check threw an error. */
  readonly checked: Checked | undefined;
  readonly limits: BodyLimits;
  /** The time limit for receiving the body. */
  readonly read_ms: number;
  /**
   * Reports how many bytes have arrived so far. Returns false if the source has reached its share, if the budget has no
   * room, or if another source has taken over this body's place.
   */
  readonly received: (bytes: number) => boolean;
  readonly release: () => void;
};

/** The result of a credential check. `at_ms` is the time of the check, by performance.now(). */
export type Checked = { readonly credential: Credential | null; readonly at_ms: number };

export type BodyAdmission = (ask: BodyAsk) => Promise<Admitted | null>;

/**
 * Creates the body admission of one process. The admission returns null if the source has reached its share. It also
 * returns null if the budget is used up and this source would use more of the budget than any other source.
 */
export function createBodyAdmission({ credentials }: { readonly credentials: Credentials }): BodyAdmission {
  const known = createShares({ total_max: BODIES_KNOWN_BYTES, each_max: BODIES_KNOWN_EACH_BYTES });
  const strangers = createShares({ total_max: BODIES_STRANGER_BYTES, each_max: BODIES_STRANGER_EACH_BYTES });

  async function check(presented: Presented): Promise<Checked | undefined> {
    if (presented.authorization === undefined && presented.cookie === undefined) return undefined;
    try {
      return { credential: await credentials(presented), at_ms: performance.now() };
    } catch {
      return undefined; // The authorization repeats the check and reports the failure.
    }
  }

  return async ({ path, address, authorization, cookies, length, evict }) => {
    const checked = await check({ authorization, cookie: webSessionToken(cookies) });
    const principal = checked?.credential?.principal;
    const is_known = principal?.kind === "user";
    const limits = bodyLimits(path, principal);
    // A body of unknown length is counted while it arrives.
    const weightOf = (bytes: number) => BODY_WEIGHT_MIN_BYTES + Math.min(bytes, limits.bytes_max);
    const weight = weightOf(length ?? 0);
    const slot = is_known
      ? known.take(shareOf(principal).id, weight, evict)
      : strangers.take(addressBucket(address), weight, evict);
    if (slot === null) return null;
    return {
      checked,
      limits,
      read_ms: is_known ? BODY_READ_MS : BODY_READ_STRANGER_MS,
      received: (bytes) => slot.grow(weightOf(bytes)),
      release: slot.release,
    };
  };
}
