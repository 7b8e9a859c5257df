// Tests which stored bytes the maintenance deletes.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { utimes } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openFolderStore } from "../../src/image-store/folder.ts";
import { pruneImages } from "../../src/image-store/prune.ts";
import type { ImageStore } from "../../src/image-store/store.ts";
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

const rowsOf = async (id: string) => {
  return (await t.db.query("select from stored_upload where id = $1", [id])).rowCount;
};

/** Ends an upload that stored no bytes, and moves the time of its end back by two hours. */
async function endedWithoutBytes(id: string): Promise<void> {
  expect((await tenant.call("DELETE", `/v1/image-uploads/${id}`)).status).toBe(204);
  await pruneImages(t.db, await openFolderStore(folder.path), Date.now());
  expect(await rowsOf(id)).toBe(1);
  await t.db.query("update stored_upload set unneeded_at = unneeded_at - interval '2 hours' where id = $1", [id]);
}

/** Stores bytes, and moves their modification time back by two hours. */
async function stored(id: string) {
  const store = await openFolderStore(folder.path);
  await store.write(id, 0, BYTES);
  const old = new Date(Date.now() - 2 * HOUR_MS);
  await utimes(join(folder.path, id), old, old);
  return store;
}

test("bytes without a record of their upload are kept, because this database may be restored from an old backup", async () => {
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
  expect(await rowsOf(id)).toBe(0);
});

test("the row of an upload that ended without bytes is deleted after an hour", async () => {
  const [open, ended] = [await begin(), await begin()];
  await endedWithoutBytes(ended);
  expect(await pruneImages(t.db, await openFolderStore(folder.path), Date.now())).toBe(0);
  expect([await rowsOf(open), await rowsOf(ended)]).toEqual([1, 0]);
});

test("the row of an ended upload is kept if a request that began before the end has stored bytes", async () => {
  const id = await begin();
  await endedWithoutBytes(id);
  const store = await openFolderStore(folder.path);
  await store.write(id, 0, BYTES);
  expect(await pruneImages(t.db, store, Date.now())).toBe(0);
  expect(await rowsOf(id)).toBe(1);
  expect(await pruneImages(t.db, store, Date.now() + HOUR_MS)).toBe(1);
  expect([await rowsOf(id), await store.read(id, 0)]).toEqual([0, null]);
});

test("if the store cannot delete the bytes of one upload, the bytes of the other uploads are still deleted", async () => {
  const ids = [await begin(), await begin(), await begin()];
  for (const id of ids) {
    await stored(id);
    expect((await tenant.call("DELETE", `/v1/image-uploads/${id}`)).status).toBe(204);
  }
  const folderStore = await openFolderStore(folder.path);
  const listed = (await folderStore.list()).map(({ id }) => id).filter((id) => ids.includes(id));
  const [stuck = ""] = listed;
  const store: ImageStore = {
    ...folderStore,
    remove: (id) => id === stuck ? Promise.reject(new Error("the disk is read-only")) : folderStore.remove(id),
  };
  await expect(pruneImages(t.db, store, Date.now())).rejects.toThrow("Images that the store did not delete: 1");
  for (const id of ids) expect([id, await rowsOf(id)]).toEqual([id, id === stuck ? 1 : 0]);
  expect(await pruneImages(t.db, folderStore, Date.now())).toBe(1);
  expect(await rowsOf(stuck)).toBe(0);
});
