// A commit checks the room of a node with guard_cn_has_room and takes the room with effect_cn_use. The guard must
// accept the same nodes as the placement filters. Of two concurrent requests, exactly one must get the last slot.
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { placementSnapshot } from "../../src/services/placement-snapshot.ts";
import { CN_LIVE_S } from "../../src/contract/limits.ts";
import { PLACEMENT_PROFILES_DEFAULT } from "../../src/contract/placement-profiles.ts";
import { openClient } from "../../src/db/pool.ts";
import { pick } from "../../src/lib/placement/pick.ts";
import type { PlacementRequest } from "../../src/lib/placement/request.ts";
import { approvedAndLive } from "../../src/lib/placement/node-filters.ts";
import { activeProfile } from "../../src/lib/placement/profile.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { openTenant, type TestTenant } from "../tenancy/tenant.ts";
import { GIB, openNode, placeInstance, report, roomOn } from "./placed.ts";

let t: TestControlPlane;
let tenant: TestTenant;
let node: Awaited<ReturnType<typeof openNode>>;

const SLOT = { cpu_units: 200, ram_mb: 4_096, disk_bytes: 20 * GIB };

const REQUEST: PlacementRequest = {
  ...SLOT,
  role: "tenant",
  brand: "bhyve",
  min_platform: null,
  tenant_id: null,
  silo_id: null,
  instance_id: null,
  avoid_cn: [],
};

beforeAll(async () => {
  t = await openTestControlPlane();
  tenant = await openTenant(t);
});
afterAll(() => t.close());
beforeEach(async () => {
  await t.db.query("delete from disk");
  await t.db.query("delete from instance");
  node = await openNode(t);
});

async function patch(body: Record<string, unknown>) {
  okOf(await t.call("PATCH", `/v1/cns/${node.id}/placement`, { body }));
}

/** Sets the counters of a node. */
async function use(fields: Partial<Record<"cpu_units" | "ram_mb" | "disk_bytes", number>>) {
  const { cpu_units = 0, ram_mb = 0, disk_bytes = 0 } = fields;
  await t.db.query(
    `insert into cn_usage values ($1, $2, $3, $4, 1) on conflict (server_uuid) do update
       set cpu_units = excluded.cpu_units, ram_mb = excluded.ram_mb, disk_bytes = excluded.disk_bytes`,
    [node.id, cpu_units, ram_mb, disk_bytes],
  );
}

async function used() {
  const sql = "select cpu_units, ram_mb, disk_bytes, instances from cn_usage where server_uuid = $1";
  return (await t.db.query<Record<string, number>>(sql, [node.id])).rows[0];
}

