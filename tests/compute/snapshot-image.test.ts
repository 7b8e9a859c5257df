// Tests images that are made from snapshots. In some tests, the node fails or reports wrong values (docs/instances.md,
// "Images from snapshots").
import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Job } from "../../src/contract/job.ts";
import { brokenInvariants } from "../doctor/broken.ts";
import { conflictWith, expectRefused, notFound } from "../network/public-addresses.ts";
import { okOf, openTestControlPlane } from "../support/control-plane.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { addNode, type ComputeFixture, openComputeFixture } from "./compute-fixture.ts";
import { sendImage, sendPart, uploadOf } from "./send-image.ts";

const CONTENT = "the content of a disk";
const SHA256 = createHash("sha256").update(CONTENT).digest("hex");

let folder: TemporaryFolder;
let a: ComputeFixture;
beforeAll(async () => {
  folder = await temporaryFolder("snapshot-images");
  a = await openComputeFixture({ t: await openTestControlPlane({ env: { BERTH_IMAGE_DIR: folder.path } }) });
});
afterAll(async () => {
  await a.t.close();
  await folder.remove();
});

const makeImage = (snapshot: string, fields: object = {}, headers: Record<string, string> = {}) =>
  a.call("POST", `/v1/snapshots/${snapshot}/image`, { body: { name: randomUUID(), ...fields }, headers });

/** Creates an instance with a snapshot. */
async function snapped() {
  const { id, name } = await a.running();
  const [boot] = await a.disksOf(id);
  const body = { name: "monday" };
  const snapshot = await a.done(a.call("POST", `/v1/snapshots?disk=${boot.id}`, { body }), "create_snapshot");
  return { id, name, snapshot, size_bytes: boot.size_bytes };
}

const send = (job: Job) => sendImage(a.t, { node: a.node, job, content: CONTENT });

async function uploads(): Promise<number> {
  return (await a.t.db.query("select from image_upload")).rowCount ?? 0;
}

test("a node can send or read the bytes of an upload only while it runs a job that needs the upload", async () => {
  const content = "the content of another disk";
  const { snapshot } = await snapped();
  const other = await addNode(a.t);
  okOf(await a.t.call("PATCH", `/v1/cns/${other.server_uuid}/placement`, { body: { cordoned: true } }));
  const making = makeImage(snapshot.id);
  const job = await a.node.take();
  notFound(await other.call("POST", uploadOf(job), { size_bytes: content.length }));
  notFound(await sendPart(a.t, other, uploadOf(job), content));
  const { sha256 } = await sendImage(a.t, { node: a.node, job, content });
  await a.node.complete(job, { sha256 });
  const image = okOf(await making);

  const bytes = `/v1/agent/images/${image.source_url.slice("berth:".length)}?part=0`;
  const read = (node: { readonly api_key: string }) => a.t.call("GET", bytes, { key: node.api_key });
  notFound(await read(a.node));
  const creating = a.create({ image_id: image.id });
  const provision = await a.node.take();
  expect(await read(a.node)).toMatchObject({ status: 200 });
  notFound(await read(other));
  await a.node.complete(provision);
  okOf(await creating);
  notFound(await read(a.node));
});

test("the image has the digest that the server computed; its other fields are copied from the image of the instance", async () => {
  const { id, name, snapshot, size_bytes } = await snapped();
  const other = await addNode(a.t);
  okOf(await a.t.call("PATCH", `/v1/cns/${other.server_uuid}/placement`, { body: { cordoned: true } }));
  const headers = { "idempotency-key": randomUUID() };
  const answer = makeImage(snapshot.id, { name: "golden", labels: { tier: "web" } }, headers);
  const job = await a.node.take();
  expect(job.kind).toEqual({
    kind: "create_image",
    instance_id: id,
    disk_id: snapshot.id,
    size_bytes,
    upload_id: job.kind["upload_id"],
  });
  // During the operation, nothing else can change the instance, and no user can use the upload of the operation.
  expect((await a.call("POST", `/v1/instances/${id}/stop`)).status).toBe(409);
  expect(await send(job)).toEqual({ sha256: SHA256 });
  notFound(await other.call("POST", `${uploadOf(job)}/finish`, {}));
  const upload = `/v1/image-uploads/${job.kind["upload_id"]}`;
  notFound(await a.call("GET", upload));
  conflictWith(await a.call("DELETE", upload), `the upload belongs to operation ${job.operation_id}`);
  expect((await a.call("POST", `${upload}/finish`, { body: {} })).status).toBe(409);
  // The server ignores the digest in the result.
  await a.node.complete(job, { sha256: "0".repeat(64) });
  const image = okOf(await answer);
  expect(image).toMatchObject({
    name: "golden",
    scope: { kind: "project", project_id: a.tenant.project_id },
    labels: { tier: "web" },
    os: a.image.os,
    version: a.image.version,
    compatibility: a.image.compatibility,
    size_bytes: CONTENT.length,
    content_bytes: size_bytes,
    sha256: SHA256,
  });
  expect(await uploads()).toBe(0);
  expect(okOf(await makeImage(snapshot.id, { name: "golden", labels: { tier: "web" } }, headers))).toEqual(image);
  conflictWith(await makeImage(snapshot.id, { name: "golden" }), "an image named golden already exists in this scope");
  // The job has ended, so the node can no longer send to the job's upload.
  notFound(await a.node.call("POST", uploadOf(job), { size_bytes: 1 }));
  notFound(await sendPart(a.t, a.node, uploadOf(job), CONTENT));

  // The same bytes result in the same image.
  const same = makeImage(snapshot.id, { name: "silver" });
  const second = await a.node.take();
  await send(second);
  await a.node.complete(second);
  expectRefused(await same, 502, "OperationFailed", `create failed: image ${image.id} (golden) has the same bytes`);
  expect(await uploads()).toBe(0);
  okOf(await a.call("PATCH", `/v1/images/${image.id}`, { body: { name: "renamed" } }));
  expect((await a.call("DELETE", `/v1/images/${image.id}`)).status).toBe(204);
  // The repeated request gets the first answer, although the image no longer exists.
  expect(okOf(await makeImage(snapshot.id, { name: "golden", labels: { tier: "web" } }, headers))).toEqual(image);
  expect(await brokenInvariants(a.t.db)).toEqual([]);
  expect((await a.show(id)).name).toBe(name);
});

