// Reads and caches the signing keys of other issuers. The URL of the keys is configured or found by OpenID discovery.
// Keys are cached for JWKS_CACHE_S. If a token names an unknown key, the keys are read again, at most once in
// JWKS_COOLDOWN_S. If the keys cannot be read, `verify` throws an error: the token may be valid, so the answer must be
// 503 and not 401.
import { Buffer } from "node:buffer";
import { compactVerify, createLocalJWKSet, errors } from "jose";
import { z } from "zod";
import { ISSUER_PAUSE_S, JWKS_CACHE_S, JWKS_COOLDOWN_S } from "../contract/limits.ts";
import {
  fetchJson,
  type Issuer,
  IssuerUnavailable,
  type IssuerWeb,
  ownUrls,
  readDiscovery,
} from "./issuer-document.ts";

type Keys = { readonly read_at_ms: number; readonly find: ReturnType<typeof createLocalJWKSet> };
type Entry = { keys: Keys | null; reading: Promise<Keys> | null; failed_at_ms: number | null };

const KeySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

export type IssuerKeys = ReturnType<typeof createIssuerKeys>;

/**
 * Returns `verify`, which checks the signatures of tokens. `clock_ms` is a monotonic clock; it only measures the age of
 * cached keys and of failures.
 */
export function createIssuerKeys(web: IssuerWeb, clock_ms: () => number = () => performance.now()) {
  const entries = new Map<string, Entry>();
  const age_s = (at_ms: number) => (clock_ms() - at_ms) / 1_000;

  /**
   * Returns the JSON payload of a token that the issuer signed, and null for any other token. Does not check the
   * claims.
   */
  async function verify(token: string, issuer: Issuer, algorithms: readonly string[]): Promise<unknown> {
    const keys = await keysOf(issuer, JWKS_CACHE_S);
    const first = await check(token, keys, algorithms);
    if (first !== "unknown_key") return first;
    if (age_s(keys.read_at_ms) < JWKS_COOLDOWN_S) return null;
    const again = await check(token, await keysOf(issuer, JWKS_COOLDOWN_S), algorithms);
    return again === "unknown_key" ? null : again;
  }

  async function check(token: string, keys: Keys, algorithms: readonly string[]): Promise<unknown> {
    try {
      const { payload, protectedHeader } = await compactVerify(token, keys.find, { algorithms: [...algorithms] });
      return protectedHeader.b64 === false ? null : JSON.parse(Buffer.from(payload).toString("utf8"));
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return "unknown_key";
      if (error instanceof errors.JOSEError || error instanceof SyntaxError) return null;
      throw new IssuerUnavailable("a key of the issuer cannot be used", { cause: error });
    }
  }

  async function keysOf(issuer: Issuer, age_max_s: number): Promise<Keys> {
    const name = JSON.stringify(issuer);
    const entry = entries.get(name) ?? { keys: null, reading: null, failed_at_ms: null };
    entries.set(name, entry);
    if (entry.keys !== null && age_s(entry.keys.read_at_ms) < age_max_s) return entry.keys;
    if (entry.failed_at_ms !== null && age_s(entry.failed_at_ms) < ISSUER_PAUSE_S) {
      throw new IssuerUnavailable(
        `${issuer.issuer} failed less than ${ISSUER_PAUSE_S} s ago; the server waits before it asks the issuer again`,
      );
    }
    entry.reading ??= readKeys(web, issuer).then(
      (find) => {
        entry.failed_at_ms = null;
        return entry.keys = { read_at_ms: clock_ms(), find };
      },
      (cause) => {
        entry.failed_at_ms = clock_ms();
        throw new IssuerUnavailable(`${issuer.issuer} does not serve its keys`, { cause });
      },
    ).finally(() => entry.reading = null);
    forgetOld();
    return await entry.reading;
  }

  /** Drops the keys and failures of issuers that are no longer used. Keeps an entry whose keys are being read. */
  function forgetOld(): void {
    for (const [name, { keys, reading, failed_at_ms }] of entries) {
      const at_ms = failed_at_ms ?? keys?.read_at_ms ?? null;
      if (reading === null && at_ms !== null && age_s(at_ms) > 2 * JWKS_CACHE_S) entries.delete(name);
    }
  }

  return { verify };
}

async function readKeys(web: IssuerWeb, of: Issuer): Promise<Keys["find"]> {
  const url = of.jwks_url ?? (await readDiscovery(web, of)).jwks_uri;
  const json = await fetchJson(web, { url, named: ownUrls(web, of) });
  return createLocalJWKSet(KeySet.parse(json));
}
