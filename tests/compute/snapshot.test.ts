// Tests snapshots of disks, and disks that are created from snapshots and images (docs/instances.md, "Snapshots").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Disk } from "../../src/contract/instance.ts";
import { SNAPSHOTS_MAX } from "../../src/contract/limits.ts";
import type { Snapshot } from "../../src/contract/snapshot.ts";
import { brokenInvariants } from "../doctor/broken.ts";
import { conflictWith, expectRefused, notFound } from "../network/public-addresses.ts";
import { okOf } from "../support/control-plane.ts";
import { addNode, type ComputeFixture, GIB, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a.t.close());

const snap = (disk: string, fields: object = {}, headers: Record<string, string> = {}) =>
  a.call("POST", `/v1/snapshots?disk=${disk}`, { body: { name: "before", ...fields }, headers });
const createDisk = (instance: string, fields: object) =>
  a.call("POST", `/v1/disks?instance=${instance}`, { body: { name: "data", ...fields } });
const remove = async (kind: "disk" | "snapshot", id: string) => {
  const deletion = a.call("DELETE", `/v1/${kind}s/${id}`);
  await a.node.does(`delete_${kind}`);
  expect((await deletion).status).toBe(204);
};
const snapped = async (disk: string, result: unknown = { consistency: "crash" }): Promise<Snapshot> => {
  const answer = snap(disk);
  await a.node.complete(await a.node.take(), result);
  return okOf(await answer);
};
const usedBytes = async () => okOf(await a.call("GET", `/v1/tenants/${a.tenant.tenant_id}/usage`)).disk_bytes;

test("a snapshot is created, restored into a disk and deleted, and uses quota until its deletion", async () => {
  const before = await a.dump();
  const { id } = await a.running();
  const [boot] = await a.disksOf(id);
  const none = await usedBytes();
  const answer = snap(boot.id, { description: "before the upgrade" });
  const job = await a.node.take();
  const [planned] = okOf(await a.call("GET", `/v1/snapshots?instance=${id}`)).items;
  const { size_bytes } = boot;
  expect(job.kind).toEqual({
    kind: "create_snapshot",
    instance_id: id,
    disk_id: planned.id,
    name: "before",
    size_bytes,
    source_disk_id: boot.id,
  });
  expect(planned.consistency).toBeNull();
  await a.node.complete(job, { consistency: "frozen" });
  const snapshot: Snapshot = okOf(await answer);
  expect(snapshot).toEqual({ ...planned, consistency: "frozen", description: "before the upgrade", disk_id: boot.id });
  expect(okOf(await a.call("GET", `/v1/snapshots/${snapshot.id}`))).toEqual(snapshot);
  expect(okOf(await a.call("GET", `/v1/snapshots${a.selectors}`)).items).toEqual([snapshot]);
  expect(await usedBytes()).toBe(none + size_bytes);
  // The routes of disks do not list a snapshot, and answer 404 for its id.
  expect(await a.disksOf(id)).toHaveLength(1);
  notFound(await a.call("GET", `/v1/disks/${snapshot.id}`));
  notFound(await a.call("POST", `/v1/disks/${snapshot.id}/attach`));
  notFound(await a.call("POST", `/v1/disks/${snapshot.id}/resize`, { body: { size_bytes: size_bytes + GIB } }));
  notFound(await snap(snapshot.id));
  notFound(await a.call("DELETE", `/v1/snapshots/${boot.id}`));
  conflictWith(await snap(boot.id), "the instance has a disk or snapshot with this name already");

  const restoring = createDisk(id, { name: "restored", snapshot_id: snapshot.id });
  const restore = await a.node.take();
  expect(restore.kind).toMatchObject({ kind: "create_disk", size_bytes, source_disk_id: snapshot.id });
  await a.node.complete(restore);
  const disk: Disk = okOf(await restoring);
  expect(disk).toMatchObject({ kind: "data", size_bytes, attached: true });
  await a.done(a.call("POST", `/v1/disks/${disk.id}/detach`), "detach_disk");
  await remove("disk", disk.id);
  const { name } = await a.show(id);
  await a.act(id, "stop", "stop");
  conflictWith(await a.call("DELETE", `/v1/instances/${id}`), `${name} has snapshots (before); delete them first`);
  await remove("snapshot", snapshot.id);
  expect(await usedBytes()).toBe(none);
  const { events } = okOf(await a.t.call("GET", "/v1/audit/events?limit=1000"));
  const audited = events.filter(({ payload }: { payload: { disk_id?: string } }) => payload.disk_id === snapshot.id)
    .map(({ action }: { action: string }) => action).toSorted();
  expect(audited).toEqual(["disk_settle", "disk_settle", "snapshot_create", "snapshot_delete"]);
  expect(await brokenInvariants(a.t.db)).toEqual([]);
  await a.destroy(id);
  expect(await a.left(before)).toEqual([]);
});