describe("the guard", () => {
  test("creates the counters of a node on first use", async () => {
    expect(await used()).toBeUndefined();
    expect(await roomOn(t, node.id, SLOT)).toBe("true");
    expect(await used()).toEqual({ cpu_units: 0, ram_mb: 0, disk_bytes: 0, instances: 0 });
  });

  test("accepts the last unit of each resource, and rejects one more unit with a reason", async () => {
    await use({ cpu_units: 6_200, ram_mb: 61_440, disk_bytes: 980 * GIB });
    expect(await roomOn(t, node.id, SLOT)).toBe("true");
    expect(await roomOn(t, node.id, { ...SLOT, cpu_units: 201 })).toBe("200 CPU units left, 201 wanted");
    expect(await roomOn(t, node.id, { ...SLOT, ram_mb: 4_097 })).toBe("4096 MiB of memory left, 4097 wanted");
    const bytes = 20 * GIB;
    expect(await roomOn(t, node.id, { ...SLOT, disk_bytes: bytes + 1 })).toBe(
      `${bytes} bytes of disk left, ${bytes + 1} wanted`,
    );
  });

  test("rejects an instance with more vCPUs than the node has processors, whatever is free", async () => {
    await patch({ overprovision_cpu: 64 });
    expect(await roomOn(t, node.id, { ...SLOT, cpu_units: 1_600 })).toBe("true");
    expect(await roomOn(t, node.id, { ...SLOT, cpu_units: 1_700 })).toBe("it has 16 processors, 17 wanted");
    const grown = (by: number, cpu: number) => roomOn(t, node.id, { cpu_units: by * 100, grows: true, cpu });
    expect(await grown(1, 16)).toBe("true");
    expect(await grown(1, 17)).toBe("it has 16 processors, and cpu would be 17");
    // A reduction may leave more vCPUs than processors.
    expect([await grown(0, 20), await grown(-1, 20)]).toEqual(["true", "true"]);
  });

  test("subtracts only disks that are not created yet from the pool's free space", async () => {
    const zpools = [{ name: "zones", total_bytes: 1_000 * GIB, free_bytes: 50 * GIB, tier: "hdd" as const }];
    okOf(await t.call("POST", "/v1/agent/capacity", { key: node.key, body: report({ zpools }) }));
    await placeInstance(t, { on: node.id, of: tenant, disk_bytes: 400 * GIB });
    expect(await roomOn(t, node.id, { ...SLOT, disk_bytes: 50 * GIB })).toBe("true");
    await placeInstance(t, { on: node.id, of: tenant, disk_bytes: 30 * GIB, made: false });
    expect(await roomOn(t, node.id, SLOT)).toBe("true");
    expect(await roomOn(t, node.id, { ...SLOT, disk_bytes: 21 * GIB })).toBe(
      `${20 * GIB} bytes of disk left, ${21 * GIB} wanted`,
    );
  });

  test("checks only the room when a disk grows, so it accepts a reserved, cordoned or disabled node", async () => {
    await patch({ reserved: true, cordoned: true });
    okOf(await t.call("POST", `/v1/cns/${node.id}/disable`));
    expect(await roomOn(t, node.id, { disk_bytes: 1_000 * GIB })).toBe("true");
    expect(await roomOn(t, node.id, { disk_bytes: 1_000 * GIB + 1 })).toMatch(/bytes of disk left/);
    expect(await roomOn(t, node.id, SLOT)).toBe("it is disabled");
  });

  test.each<[string, () => Promise<unknown>, string]>([
    ["reserved", () => patch({ reserved: true }), "an operator reserved it"],
    ["cordoned", () => patch({ cordoned: true }), "it is cordoned"],
    [
      "pinned to another tenant",
      async () => patch({ pinned_tenant_uuid: (await openTenant(t)).tenant_id }),
      "it is pinned to another silo or tenant",
    ],
    [
      "pinned to another silo",
      async () => patch({ pinned_silo_uuid: (await openTenant(t)).silo_id }),
      "it is pinned to another silo or tenant",
    ],
    [
      "an edge node",
      async () => okOf(await t.call("POST", `/v1/cns/${node.id}/role`, { body: { role: "edge" } })),
      "its role is edge",
    ],
    ["without a report", () => t.db.query("delete from cn_capacity"), "it has not reported its capacity"],
    [
      "without the pool",
      () => t.db.query("update cn_capacity set report = report || '{\"zpools\": []}'"),
      "it has no pool zones",
    ],
    ["removed", async () => {
      okOf(await t.call("POST", `/v1/cns/${node.id}/disable`));
      okOf(await t.call("DELETE", `/v1/cns/${node.id}`));
    }, "it is gone"],
  ])("rejects a node that is %s", async (_what, arrange, said) => {
    const { tenant_id, silo_id } = tenant;
    const wanted = { ...SLOT, tenant_id, silo_id, role: "tenant" };
    expect(await roomOn(t, node.id, wanted)).toBe("true");
    await arrange();
    expect(await roomOn(t, node.id, wanted)).toBe(said);
  });

  test("counts a node as live exactly as long as the filter does", async () => {
    const client = await openClient({ url: t.databaseUrl });
    try {
      // Replaces the clock of this connection with a fixed clock: the schema `frozen` comes first in the search path.
      await client.query("create schema frozen");
      await client.query(
        "create function frozen.berth_now() returns timestamptz language sql as $$ select '2026-03-01T12:00:00Z'::timestamptz $$",
      );
      await client.query("set search_path = frozen, public");
      const now = new Date("2026-03-01T12:00:00Z");
      const judged = async (ago_ms: number) => {
        const last_seen = new Date(now.getTime() - ago_ms);
        await client.query("update cn_signal set last_seen = $2 where server_uuid = $1", [node.id, last_seen]);
        const { rows } = await client.query("select guard_cn_has_room($1) as said", [
          JSON.stringify({ server_uuid: node.id, ...SLOT }),
        ]);
        const { nodes } = await placementSnapshot(t.db.kysely, { now });
        const own = nodes.find(({ server_uuid }) => server_uuid === node.id)!;
        return [rows[0].said, approvedAndLive(own, REQUEST, now).verdict];
      };
      expect(await judged(CN_LIVE_S * 1_000)).toEqual(["true", "accept"]);
      expect(await judged(CN_LIVE_S * 1_000 + 1)).toEqual(["it was not seen lately", "reject"]);
    } finally {
      await client.end();
    }
  });
});

