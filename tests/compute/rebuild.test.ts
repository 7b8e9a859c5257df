// Tests how instances are rebuilt (docs/instances.md, "Rebuild").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { brokenInvariants } from "../doctor/broken.ts";
import { conflictWith, expectRefused, notFound } from "../network/public-addresses.ts";
import { okOf } from "../support/control-plane.ts";
import { type ComputeFixture, GIB, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a.t.close());

const rebuild = (id: string, body: object = {}, headers: Record<string, string> = {}) =>
  a.call("POST", `/v1/instances/${id}/rebuild`, { body, headers });
const starts = () => a.node.does("start");
const nicsOf = async (id: string) => okOf(await a.call("GET", `/v1/nics?instance=${id}`)).items;

test("a rebuild gives a running instance a boot disk of another image and changes nothing else", async () => {
  const made = await a.running({ description: "kept", labels: { env: "test" }, disk_bytes: 3 * GIB });
  const { id } = made;
  const [boot] = await a.disksOf(id);
  const nics = await nicsOf(id);
  const other = await a.newImage({ size_bytes: GIB, content_bytes: 3 * GIB });
  const answer = rebuild(id, { image_id: other.id });
  const job = await a.node.take();
  expect(job.kind).toEqual({
    kind: "rebuild",
    instance_id: id,
    image_id: other.id,
    disk_id: boot.id,
    size_bytes: 3 * GIB,
    boot: false,
  });
  const blueprint = okOf(await a.node.call("GET", `/v1/agent/jobs/${job.id}/blueprint`));
  expect([blueprint.image.id, blueprint.instance.id, blueprint.user_data]).toEqual([other.id, id, null]);
  expect(await a.show(id)).toMatchObject({ image_id: a.image.id, lifecycle: { state: "stopping" } });
  conflictWith(
    await rebuild(id),
    `${made.name} is stopping; a rebuild needs a running, stopped or failed instance`,
  );
  // During the rebuild, the old image and the new image cannot be deleted.
  for (const image of [a.image.id, other.id]) {
    expect((await a.t.call("DELETE", `/v1/images/${image}`)).body.message).toContain("is in use by 1 instance");
  }
  await a.node.complete(job);
  const start = await a.node.take();
  expect(start.kind).toEqual({ kind: "start", instance_id: id });
  expect(await a.show(id)).toMatchObject({ image_id: other.id, lifecycle: { state: "stopping" } });
  await a.node.complete(start);
  const rebuilt = okOf(await answer);
  expect(rebuilt).toEqual({ ...made, image_id: other.id, updated_at: rebuilt.updated_at });
  expect(await a.disksOf(id)).toEqual([{ ...boot, source_image_id: other.id }]);
  expect(await nicsOf(id)).toEqual(nics);
  expect(await brokenInvariants(a.t.db)).toEqual([]);
  await a.destroy(id);
  expect((await a.t.call("DELETE", `/v1/images/${other.id}`)).status).toBe(204);
});

test("a rebuild leaves a stopped instance stopped, and starts a failed instance", async () => {
  const { id } = await a.stopped();
  const [answer, job] = await Promise.all([rebuild(id), a.node.does("rebuild")]);
  expect([okOf(answer).lifecycle, job.kind["boot"]]).toEqual([{ state: "stopped" }, false]);
  const failing = rebuild(id);
  const failed = await a.node.take();
  expect((await a.show(id)).lifecycle).toEqual({ state: "provisioning" });
  await a.node.fail(failed, "image: not found");
  expectRefused(await failing, 502, "OperationFailed", "rebuild failed: image: not found");
  expect((await a.show(id)).lifecycle).toEqual({ state: "failed", reason: "image: not found" });
  const [again] = await Promise.all([rebuild(id, { image_id: null }), a.node.does("rebuild").then(starts)]);
  expect(okOf(again).lifecycle).toEqual({ state: "running" });
  await a.destroy(id);
});

