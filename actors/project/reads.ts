// Queries for projects and what they use.
import type { Kysely } from "kysely";
import type { Project, Usage } from "../../src/contract/tenancy.ts";
import type { Database } from "../../src/db/tables.ts";
import { reader } from "../record/reads.ts";
import { project } from "./transition.ts";

type Db = Kysely<Database>;

const projects = reader("project", ["id", "tenant_id", "name", "description", "created_at"], project.view);

export const findProject = projects.find;

/** Lists the projects of a tenant, oldest first. */
export function listProjects(db: Db, tenant_id: string, rows: number): Promise<Project[]> {
  return projects.oldestFirst(db, { tenant_id }, rows);
}

export async function findUsage(db: Db, project_id: string): Promise<Usage | undefined> {
  return await db.selectFrom("project_usage").select(["cpu", "memory_bytes", "disk_bytes", "instances"])
    .where("project_id", "=", project_id).executeTakeFirst();
}
