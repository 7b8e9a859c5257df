// Issues and reads the tokens of a login session. The tokens are derived from the session's row. Therefore a repeated
// login or refresh gets the same tokens, and no stored reply contains a token. The signature proves that the server
// issued the token; the row, which is read on every request, shows whether the session still exists.
import { Buffer } from "node:buffer";
import { compactVerify, errors, type JWTPayload, SignJWT } from "jose";
import { z } from "zod";
import type { Tokens } from "../contract/identity.ts";
import { ACCESS_TOKEN_TTL_S, REFRESH_TOKEN_TTL_S } from "../contract/limits.ts";
import { toRfc3339 } from "../lib/text/instant.ts";
import { derive } from "./seal.ts";

const ALG = "HS256";
const KEY_BYTES = 32;

/** The fields of a session's row from which its tokens are derived. */
export type TokenSource = {
  readonly id: string;
  readonly user_id: string;
  readonly tenant_id: string | null;
  readonly generation: number;
  readonly refreshed_at: Date;
  /**
   * The time at which the session ends unless it is refreshed. The tokens expire at this time or earlier. Null for a
   * reply that was stored before sessions had a lifetime.
   */
  readonly expires_at: Date | null;
};

const seconds = z.number().int();
const AccessClaims = z.strictObject({
  sub: z.guid(),
  sid: z.guid(),
  iat: seconds,
  exp: seconds,
  typ: z.literal("access"),
  tenant_id: z.guid().optional(),
});
const RefreshClaims = z.strictObject({
  sub: z.guid(),
  sid: z.guid(),
  jti: z.string().regex(/^[0-9a-f-]{36}\.[1-9]\d{0,8}$/),
  iat: seconds,
  exp: seconds,
  typ: z.literal("refresh"),
});
/** The claims of the token in the cookie of the web console. The session's row contains the expiry. */
const WebClaims = z.strictObject({ sub: z.guid(), sid: z.guid(), typ: z.literal("web") });
export type AccessClaims = z.infer<typeof AccessClaims>;

export type SessionTokens = ReturnType<typeof createSessionTokens>;

/** Returns the functions that issue and read tokens, with a key derived from the server's secret. */
export function createSessionTokens(secret: Uint8Array) {
  const key = derive(secret, { purpose: "session-token", id: "" }, KEY_BYTES);

  const sign = (claims: JWTPayload) => new SignJWT(claims).setProtectedHeader({ alg: ALG, typ: "JWT" }).sign(key);

  /** Issues the two tokens of a session. The same source always gives the same tokens. */
  async function issue({ id, user_id, tenant_id, generation, refreshed_at, expires_at }: TokenSource): Promise<Tokens> {
    const iat = Math.floor(refreshed_at.getTime() / 1_000);
    const end = expires_at === null ? Infinity : Math.floor(expires_at.getTime() / 1_000);
    const [access_exp, refresh_exp] = [
      Math.min(iat + ACCESS_TOKEN_TTL_S, end),
      Math.min(iat + REFRESH_TOKEN_TTL_S, end),
    ];
    const subject = { sub: user_id, sid: id, iat };
    const tenant = tenant_id === null ? {} : { tenant_id };
    return {
      access_token: await sign({ ...subject, exp: access_exp, typ: "access", ...tenant }),
      refresh_token: await sign({ ...subject, exp: refresh_exp, typ: "refresh", jti: `${id}.${generation}` }),
      access_expires_at: toRfc3339(new Date(access_exp * 1_000)),
      refresh_expires_at: toRfc3339(new Date(refresh_exp * 1_000)),
    };
  }

  /** Issues the token for the cookie of a session of the web console. The same session always gets the same token. */
  async function issueWeb({ id, user_id }: Pick<TokenSource, "id" | "user_id">): Promise<string> {
    return await sign({ sub: user_id, sid: id, typ: "web" });
  }

  async function read<T>(token: string, schema: z.ZodType<T>): Promise<T | null> {
    try {
      const { payload } = await compactVerify(token, key, { algorithms: [ALG] });
      return schema.safeParse(JSON.parse(Buffer.from(payload).toString("utf8"))).data ?? null;
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof SyntaxError || error instanceof TypeError) return null;
      throw error;
    }
  }

  /** Returns the claims of an access token that this server signed, or null. Does not check the expiry. */
  const readAccess = (token: string) => read(token, AccessClaims);

  /** Returns the claims of a token of the web console that this server signed, or null. */
  const readWeb = (token: string) => read(token, WebClaims);

  /**
   * Returns the session and generation of a refresh token that this server signed, or null. Does not check the expiry.
   */
  async function readRefresh(token: string): Promise<{ readonly sid: string; readonly generation: number } | null> {
    const claims = await read(token, RefreshClaims);
    if (claims === null) return null;
    const [sid = "", generation = ""] = claims.jti.split(".");
    return sid === claims.sid ? { sid, generation: Number(generation) } : null;
  }

  return { issue, issueWeb, readAccess, readRefresh, readWeb };
}
