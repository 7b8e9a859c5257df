// Tests that an upload acknowledges only parts that it stored, when parts arrive together. Also tests the repeated
// request that finishes an upload.
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { IMAGE_PART_BYTES } from "../../src/contract/limits.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";

const REST = "the rest of the file";
const PARTS = ["a".repeat(IMAGE_PART_BYTES), "b".repeat(IMAGE_PART_BYTES), REST] as const;
const SHA256 = createHash("sha256").update(PARTS.join("")).digest("hex");
const BYTES = { "content-type": "application/octet-stream" };

/** Finds the commits that wait for another transaction. */
const WAITING = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

let folder: TemporaryFolder;
let t: TestControlPlane;
let tenant: TestTenant;
beforeAll(async () => {
  folder = await temporaryFolder("upload-parts");
  t = await openTestControlPlane({ env: { BERTH_IMAGE_DIR: folder.path } });
  tenant = await openTenant(t);
});
afterAll(async () => {
  await t.close();
  await folder.remove();
});

async function begin(size_bytes = PARTS.join("").length): Promise<string> {
  const body = { name: crypto.randomUUID(), os: "linux", version: "1", size_bytes };
  return okOf(await tenant.call("POST", `/v1/tenants/${tenant.tenant_id}/image-uploads`, { body })).id;
}

const send = (id: string, from: number, text: string) =>
  tenant.call("PUT", `/v1/image-uploads/${id}/parts?from=${from}`, { headers: BYTES, text });
const put = (id: string, part: number) => send(id, part * IMAGE_PART_BYTES, PARTS[part]!);

test("a part that is sent while the previous part is not yet stored gets 409, and can be sent later", async () => {
  const id = await begin();
  const [first, second] = await t.db.withClient(async (client) => {
    await client.query("begin");
    await client.query("select from image_upload where id = $1 for update", [id]);
    const sent = [put(id, 0)];
    await vi.waitFor(async () => expect((await t.db.query(WAITING)).rowCount).toBe(1), { timeout: 20_000 });
    sent.push(put(id, 1));
    // The second request is refused at once, or its message waits for the first request.
    await Promise.race([sent[1], delay(500)]);
    await client.query("commit");
    return await Promise.all(sent);
  });
  expect(okOf(first!).received_bytes).toBe(IMAGE_PART_BYTES);
  expect([second!.status, second!.body.message]).toEqual([409, "the upload has 0 bytes; continue after them"]);
  okOf(await put(id, 1));
  okOf(await put(id, 2));
  expect(okOf(await tenant.call("POST", `/v1/image-uploads/${id}/finish`, { body: { sha256: SHA256 } })).sha256)
    .toBe(SHA256);
});

test("bytes that are not a whole part are refused, even if they end at the right position", async () => {
  const id = await begin();
  okOf(await put(id, 0));
  const position = `the upload has ${IMAGE_PART_BYTES} bytes; continue after them`;
  const size = `the next part must have ${IMAGE_PART_BYTES} bytes, not 0`;
  const end = await send(id, IMAGE_PART_BYTES - 3, "zzz");
  expect([end.status, end.body.message]).toEqual([409, position]);
  const empty = await send(id, IMAGE_PART_BYTES, "");
  expect([empty.status, empty.body.message]).toEqual([400, size]);
});

test("a repeated request that finishes an upload gets the first answer, even after the image was deleted", async () => {
  const id = await begin(REST.length);
  okOf(await send(id, 0, REST));
  const headers = { "idempotency-key": id };
  const finish = () => tenant.call("POST", `/v1/image-uploads/${id}/finish`, { body: {}, headers });
  const image = okOf(await finish());
  expect(image).toMatchObject({ size_bytes: REST.length, scope: { kind: "tenant" }, source_url: `berth:${id}` });
  const path = `/v1/images/${image.id}`;
  expect(okOf(await tenant.call("GET", path))).toEqual(image);
  okOf(await tenant.call("PATCH", path, { body: { name: "renamed" } }));
  expect((await tenant.call("DELETE", path)).status).toBe(204);
  expect(okOf(await finish())).toEqual(image);
});