test("a failed snapshot leaves no record, and a snapshot without a reported consistency counts as crash-consistent", async () => {
  const { id } = await a.running();
  const [boot] = await a.disksOf(id);
  const none = await usedBytes();
  const answer = snap(boot.id);
  await a.node.fail(await a.node.take(), "the pool is full");
  expectRefused(await answer, 502, "OperationFailed", "create failed: the pool is full");
  expect(okOf(await a.call("GET", `/v1/snapshots?instance=${id}`)).items).toEqual([]);
  expect(await usedBytes()).toBe(none);
  const headers = { "idempotency-key": randomUUID() };
  const snapshot = await a.done(snap(boot.id, {}, headers), "create_snapshot");
  expect(snapshot.consistency).toBe("crash");
  const spare = await addNode(a.t);
  const { name } = await a.show(id);
  const refused = `${name} has the snapshot before; instances with snapshots cannot migrate`;
  conflictWith(await a.t.call("POST", `/v1/instances/${id}/migrate`, { body: {} }), refused);
  okOf(await a.t.call("PATCH", `/v1/cns/${spare.server_uuid}/placement`, { body: { cordoned: true } }));
  const deletion = a.call("DELETE", `/v1/snapshots/${snapshot.id}`);
  await a.node.fail(await a.node.take(), "the pool is read-only");
  expectRefused(await deletion, 502, "OperationFailed", "delete failed: the pool is read-only");
  expect(okOf(await a.call("GET", `/v1/snapshots/${snapshot.id}`))).toEqual(snapshot);
  await remove("snapshot", snapshot.id);
  expect(okOf(await snap(boot.id, {}, headers))).toEqual(snapshot);
  await a.destroy(id);
});

test("after a failed growth, a snapshot has the disk's larger size, because the node may have grown the disk", async () => {
  const { id } = await a.running();
  const [boot] = await a.disksOf(id);
  const size_bytes = boot.size_bytes + GIB;
  okOf(await a.call("POST", `/v1/disks/${boot.id}/resize`, { body: { size_bytes } }));
  await a.node.fail(await a.node.take(), "the lease of the job ended");
  await a.ended(id, "disk-resize");
  expect(await a.disksOf(id)).toMatchObject([{ size_bytes, applied_bytes: boot.size_bytes }]);
  const used = await usedBytes();
  const answer = snap(boot.id);
  const job = await a.node.take();
  expect(job.kind).toMatchObject({ kind: "create_snapshot", size_bytes, source_disk_id: boot.id });
  await a.node.complete(job);
  const snapshot: Snapshot = okOf(await answer);
  expect([snapshot.size_bytes, await usedBytes()]).toEqual([size_bytes, used + size_bytes]);
  await remove("snapshot", snapshot.id);
  await a.destroy(id);
});

test("a disk can be a copy of an image that the tenant may use", async () => {
  const { id } = await a.running();
  const asked = createDisk(id, { image_id: a.image.id });
  const job = await a.node.take();
  expect(job.kind).toMatchObject({ kind: "create_disk", image_id: a.image.id, size_bytes: 2 * GIB });
  const { image, disks } = okOf(await a.node.call("GET", `/v1/agent/jobs/${job.id}/blueprint`));
  expect([image?.id, disks]).toEqual([a.image.id, []]);
  await a.node.complete(job);
  const disk: Disk = okOf(await asked);
  expect(disk).toMatchObject({ source_image_id: a.image.id, size_bytes: 2 * GIB, attached: true });
  notFound(await createDisk(id, { name: "more", image_id: randomUUID() }));
  const small = "size_bytes must be at least the 2147483648 bytes of the image";
  expectRefused(
    await createDisk(id, { name: "more", image_id: a.image.id, size_bytes: GIB }),
    400,
    "BadRequest",
    small,
  );
  await a.done(a.call("POST", `/v1/disks/${disk.id}/detach`), "detach_disk");
  await remove("disk", disk.id);
  await a.destroy(id);
});

