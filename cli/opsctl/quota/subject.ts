// Finds the subject of a quota, which is a tenant or a project. `web` may be either; `web/shop` is the project shop of
// the tenant web, or the tenant shop of the silo web. An ambiguous name is rejected with a list of its matches.
import { EXIT } from "../../internal/exit-code.ts";
import { Failure, usageFailure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { findProject, listProjects, projectPath, projectTitle } from "../project/project.ts";
import { pickRecord, type RecordKind } from "../../internal/record-name.ts";
import { listTenants, type TenantInSilo, tenantTitle } from "../tenant/tenant.ts";

export const SUBJECT_ARGUMENT = [
  "<tenant-or-project>",
  "tenant or project: UUID, unique UUID prefix or NAME; also SILO/NAME, TENANT/NAME or SILO/TENANT/NAME",
] as const;
export const IN_TENANT_OPTION = ["--tenant <tenant>", "search only the projects of this tenant"] as const;

/** The tenant or project that a quota limits. */
export type Subject = {
  readonly kind: "tenant" | "project";
  readonly id: string;
  readonly tenant_id: string;
  /** `/v1/tenants/...`, to which /quota and /usage are added. */
  readonly path: string;
  /** Safe to print. */
  readonly title: string;
  /** Accepted names: the name alone, and with its parents. */
  readonly names: readonly string[];
};

const SUBJECT: RecordKind<Subject> = {
  one: "tenant or project",
  many: "tenants and projects",
  list: "opsctl tenant list, or opsctl project list",
  id: ({ id }) => id,
  title: ({ kind, title }) => `${kind} ${title}`,
  isCalled: ({ names }, name) => names.includes(name),
};

/** Finds the tenant or project with this name. Throws a Failure unless there is exactly one. */
export async function findSubject(io: Io, name: string, tenant: string | undefined): Promise<Subject> {
  if (tenant !== undefined) return ofProject(await findProject(io, name, tenant));
  const parts = name.split("/");
  if (parts.length > 3 || parts.includes("")) {
    throw usageFailure(
      `${name} is not the name of a tenant or project; write TENANT, TENANT/PROJECT or SILO/TENANT/PROJECT`,
    );
  }
  const [tenants, projects] = await Promise.all([listTenants(io, undefined), listProjects(io, undefined)]);
  return pickRecord([...tenants.map(ofTenant), ...projects.map(ofProject)], name, SUBJECT);
}

function ofTenant(placed: TenantInSilo): Subject {
  const { silo, tenant: { id, name } } = placed;
  const names = [name, `${silo.name}/${name}`];
  return { kind: "tenant", id, tenant_id: id, path: `/v1/tenants/${id}`, title: tenantTitle(placed), names };
}

function ofProject(placed: Awaited<ReturnType<typeof findProject>>): Subject {
  const { tenant, project: { id, name } } = placed;
  const [silo, of = tenant.name] = tenant.name.split("/");
  const names = [name, `${of}/${name}`, `${silo}/${of}/${name}`];
  return {
    kind: "project",
    id,
    tenant_id: tenant.id,
    path: projectPath(placed),
    title: projectTitle(placed),
    names,
  };
}

/** Returns the failure for a subject that has no quota. */
export function noQuota({ kind, title }: Subject): Failure {
  return new Failure(`${kind} ${title} has no quota`, EXIT.not_found);
}
