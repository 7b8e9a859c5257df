// Creates nodes with instances, for tests of placement.
import { randomUUID } from "node:crypto";
import type { CapacityReport } from "../../src/contract/agent.ts";
import type { InstanceBrand, InstanceState } from "../../src/contract/enums.ts";
import { sizesOf } from "../../src/lib/placement/request.ts";
import { okOf, type TestControlPlane } from "../support/control-plane.ts";
import type { TestTenant } from "../tenancy/tenant.ts";

export const GIB = 2 ** 30;

/** Returns the capacity report of a node with 16 threads, 64 GiB of memory and 1,000 GiB of disk, all free. */
export function report(fields: Partial<CapacityReport> = {}): Partial<CapacityReport> {
  return {
    cpu_cores_physical: 8,
    cpu_threads_logical: 16,
    numa_nodes: [],
    ram_total_mb: 65_536,
    zpools: [{ name: "zones", total_bytes: 1_000 * GIB, free_bytes: 1_000 * GIB, tier: "nvme" }],
    nic_tags: ["external"],
    underlay: { ipv4: true, ipv6: false },
    devices: [],
    platform_version: "20260101T000000Z",
    hvm_supported: true,
    ...fields,
  };
}

let hosts = 0;

/** Creates an approved node with a capacity report. The node stays live during every test. */
export async function openNode(t: TestControlPlane, fields: Partial<CapacityReport> = {}) {
  hosts += 1;
  const node = await t.approvedNode({ hostname: `n${hosts}` });
  okOf(await t.call("POST", "/v1/agent/capacity", { key: node.api_key, body: report(fields) }));
  await seen(t, node.server_uuid, "1 hour");
  return { id: node.server_uuid, hostname: `n${hosts}`, key: node.api_key };
}

/** Sets a node's last heartbeat to a time in the future, so that the node stays live during a slow test. */
export async function seen({ db }: TestControlPlane, server_uuid: string, ahead: string): Promise<void> {
  const sql = "update cn_signal set last_seen = berth_now() + $2::interval where server_uuid = $1";
  await db.query(sql, [server_uuid, ahead]);
}

export type Placing = {
  readonly on: string;
  readonly of: TestTenant;
  readonly name?: string;
  readonly state?: InstanceState;
  readonly brand?: InstanceBrand;
  readonly cpu?: number;
  readonly memory_bytes?: number;
  readonly disk_bytes?: number;
  /** Whether the node has created the instance's disk. */
  readonly made?: boolean;
  readonly min_platform?: string;
};

/**
 * Inserts an instance on a node and adds it to the node's counters. Default: two vCPUs, 4 GiB of memory, one disk of 20
 * GiB.
 */
export async function placeInstance({ db }: TestControlPlane, given: Placing): Promise<string> {
  const { on, of, state = "stopped", brand = "bhyve", cpu = 2, memory_bytes = 4 * GIB, disk_bytes = 20 * GIB } = given;
  const [id, image] = [randomUUID(), randomUUID()];
  const { name = `vm-${id}`, made = true, min_platform } = given;
  await db.query(
    `insert into image (id, incarnation, version, state, scope_kind, name, description, os, os_version, size_bytes, sha256,
                        compatibility, created_at)
     values ($1, $1, 1, 'live', 'public', $2, '', 'linux', '1', 1, repeat('0', 64), $3, now())`,
    [image, image, JSON.stringify({ brand, arch: "x86_64", min_platform })],
  );
  await db.query(
    `insert into instance (id, incarnation, version, state, host_cn_uuid, tenant_id, project_id, name, description, brand,
       cpu, memory_bytes, primary_subnet_id, ssh_key_ids, image_id, reason, created_at, updated_at)
     values ($1, $1, 1, $2, $3, $4, $5, $6, '', $7, $8, $9, $1, '{}', $10, $11, now(), now())`,
    [
      id,
      state,
      on,
      of.tenant_id,
      of.project_id,
      name,
      brand,
      cpu,
      memory_bytes,
      image,
      state === "failed" ? "x" : null,
    ],
  );
  await db.query(
    `insert into disk (id, tenant_id, project_id, instance_id, name, description, kind, size_bytes, applied_bytes, created_at)
     values ($1, $2, $3, $1, 'boot', '', 'boot', $4, $5, now())`,
    [id, of.tenant_id, of.project_id, disk_bytes, made ? disk_bytes : null],
  );
  const sizes = sizesOf({ cpu, memory_bytes, disk_bytes });
  await db.query("select effect_cn_use($1)", [JSON.stringify({ server_uuid: on, ...sizes, instances: 1 })]);
  return id;
}

/** Returns the result of guard_cn_has_room for a request on a node. */
export async function roomOn(
  t: TestControlPlane,
  server_uuid: string,
  wanted: Record<string, unknown>,
): Promise<string> {
  const { rows } = await t.db.query<{ said: string }>("select guard_cn_has_room($1) as said", [
    JSON.stringify({ server_uuid, ...wanted }),
  ]);
  return rows[0]!.said;
}