describe("the counters", () => {
  test("start at zero, add used amounts and subtract released amounts", async () => {
    const effect = (sign: 1 | -1) =>
      t.db.query("select effect_cn_use($1)", [JSON.stringify({
        server_uuid: node.id,
        cpu_units: sign * 200,
        ram_mb: sign * 4_096,
        disk_bytes: sign * GIB,
        instances: sign,
      })]);
    await effect(1);
    await effect(1);
    expect(await used()).toEqual({ cpu_units: 400, ram_mb: 8_192, disk_bytes: 2 * GIB, instances: 2 });
    await effect(-1);
    await effect(-1);
    expect(await used()).toEqual({ cpu_units: 0, ram_mb: 0, disk_bytes: 0, instances: 0 });
    await expect(effect(-1)).rejects.toThrow(/cn_usage/);
  });

  test("are deleted with their node", async () => {
    await use({});
    okOf(await t.call("POST", `/v1/cns/${node.id}/disable`));
    okOf(await t.call("DELETE", `/v1/cns/${node.id}`));
    expect(await used()).toBeUndefined();
  });
});

test("the guard counts disks whose rows the same commit call has not written yet", async () => {
  const zpools = [{ name: "zones", total_bytes: 100 * GIB, free_bytes: 30 * GIB, tier: "hdd" }];
  await t.db.query("update cn_capacity set report = report || $2::jsonb where server_uuid = $1", [
    node.id,
    JSON.stringify({ zpools }),
  ]);
  expect(await roomOn(t, node.id, SLOT)).toBe("true");
  await use({ disk_bytes: SLOT.disk_bytes });
  expect(await roomOn(t, node.id, SLOT)).toBe(`${10 * GIB} bytes of disk left, ${20 * GIB} wanted`);
});

test("the disks of an instance that is being evacuated to a node count as not created on the node yet", async () => {
  const zpools = [{ name: "zones", total_bytes: 500 * GIB, free_bytes: 30 * GIB, tier: "hdd" }];
  await t.db.query("update cn_capacity set report = report || $2::jsonb where server_uuid = $1", [
    node.id,
    JSON.stringify({ zpools }),
  ]);
  const disk_bytes = 20 * GIB;
  const placed = await placeInstance(t, { on: node.id, of: tenant, disk_bytes });
  await use({ disk_bytes });
  const unmade = async () => {
    const { nodes } = await placementSnapshot(t.db.kysely);
    return nodes.find(({ server_uuid }) => server_uuid === node.id)!.unmade_bytes;
  };
  expect([await roomOn(t, node.id, SLOT), await unmade()]).toEqual(["true", 0]);
  await t.db.query(
    `insert into migration (id, state, instance_id, source_cn, target_cn, live, created_at)
     values (gen_random_uuid(), 'running', $1, gen_random_uuid(), $2, false, berth_now())`,
    [placed, node.id],
  );
  expect([await roomOn(t, node.id, SLOT), await unmade()]).toEqual([
    `${10 * GIB} bytes of disk left, ${20 * GIB} wanted`,
    disk_bytes,
  ]);
  await t.db.query("update migration set state = 'completed'");
  expect([await roomOn(t, node.id, SLOT), await unmade()]).toEqual(["true", 0]);
});

