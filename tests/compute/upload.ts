// Adds the upload of an image to the database, for tests of the API.
import type { TestControlPlane } from "../support/control-plane.ts";

/** Adds an open upload, by default of one byte. `received_bytes` of its bytes have arrived. */
export async function addUpload(
  t: TestControlPlane,
  id: string,
  tenant_id: string,
  { size_bytes = 1, received_bytes = 0 } = {},
): Promise<void> {
  await t.db.query(
    `insert into image_upload (id, incarnation, version, state, tenant_id, name, description, os, os_version, size_bytes,
                               received_bytes, created_at, expires_at)
     values ($1, gen_random_uuid(), 1, 'open', $2, 'uploaded', '', 'linux', '1', $3, $4, berth_now(),
             berth_now() + interval '1 day')`,
    [id, tenant_id, size_bytes, received_bytes],
  );
}
