// Tests data disks of instances (docs/instances.md, "Data disks").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Disk } from "../../src/contract/instance.ts";
import { DATA_DISKS_MAX } from "../../src/contract/limits.ts";
import { brokenInvariants } from "../doctor/broken.ts";
import { conflictWith, expectRefused, notFound } from "../network/public-addresses.ts";
import { okOf } from "../support/control-plane.ts";
import { type ComputeFixture, GIB, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a.t.close());

const create = (instance: string, fields: object = {}, headers: Record<string, string> = {}) =>
  a.call("POST", `/v1/disks?instance=${instance}`, { body: { name: "data", size_bytes: GIB, ...fields }, headers });
const act = (disk: string, verb: string) => a.call("POST", `/v1/disks/${disk}/${verb}`);
const remove = (disk: string) => a.call("DELETE", `/v1/disks/${disk}`);
const made = (instance: string, fields: object = {}): Promise<Disk> => a.done(create(instance, fields), "create_disk");
const used = async () => {
  const { disk_bytes } = okOf(await a.call("GET", `/v1/tenants/${a.tenant.tenant_id}/usage`));
  const of = [a.node.server_uuid];
  const { rows } = await a.t.db.query("select disk_bytes from cn_usage where server_uuid = $1", of);
  return { quota: disk_bytes, room: rows[0].disk_bytes };
};
const history = (id: string) => a.operations(id);

test("a data disk is created, detached, attached and deleted, and its deletion releases quota and room", async () => {
  const before = await a.dump();
  const { id } = await a.running();
  const none = await used();
  const answer = create(id, { size_bytes: 3 * GIB });
  const job = await a.node.take();
  const [, planned] = await a.disksOf(id);
  expect(job.kind).toEqual({
    kind: "create_disk",
    instance_id: id,
    disk_id: planned.id,
    name: "data",
    size_bytes: 3 * GIB,
  });
  expect(planned).toMatchObject({ kind: "data", attached: false, applied_bytes: null });
  await a.node.complete(job);
  const disk: Disk = okOf(await answer);
  expect(disk).toEqual({ ...planned, attached: true, applied_bytes: 3 * GIB });
  expect(await used()).toEqual({ quota: none.quota + 3 * GIB, room: none.room + 3 * GIB });
  conflictWith(await act(disk.id, "attach"), "disk data is attached already");
  conflictWith(await remove(disk.id), "disk data is attached; detach it first");

  expect(await a.done(act(disk.id, "detach"), "detach_disk")).toEqual({ ...disk, attached: false });
  conflictWith(await act(disk.id, "detach"), "disk data is detached already");
  expect(await a.done(act(disk.id, "attach"), "attach_disk")).toEqual(disk);
  await a.act(id, "stop", "stop");
  await a.done(act(disk.id, "detach"), "detach_disk");
  const { name } = await a.show(id);
  conflictWith(await a.call("DELETE", `/v1/instances/${id}`), `${name} has data disks (data); delete them first`);
  const deletion = remove(disk.id);
  await a.node.does("delete_disk");
  expect((await deletion).status).toBe(204);
  notFound(await act(disk.id, "attach"));
  expect(await used()).toEqual(none);
  expect((await history(id)).filter(({ kind }: { kind: string }) => kind === "disk-change")).toHaveLength(5);
  const { events } = okOf(await a.t.call("GET", "/v1/audit/events?limit=1000"));
  const audited = events.filter(({ payload }: { payload: { disk_id?: string } }) => payload.disk_id === disk.id)
    .map(({ action }: { action: string }) => action).filter((action: string) => action !== "disk_settle");
  expect(audited.sort()).toEqual(["disk_attach", "disk_create", "disk_delete", "disk_detach", "disk_detach"]);
  expect(await brokenInvariants(a.t.db)).toEqual([]);
  await a.destroy(id);
  expect(await a.left(before)).toEqual([]);
});

test("a failed operation does not change the disks, and the answer contains the node's reason", async () => {
  const { id } = await a.running();
  const none = await used();
  const fails = async (answer: ReturnType<typeof act>, what: string) => {
    await a.node.fail(await a.node.take(), "the pool is read-only");
    expectRefused(await answer, 502, "OperationFailed", `${what} failed: the pool is read-only`);
  };
  await fails(create(id), "create");
  expect(await a.disksOf(id)).toHaveLength(1);
  expect(await used()).toEqual(none);
  const disk = await made(id);
  await fails(act(disk.id, "detach"), "detach");
  expect((await a.disksOf(id))[1]).toEqual(disk);
  await a.done(act(disk.id, "detach"), "detach_disk");
  await fails(act(disk.id, "attach"), "attach");
  await fails(remove(disk.id), "delete");
  expect((await a.disksOf(id))[1]).toEqual({ ...disk, attached: false });
  expect((await a.show(id)).lifecycle).toEqual({ state: "running" });
  const deletion = remove(disk.id);
  await a.node.does("delete_disk");
  expect((await deletion).status).toBe(204);
  await a.destroy(id);
});

