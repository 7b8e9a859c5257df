// What is asked of instances so that each of their sagas runs, and how the database must look when it has, or when it was
// undone. A step of a saga that no scenario goes through fails the suite (instance-steps.test.ts).
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Message } from "../../actors/engine/types.ts";
import type { Dump } from "../harness/dump.ts";
import { GIB, type InstanceSagas, LIMIT_MS } from "./instance-sagas.ts";

export type Begun = {
  readonly saga_id: string;
  readonly instance_id: string;
  /** The database as it was before anything was asked. */
  readonly before: Dump;
};

export type Asked = Begun & { readonly message: Message };

export type Scenario = {
  readonly name: string;
  readonly saga: string;
  /** Those that commit together with the instance's own message. */
  readonly first: readonly string[];
  readonly later: readonly string[];
  /** Of the steps, those that are undone when a later one fails; and the one that is a job, when there is one. */
  readonly undone: readonly string[];
  readonly job: string | null;
  readonly ask: (p: InstanceSagas) => Promise<Asked>;
  /** What is there when it has succeeded. */
  readonly expectDone: (p: InstanceSagas, begun: Begun) => Promise<void>;
  /** What is there when its node has failed the job; of what nobody had begun, everything is as before. */
  readonly expectFailed: (p: InstanceSagas, begun: Begun, reason: string) => Promise<void>;
};

async function isBefore(p: InstanceSagas, { before }: Begun): Promise<void> {
  expect(await p.left(before)).toEqual([]);
}

async function expectState(p: InstanceSagas, { instance_id }: Begun, state: string, reason: string | null = null) {
  expect(await p.instanceOf(instance_id)).toEqual({ state, reason, operation_id: null, job_begun: false });
}

async function creating(p: InstanceSagas): Promise<Asked> {
  const message = p.creation();
  return { saga_id: message.operation_id, instance_id: message.id, before: await p.dump(), message };
}

function onInstance(prepare: (p: InstanceSagas) => Promise<string>, what: (id: string) => object, type: string) {
  return async (p: InstanceSagas): Promise<Asked> => {
    const instance_id = await prepare(p);
    const saga_id = randomUUID();
    const message = { type, operation_id: saga_id, limit_ms: LIMIT_MS, ...what(instance_id) };
    return { saga_id, instance_id, before: await p.dump(), message };
  };
}

async function expectGone(p: InstanceSagas, { instance_id, before }: Begun): Promise<void> {
  expect(await p.instanceOf(instance_id)).toBeUndefined();
  const left = await p.left(before);
  expect(left.filter((each) => each.startsWith("+") && each.includes(instance_id))).toEqual([]);
  for (const table of ["instance", "nic", "disk", "instance_user_data"]) {
    expect(left.filter((each) => each.startsWith(`- ${table}:`))).toHaveLength(1);
  }
}

const LIFECYCLE = {
  saga: "instance-lifecycle",
  first: ["transition_lifecycle"],
  later: ["act", "finish"],
  undone: ["transition_lifecycle"],
  job: "act",
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

/** Puts the one disk of the instance into the message that resizes it. */
async function resizing(p: InstanceSagas): Promise<Asked> {
  const asked = await onInstance((plane) => plane.running(), () => ({}), "resize_disk")(p);
  const { rows } = await p.db.query("select id from disk where instance_id = $1", [asked.instance_id]);
  return { ...asked, message: { ...asked.message, disk_id: rows[0].id, size_bytes: 3 * GIB } };
}

async function diskOf(p: InstanceSagas, { instance_id }: Begun) {
  const { rows } = await p.db.query("select size_bytes, applied_bytes from disk where instance_id = $1", [instance_id]);
  return rows;
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "create",
    saga: "instance-create",
    first: ["create_instance_record", "designate"],
    later: ["provision", "finish"],
    undone: ["create_instance_record", "designate", "provision"],
    job: "provision",
    ask: creating,
    expectDone: async (p, begun) => {
      await expectState(p, begun, "running");
      const added = (await p.left(begun.before)).filter((each) => each.startsWith("+"));
      for (const table of ["instance", "nic", "disk", "instance_user_data"]) {
        expect(added.filter((each) => each.startsWith(`+ ${table}:`))).toHaveLength(1);
      }
    },
    // Everything is taken back.
    expectFailed: isBefore,
  },
  lifecycle("stop", "stopped", (p) => p.running()),
  lifecycle("start", "running", (p) => p.stopped()),
  lifecycle("retry", "running", (p) => p.failed()),
  {
    name: "delete",
    saga: "instance-delete",
    first: ["begin"],
    later: ["delete", "release_record", "finish"],
    undone: ["begin"],
    job: "delete",
    ask: onInstance((p) => p.stopped(), () => ({}), "delete"),
    expectDone: expectGone,
    expectFailed: isBefore,
  },
  {
    name: "force",
    saga: "instance-delete",
    first: ["begin", "delete", "release_record"],
    later: ["finish"],
    undone: [],
    job: null,
    ask: onInstance((p) => p.running(), () => ({ job_id: randomUUID() }), "force_delete"),
    expectDone: expectGone,
    expectFailed: isBefore,
  },
  {
    name: "resize",
    saga: "disk-resize",
    first: ["grow_record"],
    later: ["resize", "finish"],
    undone: [],
    job: "resize",
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
