// Defines scenarios for the sagas of instances and floating IPs, with the expected database after the saga succeeded
// and after it was undone. The suite (instance-steps.test.ts) fails if no scenario covers a step of a saga.
import { NO_QUOTA_DEFAULTS } from "../../src/contract/tenancy.ts";
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { ActorRef, Message } from "../../actors/engine/types.ts";
import type { Dump } from "../support/dump.ts";
import type { Bindable } from "./bare-fixture.ts";
import type { InstanceSagas } from "./instance-sagas.ts";
import { GIB, LIMIT_MS } from "./made-instances.ts";

export type Begun = {
  readonly saga_id: string;
  /** The actor that receives the message. */
  readonly to: ActorRef;
  /** A dump of the database before the message. */
  readonly before: Dump;
};

export type Asked = Begun & { readonly message: Message };

export type Scenario = {
  readonly name: string;
  readonly saga: string;
  /** The steps that are done in the commit of the message that starts the saga. */
  readonly first: readonly string[];
  readonly later: readonly string[];
  /** The steps that are undone when a later step fails. */
  readonly undone: readonly string[];
  /** The steps that are jobs. */
  readonly jobs: readonly string[];
  /** The jobs whose effect stays when a later step fails. */
  readonly kept?: readonly string[];
  /** The number of jobs that the operation sends and does not wait for. */
  readonly unawaited?: number;
  readonly ask: (p: InstanceSagas) => Promise<Asked>;
  /** Checks the database after the saga succeeded. */
  readonly expectDone: (p: InstanceSagas, begun: Begun) => Promise<void>;
  /** Checks the database after the job of this step failed. The node had claimed the job. */
  readonly expectFailed: (p: InstanceSagas, begun: Begun, reason: string, step: string) => Promise<void>;
};

async function isBefore(p: InstanceSagas, { before }: Begun): Promise<void> {
  expect(await p.left(before)).toEqual([]);
}

async function expectState(p: InstanceSagas, { to }: Begun, state: string, reason: string | null = null) {
  expect(await p.instanceOf(to.id)).toEqual({ state, reason, operation_id: null, job_begun: false });
}

async function creating(p: InstanceSagas): Promise<Asked> {
  const message = p.creation();
  return { saga_id: message.operation_id, to: { kind: "instance", id: message.id }, before: await p.dump(), message };
}

function onInstance(prepare: (p: InstanceSagas) => Promise<string>, what: (id: string) => object, type: string) {
  return async (p: InstanceSagas): Promise<Asked> => {
    const id = await prepare(p);
    const saga_id = randomUUID();
    const message = { type, operation_id: saga_id, limit_ms: LIMIT_MS, ...what(id) };
    return { saga_id, to: { kind: "instance", id }, before: await p.dump(), message };
  };
}

async function expectGone(p: InstanceSagas, { to: { id }, before }: Begun): Promise<void> {
  expect(await p.instanceOf(id)).toBeUndefined();
  const left = await p.left(before);
  expect(left.filter((each) => each.startsWith("+") && each.includes(id))).toEqual([]);
  for (const table of ["instance", "nic", "disk", "sealed_user_data"]) {
    expect(left.filter((each) => each.startsWith(`- ${table}:`))).toHaveLength(1);
  }
}

const LIFECYCLE = {
  saga: "instance-lifecycle",
  first: ["transition_lifecycle"],
  later: ["act", "finish"],
  undone: ["transition_lifecycle"],
  jobs: ["act"],
} as const;

function lifecycle(action: string, ends: string, prepare: (p: InstanceSagas) => Promise<string>): Scenario {
  return {
    ...LIFECYCLE,
    name: action,
    ask: onInstance(prepare, () => ({}), action),
    expectDone: (p, begun) => expectState(p, begun, ends),
    expectFailed: (p, begun, reason) => expectState(p, begun, "failed", reason),
  };
}

function migration(name: string, state: string, prepare: (p: InstanceSagas) => Promise<string>): Scenario {
  return {
    name,
    saga: "instance-migrate",
    first: ["begin"],
    later: ["receive", "send", "finish"],
    undone: ["begin", "receive", "send"],
    jobs: ["receive", "send"],
    unawaited: 2,
    ask: async (p) => {
      const more = { silo_id: p.silo_id, candidates: [p.other], bandwidth_bytes_per_s: GIB };
      return await onInstance(prepare, () => more, "migrate")(p);
    },
    expectDone: async (p, begun) => {
      await expectState(p, begun, state);
      const [source_cn, target_cn] = [p.node, p.other];
      expect(await p.migrationOf(begun.to.id)).toEqual([
        { host_cn_uuid: target_cn, source_cn, target_cn, state: "completed" },
      ]);
      const unawaited = "select kind, target_cn from job where saga_id = $1 and state = 'pending' order by kind";
      expect((await p.db.query(unawaited, [begun.saga_id])).rows).toEqual([
        { kind: "migrate_activate", target_cn },
        { kind: "migrate_clean", target_cn: source_cn },
      ]);
    },
    expectFailed: async (p, begun) => {
      expect(await p.left(begun.before)).toEqual([]);
      expect(await p.migrationOf(begun.to.id)).toMatchObject([{ host_cn_uuid: p.node, state: "failed" }]);
    },
  };
}

