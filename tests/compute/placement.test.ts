// Tests placement in the API: the placement settings of nodes, explanations, and drain previews (docs/instances.md,
// "Placement").
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PLACEMENT_FILTERS } from "../../src/contract/enums.ts";
import { LABELS_MAX } from "../../src/contract/limits.ts";
import { DrainPreview, type NodeReport, PlacementExplanation } from "../../src/contract/placement.ts";
import { type Answer, okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { GIB, openNode, placeInstance, report } from "./placed.ts";

let t: TestControlPlane;
let tenant: TestTenant;

beforeAll(async () => {
  t = await openTestControlPlane();
  tenant = await openTenant(t);
});
afterAll(() => t.close());
beforeEach(async () => {
  await t.db.query("delete from disk");
  await t.db.query("delete from instance");
  for (const { server_uuid } of okOf(await t.call("GET", "/v1/system/cns")).items) {
    await t.call("POST", `/v1/cns/${server_uuid}/disable`);
    okOf(await t.call("DELETE", `/v1/cns/${server_uuid}`));
  }
});

const WANTED = { cpu: 2, memory_bytes: 4 * GIB, disk_bytes: 20 * GIB };
const patch = (id: string, body: unknown) => t.call("PATCH", `/v1/cns/${id}/placement`, { body });
const placementOf = async (id: string) => okOf(await t.call("GET", `/v1/cns/${id}/placement`));
const refusal = ({ status, body }: Answer) => [status, body.error_code, body.message];

async function explain(body: Record<string, unknown>): Promise<PlacementExplanation> {
  return PlacementExplanation.parse(okOf(await t.call("POST", "/v1/system/placement/explain", { body })));
}

/** Returns the filters that reject a node and their reasons. */
function rejections({ filter_results }: NodeReport): Record<string, string | undefined> {
  const rejected = filter_results.filter(({ verdict }) => verdict === "reject");
  return Object.fromEntries(rejected.map(({ filter_name, reason }) => [filter_name, reason]));
}

describe("the placement settings of a node", () => {
  const UNRESTRICTED = {
    reserved: false,
    reserved_reason: null,
    cordoned: false,
    cordoned_reason: null,
    overprovision_cpu: null,
    overprovision_ram: null,
    overprovision_disk: null,
    fault_domain: null,
    pinned_silo_uuid: null,
    pinned_tenant_uuid: null,
    note: null,
    labels: {},
    traits: {},
    reservoir_enabled: null,
    reservoir_percent: null,
  };

  test("are empty at first", async () => {
    const { id } = await openNode(t);
    expect(await placementOf(id)).toEqual({ server_uuid: id, ...UNRESTRICTED });
  });

  test("do not change if they are omitted or null, can be reset with clear, and are audited", async () => {
    const { id } = await openNode(t);
    okOf(await t.call("POST", `/v1/cns/${id}/traits`, { body: { traits: { rack: "r1" } } }));
    okOf(await t.call("POST", `/v1/cns/${id}/reservoir`, { body: { reservoir_percent: 0.5 } }));
    const all = {
      reserved: true,
      reserved_reason: "for the lab",
      cordoned: true,
      cordoned_reason: "a fan",
      overprovision_cpu: 2.5,
      overprovision_ram: 1.1,
      overprovision_disk: 0.9,
      fault_domain: "rack-7",
      pinned_silo_uuid: tenant.silo_id,
      pinned_tenant_uuid: tenant.tenant_id,
      note: "a note",
      labels: { rack: "a3" },
    };
    const kept = { traits: { rack: "r1" }, reservoir_enabled: null, reservoir_percent: 0.5 };
    const full = { server_uuid: id, ...all, ...kept };
    expect(okOf(await patch(id, all))).toEqual(full);
    expect(okOf(await patch(id, { note: null }))).toEqual(full);
    expect(await placementOf(id)).toEqual(full);
    const clear = [
      "overprovision_cpu",
      "overprovision_ram",
      "fault_domain",
      "pinned_silo_uuid",
      "pinned_tenant_uuid",
      "note",
    ];
    const rest = { server_uuid: id, ...UNRESTRICTED, ...kept, overprovision_disk: 0.9, labels: { rack: "a3" } };
    expect(okOf(await patch(id, { reserved: false, cordoned: false, clear }))).toEqual(rest);
    expect(await placementOf(id)).toEqual(rest);
    const { events } = okOf(await t.call("GET", "/v1/audit/events?limit=1000"));
    const noted = events.filter(({ action }: { action: string }) => action === "cn_placement_set");
    expect(noted).toHaveLength(3);
    expect(noted.at(-1)).toMatchObject({
      resource: `Cn::"${id}"`,
      payload: { cordoned: false, overprovision_disk: 0.9 },
    });
  });

  test("include labels, which are set and removed one by one, and whose number is limited", async () => {
    const { id } = await openNode(t);
    okOf(await patch(id, { labels: { rack: "a3", power: "b" } }));
    expect(okOf(await patch(id, { labels: { power: null } })).labels).toEqual({ rack: "a3" });
    expect(okOf(await t.call("GET", `/v1/system/cns/${id}`)).labels).toEqual({ rack: "a3" });
    const many = Object.fromEntries(Array.from({ length: LABELS_MAX }, (_, at) => [`k${at}`, "x"]));
    expect(await patch(id, { labels: many })).toMatchObject({
      status: 400,
      body: { message: `labels: an object has at most ${LABELS_MAX} labels, not ${LABELS_MAX + 1}` },
    });
    expect((await patch(id, { labels: { "Rack": "a3" } })).status).toBe(400);
    expect((await placementOf(id)).labels).toEqual({ rack: "a3" });
  });

  test("include labels, by which GET /v1/system/cns and GET /v1/system/nodes filter nodes", async () => {
    const [a, b, c] = [await openNode(t), await openNode(t), await openNode(t)];
    okOf(await patch(a.id, { labels: { rack: "a3" } }));
    okOf(await patch(b.id, { labels: { rack: "a4", power: "b" } }));
    for (const path of ["/v1/system/cns", "/v1/system/nodes"]) {
      const found = async (label: string) =>
        okOf(await t.call("GET", `${path}?label=${encodeURIComponent(label)}`)).items
          .map(({ server_uuid }: { server_uuid: string }) => server_uuid).sort();
      expect(await found("rack=a3")).toEqual([a.id]);
      expect(await found("rack")).toEqual([a.id, b.id].sort());
      expect(await found("rack=a4,power=b")).toEqual([b.id]);
      expect(await found("rack=a3,power=b")).toEqual([]);
      expect(okOf(await t.call("GET", path)).items).toContainEqual(
        expect.objectContaining({ server_uuid: c.id, labels: {} }),
      );
    }
  });

  test("are independent of traits and reservoir", async () => {
    const { id } = await openNode(t);
    okOf(await patch(id, { cordoned: true }));
    okOf(await t.call("POST", `/v1/cns/${id}/traits`, { body: { traits: { rack: "r1" } } }));
    okOf(await t.call("POST", `/v1/cns/${id}/reservoir`, { body: { reservoir_enabled: false } }));
    expect(await placementOf(id)).toMatchObject({
      cordoned: true,
      cordoned_reason: null,
      traits: { rack: "r1" },
      reservoir_enabled: false,
    });
  });

  test("are rejected for a PinConflict, a value out of range, or a field that is both set and cleared", async () => {
    const { id } = await openNode(t);
    const other = await openTenant(t);
    const pin = (
      message: string,
    ) => [409, "PinConflict", `the node cannot be pinned to this silo or tenant: ${message}`];
    const absent = randomUUID();
    const asked: [Record<string, unknown>, unknown[]][] = [
      [
        { pinned_silo_uuid: tenant.silo_id, pinned_tenant_uuid: other.tenant_id },
        pin(`tenant ${other.tenant_id} is not in silo ${tenant.silo_id}`),
      ],
      [{ pinned_silo_uuid: absent }, pin(`there is no silo ${absent}`)],
      [{ pinned_tenant_uuid: absent }, pin(`there is no tenant ${absent}`)],
      [{ overprovision_cpu: 0 }, [400, "BadRequest", "body.overprovision_cpu: must be > 0"]],
      [{ overprovision_cpu: 64.5 }, [400, "BadRequest", "body.overprovision_cpu: must be <= 64"]],
      [{ note: "x", clear: ["note"] }, [
        400,
        "BadRequest",
        "note is in clear and also has a value; send only one of the two",
      ]],
    ];
    for (const [body, expected] of asked) {
      expect(refusal(await patch(id, body))).toEqual(expected);
    }
    expect(await placementOf(id)).toEqual({ server_uuid: id, ...UNRESTRICTED });
    // The tenant of a request must be in the silo that a previous request stored.
    okOf(await patch(id, { pinned_silo_uuid: tenant.silo_id }));
    expect((await patch(id, { pinned_tenant_uuid: other.tenant_id })).body.error_code).toBe("PinConflict");
    okOf(await patch(id, { pinned_tenant_uuid: tenant.tenant_id }));
  });

  test("are kept while the node is disabled, and are deleted with the node", async () => {
    const { id } = await openNode(t);
    okOf(await patch(id, { fault_domain: "rack-7" }));
    okOf(await t.call("POST", `/v1/cns/${id}/disable`));
    expect(await placementOf(id)).toMatchObject({ fault_domain: "rack-7" });
    okOf(await t.call("DELETE", `/v1/cns/${id}`));
    const { rows } = await t.db.query("select from cn_placement where server_uuid = $1", [id]);
    expect(rows).toEqual([]);
  });
});

describe("explain", () => {
  test("runs all filters on every approved node and states the reasons", async () => {
    const fits = await openNode(t);
    const full = await openNode(t, { ram_total_mb: 1_024 });
    const cordoned = await openNode(t);
    const off = await openNode(t);
    okOf(await patch(cordoned.id, { cordoned: true, cordoned_reason: "drain" }));
    okOf(await t.call("POST", `/v1/cns/${off.id}/disable`));
    const result = await explain({ ...WANTED, tenant_id: tenant.tenant_id, brand: "bhyve" });
    expect(result).toMatchObject({
      chosen: fits.id,
      profile: "spread",
      request: {
        cpu_units: 200,
        ram_mb: 4_096,
        disk_bytes: 20 * GIB,
        role: "tenant",
        silo_id: tenant.silo_id,
        instance_id: null,
      },
      reject_counts: { "cn-ram-available": 1, "cn-not-cordoned": 1, "cn-not-evacuating": 1 },
    });
    expect(result.per_cn).toHaveLength(3);
    for (const { filter_results } of result.per_cn) {
      expect(filter_results.map(({ filter_name }) => filter_name)).toEqual(PLACEMENT_FILTERS);
    }
    const why = Object.fromEntries(result.per_cn.map((each) => [each.server_uuid, rejections(each)]));
    expect(why).toEqual({
      [fits.id]: {},
      [full.id]: { "cn-ram-available": "1024 MiB of memory left of 1024, 4096 wanted" },
      [cordoned.id]: { "cn-not-cordoned": "it is cordoned: drain", "cn-not-evacuating": "it is being emptied" },
    });
    expect(result.per_cn[0]).toMatchObject({ server_uuid: fits.id, hostname: fits.hostname, accepted: true });
  });

  test("returns an empty list if no node is approved", async () => {
    expect(await explain(WANTED)).toMatchObject({ chosen: null, per_cn: [], reject_counts: {} });
  });

  test("counts instances on a node in every state, and disks that are not created yet", async () => {
    const node = await openNode(t);
    await placeInstance(t, { on: node.id, of: tenant, memory_bytes: 30 * GIB, state: "failed" });
    await placeInstance(t, {
      on: node.id,
      of: tenant,
      memory_bytes: 32 * GIB,
      disk_bytes: 990 * GIB - 20 * GIB,
      made: false,
    });
    const result = await explain({ ...WANTED, disk_bytes: 20 * GIB });
    expect(rejections(result.per_cn[0]!)).toEqual({
      "cn-ram-available": "2048 MiB of memory left of 65536, 4096 wanted",
      "cn-zpool-has-space": `${10 * GIB} bytes of disk left of ${1_000 * GIB}, ${20 * GIB} wanted`,
    });
  });

  test("of an instance uses the instance's values and ignores its current usage", async () => {
    const node = await openNode(t, { ram_total_mb: 4_096 });
    const id = await placeInstance(t, { on: node.id, of: tenant, min_platform: "20260101T000000Z" });
    const result = await explain({ instance_id: id });
    expect(result).toMatchObject({
      chosen: node.id,
      request: {
        instance_id: id,
        cpu_units: 200,
        ram_mb: 4_096,
        disk_bytes: 20 * GIB,
        brand: "bhyve",
        tenant_id: tenant.tenant_id,
        min_platform: "20260101T000000Z",
      },
    });
    const larger = await explain({
      instance_id: id,
      memory_bytes: 4 * GIB + 2 ** 20,
      min_platform: "20260102T000000Z",
    });
    expect(Object.keys(rejections(larger.per_cn[0]!))).toEqual(["cn-platform-min", "cn-ram-available"]);
  });

  test("rejects a pinned node for other tenants", async () => {
    const node = await openNode(t);
    const other = await openTenant(t);
    okOf(await patch(node.id, { pinned_tenant_uuid: tenant.tenant_id }));
    const chosen = async (tenant_id?: string) => (await explain({ ...WANTED, tenant_id })).chosen;
    expect([await chosen(tenant.tenant_id), await chosen(other.tenant_id), await chosen()]).toEqual([
      node.id,
      null,
      null,
    ]);
  });

  test("checks role, traits, NIC tags and avoided nodes if the request has them", async () => {
    const plain = await openNode(t);
    const edge = await openNode(t, { nic_tags: ["external", "dmz"] });
    okOf(await t.call("POST", `/v1/cns/${edge.id}/role`, { body: { role: "edge" } }));
    okOf(await t.call("POST", `/v1/cns/${edge.id}/traits`, { body: { traits: { rack: "r1" } } }));
    const chosen = async (asked: object) => (await explain({ ...WANTED, ...asked })).chosen;
    expect(await chosen({ role: "edge", traits: { rack: "r1" }, nic_tags: ["dmz"] })).toBe(edge.id);
    expect(await chosen({})).toBe(plain.id);
    expect(await chosen({ avoid_cn: [plain.id] })).toBe(null);
  });

  test("uses the active profile", async () => {
    const [packed, empty] = [await openNode(t), await openNode(t)];
    for (const { id } of [packed, empty]) okOf(await patch(id, { fault_domain: id }));
    for (let n = 0; n < 3; n += 1) await placeInstance(t, { on: packed.id, of: tenant });
    const asked = { ...WANTED, tenant_id: tenant.tenant_id };
    expect(await explain(asked)).toMatchObject({ profile: "spread", chosen: empty.id });
    const setting = okOf(await t.call("GET", "/v1/config/placement.profiles"));
    const value = { ...setting.value, active: "consolidate" };
    okOf(await t.call("PUT", "/v1/config/placement.profiles", { body: { value } }));
    expect(await explain(asked)).toMatchObject({ profile: "consolidate", chosen: packed.id });
    okOf(await t.call("DELETE", "/v1/config/placement.profiles"));
  });

  test("uses a load summary while it is fresh", async () => {
    const [busy, idle] = [await openNode(t), await openNode(t)];
    const summarise = (id: string, cpu: number, age: string) =>
      t.db.query(
        `insert into cn_load_summary (server_uuid, summary, last_refreshed_at) values ($1, $2, berth_now() - $3::interval)
         on conflict (server_uuid) do update set last_refreshed_at = excluded.last_refreshed_at`,
        [id, JSON.stringify({ cpu_p95_5m: cpu, ram_used_p95_5m: cpu, cpu_p50_1d: cpu }), age],
      );
    const load = async () => {
      const { per_cn, chosen } = await explain(WANTED);
      const raw = (id: string, name: string) =>
        per_cn.find(({ server_uuid }) => server_uuid === id)!.scorer_results.find((each) => each.name === name)!.raw;
      return { chosen, busy: raw(busy.id, "score-avoid-hot-now"), base: raw(idle.id, "score-prefer-low-baseline") };
    };
    // The summary is from the future, so that it is fresh even on a slow machine.
    await summarise(busy.id, 1, "-1 hour");
    await summarise(idle.id, 0, "-1 hour");
    expect(await load()).toEqual({ chosen: idle.id, busy: 0, base: 1 });
    await summarise(busy.id, 1, "181 seconds");
    await summarise(idle.id, 0, "181 seconds");
    expect(await load()).toMatchObject({ base: 0 });
  });

  test("rejects invalid requests and writes nothing", async () => {
    await openNode(t);
    // Does not count transitions of sagas, because the operation in which the node joined may end between the two
    // counts.
    const written = () => t.db.query("select count(*) from transition where actor_kind <> 'saga'");
    const before = await written();
    const ask = async (body: unknown) => refusal(await t.call("POST", "/v1/system/placement/explain", { body }));
    expect(await ask({ cpu: 1 })).toEqual([
      400,
      "BadRequest",
      "cpu and memory_bytes are required without instance_id",
    ]);
    expect(await ask({ instance_id: randomUUID() })).toEqual([404, "NotFound", "Not Found"]);
    expect(await ask({ ...WANTED, tenant_id: randomUUID() })).toEqual([404, "NotFound", "Not Found"]);
    expect((await ask({ ...WANTED, cpu: 0 }))[0]).toBe(400);
    await explain(WANTED);
    expect(await written()).toEqual(before);
  });
});

describe("a drain preview", () => {
  async function preview(id: string): Promise<DrainPreview> {
    return DrainPreview.parse(okOf(await t.call("POST", `/v1/cns/${id}/drain/preview`)));
  }

  test("reserves room for each instance before it places the next instance, so that a free slot is used once", async () => {
    const from = await openNode(t);
    const to = await openNode(t, { ram_total_mb: 4_096 });
    const ids = [];
    for (const name of ["etcd-1", "web-1"]) ids.push(await placeInstance(t, { on: from.id, of: tenant, name }));
    const result = await preview(from.id);
    expect(result).toMatchObject({
      instances_on_cn: 2,
      capacity_ok: false,
      quorum_ok: false,
      quorum_at_risk: ["etcd-1"],
      placeable: [{
        instance_tenant_id: tenant.tenant_id,
        instance_project_id: tenant.project_id,
        instance_cpu: 2,
        instance_ram_mb: 4_096,
        target_cn_uuid: to.id,
        target_cn_hostname: to.hostname,
      }],
      not_placeable: [{
        reason: expect.stringMatching(/: 0 MiB of memory left of 4096, 4096 wanted \(cn-ram-available\)$/),
      }],
    });
    const listed = [...result.placeable, ...result.not_placeable].map(({ instance_id }) => instance_id);
    expect(listed.sort()).toEqual(ids.sort());
  });

  test("changes nothing, so a second preview gives the same result", async () => {
    const from = await openNode(t);
    const to = await openNode(t, { ram_total_mb: 4_096 });
    await placeInstance(t, { on: from.id, of: tenant });
    const usage = () => t.db.query("select * from cn_usage order by server_uuid");
    const before = await usage();
    expect(await preview(from.id)).toEqual(await preview(from.id));
    expect(await preview(from.id)).toMatchObject({ capacity_ok: true, placeable: [{ target_cn_uuid: to.id }] });
    expect(await usage()).toEqual(before);
  });

  test("requires a compatible machine only for a running instance, not for a stopped instance", async () => {
    const from = await openNode(t, { cpu_features: ["avx512"], tsc_offset_ns: 0 });
    const to = await openNode(t, { cpu_features: ["avx"], tsc_offset_ns: 0 });
    const running = await placeInstance(t, { on: from.id, of: tenant, state: "running" });
    const stopped = await placeInstance(t, { on: from.id, of: tenant, state: "stopped" });
    expect(await preview(from.id)).toMatchObject({
      placeable: [{ instance_id: stopped, target_cn_uuid: to.id }],
      not_placeable: [{
        instance_id: running,
        reason: `${to.hostname}: its CPU lacks avx512 (cn-cpu-feature-superset)`,
        remedy: `if you stop it, ${to.hostname} can take it`,
      }],
    });
  });

  test("of a disabled node without instances is empty, and of an unknown node gets 404", async () => {
    const node = await openNode(t);
    okOf(await t.call("POST", `/v1/cns/${node.id}/disable`));
    expect(await preview(node.id)).toMatchObject({ instances_on_cn: 0, capacity_ok: false, quorum_ok: true });
    expect((await t.call("POST", `/v1/cns/${randomUUID()}/drain/preview`)).status).toBe(404);
  });

  test("of a node without reports omits the checks that need reports", async () => {
    const from = await openNode(t);
    const to = await openNode(t, report({ cpu_features: [] }));
    await placeInstance(t, { on: from.id, of: tenant, state: "running" });
    await t.db.query("delete from cn_capacity where server_uuid = $1", [from.id]);
    expect(await preview(from.id)).toMatchObject({ placeable: [{ target_cn_uuid: to.id }] });
  });
});
