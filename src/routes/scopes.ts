// Images and SSH keys are listed and made beside each level of the hierarchy, and openly for everybody.
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

/** What a silo's images and SSH keys need, beside a tenant's. */
const OF_SILO =
  " Members of all tenants of the silo see and use it. To create, change or delete it takes the capability " +
  "silo-admin: a silo is one customer, its tenants are departments, and a member acts in its own tenant only.";

/** `about`: what the routes of the level say of it, or nothing. */
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

const NOBODY = { silo_id: null, tenant_id: null, project_id: null, user_id: null };
export const PUBLIC: ScopeColumns<"public"> = { scope_kind: "public", ...NOBODY };

/** The scope of what stands at the level that the gate found. */
export function scopeAt(c: Ctx): ScopeColumns<ImageScopeKind> {
  const { silo_id, tenant_id, project_id } = scopeOf(c);
  if (tenant_id === null) return { ...NOBODY, scope_kind: "silo", silo_id };
  return { ...NOBODY, scope_kind: project_id === null ? "tenant" : "project", tenant_id, project_id };
}

/** Of a project, every scope whose images its instances can be made from; of a silo or a tenant, its own scope. */
export function scopesAt(c: Ctx): ScopeColumns<ImageScopeKind>[] {
  const { silo_id, tenant_id, project_id } = scopeOf(c);
  if (project_id === null) return [scopeAt(c)];
  return [
    PUBLIC,
    { ...NOBODY, scope_kind: "silo", silo_id },
    { ...NOBODY, scope_kind: "tenant", tenant_id },
    scopeAt(c),
  ];
}

export function scopeOfUser(user_id: string, through_tenant_id: string | null): ScopeColumns<"user"> {
  return { ...NOBODY, scope_kind: "user", user_id, tenant_id: through_tenant_id };
}

/** Which scope is refused below, with names of its own for the refusals. */
export const PublicQuery = z.object({
  scope: z.string().optional().describe("Must be there and be public; other scopes are listed at their own paths"),
  ...PageQuery,
});

/** Document 3, SSH keys and images: only scope=public is there. */
export function publicScopeFault(c: Ctx): Fault | null {
  const scope = c.req.query("scope") ?? "";
  if (scope === "public") return null;
  const call = `${c.req.method} ${c.req.path}`;
  if (scope === "") {
    return fault("bad_request", `${call} requires \`?scope=public\``, { error_code: "MissingScope" });
  }
  const message = `${call} has only scope=public; ask the silo, the tenant or the project for its own`;
  return fault("bad_request", message, { error_code: "ScopeNotImplemented" });
}