test("the guard accepts a node if and only if the filters do", async () => {
  // The numbers are small, so that requests often reach the limit. One resource is scarce, and the other resources are
  // plentiful.
  const few = (min: number, max: number) => fc.integer({ min, max });
  const ratio = fc.oneof(fc.constant(null), fc.constantFrom(0.3, 0.5, 1.5, 2.5));
  const scene = fc.record({
    scarce: fc.constantFrom("cpu", "ram", "disk", "free"),
    size: few(1, 4),
    used: fc.record({ cpu_units: few(0, 16).map((n) => n * 50), ram_mb: few(0, 4) }),
    made: few(1, 4),
    unmade: few(1, 4),
    wanted: fc.record({ cpu_units: few(1, 16).map((n) => n * 50), ram_mb: few(1, 4), disk_bytes: few(0, 4) }),
    rules: fc.record({ overprovision_cpu: ratio, overprovision_ram: ratio, overprovision_disk: ratio }),
    flags: fc.record({ reserved: rarely(), cordoned: rarely() }),
  });
  const seen = new Set<string>();
  await t.db.query("delete from cn_usage");
  await placeInstance(t, { on: node.id, of: tenant, disk_bytes: 1 });
  await placeInstance(t, { on: node.id, of: tenant, disk_bytes: 1, made: false });
  await fc.assert(
    fc.asyncProperty(scene, async ({ scarce, size, used, made, unmade, wanted, rules, flags }) => {
      const of = (what: typeof scarce) => scarce === what ? size : 1_000;
      const [threads, ram_total_mb] = [of("cpu"), of("ram")];
      const zpools = [{ name: "zones", total_bytes: of("disk"), free_bytes: of("free"), tier: "hdd" }];
      await t.db.query("update cn_capacity set report = report || $2::jsonb where server_uuid = $1", [
        node.id,
        JSON.stringify({ cpu_threads_logical: threads, ram_total_mb, zpools }),
      ]);
      await t.db.query("update disk set size_bytes = $1 where applied_bytes is null", [unmade]);
      await t.db.query("update disk set size_bytes = $1, applied_bytes = $1 where applied_bytes is not null", [made]);
      await t.db.query(
        `insert into cn_placement (server_uuid, overprovision_cpu, overprovision_ram, overprovision_disk, reserved, cordoned)
         values ($1, $2, $3, $4, $5, $6) on conflict (server_uuid) do update set
           overprovision_cpu = $2, overprovision_ram = $3, overprovision_disk = $4, reserved = $5, cordoned = $6`,
        [
          node.id,
          rules.overprovision_cpu,
          rules.overprovision_ram,
          rules.overprovision_disk,
          flags.reserved,
          flags.cordoned,
        ],
      );
      await use({ ...used, disk_bytes: made + unmade });
      const snapshot = await placementSnapshot(t.db.kysely);
      const { candidates } = pick(
        { ...REQUEST, ...wanted },
        { ...snapshot, nodes: snapshot.nodes.filter(({ server_uuid }) => server_uuid === node.id) },
        activeProfile(PLACEMENT_PROFILES_DEFAULT),
      );
      const said = await roomOn(t, node.id, wanted);
      expect([said === "true", wanted, used]).toEqual([candidates.length === 1, wanted, used]);
      seen.add(`${scarce} ${said === "true"}`);
    }),
    // The seed is fixed, because the test checks the coverage below.
    { numRuns: 200, seed: 27 },
  );
  // For each of the four resources there must be an accepted and a refused request in which this resource was scarce.
  expect(seen.size).toBe(8);
}, 60_000);

/** A value that is true with a probability of one in eight. */
function rarely() {
  return fc.integer({ min: 0, max: 7 }).map((n) => n === 0);
}

describe("exactly one of two concurrent connections gets the last slot", () => {
  const ROUNDS = 20;
  const LOCK_LIMIT_MS = 30_000;

  /**
   * Runs the guard and the effect of two concurrent creations, as the commit call does. With `lock`, each creation
   * holds the node's lock. Without `lock`, it locks only the row of the counters.
   */
  async function race(lock: boolean): Promise<string[]> {
    const args = JSON.stringify({ server_uuid: node.id, ...SLOT, instances: 1 });
    const take = async () => {
      const client = await openClient({ url: t.databaseUrl, lockLimit_ms: LOCK_LIMIT_MS });
      try {
        await client.query("begin");
        if (lock) await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`cn:${node.id}`]);
        const { rows } = await client.query("select guard_cn_has_room($1) as said", [args]);
        const said: string = rows[0].said;
        if (said === "true") await client.query("select effect_cn_use($1)", [args]);
        await client.query("commit");
        return said;
      } finally {
        await client.end();
      }
    };
    return (await Promise.all([take(), take()])).sort();
  }

  test.each([["under the node's lock", true], ["with only the row lock of the counters", false]])(
    "%s",
    async (_how, lock) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await use({ ram_mb: 65_536 - 4_096 });
        expect(await race(lock)).toEqual(["0 MiB of memory left, 4096 wanted", "true"]);
        expect(await used()).toMatchObject({ ram_mb: 65_536 });
      }
    },
    60_000,
  );

  test("if the node has no counters yet", async () => {
    okOf(await t.call("POST", "/v1/agent/capacity", { key: node.key, body: report({ ram_total_mb: 4_096 }) }));
    for (let round = 0; round < ROUNDS; round += 1) {
      await t.db.query("delete from cn_usage where server_uuid = $1", [node.id]);
      expect(await race(false)).toEqual(["0 MiB of memory left, 4096 wanted", "true"]);
    }
  }, 60_000);
});
