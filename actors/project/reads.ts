// What is read of projects and their usage without going through their mailboxes.
import type { Kysely } from "kysely";
import type { Project, Usage } from "../../src/contract/tenancy.ts";
import type { Database } from "../../src/db/tables.ts";
import { projectView } from "./transition.ts";

type Db = Kysely<Database>;

const COLUMNS = ["id", "tenant_id", "name", "description", "created_at"] as const;
const USED = ["cpu", "memory_bytes", "disk_bytes", "instances"] as const;

/** Those of a tenant, oldest first. */
export async function listProjects(db: Db, tenant_id: string, rows: number): Promise<Project[]> {
  const found = await db.selectFrom("project").select(COLUMNS).where("tenant_id", "=", tenant_id)
    .orderBy("created_at").orderBy("id").limit(rows).execute();
  return found.map((row) => projectView({ ...row, state: "live" }));
}

export async function findProject(db: Db, id: string): Promise<Project | undefined> {
  const row = await db.selectFrom("project").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && projectView({ ...row, state: "live" });
}

export async function findUsage(db: Db, project_id: string): Promise<Usage | undefined> {
  return await db.selectFrom("project_usage").select(USED).where("project_id", "=", project_id).executeTakeFirst();
}
