// Queries on uploaded images.
import { type Kysely, sql } from "kysely";
import type { Database } from "../../src/db/tables.ts";
import type { PlannedImage } from "./state.ts";
import { uploadedUrl } from "../../src/lib/ids/uploaded-image.ts";

type Db = Kysely<Database>;

export async function findImageUpload(db: Db, id: string) {
  return await db.selectFrom("image_upload").selectAll().where("id", "=", id).executeTakeFirst();
}

/** The part of an operation's parameters that its upload needs. */
type Planned = { readonly tenant_id: string; readonly project_id: string; readonly image: PlannedImage };

/**
 * Returns the operation that makes an image from this upload. Returns undefined if no job of this operation is in
 * progress on the node `cn`.
 */
export async function findImageOfJob(db: Db, upload_id: string, cn: string) {
  const { rows: [row] } = await sql<{ operation_id: string; params: Planned }>`
    select s.id as operation_id, s.params from job j join saga s on s.id = j.saga_id
     where j.target_cn = ${cn}::uuid and j.state = 'in_progress' and j.kind = 'create_image'
       and j.payload->>'upload_id' = ${upload_id}`.execute(db);
  return row && { operation_id: row.operation_id, ...row.params };
}

/** Returns the id of the image that was made from this upload. */
export async function findImageOfUpload(db: Db, upload_id: string): Promise<string | undefined> {
  const row = await db.selectFrom("image").select("id").where("source_url", "=", uploadedUrl(upload_id))
    .executeTakeFirst();
  return row?.id;
}

/**
 * Returns the size of an uploaded image if a job in progress on the node uses the image; otherwise null. A job that
 * names no image uses the image of its instance.
 */
export async function findUploadedForNode(db: Db, id: string, cn: string): Promise<number | null> {
  const { rows: [row] } = await sql<{ size_bytes: number }>`
    select m.size_bytes from job j join instance i on i.id = (j.payload->>'instance_id')::uuid
      join image m on m.id = coalesce((j.payload->>'image_id')::uuid, i.image_id)
     where j.target_cn = ${cn}::uuid and j.state = 'in_progress' and m.source_url = ${uploadedUrl(id)}
     limit 1`.execute(db);
  return row?.size_bytes ?? null;
}

/**
 * Returns those ids of `ids` that name an upload of this database that is no longer needed. An upload is needed while
 * it is open, and while an image that was made from it exists.
 */
export async function findUnneededUploads(db: Db, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select w.id from unnest(${ids}::uuid[]) w(id) join stored_upload using (id)
     where not exists (select from image_upload u where u.id = w.id)
       and not exists (select from image m where m.source_url = 'berth:' || w.id)`.execute(db);
  return rows.map(({ id }) => id);
}
