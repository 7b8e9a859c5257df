// Tests the mapping between the state of a floating IP and its row. The mapping must keep everything, including the
// data about the job that an operation waits for.
import { describe, expect, test } from "vitest";
import type { FloatingIpMessage } from "../../actors/floating-ip/messages.ts";
import { type FloatingIpRow, rowOf, servedNic, stateOf } from "../../actors/floating-ip/row.ts";
import type { FloatingIpState } from "../../actors/floating-ip/state.ts";
import { floatingIpAttach } from "../../actors/sagas/floating-ip-attach.ts";
import { floatingIp } from "../../actors/floating-ip/transition.ts";

const NOW = new Date("2026-01-01T00:00:00Z");
const LATER = new Date("2026-01-01T00:01:00Z");
const FIELDS = {
  id: "fip",
  tenant_id: "tenant",
  project_id: "project",
  name: "web",
  description: "",
  labels: { tier: "front" },
  address: "203.0.113.7",
  family: "v4",
  pool_id: "pool",
  network_id: "network",
  external_nic_tag: "external",
  vlan_id: 7,
  generation: 3,
  created_at: NOW,
  updated_at: NOW,
} as const;
const OLD = { nic_id: "old-nic", instance_id: "old", host_cn_uuid: "old-node", vpc_id: "old-vpc" };
const NEW = { nic_id: "new-nic", instance_id: "new", host_cn_uuid: "new-node", vpc_id: "new-vpc" };
const OPERATION = { operation_id: "operation", from: OLD };
const ATTACHING = { ...FIELDS, ...OPERATION, state: "attaching", to: NEW, lost_cn: null } as const;
const RECLAIM = { ...OPERATION, state: "reclaiming", reclaimed_as: "job" } as const;

const STATES: Readonly<Record<string, FloatingIpState>> = {
  detached: { ...FIELDS, state: "detached" },
  attached: { ...FIELDS, state: "attached", bound: OLD },
  attaching: ATTACHING,
  "attaching without an old binding": { ...ATTACHING, from: null },
  "attaching after the old instance was deleted": { ...ATTACHING, from: null, lost_cn: "old-node" },
  "attaching to a deleted instance": { ...ATTACHING, to: null },
  detaching: { ...FIELDS, ...OPERATION, state: "detaching" },
  "detaching from nothing": { ...FIELDS, ...OPERATION, state: "detaching", from: null },
  "reclaiming after an attach": { ...FIELDS, ...RECLAIM, operation_kind: "attach", to: NEW },
  "reclaiming after a detach": { ...FIELDS, ...RECLAIM, operation_kind: "detach", to: null },
};

test.each(Object.entries(STATES))("the row of %s maps back to the same state", (_name, state) => {
  expect(stateOf(rowOf(state))).toEqual(state);
  expect(rowOf(state).state).toBe("live");
});

function decide(state: FloatingIpState, message: FloatingIpMessage) {
  const out = floatingIp.step(rowOf(state), message, LATER);
  if (out.out !== "go") return out;
  return { next: out.next && stateOf(out.next as FloatingIpRow), parts: out.parts };
}

describe("the deletion of an instance", () => {
  const gone = (instance_id: string) => ({ type: "instance_gone", instance_id, forced: null }) as const;
  const toSaga = (message: unknown) => ({ part: "tell", to: { kind: "saga", id: "operation" }, message });

  test("detaches a floating IP that is attached to the instance", () => {
    expect(decide(STATES["attached"]!, gone("old"))).toMatchObject({ next: { state: "detached" } });
    expect(decide(STATES["attached"]!, gone("other"))).toEqual({ out: "ignore" });
  });

  test("abandons an attach that is binding a floating IP to the instance", () => {
    const { next, parts } = decide(STATES["attaching"]!, gone("new")) as { next: FloatingIpState; parts: unknown[] };
    expect(next).toMatchObject({ state: "attaching", to: null, from: OLD });
    expect(parts).toContainEqual(toSaga({ type: "abandon" }));
  });

  test("ends the wait of a rollback that is binding a floating IP to the instance again", () => {
    const { next, parts } = decide(STATES["reclaiming after an attach"]!, gone("old")) as {
      next: FloatingIpState;
      parts: unknown[];
    };
    expect(next).toMatchObject({ state: "attaching", to: NEW, from: null, lost_cn: "old-node" });
    expect(parts).toContainEqual(toSaga({ type: "job_ended", job_id: "job", outcome: "completed" }));
  });
});

