// Tests which stored bytes the maintenance deletes.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { utimes } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openFolderStore } from "../../src/image-store/folder.ts";
import { pruneImages } from "../../src/image-store/prune.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";

const HOUR_MS = 60 * 60 * 1_000;
const BYTES = new Uint8Array([1, 2, 3]);

let folder: TemporaryFolder;
let t: TestControlPlane;
let tenant: TestTenant;
beforeAll(async () => {
  folder = await temporaryFolder("prune");
  t = await openTestControlPlane({ env: { BERTH_IMAGE_DIR: folder.path } });
  tenant = await openTenant(t);
});
afterAll(async () => {
  await t?.close();
  await folder?.remove();
});

const begin = async (): Promise<string> => {
  const body = { name: randomUUID(), os: "linux", version: "1", size_bytes: BYTES.length };
  return okOf(await tenant.call("POST", `/v1/tenants/${tenant.tenant_id}/image-uploads`, { body })).id;
};

/** Stores bytes that changed two hours ago. */
async function stored(id: string) {
  const store = await openFolderStore(folder.path);
  await store.write(id, 0, BYTES);
  const old = new Date(Date.now() - 2 * HOUR_MS);
  await utimes(join(folder.path, id), old, old);
  return store;
}

test("the bytes of an upload that this database never had stay: a newer database may need them", async () => {
  const id = randomUUID();
  const store = await stored(id);
  expect(await pruneImages(t.db, store, Date.now())).toBe(0);
  expect(await store.read(id, 0)).toEqual(BYTES);
});

test("the bytes of an ended upload are deleted, even after the transitions of the upload were dropped", async () => {
  const id = await begin();
  const store = await stored(id);
  expect(await pruneImages(t.db, store, Date.now())).toBe(0);
  expect((await tenant.call("DELETE", `/v1/image-uploads/${id}`)).status).toBe(204);
  await t.db.query("delete from transition where actor_kind = 'image-upload' and actor_id = $1", [id]);
  expect(await pruneImages(t.db, store, Date.now())).toBe(1);
  expect(await store.read(id, 0)).toBeNull();
  expect(await pruneImages(t.db, store, Date.now())).toBe(0);
  expect((await t.db.query("select from stored_upload where id = $1", [id])).rowCount).toBe(0);
});