test("a node that fails, sends nothing or sends too much leaves no image and no upload", async () => {
  const { id, snapshot } = await snapped();
  const { tenant_id, project_id } = a.tenant;
  const images = async () => okOf(await a.call("GET", `/v1/tenants/${tenant_id}/projects/${project_id}/images`)).length;
  const before = await images();
  const failed = makeImage(snapshot.id);
  const first = await a.node.take();
  okOf(await a.node.call("POST", uploadOf(first), { size_bytes: CONTENT.length }));
  // A node that repeats its request continues the upload. A request with another size is refused, because it would send
  // another image.
  expect(okOf(await a.node.call("POST", uploadOf(first), { size_bytes: CONTENT.length })).received_bytes).toBe(0);
  conflictWith(
    await a.node.call("POST", uploadOf(first), { size_bytes: 1 }),
    `the upload has ${CONTENT.length} bytes, not 1`,
  );
  conflictWith(
    await a.node.call("POST", `${uploadOf(first)}/finish`, {}),
    `the upload has 0 of ${CONTENT.length} bytes`,
  );
  await a.node.fail(first, "the disk is damaged");
  expectRefused(await failed, 502, "OperationFailed", "create failed: the disk is damaged");

  const lied = makeImage(snapshot.id);
  await a.node.complete(await a.node.take(), { sha256: SHA256 });
  expectRefused(await lied, 502, "OperationFailed", "create failed: the node did not store the image");

  const cut = makeImage(snapshot.id);
  const third = await a.node.take();
  okOf(await a.node.call("POST", uploadOf(third), { size_bytes: CONTENT.length }));
  await a.node.complete(third);
  const missing = `create failed: the upload has 0 of ${CONTENT.length} bytes`;
  expectRefused(await cut, 502, "OperationFailed", missing);

  const large = makeImage(snapshot.id);
  const fourth = await a.node.take();
  const limit = "/v1/config/image.uploaded_bytes_max";
  okOf(await a.t.call("PUT", limit, { body: { value: CONTENT.length - 1 } }));
  const { status, body } = await a.node.call("POST", uploadOf(fourth), { size_bytes: CONTENT.length });
  expect([status, body.message]).toEqual([409, expect.stringMatching(/^the uploaded images of the tenant may have/)]);
  await a.node.fail(fourth, body.message);
  expect((await large).status).toBe(502);
  okOf(await a.t.call("DELETE", limit));

  expect([await images(), await uploads()]).toEqual([before, 0]);
  expect((await a.show(id)).lifecycle.state).toBe("running");
  expect(await brokenInvariants(a.t.db)).toEqual([]);
});

test("a request with a disk, another tenant's snapshot, an invalid name or a failed instance is refused without a job", async () => {
  const { id, snapshot } = await snapped();
  const [boot] = await a.disksOf(id);
  notFound(await makeImage(boot.id));
  notFound(await makeImage(randomUUID()));
  expect((await makeImage(snapshot.id, { name: "a/b" })).status).toBe(409);
  expect((await makeImage(snapshot.id, { labels: { "No Key": "" } })).status).toBe(400);
  expect((await makeImage(snapshot.id, { os: "" })).status).toBe(400);
  expect((await a.node.ask()).job).toBeNull();
});
