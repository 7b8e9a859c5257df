// Whom an image or an SSH key is for: everybody, or one level of the hierarchy, or one user. Document 4, 1.13 and 1.14.
import { z } from "zod";
import type { ScopeKind } from "./enums.ts";

const everybody = z.object({ kind: z.literal("public") });
const levels = [
  z.object({ kind: z.literal("silo"), silo_id: z.string() }),
  z.object({ kind: z.literal("tenant"), tenant_id: z.string() }),
  z.object({ kind: z.literal("project"), project_id: z.string() }),
] as const;

/** Whom an image is for. */
export const ImageScope = z.discriminatedUnion("kind", [everybody, ...levels]);
export type ImageScope = z.infer<typeof ImageScope>;

/** Whom an SSH key is for. */
export const SshKeyScope = z.discriminatedUnion("kind", [
  everybody,
  ...levels,
  z.object({ kind: z.literal("user"), user_id: z.string() }),
]);
export type SshKeyScope = z.infer<typeof SshKeyScope>;

/** A scope as its columns. What is of a project names the tenant too. */
export type ScopeColumns<Kind extends ScopeKind = ScopeKind> = {
  readonly scope_kind: Kind;
  readonly silo_id: string | null;
  /** Of a user's record: the tenant that the user's credential was bound to, or null for the user's own. */
  readonly tenant_id: string | null;
  readonly project_id: string | null;
  readonly user_id: string | null;
};
