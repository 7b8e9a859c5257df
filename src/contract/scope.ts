// Defines the scopes of images and SSH keys: public, a level of the hierarchy, or a user.
import { z } from "zod";
import type { ScopeKind } from "./enums.ts";

const everybody = z.object({ kind: z.literal("public") });
const levels = [
  z.object({ kind: z.literal("silo"), silo_id: z.string() }),
  z.object({ kind: z.literal("tenant"), tenant_id: z.string() }),
  z.object({ kind: z.literal("project"), project_id: z.string() }),
] as const;

/** The scope of an image. */
export const ImageScope = z.discriminatedUnion("kind", [everybody, ...levels]);
export type ImageScope = z.infer<typeof ImageScope>;

/** The scope of an SSH key. */
export const SshKeyScope = z.discriminatedUnion("kind", [
  everybody,
  ...levels,
  z.object({ kind: z.literal("user"), user_id: z.string() }),
]);
export type SshKeyScope = z.infer<typeof SshKeyScope>;

/** The database columns of a scope. The scope of a project contains both the project and its tenant. */
export type ScopeColumns<Kind extends ScopeKind = ScopeKind> = {
  readonly scope_kind: Kind;
  readonly silo_id: string | null;
  /**
   * In a user's scope: the tenant of the credential that created the record. Null if the credential was not bound to a
   * tenant.
   */
  readonly tenant_id: string | null;
  readonly project_id: string | null;
  readonly user_id: string | null;
};
