// Tests the preview of a drain: the nodes that could take a node's instances.
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { DrainPreview } from "../../src/contract/placement.ts";
import { type HostedInstance, looksLikeQuorum, previewDrain, previewDrains } from "../../src/lib/placement/drain.ts";
import type { Group } from "../../src/lib/placement/group.ts";
import type { Snapshot } from "../../src/lib/placement/snapshot.ts";
import { capacity, GIB, node, SILO, snapshot, SPREAD, TENANT, uuid } from "./placement-nodes.ts";

const DRAINED = uuid(1);

function instance(n: number, fields: Partial<HostedInstance> = {}): HostedInstance {
  return {
    id: `cccccccc-0000-4000-8000-${String(n).padStart(12, "0")}`,
    name: `vm-${n}`,
    tenant_id: TENANT,
    silo_id: SILO,
    project_id: "dddddddd-0000-4000-8000-000000000001",
    state: "running",
    host_cn_uuid: DRAINED,
    brand: "bhyve",
    cpu: 2,
    memory_bytes: 32 * GIB,
    disk_bytes: 20 * GIB,
    min_platform: null,
    group: null,
    bridged_nodes: {},
    ...fields,
  };
}

function drain(instances: readonly HostedInstance[], nodes: Snapshot, from = capacity()) {
  return previewDrain({ server_uuid: DRAINED, capacity: from, instances }, nodes, SPREAD, setImmediate);
}