test("a disk that grows while its node creates it shows both sizes, and the resize can be repeated", async () => {
  const { id } = await a.running();
  const answer = create(id, { size_bytes: 2 * GIB });
  const job = await a.node.take();
  const [, { id: disk }] = await a.disksOf(id);
  const resize = () => a.call("POST", `/v1/disks/${disk}/resize`, { body: { size_bytes: 3 * GIB } });
  okOf(await resize());
  await a.node.complete(job);
  okOf(await answer);
  const growth = await a.node.take();
  expect(okOf(await a.call("GET", `/v1/disks/${disk}`))).toMatchObject({ size_bytes: 3 * GIB, applied_bytes: 2 * GIB });
  await a.node.fail(growth, "no space");
  await expect.poll(async () => (await resize()).status, { timeout: 20_000 }).toBe(200);
  await a.node.does("resize_disk");
  const applied = async () => okOf(await a.call("GET", `/v1/disks/${disk}`)).applied_bytes;
  await expect.poll(applied, { timeout: 20_000 }).toBe(3 * GIB);
  await a.act(id, "stop", "stop");
  await a.done(act(disk, "detach"), "detach_disk");
  await Promise.all([remove(disk), a.node.does("delete_disk")]);
  await a.destroy(id);
});

test("other operations on an instance get 409 during an operation or a resize of one of its disks", async () => {
  const { id } = await a.running();
  const disk = await made(id);
  const answer = act(disk.id, "detach");
  const job = await a.node.take();
  const [{ id: operation }] = (await history(id)).filter(({ state }: { state: string }) => state === "running");
  const busy = `operation ${operation} (detach_disk) still runs on instance ${id}; wait for it to end`;
  conflictWith(await create(id, { name: "more" }), busy);
  conflictWith(await act(disk.id, "attach"), busy);
  conflictWith(await a.call("POST", `/v1/instances/${id}/stop`), busy);
  await a.node.complete(job);
  okOf(await answer);
  okOf(await a.call("POST", `/v1/disks/${disk.id}/resize`, { body: { size_bytes: 2 * GIB } }));
  const growth = await a.node.take();
  expect((await act(disk.id, "attach")).body.message).toMatch(/is being resized by operation/);
  await a.node.complete(growth);
  await a.ended(id, "disk-resize");
  expect(await a.done(act(disk.id, "attach"), "attach_disk")).toMatchObject({ size_bytes: 2 * GIB, attached: true });
  expect(await a.t.call("DELETE", `/v1/instances/${id}?force=true`)).toMatchObject({ status: 204 });
  await a.node.does("delete");
  expect(await brokenInvariants(a.t.db)).toEqual([]);
});

test("invalid sizes and names, operations on the boot disk, and the 17th data disk are refused", async () => {
  const { id, name } = await a.running();
  const [boot] = await a.disksOf(id);
  for (const size_bytes of [0, 2 ** 44 + 1]) {
    expectRefused(
      await create(id, { size_bytes }),
      400,
      "BadRequest",
      "size_bytes must be greater than zero and at most 16 TiB",
    );
  }
  expect((await create(id, { name: "a/b" })).status).toBe(409);
  conflictWith(await create(id, { name: "boot" }), "the instance has a disk or snapshot with this name already");
  for (const answer of [act(boot.id, "detach"), remove(boot.id)]) {
    conflictWith(await answer, "boot is the boot disk; only a data disk can be attached, detached or deleted");
  }
  expect((await create(id, { size_bytes: 2 ** 44 })).status).toBe(409);
  await a.t.db.query(
    `insert into disk (id, tenant_id, project_id, instance_id, name, description, kind, size_bytes, created_at)
     select gen_random_uuid(), tenant_id, project_id, id, 'data' || n, '', 'data', 1, berth_now()
       from instance, generate_series(1, $2::int) n where id = $1`,
    [id, DATA_DISKS_MAX],
  );
  conflictWith(await create(id), `${name} has 16 data disks, the maximum; delete one first`);
  await a.t.db.query("delete from disk where instance_id = $1 and kind = 'data'", [id]);
  await a.destroy(id);
});

test("a repeated request creates one disk and gets the answer of the first request", async () => {
  const { id } = await a.running();
  const headers = { "idempotency-key": randomUUID() };
  const disk = await a.done(create(id, {}, headers), "create_disk");
  expect(okOf(await create(id, {}, headers))).toEqual(disk);
  expect(await a.disksOf(id)).toHaveLength(2);
  await a.done(act(disk.id, "detach"), "detach_disk");
  const deletion = remove(disk.id);
  await a.node.does("delete_disk");
  await deletion;
  expect(okOf(await create(id, {}, headers))).toEqual(disk);
  await a.destroy(id);
});
