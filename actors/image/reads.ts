// Queries for images.
import { type Kysely, sql } from "kysely";
import type { ImageScopeKind } from "../../src/contract/enums.ts";
import type { Image } from "../../src/contract/image.ts";
import type { ScopeColumns } from "../../src/contract/scope.ts";
import type { Database } from "../../src/db/tables.ts";
import { scopeFilter } from "../../src/lib/ids/scope.ts";
import { finder, hasLabels, type LabeledPage, type LabeledRows, reader } from "../record/reads.ts";
import { image } from "./transition.ts";

type Db = Kysely<Database>;

const COLUMNS = [
  "id",
  "scope_kind",
  "silo_id",
  "tenant_id",
  "project_id",
  "name",
  "description",
  "labels",
  "os",
  "os_version",
  "size_bytes",
  "content_bytes",
  "sha256",
  "source_url",
  "compatibility",
  "created_at",
] as const;

const images = reader("image", COLUMNS, image.view);

export const findImage = images.find;

/** Lists the public images in the order of their ids. */
export function listPublicImages(db: Db, at: LabeledPage): Promise<Image[]> {
  return images.page(db, { scope_kind: "public" }, at);
}

/** Lists the images of these scopes: the widest scope first, within a scope the oldest first. */
export async function listImages(
  db: Db,
  scopes: readonly ScopeColumns<ImageScopeKind>[],
  { rows, labels }: LabeledRows,
): Promise<Image[]> {
  const found = await db.selectFrom("image").select(COLUMNS)
    .where((eb) => eb.or(scopes.map(({ user_id: _nobody, ...columns }) => eb.and(scopeFilter(columns)))))
    .$if(labels !== undefined, (q) => q.where(hasLabels("labels", labels!)))
    .orderBy(sql`array_position(array['public', 'silo', 'tenant', 'project'], scope_kind)`)
    .orderBy("created_at").orderBy("id").limit(rows).execute();
  return found.map(image.view);
}

/** Returns whether the project has an image of this name. */
export async function isImageName(db: Db, { project_id, name }: { project_id: string; name: string }) {
  const row = await db.selectFrom("image").select("id").where("project_id", "=", project_id).where("name", "=", name)
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns the scope of an image, and the columns that an instance copies from it. */
export const findImageToUse = finder(async (db, ids) => {
  const rows = await db.selectFrom("image")
    .select(["id", "scope_kind", "silo_id", "tenant_id", "project_id", "size_bytes", "content_bytes", "compatibility"])
    .where(sql<boolean>`id = any(${ids})`).execute();
  return new Map(rows.map((row) => [row.id, { ...row, user_id: null }]));
});