test("contradictory bodies, snapshots of other instances, and the 33rd snapshot are refused", async () => {
  const [one, other] = [await a.running(), await a.running()];
  const [boot] = await a.disksOf(one.id);
  const snapshot = await snapped(boot.id);
  const bad = async (fields: object, message: string, instance = one.id) =>
    expectRefused(await createDisk(instance, fields), 400, "BadRequest", message);
  await bad({}, "size_bytes is required for an empty disk");
  await bad({ snapshot_id: snapshot.id, image_id: a.image.id }, "set snapshot_id or image_id, not both");
  const foreign = "snapshot_id must be a snapshot of the same instance";
  await bad({ snapshot_id: snapshot.id }, foreign, other.id);
  await bad({ snapshot_id: boot.id }, foreign);
  const small = `size_bytes must be at least the ${boot.size_bytes} bytes of the snapshot`;
  await bad({ snapshot_id: snapshot.id, size_bytes: 1 }, small);
  await a.t.db.query(
    `insert into disk (id, tenant_id, project_id, instance_id, name, description, kind, size_bytes, created_at,
       attached, source_disk_id)
     select gen_random_uuid(), tenant_id, project_id, id, 'more' || n, '', 'snapshot', 1, berth_now(), false, id
       from instance, generate_series(2, $2::int) n where id = $1`,
    [one.id, SNAPSHOTS_MAX],
  );
  conflictWith(
    await snap(boot.id, { name: "last" }),
    `${one.name} has ${SNAPSHOTS_MAX} snapshots, the maximum; delete one first`,
  );
  await a.t.db.query("delete from disk where instance_id = $1 and kind = 'snapshot' and size_bytes = 1", [one.id]);
  await remove("snapshot", snapshot.id);
  for (const { id } of [one, other]) await a.destroy(id);
});

test.each(["running", "stopped"] as const)(
  "disks and snapshots of a %s instance are renamed, and its NICs labelled, without a job for the node",
  async (state) => {
    const { id } = state === "running" ? await a.running() : await a.stopped();
    const [boot] = await a.disksOf(id);
    const [nic] = await a.nicsOf(id);
    const snapshot = await snapped(boot.id);
    for (
      const [path, list] of [
        [`/v1/disks/${boot.id}`, `/v1/disks?instance=${id}`],
        [`/v1/snapshots/${snapshot.id}`, `/v1/snapshots?instance=${id}`],
        [`/v1/nics/${nic.id}`, `/v1/nics?instance=${id}`],
      ] as const
    ) {
      const before = okOf(await a.call("GET", path));
      const body = {
        ...path.includes("nics") ? {} : { name: `renamed-${before.name}` },
        labels: { tier: "database", owner: "ops" },
      };
      expect(okOf(await a.call("PATCH", path, { body }))).toMatchObject(body);
      const changed = okOf(await a.call("PATCH", path, { body: { labels: { owner: null } } }));
      expect(changed.labels).toEqual({ tier: "database" });
      expect(okOf(await a.call("GET", path))).toEqual({
        ...before,
        name: changed.name,
        labels: { tier: "database" },
        realized: changed.realized ?? before.realized,
      });
      const listed = async (label: string) => okOf(await a.call("GET", `${list}&label=${label}`)).items.map(idOf);
      expect([await listed("tier=database"), await listed("owner")]).toEqual([[before.id], []]);
      const refused = await a.call("PATCH", path, { body: { name: "a/b" } });
      expect([refused.status, refused.body.message]).toEqual([409, "name must not contain / or \\"]);
      expect((await a.call("PATCH", path, { body: { labels: { "No Key": "" } } })).status).toBe(400);
    }
    // A name is unique among the disks and snapshots of an instance.
    const again = await a.call("PATCH", `/v1/snapshots/${snapshot.id}`, { body: { name: "renamed-boot" } });
    expect([again.status, again.body.message]).toEqual([
      409,
      "the instance has a disk or snapshot with this name already",
    ]);
  },
);

const idOf = ({ id }: { readonly id: string }) => id;