test("a rebuild whose start fails keeps the new image, and a retry starts the instance", async () => {
  const { id } = await a.running({ disk_bytes: 2 * GIB });
  const other = await a.newImage({ size_bytes: GIB });
  const answer = rebuild(id, { image_id: other.id });
  await a.node.does("rebuild");
  await a.node.fail(await a.node.take(), "boot: no memory");
  expectRefused(await answer, 502, "OperationFailed", "rebuild failed: boot: no memory");
  expect(await a.show(id)).toMatchObject({
    image_id: other.id,
    lifecycle: { state: "failed", reason: "boot: no memory" },
  });
  expect(await a.disksOf(id)).toMatchObject([{ source_image_id: other.id }]);
  expect((await a.t.call("DELETE", `/v1/images/${other.id}`)).body.message).toContain("is in use by 1 instance");
  const [retried] = await Promise.all([a.call("POST", `/v1/instances/${id}/retry`), starts()]);
  expect(okOf(retried)).toMatchObject({ image_id: other.id, lifecycle: { state: "running" } });
  expect(await brokenInvariants(a.t.db)).toEqual([]);
  await a.destroy(id);
  expect((await a.t.call("DELETE", `/v1/images/${other.id}`)).status).toBe(204);
});

test("a repeated request gets the first answer and rebuilds once", async () => {
  const { id } = await a.stopped();
  const key = { "idempotency-key": randomUUID() };
  const [first] = await Promise.all([rebuild(id, {}, key), a.node.does("rebuild")]);
  expect(okOf(await rebuild(id, {}, key)).updated_at).toBe(okOf(first).updated_at);
  expect((await a.node.ask()).job).toBeNull();
  await a.destroy(id);
});

test("a rebuild that its image or its instance does not allow is refused and writes nothing", async () => {
  const { id, name } = await a.stopped({ deletion_protection: true });
  expectRefused(
    await rebuild(id),
    409,
    "DeletionProtected",
    `${name} is protected against deletion; set deletion_protection to false first`,
  );
  okOf(await a.call("PATCH", `/v1/instances/${id}`, { body: { deletion_protection: false } }));
  const before = await a.dump();
  const large = await a.newImage({ size_bytes: 3 * GIB });
  const other_brand = await a.newImage({ compatibility: { brand: "bhyve", arch: "x86_64" } });
  const [boot] = await a.disksOf(id);
  conflictWith(
    await rebuild(id, { image_id: large.id }),
    `image ${large.id} needs a boot disk of at least ${3 * GIB} bytes; first enlarge the boot disk of ${name} ` +
      `(${boot.size_bytes} bytes)`,
  );
  conflictWith(
    await rebuild(id, { image_id: other_brand.id }),
    `image ${other_brand.id} is for instances of brand bhyve, but ${name} has kvm`,
  );
  notFound(await rebuild(id, { image_id: randomUUID() }));
  notFound(await rebuild(randomUUID()));
  expect((await rebuild(id, { image_id: "debian" })).status).toBe(400);
  expect((await rebuild(id, { image: large.id })).status).toBe(400);
  for (const image of [large, other_brand]) okOf(await a.t.call("DELETE", `/v1/images/${image.id}`));
  expect(await a.left(before)).toEqual([]);
  await a.destroy(id);
});

test("no rebuild begins while the boot disk is being resized", async () => {
  const { id } = await a.stopped();
  const [boot] = await a.disksOf(id);
  okOf(await a.call("POST", `/v1/disks/${boot.id}/resize`, { body: { size_bytes: 4 * GIB } }));
  expect((await rebuild(id)).body.message).toContain(`disk ${boot.id} is being resized by operation`);
  await a.node.does("resize_disk");
  await a.ended(id, "disk-resize");
  const [, job] = await Promise.all([rebuild(id), a.node.does("rebuild")]);
  expect(job.kind["size_bytes"]).toBe(4 * GIB);
  await a.destroy(id);
});
