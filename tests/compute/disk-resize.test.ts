// Tests how disks are resized (docs/instances.md).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Disk } from "../../src/contract/instance.ts";
import { okOf } from "../support/control-plane.ts";
import { conflictWith, expectRefused, notFound } from "../network/public-addresses.ts";
import { type ComputeFixture, GIB, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a.t.close());

const stop = (id: string) => a.call("POST", `/v1/instances/${id}/stop`);
const lifecycle = async (id: string) => (await a.show(id)).lifecycle;

describe("a disk", () => {
  const resize = (disk: string, size_bytes: number) =>
    a.call("POST", `/v1/disks/${disk}/resize`, { body: { size_bytes } });
  const disk = async (id: string): Promise<Disk> => okOf(await a.call("GET", `/v1/disks/${id}`));

  test("has its new size in the record at once and on its node later; the answer shows whether a reboot is required", async () => {
    const { id } = await a.running();
    const [boot] = await a.disksOf(id);
    const grown = okOf(await resize(boot.id, 3 * GIB));
    expect(grown).toEqual({ ...boot, size_bytes: 3 * GIB, reboot_required: true });
    const job = await a.node.take();
    expect(job.kind).toEqual({ kind: "resize_disk", instance_id: id, disk_id: boot.id, size_bytes: 3 * GIB });
    expect((await disk(boot.id)).applied_bytes).toBe(2 * GIB);
    await a.node.complete(job);
    await a.ended(id, "disk-resize");
    expect((await disk(boot.id)).applied_bytes).toBe(3 * GIB);
    await a.act(id, "stop", "stop");
    expect(okOf(await resize(boot.id, 4 * GIB)).reboot_required).toBe(false);
    await a.node.does("resize_disk");
    await a.destroy(id);
  });

  test("rejects a second resize until the first resize ends", async () => {
    const { id } = await a.running();
    const [{ id: boot }] = await a.disksOf(id);
    okOf(await resize(boot, 3 * GIB));
    const job = await a.node.take();
    const { id: operation_id } = await a.operation(id, "disk-resize");
    for (const size of [3 * GIB, 4 * GIB]) {
      const message = `disk ${boot} is being resized by operation ${operation_id}; wait for it to end`;
      conflictWith(await resize(boot, size), message);
    }
    expect(await disk(boot)).toMatchObject({ size_bytes: 3 * GIB, applied_bytes: 2 * GIB });
    await a.node.complete(job);
    await a.ended(id, "disk-resize");
    okOf(await resize(boot, 4 * GIB));
    const both = [resize(boot, 5 * GIB), resize(boot, 6 * GIB)];
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([409, 409]);
    await a.node.does("resize_disk");
    await a.destroy(id);
  });

  test("rejects a size that is not larger than its present size, and a size above 16 TiB", async () => {
    const { id } = await a.running();
    const [{ id: boot, size_bytes }] = await a.disksOf(id);
    for (const size of [0, 16 * 2 ** 40 + 1]) {
      const message = "size_bytes must be greater than zero and at most 16 TiB";
      expectRefused(await resize(boot, size), 400, "BadRequest", message);
    }
    for (const size of [size_bytes, size_bytes - 1]) {
      conflictWith(await resize(boot, size), `disk resize must grow: requested ${size} <= current ${size_bytes}`);
    }
    notFound(await resize(randomUUID(), 4 * GIB));
    await a.destroy(id);
  });

  test("cannot be resized while its instance is neither running nor stopped, or has no node", async () => {
    const { id } = await a.running();
    const [{ id: boot }] = await a.disksOf(id);
    const answer = stop(id);
    const job = await a.node.take();
    const message = "instance must be running or stopped to resize its disk";
    expectRefused(await resize(boot, 3 * GIB), 400, "BadRequest", message);
    await a.t.db.query("update instance set host_cn_uuid = null where id = $1", [id]);
    expectRefused(await resize(boot, 3 * GIB), 400, "BadRequest", "instance is not placed on a CN yet");
    await a.t.db.query("update instance set host_cn_uuid = $2 where id = $1", [id, a.node.server_uuid]);
    await a.node.complete(job);
    okOf(await answer);
    await a.destroy(id);
  });

  test("shows both sizes if its node fails to grow the disk; the instance continues to run, and the resize can be repeated", async () => {
    const { id } = await a.running();
    const [{ id: boot }] = await a.disksOf(id);
    okOf(await resize(boot, 3 * GIB));
    await a.node.fail(await a.node.take(), "no space");
    expect(await a.ended(id, "disk-resize")).toMatchObject({ state: "unwound", error: "no space" });
    expect(await disk(boot)).toMatchObject({ size_bytes: 3 * GIB, applied_bytes: 2 * GIB });
    expect(await lifecycle(id)).toEqual({ state: "running" });
    okOf(await resize(boot, 3 * GIB));
    await a.node.does("resize_disk");
    expect((await a.ended(id, "disk-resize")).state).toBe("succeeded");
    expect((await disk(boot)).applied_bytes).toBe(3 * GIB);
    await a.destroy(id);
  });

  test("cannot grow above the quota or the free space of its node", async () => {
    const before = await a.dump();
    const { id } = await a.running();
    const [{ id: boot }] = await a.disksOf(id);
    const quota = `/v1/tenants/${a.tenant.tenant_id}/projects/${a.tenant.project_id}/quota`;
    const limits = { cpu_limit: 99, memory_bytes: 99 * GIB, disk_bytes: 4 * GIB, instance_limit: 9 };
    okOf(await a.t.call("PUT", quota, { body: limits }));
    expect((await resize(boot, 5 * GIB)).body.error_code).toBe("QuotaExceeded");
    okOf(await a.t.call("DELETE", quota));
    const message = `the node of disk ${boot} has too little free space for the requested size`;
    conflictWith(await resize(boot, 8 * 2 ** 40), message);
    okOf(await resize(boot, 4 * GIB));
    await a.node.does("resize_disk");
    await a.destroy(id);
    expect(await a.left(before)).toEqual([]);
  });
});
