// Tests the checks of a request to create an instance: fields, names, visible objects, room, quota and addresses
// (docs/instances.md).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { okOf } from "../support/control-plane.ts";
import { conflictWith, expectRefused, notFound } from "../network/public-addresses.ts";
import { openTenant } from "../tenancy/tenant.ts";
import { type ComputeFixture, GIB, openComputeFixture } from "./compute-fixture.ts";

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a.t.close());

const NO_NODE =
  "no eligible compute node for placement; capacity, traits, affinity, or scope pinning rejected every candidate";

describe("a create request", () => {
  test.each([
    [{ cpu: 0 }, "cpu must be greater than zero"],
    [{ memory_bytes: 0 }, "memory_bytes must be greater than zero"],
    [{ disk_bytes: 0 }, "disk_bytes must be greater than zero and at most 16 TiB"],
    [{ disk_bytes: 16 * 2 ** 40 + 1 }, "disk_bytes must be greater than zero and at most 16 TiB"],
  ])("with %j gets 400", async (fields, message) => {
    expectRefused(await a.create(fields), 400, "BadRequest", message);
  });

  test("may have at most 64 KiB of user data, counted in UTF-8 bytes", async () => {
    const { id } = await a.running({ user_data: "é".repeat(32 * 1_024) });
    await a.destroy(id);
    const message = "user_data must be at most 65536 bytes";
    expectRefused(await a.create({ user_data: "é".repeat(32 * 1_024) + "x" }), 400, "BadRequest", message);
  });

  test.each([
    [{ name: "a/b" }, "name must not contain / or \\"],
    [{ name: "" }, "name must be 1 to 63 bytes long"],
    [{ mac: "02:00:00:00:00" }, "mac must be 12 hex digits"],
    [{ mac: "01:00:00:00:00:01" }, "mac 01:00:00:00:00:01 is a multicast address; a NIC needs a unicast address"],
  ])("with %j gets 409", async (fields, message) => {
    conflictWith(await a.create(fields), message);
  });

  test("gets 409 if two of its NICs, including the primary NIC, have the same name", async () => {
    const nic = (name: string) => ({ subnet_id: a.subnet.id, name });
    conflictWith(await a.create({ extra_nics: [nic("x"), nic("x")] }), "two NICs of the instance are named x");
    conflictWith(await a.create({ extra_nics: [nic("primary")] }), "two NICs of the instance are named primary");
  });

  test("with a name that is in use in the same project gets 409", async () => {
    const { id, name } = await a.running();
    const project = a.tenant.project_id;
    conflictWith(await a.create({ name }), `instance with name ${name} already exists in project ${project}`);
    await a.destroy(id);
  });

  test("with an image, subnet or key that does not exist or is not visible to the tenant gets 404", async () => {
    const b = await openComputeFixture({ t: a.t, tenant: await openTenant(a.t, "b"), node: a.node });
    const own = await b.make(`/v1/tenants/${b.tenant.tenant_id}/images`, {
      name: "own",
      os: "linux",
      version: "1",
      size_bytes: 1,
      sha256: "a".repeat(64),
    });
    for (
      const fields of [
        { image_id: randomUUID() },
        { image_id: own.id },
        { primary_subnet_id: randomUUID() },
        { primary_subnet_id: b.subnet.id },
        { extra_nics: [{ subnet_id: b.subnet.id, name: "x" }] },
        { ssh_key_ids: [randomUUID()] },
      ]
    ) {
      notFound(await a.create(fields));
      notFound(await a.create(fields, { key: undefined }));
    }
  });

  test("without a disk size creates a boot disk of the image's size, or of 20 GiB for bhyve; a smaller size is raised to the image's size", async () => {
    const bhyve = await a.newImage({ compatibility: { brand: "bhyve", arch: "x86_64" } });
    await a.node.alive({ hvm_supported: true });
    const sizeOf = async (fields: object) => {
      const { id, brand } = await a.running(fields);
      const [{ size_bytes }] = await a.disksOf(id);
      await a.destroy(id);
      return [brand, size_bytes];
    };
    expect(await sizeOf({})).toEqual(["kvm", 2 * GIB]);
    expect(await sizeOf({ disk_bytes: 1 })).toEqual(["kvm", 2 * GIB]);
    expect(await sizeOf({ disk_bytes: 3 * GIB })).toEqual(["kvm", 3 * GIB]);
    expect(await sizeOf({ image_id: bhyve.id })).toEqual(["bhyve", 20 * GIB]);
    expect(await sizeOf({ image_id: bhyve.id, disk_bytes: 3 * GIB })).toEqual(["bhyve", 3 * GIB]);
    await a.node.alive();
  });

  test("gets 503 with the specified text if no node has room, and writes nothing", async () => {
    const before = await a.dump();
    expectRefused(await a.create({ memory_bytes: 1_000 * GIB }), 503, undefined as never, NO_NODE);
    expect(await a.left(before)).toEqual([]);
  });

  test("for the last slot gets 503 if a concurrent request gets the slot", async () => {
    const [big] = [{ memory_bytes: 40 * GIB }];
    const answers = [a.create(big), a.create(big)];
    const job = await a.node.does("provision");
    const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 503]);
    await a.destroy(String(job.kind["instance_id"]));
  });

  test("above the quota gets 409 QuotaExceeded with the limit", async () => {
    const quota = `/v1/tenants/${a.tenant.tenant_id}/projects/${a.tenant.project_id}/quota`;
    const limits = { cpu_limit: 3, memory_bytes: 64 * GIB, disk_bytes: 64 * GIB, instance_limit: 10 };
    okOf(await a.t.call("PUT", quota, { body: limits }));
    const { id } = await a.running();
    expect(okOf(await a.call("GET", quota)).used).toEqual({
      cpu: 2,
      memory_bytes: 4 * GIB,
      disk_bytes: 2 * GIB,
      instances: 1,
    });
    const message = "the quota of the project would be exceeded: cpu: limit 3, used 2, asked for 2";
    expectRefused(await a.create(), 409, "QuotaExceeded", message);
    const huge = "the quota of the project would be exceeded: cpu: limit 3, used 2, asked for 2000";
    expectRefused(await a.create({ cpu: 2_000 }), 409, "QuotaExceeded", huge);
    await a.destroy(id);
    expect(okOf(await a.call("GET", quota)).used).toEqual({ cpu: 0, memory_bytes: 0, disk_bytes: 0, instances: 0 });
    okOf(await a.t.call("DELETE", quota));
  });

  test("in a subnet without a free address gets 409", async () => {
    const tiny = await a.make(`/v1/subnets?vpc=${a.vpc.id}`, { name: randomUUID(), ipv4_block: "10.0.3.0/30" });
    const { id } = await a.running({ primary_subnet_id: tiny.id });
    expect((await a.nicsOf(id))[0].primary_ipv4).toBe("10.0.3.2");
    const refused = await a.create({ primary_subnet_id: tiny.id });
    expectRefused(refused, 409, "PoolExhausted", `subnet ${tiny.id} has no free IPv4 address`);
    await a.destroy(id);
    okOf(await a.call("DELETE", `/v1/subnets/${tiny.id}`));
  });
});