function evacuation(state: "running" | "stopped"): Scenario {
  return {
    name: `a ${state} instance's evacuation`,
    saga: "instance-evacuate",
    first: ["begin"],
    later: ["provision", "rest", "finish"],
    undone: ["begin", "provision"],
    jobs: state === "stopped" ? ["provision", "rest"] : ["provision"],
    unawaited: 1,
    ask: async (p) => {
      const more = { silo_id: p.silo_id, from_cn: p.silent, candidates: [p.other] };
      return await onInstance((plane) => plane.onSilent(state), () => more, "evacuate")(p);
    },
    expectDone: async (p, begun) => {
      await expectState(p, begun, state);
      const [source_cn, target_cn] = [p.silent, p.other];
      expect(await p.migrationOf(begun.to.id)).toEqual([
        { host_cn_uuid: target_cn, source_cn, target_cn, state: "completed" },
      ]);
      const unawaited = "select kind, target_cn from job where saga_id = $1 and state = 'pending'";
      expect((await p.db.query(unawaited, [begun.saga_id])).rows).toEqual([{ kind: "delete", target_cn: source_cn }]);
    },
    expectFailed: async (p, begun) => {
      expect(await p.left(begun.before)).toEqual([]);
      expect(await p.migrationOf(begun.to.id)).toMatchObject([{ host_cn_uuid: p.silent, state: "failed" }]);
    },
  };
}

function rebuilding(
  ends: "running" | "stopped",
  name: string,
  prepare: (p: InstanceSagas) => Promise<string>,
): Scenario {
  const images = async (p: InstanceSagas, { to }: Begun) => {
    const { rows } = await p.db.query(
      "select image_id, source_image_id, applied_bytes = size_bytes as applied " +
        "from instance i join disk d on d.instance_id = i.id where i.id = $1",
      [to.id],
    );
    return rows;
  };
  return {
    name: `the rebuild of a ${name} instance`,
    saga: "instance-rebuild",
    first: ["begin"],
    later: ["rebuild", "record_image", "start", "finish"],
    undone: ["begin"],
    jobs: ends === "stopped" ? ["rebuild"] : ["rebuild", "start"],
    kept: ["rebuild"],
    ask: async (p) => {
      const image = { id: p.other_image, bytes: 2 * GIB, brand: "kvm" };
      return await onInstance(prepare, () => ({ image }), "rebuild")(p);
    },
    expectDone: async (p, begun) => {
      await expectState(p, begun, ends);
      expect(await images(p, begun)).toEqual([
        { image_id: p.other_image, source_image_id: p.other_image, applied: true },
      ]);
    },
    expectFailed: async (p, begun, reason, step) => {
      await expectState(p, begun, "failed", reason);
      const image_id = step === "start" ? p.other_image : p.image;
      expect(await images(p, begun)).toEqual([{ image_id, source_image_id: image_id, applied: true }]);
    },
  };
}

/** Creates an instance and the message that resizes its only disk. */
async function resizing(p: InstanceSagas): Promise<Asked> {
  const asked = await onInstance((plane) => plane.running(), () => ({}), "resize_disk")(p);
  const { rows } = await p.db.query("select id from disk where instance_id = $1", [asked.to.id]);
  return {
    ...asked,
    message: { ...asked.message, disk_id: rows[0].id, size_bytes: 3 * GIB, quota_defaults: NO_QUOTA_DEFAULTS },
  };
}

async function diskOf(p: InstanceSagas, { to }: Begun) {
  const { rows } = await p.db.query("select size_bytes, applied_bytes from disk where instance_id = $1", [to.id]);
  return rows;
}

type Of = (pair: readonly [Bindable, Bindable]) => Bindable | null;

/**
 * Returns a function that creates a floating IP and the message that attaches or detaches it. `from` selects the NIC
 * that has the address before the operation, `onto` the NIC that has it afterwards.
 */
function binding(type: "attach" | "detach", { from, onto }: { readonly from: Of; readonly onto: Of }) {
  return async (p: InstanceSagas): Promise<Asked> => {
    const pair = await p.bindable();
    const id = await p.floatingIp(from(pair));
    const saga_id = randomUUID();
    const message = { type, operation_id: saga_id, limit_ms: LIMIT_MS, ...onto(pair) };
    return { saga_id, to: { kind: "floating-ip", id }, before: await p.dump(), message };
  };
}

