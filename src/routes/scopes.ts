// Defines the levels of the hierarchy at which images and SSH keys are listed and created.
import { z } from "zod";
import { scopeOf } from "../auth/authorize.ts";
import { atProject, atSilo, atTenant } from "../auth/resource-scope.ts";
import { PageQuery, Uuid } from "../contract/common.ts";
import type { ImageScopeKind } from "../contract/enums.ts";
import { type Fault, fault } from "../contract/fault.ts";
import type { ScopeColumns } from "../contract/scope.ts";
import type { Ctx } from "./deps.ts";

const silo_id = { silo_id: Uuid };
const tenant_id = { tenant_id: Uuid };

/** The text that the API description adds about a silo's images and SSH keys. */
const OF_SILO =
  " Members of all tenants of the silo can see and use such an object. Only operators and members with the capability " +
  "silo-admin can create, change or delete it.";

/** The levels. `about` is added to the descriptions of the level's routes. */
export const LEVELS = [
  { of: "a silo", about: OF_SILO, path: "/v1/silos/{silo_id}", params: z.object(silo_id), locate: atSilo },
  { of: "a tenant", about: "", path: "/v1/tenants/{tenant_id}", params: z.object(tenant_id), locate: atTenant },
  {
    of: "a project",
    about: "",
    path: "/v1/tenants/{tenant_id}/projects/{project_id}",
    params: z.object({ ...tenant_id, project_id: Uuid }),
    locate: atProject,
  },
] as const;

const NO_IDS = { silo_id: null, tenant_id: null, project_id: null, user_id: null };
export const PUBLIC: ScopeColumns<"public"> = { scope_kind: "public", ...NO_IDS };

/** Returns the scope of a record that the request creates, from the authorized resource scope. */
export function scopeAt(c: Ctx): ScopeColumns<ImageScopeKind> {
  const { silo_id, tenant_id, project_id } = scopeOf(c);
  if (tenant_id === null) return { ...NO_IDS, scope_kind: "silo", silo_id };
  return { ...NO_IDS, scope_kind: project_id === null ? "tenant" : "project", tenant_id, project_id };
}

/**
 * Returns the scopes to list. For a project: the public scope, and the scopes of its silo, its tenant and the project
 * itself. For a silo or a tenant: only its own scope.
 */
export function scopesAt(c: Ctx): ScopeColumns<ImageScopeKind>[] {
  const { silo_id, tenant_id, project_id } = scopeOf(c);
  if (project_id === null) return [scopeAt(c)];
  return [
    PUBLIC,
    { ...NO_IDS, scope_kind: "silo", silo_id },
    { ...NO_IDS, scope_kind: "tenant", tenant_id },
    scopeAt(c),
  ];
}

export function scopeOfUser(user_id: string, through_tenant_id: string | null): ScopeColumns<"user"> {
  return { ...NO_IDS, scope_kind: "user", user_id, tenant_id: through_tenant_id };
}

/**
 * The query of a list of public records. The handler checks `scope`, because the errors about `scope` have their own
 * codes.
 */
export const PublicQuery = z.object({
  scope: z.string().optional().describe("Required; only `public`. Other scopes are listed at their own paths"),
  ...PageQuery,
});

/** Returns the refusal of a missing scope or of a scope other than public, or null. */
export function publicScopeFault(c: Ctx): Fault | null {
  const scope = c.req.query("scope") ?? "";
  if (scope === "public") return null;
  const call = `${c.req.method} ${c.req.path}`;
  if (scope === "") {
    return fault("bad_request", `${call} requires \`?scope=public\``, { error_code: "MissingScope" });
  }
  const message = `${call} accepts only scope=public; for another scope, use the path of its silo, tenant or project`;
  return fault("bad_request", message, { error_code: "ScopeNotImplemented" });
}
