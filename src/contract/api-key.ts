// Credentials. Document 4, 2.4 and 2.5.
import { z } from "zod";
import { Timestamp } from "./common.ts";
import { CAPABILITIES, KEY_SCOPES } from "./enums.ts";

/** A key as lists show it: never its secret. */
export const ApiKeyView = z.object({
  id: z.string(),
  user_id: z.string(),
  description: z.string(),
  scope: z.enum(KEY_SCOPES),
  bound_to_cn: z.string().nullable(),
  tenant_id: z.string().nullable().describe("The tenant that the key acts inside; null: it acts as its owner"),
  created_at: Timestamp,
  expires_at: Timestamp.nullable(),
  last_used_at: Timestamp.nullable(),
});
export type ApiKeyView = z.infer<typeof ApiKeyView>;

/** What makes a key of one's own. Without `expires_at` it has no end. */
export const ApiKeyBody = z.strictObject({
  description: z.string().min(1).max(255),
  scope: z.enum(KEY_SCOPES).nullish().describe("Default full"),
  expires_at: Timestamp.nullish(),
});
export type ApiKeyBody = z.infer<typeof ApiKeyBody>;

/** `secret` is the whole key, shown in this answer only. */
export const ApiKeyCreated = ApiKeyView.extend({ secret: z.string() });
export type ApiKeyCreated = z.infer<typeof ApiKeyCreated>;

/** Who the credential of this request belongs to. */
export const Whoami = z.object({
  user_id: z.string(),
  username: z.string(),
  is_root: z.boolean(),
  capabilities: z.array(z.enum(CAPABILITIES)),
  tenant_id: z.string().nullable().describe("The tenant it acts inside; null for operators"),
  tenant_name: z.string().nullable(),
  home_silo_id: z.string().nullable().describe("The silo of that tenant: what belongs to the whole silo can be used"),
  silo_id: z.string().nullable().describe(
    "The silo of the user's tenant, which it administers with the capability silo-admin; null for operators and for a " +
      "key that is bound to a tenant",
  ),
  key_id: z.string().nullable(),
  scope: z.enum(KEY_SCOPES).nullable().describe("Null for a login session"),
  bound_to_cn: z.string().nullable(),
  expires_at: Timestamp.nullable(),
});
export type Whoami = z.infer<typeof Whoami>;
