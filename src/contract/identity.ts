// Users, sessions and the issuers that tenants bring. Document 4, 2.1 to 2.6.
import { z } from "zod";
import { Timestamp } from "./common.ts";
import { CAPABILITIES, TENANT_KEY_SCOPES } from "./enums.ts";
import { PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN, USERNAME_CHARS_MAX } from "./limits.ts";

/** Counted in characters; its hash is all that is kept. */
export const Password = z.string().min(PASSWORD_CHARS_MIN).max(PASSWORD_CHARS_MAX);
/** Unique among local users. */
const Username = z.string().regex(
  new RegExp(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,${USERNAME_CHARS_MAX - 1}}$`),
  `must be 1 to ${USERNAME_CHARS_MAX} letters, digits, dots, hyphens, underscores or @, the first a letter or digit`,
);

/** Somebody who can sign in. Operators stand outside every tenant. */
export const User = z.object({
  id: z.string(),
  username: z.string(),
  is_root: z.boolean(),
  capabilities: z.array(z.enum(CAPABILITIES)),
  tenant_id: z.string().nullable().describe("The tenant it belongs to, and with it the silo; null for operators"),
  silo_id: z.string().nullable(),
  issuer: z.string().nullable().describe("Who vouches for it; null for a local user"),
  created_at: Timestamp,
});
export type User = z.infer<typeof User>;

/** What makes a local user. */
export const UserBody = z.strictObject({
  username: Username,
  password: Password,
  tenant_id: z.guid().nullish(),
  capabilities: z.array(z.enum(CAPABILITIES)).max(CAPABILITIES.length).nullish(),
});
export type UserBody = z.infer<typeof UserBody>;

/** Sets somebody's password. */
export const PasswordBody = z.strictObject({ password: Password });

/** Changes one's own password. */
export const PasswordChangeBody = z.strictObject({
  current_password: z.string().max(PASSWORD_CHARS_MAX),
  password: Password,
});

/** The strings are not checked for their rules here: whatever is wrong with them is the same 401. */
export const LoginBody = z.strictObject({
  username: z.string().max(PASSWORD_CHARS_MAX),
  password: z.string().max(PASSWORD_CHARS_MAX),
});
export type LoginBody = z.infer<typeof LoginBody>;

/** What renews or ends a session. */
export const RefreshBody = z.strictObject({ refresh_token: z.string().max(4_096) });
export type RefreshBody = z.infer<typeof RefreshBody>;

/** A session's two tokens and when each ends. */
export const Tokens = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  access_expires_at: Timestamp,
  refresh_expires_at: Timestamp,
});
export type Tokens = z.infer<typeof Tokens>;

/** The OpenID Connect issuer that a tenant brings. */
export const IdpBody = z.strictObject({
  issuer_url: z.string().max(2_048).describe("https, or http on a loopback address; must serve OpenID discovery"),
  client_id: z.string().min(1).max(255),
  client_secret: z.string().min(1).max(1_024).describe("Kept sealed, never served"),
  audience: z.string().min(1).max(255).nullish().describe("What a token's aud must name; default client_id"),
});
export type IdpBody = z.infer<typeof IdpBody>;

/** A tenant's issuer as it is shown, without its secret. */
export const Idp = z.object({
  tenant_id: z.string(),
  issuer_url: z.string(),
  client_id: z.string(),
  audience: z.string(),
  created_at: Timestamp,
});
export type Idp = z.infer<typeof Idp>;

/** A key that acts inside one tenant. */
export const TenantKeyBody = z.strictObject({
  description: z.string().min(1).max(255),
  scope: z.enum(TENANT_KEY_SCOPES).nullish().describe("Default full"),
  expires_at: Timestamp.nullish(),
});
export type TenantKeyBody = z.infer<typeof TenantKeyBody>;