describe("a drain preview", () => {
  const grouped = (policy: Group["policy"], on: readonly string[]) => {
    const members = on.map((server_uuid, index) => ({
      instance_id: instance(index + 1).id,
      server_uuid,
      fault_domain: null,
    }));
    const group: Group = { id: uuid(90), name: "web", policy, level: "node", strictness: "required", members };
    return [1, 2].map((n) => instance(n, { memory_bytes: GIB, group }));
  };

  test("puts the instances of an anti-affinity group on different nodes, and names an instance for which no node is left", async () => {
    const both = grouped("anti_affinity", [DRAINED, DRAINED]);
    const two = await drain(both, snapshot(node(1), node(2), node(3)));
    expect(new Set(two.placeable.map(({ target_cn_uuid }) => target_cn_uuid))).toEqual(new Set([uuid(2), uuid(3)]));
    const one = await drain(both, snapshot(node(1), node(2)));
    expect([one.placeable.length, one.not_placeable]).toEqual([
      1,
      [expect.objectContaining({
        reason: `n2: another instance of placement group web is on the same node (cn-affinity-required)`,
      })],
    ]);
  });

  test("moves the instances of an affinity group to the node of the group's other instances, or all to one node if the group has no others", async () => {
    const nodes = snapshot(node(1), node(2), node(3), node(4));
    const targets = async (on: readonly string[]) =>
      (await drain(grouped("affinity", on), nodes)).placeable.map(({ target_cn_uuid }) => target_cn_uuid);
    const [first, second] = await targets([DRAINED, DRAINED]);
    expect(second).toBe(first);
    expect(await targets([DRAINED, DRAINED, uuid(4)])).toEqual([uuid(4), uuid(4)]);
  });

  test("lets the process do other work between two placements", async () => {
    let pauses = 0;
    let has_ended = false;
    const ended = drain([1, 2, 3].map((n) => instance(n)), snapshot(node(2))).then(() => (has_ended = true));
    for (; !has_ended; pauses++) await setImmediate();
    await ended;
    expect(pauses).toBeGreaterThanOrEqual(3);
  });

  test("never promises a slot twice: with two slots, two of three instances are placed", async () => {
    // The node has 64 GiB and each instance needs 32 GiB, so the node takes two instances.
    const preview = await drain([1, 2, 3].map((n) => instance(n)), snapshot(node(1), node(2)));
    expect(preview.placeable.map(({ target_cn_uuid }) => target_cn_uuid)).toEqual([uuid(2), uuid(2)]);
    expect(preview.not_placeable).toEqual([expect.objectContaining({
      instance_name: "vm-3",
      instance_ram_mb: 32_768,
      reason: "n2: 0 MiB of memory left of 65536, 32768 wanted (cn-ram-available)",
    })]);
    expect(preview).toMatchObject({ instances_on_cn: 3, capacity_ok: false, quorum_ok: true });
    expect(DrainPreview.parse(preview)).toEqual(preview);
  });

  test("places the largest instances first, so that small instances fill the gaps", async () => {
    const small = [1, 2].map((n) => instance(n, { memory_bytes: 16 * GIB }));
    const half = capacity({ ram_total_mb: 32_768 });
    const preview = await drain(
      [...small, instance(3)],
      snapshot(node(2, { capacity: half }), node(3, { capacity: half })),
    );
    expect(preview.placeable.map(({ instance_name }) => instance_name)).toEqual(["vm-3", "vm-1", "vm-2"]);
    expect(preview.capacity_ok).toBe(true);
  });

  test("never places an instance on the drained node itself, even if it has room", async () => {
    const preview = await drain([instance(1)], snapshot(node(1)));
    expect(preview.not_placeable[0]?.reason).toBe("there is no other approved node");
  });

  test("names the nodes with the fewest reasons against the instance first, and a command that removes a node's only reason", async () => {
    const full = { used: { cpu_units: 0, ram_mb: 65_536, disk_bytes: 0, instances: 1 } };
    const cordoned = (n: number, more = {}) =>
      node(n, { rules: { cordoned: true, cordoned_reason: "new disks" }, ...more });
    const nodes = snapshot(cordoned(2, full), node(3, full), cordoned(4), cordoned(5, full), cordoned(6, full));
    const [stays] = (await drain([instance(1)], nodes)).not_placeable;
    expect(stays?.reason).toBe(
      "n3: 0 MiB of memory left of 65536, 32768 wanted (cn-ram-available); n4: it is cordoned: new disks (cn-not-cordoned); " +
        "n2: it is cordoned: new disks (cn-not-cordoned), 0 MiB of memory left of 65536, 32768 wanted (cn-ram-available); and 2 more nodes",
    );
    expect(stays?.remedy).toBe("after opsctl cn uncordon n4, n4 can take it");
    const reserved = await drain([instance(1)], snapshot(node(2, { rules: { reserved: true } })));
    expect(reserved.not_placeable[0]).toMatchObject({
      reason: "n2: an operator reserved it (cn-not-reserved)",
      remedy: "after opsctl cn placement set n2 --reserved false, n2 can take it",
    });
    const draining = await drain(
      [instance(1)],
      snapshot(node(2, { rules: { cordoned: true, cordoned_reason: "drain" } })),
    );
    expect(draining.not_placeable[0]?.remedy).toMatch(/^make room on another node; /);
  });

  test("places no instance on a node with fewer processors than the instance has vCPUs", async () => {
    const larger = capacity({ cpu_threads_logical: 32 });
    const nodes = snapshot(node(2), node(3, { capacity: larger, rules: { cordoned: true } }));
    const [stays] = (await drain([instance(1, { cpu: 32 })], nodes)).not_placeable;
    expect(stays?.reason).toContain("n2: it has 16 processors, 32 wanted (cn-cpu-available)");
    expect(stays?.remedy).toBe("after opsctl cn uncordon n3, n3 can take it");
    const [none] = (await drain([instance(1, { cpu: 33 })], nodes)).not_placeable;
    const fewer = "add a node with 33 processors, or stop the instance and give it fewer vCPUs";
    expect(none?.remedy).toBe(fewer);
    // A node that has not reported its capacity takes no instance.
    const silent = node(4, { capacity: null });
    for (const [nodes, remedy] of [[snapshot(node(2), silent), fewer], [snapshot(silent), /^make room/]] as const) {
      const [stays] = (await drain([instance(1, { cpu: 33 })], nodes)).not_placeable;
      expect(stays?.remedy).toMatch(remedy);
    }
    const { placeable } = await drain([instance(1, { cpu: 17 })], snapshot(node(2), node(3, { capacity: larger })));
    expect(placeable.map(({ target_cn_uuid }) => target_cn_uuid)).toEqual([uuid(3)]);
  });

  test("of several nodes uses no slot twice, and moves no instance to one of these nodes", async () => {
    // Node 3, which is not drained, has 64 GiB. Each instance needs 32 GiB, so node 3 can take two.
    const drained = [1, 2].map((n) => ({
      server_uuid: uuid(n),
      capacity: capacity(),
      instances: [instance(2 * n), instance(2 * n + 1)].map((each) => ({ ...each, host_cn_uuid: uuid(n) })),
    }));
    const [first, second] = await previewDrains(drained, snapshot(node(1), node(2), node(3)), SPREAD, setImmediate);
    expect(first!.placeable.map(({ target_cn_uuid }) => target_cn_uuid)).toEqual([uuid(3), uuid(3)]);
    expect(second).toMatchObject({ instances_on_cn: 2, placeable: [], capacity_ok: false });
    expect(second!.not_placeable.map(({ reason }) => reason)).toEqual([
      "n3: 0 MiB of memory left of 65536, 32768 wanted (cn-ram-available)",
      "n3: 0 MiB of memory left of 65536, 32768 wanted (cn-ram-available)",
    ]);
  });

  test("of a node without instances has empty lists and capacity_ok false", async () => {
    expect(await drain([], snapshot(node(1), node(2)))).toEqual({
      instances_on_cn: 0,
      placeable: [],
      not_placeable: [],
      capacity_ok: false,
      quorum_ok: true,
      quorum_at_risk: [],
    });
  });

  test("places a running instance only on a node that has every CPU feature of its present node, and a stopped one on any node", async () => {
    const elsewhere = snapshot(node(2, { capacity: capacity({ cpu_features: [] }) }));
    expect((await drain([instance(1)], elsewhere)).not_placeable).toHaveLength(1);
    expect((await drain([instance(1, { state: "stopped" })], elsewhere)).placeable).toHaveLength(1);
  });

  test("spreads a tenant's instances over fault domains", async () => {
    const nodes = snapshot(
      node(2, { rules: { fault_domain: "a" } }),
      node(3, { rules: { fault_domain: "b" } }),
    );
    const one = { memory_bytes: GIB };
    const preview = await drain([instance(1, one), instance(2, one)], nodes);
    expect(new Set(preview.placeable.map(({ target_cn_uuid }) => target_cn_uuid)).size).toBe(2);
  });

  test("lists instances whose names look like members of a quorum", async () => {
    const names = ["web-1", "etcd-2", "prod-consul", "vault01", "MongoDB-a", "my_zk_3"];
    const preview = await drain(names.map((name, n) => instance(n, { name, memory_bytes: GIB })), snapshot(node(2)));
    expect(preview).toMatchObject({
      quorum_ok: false,
      quorum_at_risk: ["MongoDB-a", "etcd-2", "my_zk_3", "prod-consul", "vault01"],
    });
  });

  test.each(["raftery", "vaulted", "consulting", "kafkaesque", "web"])(
    "does not count %s as a quorum member",
    (name) => {
      expect(looksLikeQuorum(name)).toBe(false);
    },
  );
});
