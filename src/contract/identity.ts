// Defines the schemas of users, sessions and the issuers of tenants (docs/tenancy.md).
import { z } from "zod";
import { GivenTimestamp, Timestamp, Uuid } from "./common.ts";
import { CAPABILITIES, SESSION_KINDS, TENANT_KEY_SCOPES } from "./enums.ts";
import { ISSUER_URL_CHARS_MAX, PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN, USERNAME_CHARS_MAX } from "./limits.ts";

/** A password. The limits count characters; only the hash is stored. */
export const Password = z.string().min(PASSWORD_CHARS_MIN).max(PASSWORD_CHARS_MAX);
/** A user name, unique among local users. */
const Username = z.string().regex(
  new RegExp(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,${USERNAME_CHARS_MAX - 1}}$`),
  `must be 1 to ${USERNAME_CHARS_MAX} letters, digits, dots, hyphens, underscores or @, the first a letter or digit`,
);

/** A user. Operators belong to no tenant. */
export const User = z.object({
  id: z.string(),
  username: z.string(),
  is_root: z.boolean(),
  capabilities: z.array(z.enum(CAPABILITIES)),
  tenant_id: z.string().nullable().describe("The tenant of the user; null for operators"),
  silo_id: z.string().nullable(),
  issuer: z.string().nullable().describe("The issuer of the user's tokens; null for a local user"),
  created_at: Timestamp,
});
export type User = z.infer<typeof User>;

/** The body that creates a local user. */
export const UserBody = z.strictObject({
  username: Username,
  password: Password,
  tenant_id: Uuid.nullish(),
  capabilities: z.array(z.enum(CAPABILITIES)).max(CAPABILITIES.length).nullish(),
});
export type UserBody = z.infer<typeof UserBody>;

/** The body that sets the password of a user. */
export const PasswordBody = z.strictObject({ password: Password });

/** The body that changes the caller's password. */
export const PasswordChangeBody = z.strictObject({
  current_password: z.string().max(PASSWORD_CHARS_MAX),
  password: Password,
});

/** A login. Only the lengths are checked here: any wrong name or password gets the same 401. */
export const LoginBody = z.strictObject({
  username: z.string().max(PASSWORD_CHARS_MAX),
  password: z.string().max(PASSWORD_CHARS_MAX),
});
export type LoginBody = z.infer<typeof LoginBody>;

/** The body that opens a session of the web console. */
export const WebSessionBody = z.strictObject({
  username: LoginBody.shape.username.nullish(),
  password: LoginBody.shape.password.nullish(),
  api_key: z.string().max(PASSWORD_CHARS_MAX).nullish().describe("An API key instead of a user name and a password"),
}).refine(
  ({ username, password, api_key }) =>
    api_key != null ? username == null && password == null : username != null && password != null,
  "must have api_key, or username and password",
);
export type WebSessionBody = z.infer<typeof WebSessionBody>;

/** The body that renews a session. */
export const RefreshBody = z.strictObject({ refresh_token: z.string().max(4_096) });
export type RefreshBody = z.infer<typeof RefreshBody>;

/** A session of the caller. */
export const SessionListed = z.object({
  id: z.string(),
  kind: z.enum(SESSION_KINDS).describe("token: a program's session; web: a session of the web console"),
  api_key_id: z.string().nullable().describe("The key that opened the session; null for a login"),
  created_at: Timestamp,
  refreshed_at: Timestamp.describe("The last use that extended the session"),
  expires_at: Timestamp,
  is_current: z.boolean().describe("Whether this request uses the session"),
});
export type SessionListed = z.infer<typeof SessionListed>;

/** The two tokens of a session and their expiry. */
export const Tokens = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  access_expires_at: Timestamp,
  refresh_expires_at: Timestamp,
});
export type Tokens = z.infer<typeof Tokens>;

/** The body that sets the OpenID Connect issuer of a tenant. */
export const IdpBody = z.strictObject({
  issuer_url: z.string().max(ISSUER_URL_CHARS_MAX).describe(
    "https, or http on a loopback address, in printable ASCII; must serve OpenID discovery",
  ),
  client_id: z.string().min(1).max(255),
  client_secret: z.string().min(1).max(1_024).describe("Stored sealed; never returned"),
  audience: z.string().min(1).max(255).nullish().describe(
    "An audience of the issuer's tokens. Tokens for client_id are accepted, too. Default: client_id",
  ),
});
export type IdpBody = z.infer<typeof IdpBody>;

/** The issuer of a tenant, without its secret. */
export const Idp = z.object({
  tenant_id: z.string(),
  issuer_url: z.string(),
  client_id: z.string(),
  audience: z.string(),
  created_at: Timestamp,
});
export type Idp = z.infer<typeof Idp>;

/** The body that creates a key that is bound to a tenant. */
export const TenantKeyBody = z.strictObject({
  description: z.string().min(1).max(255),
  scope: z.enum(TENANT_KEY_SCOPES).nullish().describe("Default full"),
  expires_at: GivenTimestamp.nullish(),
});
export type TenantKeyBody = z.infer<typeof TenantKeyBody>;