async function expectBound(p: InstanceSagas, { to }: Begun, onto: Of): Promise<void> {
  const target = onto(await p.bindable());
  expect(await p.floatingIpOf(to.id)).toEqual({
    attached_to: target?.nic_id ?? null,
    attached_instance_id: target?.instance_id ?? null,
    hosted_cn: target?.host_cn_uuid ?? null,
    operation_id: null,
    prior_nic_id: null,
  });
}

/** Creates an instance with a data disk and the message that changes this disk. */
function changingDisk(type: string, attached: boolean) {
  return async (p: InstanceSagas): Promise<Asked> => {
    const disk_id = randomUUID();
    const prepare = async (plane: InstanceSagas) => {
      const id = await plane.running();
      await plane.dataDisk(id, { id: disk_id, attached });
      return id;
    };
    return await onInstance(prepare, () => ({ disk_id }), type)(p);
  };
}

async function creatingDisk(p: InstanceSagas): Promise<Asked> {
  const disk = { id: randomUUID(), name: "data", description: "", size_bytes: GIB };
  return await onInstance(
    (plane) => plane.running(),
    () => ({ disk, quota_defaults: NO_QUOTA_DEFAULTS }),
    "create_disk",
  )(p);
}

/** Creates an instance and the message that copies its boot disk into a snapshot. */
async function creatingSnapshot(p: InstanceSagas): Promise<Asked> {
  const asked = await onInstance((plane) => plane.running(), () => ({}), "create_snapshot")(p);
  const { rows } = await p.db.query("select id from disk where instance_id = $1", [asked.to.id]);
  const snapshot = { id: randomUUID(), name: "before", description: "" };
  const more = { disk_id: rows[0].id, snapshot, quota_defaults: NO_QUOTA_DEFAULTS };
  return { ...asked, message: { ...asked.message, ...more } };
}

async function deletingSnapshot(p: InstanceSagas): Promise<Asked> {
  const disk_id = randomUUID();
  const prepare = async (plane: InstanceSagas) => {
    const id = await plane.running();
    await plane.snapshot(id, disk_id);
    return id;
  };
  return await onInstance(prepare, () => ({ disk_id }), "delete_snapshot")(p);
}

/**
 * Creates an instance with a snapshot, and the message that makes an image of the snapshot. The upload has all its
 * bytes and its digest already, because these tests have no agent.
 */
async function creatingImage(p: InstanceSagas): Promise<Asked> {
  const [snapshot_id, upload_id] = [randomUUID(), randomUUID()];
  const name = `image-${upload_id}`;
  const image = { name, description: "", labels: {}, os: "linux", os_version: "1", compatibility: null };
  const prepare = async (plane: InstanceSagas) => {
    const id = await plane.running();
    await plane.snapshot(id, snapshot_id);
    return id;
  };
  const asked = await onInstance(prepare, () => ({ snapshot_id, upload_id, image }), "create_image")(p);
  await p.db.query(
    `insert into image_upload (id, incarnation, version, state, tenant_id, project_id, operation_id, name, description, os,
       os_version, size_bytes, received_bytes, sha256, created_at, expires_at)
     select $1, gen_random_uuid(), 1, 'open', tenant_id, project_id, $2, $3, '', 'linux', '1', 1, 1, $4, berth_now(),
            berth_now() + interval '1 year' from instance where id = $5`,
    [upload_id, asked.saga_id, name, upload_id.replaceAll("-", "").repeat(2), asked.to.id],
  );
  return asked;
}

function snapshotChange(type: string, ask: Scenario["ask"], ends: readonly string[]): Scenario {
  return {
    ...diskChange(type, ask, []),
    expectDone: async (p, begun) => {
      await expectState(p, begun, "running");
      const of = [begun.to.id];
      const { rows } = await p.db.query(
        "select consistency from disk where instance_id = $1 and kind = 'snapshot'",
        of,
      );
      expect(rows.map(({ consistency }) => consistency)).toEqual(ends);
    },
  };
}

function diskChange(type: string, ask: Scenario["ask"], ends: readonly boolean[]): Scenario {
  return {
    name: type,
    saga: "disk-change",
    first: ["begin"],
    later: ["act", "finish"],
    undone: ["begin"],
    jobs: ["act"],
    ask,
    expectDone: async (p, begun) => {
      await expectState(p, begun, "running");
      const of = [begun.to.id];
      const { rows } = await p.db.query("select attached from disk where instance_id = $1 and kind = 'data'", of);
      expect(rows.map(({ attached }) => attached)).toEqual(ends);
    },
    expectFailed: isBefore,
  };
}

