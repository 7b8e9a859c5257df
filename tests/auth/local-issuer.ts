// Starts an OpenID issuer on a loopback address. The issuer answers discovery, has keys of every accepted algorithm,
// and signs tokens.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";

const ALGORITHMS = ["RS256", "ES256", "EdDSA"] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

export type LocalIssuer = {
  readonly issuer: string;
  readonly jwks_url: string;
  /** Returns how often the keys were requested. */
  readonly keyReads: () => number;
  /** Overrides the status or the bodies of all later answers. `{}` ends the override. */
  readonly behave: (how: { status?: number; discovery?: unknown; keys?: unknown }) => void;
  readonly jwk: (algorithm: Algorithm) => JWK;
  /** Replaces the keys. So tokens that were signed with the old keys become invalid. */
  readonly rotate: () => Promise<void>;
  /** Signs a token with the claims. It adds `iss` and an expiry in one hour if the claims have none. */
  readonly sign: (claims: JWTPayload, how?: { algorithm?: Algorithm; kid?: string }) => Promise<string>;
  readonly close: () => Promise<void>;
};

type Key = { readonly kid: string; readonly secret: CryptoKey; readonly jwk: JWK };

/** Starts an issuer. `now` returns the time of the control plane in milliseconds. */
export async function openLocalIssuer(now: () => Promise<number>): Promise<LocalIssuer> {
  let keys = await makeKeys(1);
  let generation = 1;
  let reads = 0;
  let wrong: { status?: number; discovery?: unknown; keys?: unknown } = {};

  const server = createServer((request, response) => {
    const isKeys = request.url === "/keys";
    if (isKeys) reads += 1;
    const found = isKeys || request.url === "/.well-known/openid-configuration";
    const body = isKeys
      ? wrong.keys ?? { keys: [...keys.values()].map(({ jwk }) => jwk) }
      : wrong.discovery ?? { issuer, jwks_uri: `${issuer}/keys` };
    const elsewhere = wrong.status === 302 ? { location: "/.well-known/openid-configuration" } : {};
    response.writeHead(wrong.status ?? (found ? 200 : 404), { "content-type": "application/json", ...elsewhere });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    issuer,
    jwks_url: `${issuer}/keys`,
    keyReads: () => reads,
    behave: (how) => void (wrong = how),
    jwk: (algorithm) => keys.get(algorithm)!.jwk,
    rotate: async () => {
      generation += 1;
      keys = await makeKeys(generation);
    },
    sign: async (claims, { algorithm = "RS256", kid } = {}) => {
      const key = keys.get(algorithm)!;
      const now_s = Math.floor(await now() / 1_000);
      return await new SignJWT({ iss: issuer, iat: now_s, exp: now_s + 3_600, ...claims })
        .setProtectedHeader({ alg: algorithm, kid: kid ?? key.kid }).sign(key.secret);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function makeKeys(generation: number): Promise<ReadonlyMap<Algorithm, Key>> {
  const made = await Promise.all(ALGORITHMS.map(async (alg) => {
    const { privateKey, publicKey } = await generateKeyPair(alg);
    const kid = `${alg}-${generation}`;
    const jwk = { ...await exportJWK(publicKey), kid, alg, use: "sig" };
    return [alg, { kid, secret: privateKey, jwk }] as const;
  }));
  return new Map(made);
}
