// Tests changes of an instance: its name, labels, protection and size (docs/instances.md, "Change").
import { afterAll, beforeAll, expect, test } from "vitest";
import { conflictWith, expectRefused } from "../network/public-addresses.ts";
import { okOf } from "../support/control-plane.ts";
import { brokenInvariants } from "../doctor/broken.ts";
import { type ComputeFixture, GIB, openComputeFixture } from "./compute-fixture.ts";

const UNLIMITED = { cpu_limit: 1_000, memory_bytes: 1_000 * GIB, disk_bytes: 1_000_000 * GIB, instance_limit: 1_000 };
const MIB = 2 ** 20;

let a: ComputeFixture;
beforeAll(async () => {
  a = await openComputeFixture();
});
afterAll(() => a.t.close());

const patch = (id: string, body: object) => a.call("PATCH", `/v1/instances/${id}`, { body });
const named = async (query: string) =>
  okOf(await a.call("GET", `/v1/instances${a.selectors}&${query}`)).items.map(({ id }: { id: string }) => id);
const usage = async () => okOf(await a.call("GET", `/v1/tenants/${a.tenant.tenant_id}/usage`));
const room = async () => {
  const { rows } = await a.t.db.query("select cpu_units, ram_mb from cn_usage where server_uuid = $1", [
    a.node.server_uuid,
  ]);
  return rows[0];
};

test("labels are set one by one and removed with null, and the list can be filtered by label", async () => {
  const one = await a.running({ labels: { env: "test", "tier/level": "web" } });
  const two = await a.running();
  expect(one.labels).toEqual({ env: "test", "tier/level": "web" });
  expect(two.labels).toEqual({});
  expect(okOf(await patch(one.id, { labels: { env: "live", "tier/level": null, note: "" } })).labels)
    .toEqual({ env: "live", note: "" });
  okOf(await patch(two.id, { labels: { env: "test" }, description: "second" }));
  expect(await named("label=env")).toEqual([one.id, two.id]);
  expect(await named("label=env%3Dlive")).toEqual([one.id]);
  expect(await named("label=env%3Dlive,note%3D")).toEqual([one.id]);
  expect(await named("label=env%3Dtest,note")).toEqual([]);
  expect(await a.show(two.id)).toMatchObject({ labels: { env: "test" }, description: "second", name: two.name });
  await a.destroy(one.id);
  await a.destroy(two.id);
});

test("labels that break a rule are refused, and nothing changes", async () => {
  const { id } = await a.running({ labels: { env: "test" } });
  for (const labels of [{ Env: "x" }, { "": "x" }, { "a,b": "x" }, { env: "a=b" }, { env: "x".repeat(64) }]) {
    const { status, body } = await patch(id, { labels, name: "other" });
    expect([status, body.message]).toEqual([400, expect.stringContaining("labels")]);
  }
  const many = Object.fromEntries(Array.from({ length: 32 }, (_, at) => [`k${at}`, ""]));
  expectRefused(
    await patch(id, { labels: many }),
    400,
    "BadRequest",
    "labels: an object has at most 32 labels, not 33",
  );
  expect(okOf(await patch(id, { labels: { ...many, env: null } })).labels).toEqual(many);
  expect((await a.call("GET", `/v1/instances${a.selectors}&label=%3D`)).status).toBe(400);
  await a.destroy(id);
});

test("growing a stopped instance uses more quota and room, and shrinking it releases them", async () => {
  const { id } = await a.stopped({ cpu: 2, memory_bytes: 4 * GIB + MIB / 2 });
  const before = await room();
  expect(okOf(await patch(id, { cpu: 5, memory_bytes: 6 * GIB - 1 }))).toMatchObject({
    cpu: 5,
    memory_bytes: 6 * GIB - 1,
  });
  expect(await usage()).toMatchObject({ cpu: 5, memory_bytes: 6 * GIB - 1, instances: 1 });
  expect(await room()).toEqual({ cpu_units: before.cpu_units + 300, ram_mb: before.ram_mb + 2 * 1_024 - 1 });
  okOf(await patch(id, { cpu: 1 }));
  expect(await usage()).toMatchObject({ cpu: 1, memory_bytes: 6 * GIB - 1 });
  expect(await brokenInvariants(a.t.db)).toEqual([]);
  await a.destroy(id);
  expect(await usage()).toMatchObject({ cpu: 0, memory_bytes: 0, instances: 0 });
  expect(await brokenInvariants(a.t.db)).toEqual([]);
});

