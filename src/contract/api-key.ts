// Defines the schemas of API keys, and of the owner of a credential.
import { z } from "zod";
import { GivenTimestamp, Timestamp } from "./common.ts";
import { CAPABILITIES, KEY_SCOPES } from "./enums.ts";

/** A key without its secret. */
export const ApiKeyView = z.object({
  id: z.string(),
  user_id: z.string(),
  description: z.string(),
  scope: z.enum(KEY_SCOPES),
  bound_to_cn: z.string().nullable(),
  tenant_id: z.string().nullable().describe("The tenant that the key is bound to; null: the key acts as its owner"),
  created_at: Timestamp,
  expires_at: Timestamp.nullable(),
  last_used_at: Timestamp.nullable(),
});
export type ApiKeyView = z.infer<typeof ApiKeyView>;

/** The body that creates a key for the caller. Without `expires_at` the key does not expire. */
export const ApiKeyBody = z.strictObject({
  description: z.string().min(1).max(255),
  scope: z.enum(KEY_SCOPES).nullish().describe("Default full"),
  expires_at: GivenTimestamp.nullish(),
});
export type ApiKeyBody = z.infer<typeof ApiKeyBody>;

/** A new key. `secret` is the whole key. Only the answer to the request that creates the key contains it. */
export const ApiKeyCreated = ApiKeyView.extend({ secret: z.string() });
export type ApiKeyCreated = z.infer<typeof ApiKeyCreated>;

/** The owner of the request's credential. */
export const Whoami = z.object({
  user_id: z.string(),
  username: z.string(),
  is_root: z.boolean(),
  capabilities: z.array(z.enum(CAPABILITIES)),
  tenant_id: z.string().nullable().describe("The tenant of the user or key; null for operators"),
  tenant_name: z.string().nullable(),
  home_silo_id: z.string().nullable().describe(
    "The silo of the tenant `tenant_id`. The caller can use the images and SSH keys that the silo shares",
  ),
  silo_id: z.string().nullable().describe(
    "The same as `home_silo_id`, but null for a key that is bound to a tenant",
  ),
  silo_name: z.string().nullable().describe("The name of the silo `home_silo_id`"),
  key_id: z.string().nullable(),
  session_id: z.string().nullable().describe("The login session; null for API keys and tokens of an external issuer"),
  scope: z.enum(KEY_SCOPES).nullable().describe("Null for a login session with the scope full"),
  bound_to_cn: z.string().nullable(),
  expires_at: Timestamp.nullable(),
  actions: z.array(z.string()).describe(
    "The actions that the caller may perform, as the audit chain names them. For some actions, the server also " +
      "checks the object",
  ),
  version: z.string().describe("The version of the server"),
});
export type Whoami = z.infer<typeof Whoami>;