test("no sequence of messages puts an address into a document before its move has ended", () => {
  const operation_id = "operation";
  const messages: readonly FloatingIpMessage[] = [
    { type: "instance_gone", instance_id: "old", forced: "delete" },
    { type: "instance_gone", instance_id: "new", forced: "delete" },
    { type: "instance_moved", instance_id: "old", host_cn_uuid: "third-node", operation_id: "migration" },
    { type: "update", name: null, description: "moves" },
    { type: "reclaim", operation_id, told_as: "job", waits: true },
    { type: "reclaim", operation_id, told_as: "job", waits: false },
    { type: "attached", operation_id },
    { type: "restore", operation_id, reason: "timeout" },
    { type: "withdraw", operation_id },
  ];
  const seen = new Set<string>();
  const follow = (row: FloatingIpRow) => {
    const key = JSON.stringify({ ...row, generation: Math.min(row.generation, 5) });
    if (seen.has(key) || row.operation_id === null) return;
    seen.add(key);
    expect(servedNic(row)).toBeNull();
    for (const message of messages) {
      const out = floatingIp.step(row, message, NOW);
      if (out.out === "go" && out.next !== null) follow(out.next as FloatingIpRow);
    }
  };
  follow(rowOf(STATES["attaching"]!));
  expect(seen.size).toBeGreaterThan(10);
});

test("the undo of a first attach sends the release only in the commit that removes the address from the new node's documents", () => {
  const undo = floatingIpAttach.steps.find(({ name }) => name === "claim")!.undo!;
  const bound = { floating_ip_id: "fip", fip_addr: FIELDS.address, external_nic_tag: null, vlan_id: null };
  const undone = (held: unknown) =>
    undo({ params: { bound, to: { ...NEW, generation: 4 }, held }, saga_id: "operation" });
  const job = { kind: "fip_release", target_cn: "new-node", payload: { nic_id: "new-nic", vpc_id: "new-vpc" } };
  expect(undone(null).parts).toEqual([]);
  expect(undone({ ...OLD, generation: 3, live: true }).parts).toMatchObject([{ message: job }]);
  const restore = { type: "restore", operation_id: "operation", reason: "timeout" } as const;
  const first = decide(STATES["attaching without an old binding"]!, restore) as { readonly parts: readonly unknown[] };
  expect(first.parts).toContainEqual(expect.objectContaining({ message: expect.objectContaining({ kind: job.kind }) }));
});

describe("a rollback", () => {
  const reclaim = (waits: boolean) => ({ type: "reclaim", operation_id: "operation", told_as: "job", waits }) as const;

  test("that waits for the old node sets the state reclaiming until the binding is restored", () => {
    const { next } = decide(STATES["detaching"]!, reclaim(true)) as { next: FloatingIpState };
    expect(next).toMatchObject({ state: "reclaiming", operation_kind: "detach", reclaimed_as: "job", generation: 4 });
    const restored = decide(next, { type: "restore", operation_id: "operation", reason: "timeout" });
    expect(restored).toMatchObject({ next: { state: "attached", bound: OLD, generation: 4 } });
  });

  test("that does not wait increments the generation and keeps the state", () => {
    expect(decide(STATES["attaching"]!, reclaim(false))).toMatchObject({ next: { state: "attaching", generation: 4 } });
  });

  test("of another operation changes nothing", () => {
    const other = { type: "restore", operation_id: "other", reason: "timeout" } as const;
    expect(decide(STATES["attaching"]!, other)).toEqual({ out: "ignore" });
  });
});
