// Queries on uploaded images.
import { type Kysely, sql } from "kysely";
import type { Database } from "../../src/db/tables.ts";
import { uploadedUrl } from "../../src/lib/ids/uploaded-image.ts";

type Db = Kysely<Database>;

export async function findImageUpload(db: Db, id: string) {
  return await db.selectFrom("image_upload").selectAll().where("id", "=", id).executeTakeFirst();
}

/** Returns the size of an uploaded image, if a job of the node that is in progress needs the image; otherwise null. */
export async function findUploadedForNode(db: Db, id: string, cn: string): Promise<number | null> {
  const { rows: [row] } = await sql<{ size_bytes: number }>`
    select m.size_bytes from job j join instance i on i.id = (j.payload->>'instance_id')::uuid
      join image m on m.id = coalesce((j.payload->>'image_id')::uuid, i.image_id)
     where j.target_cn = ${cn}::uuid and j.state = 'in_progress' and m.source_url = ${uploadedUrl(id)}
     limit 1`.execute(db);
  return row?.size_bytes ?? null;
}

/** Returns which of these uploads are still needed: an open one, or one that became an image. */
export async function findNeededUploads(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select w.id from unnest(${ids}::uuid[]) w(id)
     where exists (select from image_upload u where u.id = w.id)
        or exists (select from image m where m.source_url = 'berth:' || w.id)`.execute(db);
  return new Set(rows.map(({ id }) => id));
}
