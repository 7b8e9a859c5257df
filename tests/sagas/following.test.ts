// Tests following steps. A following step is committed together with the message that led to it
// (actors/engine/saga.ts).
import { expect, test } from "vitest";
import { guard, withActor, withNewActor } from "../../actors/engine/effects.ts";
import { job, saga, wait, waitId, write } from "../../actors/engine/saga.ts";
import { instanceTable } from "../../actors/instance/transition.ts";
import { sagas } from "../../actors/registry.ts";
import type { SagaMessage } from "../../actors/saga/messages.ts";
import type { SagaState } from "../../actors/saga/state.ts";
import { sagaBehavior } from "../../actors/saga/transition.ts";

const NOW = new Date("2026-01-01T00:00:00Z");
const lamp = withActor({ kind: "lamp", id: "l" }, { type: "switch_on" });
const gate = guard("vni_is_free", { vni: 1 }, "the gate is closed");
const toNode = (limit_ms: number) => ({ kind: "work", target_cn: "n", payload: {}, limit_ms });

const PLAIN = saga("plain")
  .step("begun", { do: () => write({ begun: true }) })
  .step("work", { kind: "job", follows: true, do: (c) => job(toNode(c.begun.begun ? 60_000 : 0)) })
  .step("finish", { follows: true, do: (c) => write({ made: c.work }, lamp) });
const GUARDED = saga("guarded")
  .step("begun", { do: () => write(null) })
  .step("work", { kind: "job", follows: true, do: () => job(toNode(60_000), gate) });
const ALONE = saga("alone").step("begun", { do: () => write(null) }).step("later", { do: () => write(null, lamp) });
const WAITS = saga("waits").step("begun", { do: () => write(null) })
  .step("report", { kind: "wait", follows: true, do: () => wait(60_000) });

const { step } = sagaBehavior([PLAIN, GUARDED, ALONE, WAITS] as never);

function send(state: SagaState | null, message: SagaMessage) {
  const out = step(state, message, NOW);
  if (out.out !== "go" || out.next === null) throw new Error(`the saga did not move: ${JSON.stringify(out)}`);
  return { next: out.next, parts: out.parts };
}

const start = (name: string) =>
  send(null, { type: "start", id: "s", saga: name, params: null, references: [], done: { begun: { begun: true } } });

test("if a job's step follows the first step, the commit that starts the saga also queues the job", () => {
  const { next, parts } = start("plain");
  const id = waitId("s", "work");
  expect(next).toMatchObject({ state: "running", step: "work", job_id: id, due_at: new Date(NOW.getTime() + 60_000) });
  expect(next.steps["work"]).toMatchObject({ status: "running", job_id: id });
  const enqueue = { type: "enqueue", id, kind: "work", target_cn: "n", payload: {}, saga_id: "s" };
  expect(parts).toEqual([withNewActor({ kind: "job", id }, enqueue)]);
});

test("a step that follows a job is committed together with the job's end, and gets the job's output", () => {
  const { next, parts } = send(start("plain").next, {
    type: "job_ended",
    job_id: waitId("s", "work"),
    outcome: "completed",
    result: "a wall",
  });
  expect(next).toMatchObject({
    state: "succeeded",
    done_at: NOW,
    outputs: { work: "a wall", finish: { made: "a wall" } },
  });
  expect(Object.values(next.steps).map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
  expect(parts).toEqual([lamp]);
});

test("a failed job unwinds the saga, and no later step runs", () => {
  const { next, parts } = send(start("plain").next, {
    type: "job_ended",
    job_id: waitId("s", "work"),
    outcome: "failed",
    reason: "no bricks",
  });
  expect(next).toMatchObject({ state: "unwound", error: "no bricks" });
  expect(next.steps["finish"]).toMatchObject({ status: "pending" });
  expect(parts).toEqual([]);
});

test.each([
  ["a step with a condition", "guarded", "work"],
  ["a step without `follows`", "alone", "later"],
  ["a wait", "waits", "report"],
])("%s gets a commit of its own", (_which, name, at) => {
  const { next, parts } = start(name);
  expect(next).toMatchObject({ state: "running", step: at, job_id: null, due_at: NOW });
  expect(next.steps[at]).toMatchObject({ status: "pending" });
  expect(parts).toEqual([]);
});

test("the transition table of instances refuses no message that a following step sends", () => {
  const following = sagas.flatMap(({ name, steps }) =>
    steps.filter(({ follows }) => follows).map((each) => `${name}:${each.name}`)
  );
  expect(following).toEqual([
    "cn-drain-label:begin",
    "cn-upgrade-label:begin",
    "instance-create:provision",
    "instance-create:finish",
    "instance-lifecycle:act",
    "instance-lifecycle:finish",
    "instance-delete:delete",
    "instance-delete:finish",
    "disk-change:act",
    "disk-change:finish",
    "image-create:send",
    "image-create:finish",
    "instance-migrate:receive",
    "instance-migrate:send",
    "instance-migrate:finish",
    "instance-evacuate:provision",
    "instance-evacuate:rest",
    "instance-evacuate:finish",
    "instance-rebuild:rebuild",
    "instance-rebuild:record_image",
    "instance-rebuild:finish",
    "disk-resize:resize",
    "disk-resize:finish",
  ]);
  // The messages of these steps must be accepted or ignored in every state.
  for (const type of ["settle", "disk_applied", "disk_changed", "evacuated", "rebuilt"] as const) {
    for (const cell of Object.values(instanceTable[type])) {
      expect(cell === "ignore" || typeof cell === "function").toBe(true);
      if (typeof cell !== "function") continue;
      for (const operation_id of ["o", "another", null]) {
        const state = { operation_id, operation_kind: "create", disks: [], floating_ip_ids: [], state: "running" };
        const nodes = { source_cn: "a", target_cn: "b", delete_job_id: "j" };
        const message = { type, operation_id: "o", to: "running", disk_id: "d", size_bytes: 1, ...nodes };
        expect(cell(state as never, message as never, NOW).out).not.toBe("refuse");
      }
    }
  }
});