export const SCENARIOS: readonly Scenario[] = [
  diskChange("create_disk", creatingDisk, [true]),
  diskChange("attach_disk", changingDisk("attach_disk", false), [true]),
  diskChange("detach_disk", changingDisk("detach_disk", true), [false]),
  // The node of these tests reports no result, so the snapshot has the weakest consistency.
  snapshotChange("create_snapshot", creatingSnapshot, ["crash"]),
  snapshotChange("delete_snapshot", deletingSnapshot, []),
  diskChange("delete_disk", changingDisk("delete_disk", false), []),
  {
    name: "create_image",
    saga: "image-create",
    first: ["begin"],
    later: ["send", "digest", "publish", "finish"],
    undone: ["begin"],
    jobs: ["send"],
    ask: creatingImage,
    expectDone: async (p, begun) => {
      await expectState(p, begun, "running");
      const changed = (await p.left(begun.before)).map((each) => each.split(":")[0]);
      expect(changed).toContain("+ image");
      expect(changed).not.toContain("+ image_upload");
    },
    expectFailed: isBefore,
  },
  {
    name: "create",
    saga: "instance-create",
    first: ["create_instance_record", "designate"],
    later: ["provision", "finish"],
    undone: ["create_instance_record", "designate", "provision"],
    jobs: ["provision"],
    ask: creating,
    expectDone: async (p, begun) => {
      await expectState(p, begun, "running");
      const added = (await p.left(begun.before)).filter((each) => each.startsWith("+"));
      for (const table of ["instance", "nic", "disk", "sealed_user_data"]) {
        expect(added.filter((each) => each.startsWith(`+ ${table}:`))).toHaveLength(1);
      }
    },
    // A failed job undoes the whole saga.
    expectFailed: isBefore,
  },
  lifecycle("stop", "stopped", (p) => p.running()),
  {
    ...lifecycle("reset", "running", (p) => p.running()),
    expectFailed: (p, begun) => expectState(p, begun, "running"),
  },
  lifecycle("start", "running", (p) => p.stopped()),
  lifecycle("retry", "running", (p) => p.failed()),
  {
    name: "delete",
    saga: "instance-delete",
    first: ["begin"],
    later: ["delete", "release_record", "finish"],
    undone: ["begin"],
    jobs: ["delete"],
    ask: onInstance((p) => p.stopped(), () => ({}), "delete"),
    expectDone: expectGone,
    expectFailed: isBefore,
  },
  {
    name: "force",
    unawaited: 1,
    saga: "instance-delete",
    first: ["begin", "delete", "release_record"],
    later: ["finish"],
    undone: [],
    jobs: [],
    ask: onInstance((p) => p.running(), () => ({ job_id: randomUUID() }), "force_delete"),
    expectDone: expectGone,
    expectFailed: isBefore,
  },
  migration("a stopped instance's migration", "stopped", (p) => p.stopped()),
  migration("a running instance's migration", "running", (p) => p.running()),
  rebuilding("running", "running", (p) => p.running()),
  rebuilding("stopped", "stopped", (p) => p.stopped()),
  rebuilding("running", "failed", (p) => p.failed()),
  evacuation("stopped"),
  evacuation("running"),
  {
    name: "move",
    saga: "floating-ip-attach",
    first: ["attach"],
    later: ["release", "claim", "finish"],
    undone: ["attach", "release", "claim"],
    jobs: ["release", "claim"],
    ask: binding("attach", { from: ([one]) => one, onto: ([_one, two]) => two }),
    expectDone: (p, begun) => expectBound(p, begun, ([_one, two]) => two),
    expectFailed: isBefore,
  },
  {
    name: "detach",
    saga: "floating-ip-detach",
    first: ["begin"],
    later: ["release", "finish"],
    undone: ["begin", "release"],
    jobs: ["release"],
    ask: binding("detach", { from: ([one]) => one, onto: () => null }),
    expectDone: (p, begun) => expectBound(p, begun, () => null),
    expectFailed: isBefore,
  },
  {
    name: "resize",
    saga: "disk-resize",
    first: ["grow_record"],
    later: ["resize", "finish"],
    undone: [],
    jobs: ["resize"],
    ask: resizing,
    expectDone: async (p, begun) => {
      expect(await diskOf(p, begun)).toEqual([{ size_bytes: 3 * GIB, applied_bytes: 3 * GIB }]);
      await expectState(p, begun, "running");
    },
    expectFailed: async (p, begun) => {
      expect(await diskOf(p, begun)).toEqual([{ size_bytes: 3 * GIB, applied_bytes: 2 * GIB }]);
      await expectState(p, begun, "running");
    },
  },
];