test("a new size requires a stopped instance, quota, room, and values that are valid for a new instance", async () => {
  const { id, name } = await a.running();
  conflictWith(await patch(id, { cpu: 3 }), `${name} is running; a new size needs a stopped instance`);
  // The same size does not count as a new size.
  okOf(await patch(id, { cpu: 2, memory_bytes: 4 * GIB }));
  await a.act(id, "stop", "stop");
  expectRefused(await patch(id, { cpu: 0 }), 400, "BadRequest", "cpu must be greater than zero");
  expectRefused(
    await patch(id, { memory_bytes: MIB }),
    400,
    "BadRequest",
    `memory_bytes must be at least ${16 * MIB}, not ${MIB}`,
  );
  const quota = `/v1/tenants/${a.tenant.tenant_id}/quota`;
  okOf(await a.t.call("PUT", quota, { body: { ...UNLIMITED, cpu_limit: 4 } }));
  const over = await patch(id, { cpu: 5, name: "other" });
  expectRefused(
    over,
    409,
    "QuotaExceeded",
    "the quota of the tenant would be exceeded: cpu: limit 4, used 2, asked for 3",
  );
  okOf(await a.t.call("DELETE", quota));
  const placement = `/v1/cns/${a.node.server_uuid}/placement`;
  okOf(await a.t.call("PATCH", placement, { body: { overprovision_cpu: 0.25 } }));
  const { status, body } = await patch(id, { cpu: 16 });
  okOf(await a.t.call("PATCH", placement, { body: { clear: ["overprovision_cpu"] } }));
  expect([status, body.message]).toEqual([
    409,
    expect.stringMatching(new RegExp(`^the node of instance ${id} has no room for the requested size: .*CPU units`)),
  ]);
  expect(await a.show(id)).toMatchObject({ cpu: 2, name });
  // A cordon keeps new instances off the node, but this instance may still grow.
  okOf(await a.t.call("PATCH", placement, { body: { cordoned: true } }));
  okOf(await patch(id, { cpu: 3 }));
  okOf(await a.t.call("PATCH", placement, { body: { cordoned: false } }));
  await a.destroy(id);
});

test("a protected instance cannot be deleted, even by force, until its protection is removed", async () => {
  const { id, name } = await a.stopped({ deletion_protection: true });
  const text = `${name} is protected against deletion; set deletion_protection to false first`;
  expectRefused(await a.call("DELETE", `/v1/instances/${id}`), 409, "DeletionProtected", text);
  expectRefused(await a.t.call("DELETE", `/v1/instances/${id}?force=true`), 409, "DeletionProtected", text);
  expect(okOf(await patch(id, { deletion_protection: false })).deletion_protection).toBe(false);
  await a.destroy(id);
});

test.each(
  [
    ["delete", "deleted", (id: string) => a.call("DELETE", `/v1/instances/${id}`)],
    ["rebuild", "rebuilt", (id: string) => a.call("POST", `/v1/instances/${id}/rebuild`, { body: {} })],
  ] as const,
)("during a %s, a change that sets the protection gets 409 and changes nothing", async (kind, done, begin) => {
  const { id } = await a.stopped();
  const answer = begin(id);
  const job = await a.node.take();
  expect(job.kind.kind).toBe(kind);
  const protect = { deletion_protection: true, description: "late" };
  conflictWith(await patch(id, protect), `instance ${id} is being ${done}; the protection would not prevent this`);
  okOf(await patch(id, { deletion_protection: false, name: `renamed-${kind}` }));
  expect(await a.show(id)).toMatchObject({ deletion_protection: false, description: "", name: `renamed-${kind}` });
  await a.node.complete(job);
  expect((await answer).status).toBeLessThan(300);
  if (kind === "delete") return;
  expect(okOf(await patch(id, protect)).deletion_protection).toBe(true);
  okOf(await patch(id, { deletion_protection: false }));
  await a.destroy(id);
});
