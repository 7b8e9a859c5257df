// Tests the claim of a job in the commit that creates its instance (docs/architecture.md, "Sagas, jobs and tells").
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Out } from "../../actors/engine/types.ts";
import { waitId } from "../../actors/engine/saga.ts";
import { INSTANCE_CREATE } from "../../actors/instance/operation.ts";
import { sagaBehavior } from "../../actors/saga/transition.ts";
import type { SagaMessage } from "../../actors/saga/messages.ts";
import type { SagaState } from "../../actors/saga/state.ts";
import { instanceCreate } from "../../actors/sagas/instance-create.ts";

const { step } = sagaBehavior([instanceCreate]);
const [host, other] = [randomUUID(), randomUUID()];
const origin = { actor: { kind: "system" }, request_id: "the node's" } as const;
const NOW = new Date("2026-11-29T00:00:00Z");

/** Starts the operation while a request of this node waits. Returns the operation's id and the messages to its job. */
function started(waits: string) {
  const id = randomUUID();
  const instance_id = randomUUID();
  const message: SagaMessage = {
    type: "start",
    id,
    saga: INSTANCE_CREATE.saga,
    params: { instance_id, host_cn_uuid: host, limit_ms: 1_000, instance: {} },
    references: [],
    done: { [INSTANCE_CREATE.record]: { instance_id }, [INSTANCE_CREATE.host]: { host_cn_uuid: host } },
    waiting_node: { server_uuid: waits, lease_s: 600, origin },
  };
  const out: Out<SagaState> = step(null, message, NOW);
  if (out.out !== "go") throw new Error("the operation did not start");
  return { id, parts: out.parts.filter((part) => part.part === "with") };
}

test("the start of the operation claims the job for the waiting node, with the origin of the node's request", () => {
  const { id, parts } = started(host);
  const to = { kind: "job", id: waitId(id, INSTANCE_CREATE.job) };
  expect(parts).toMatchObject([
    { to, message: { type: "enqueue", target_cn: host } },
    { to, message: { type: "assign", by: host, lease_s: 600 }, origin },
  ]);
});

test("the start of the operation does not claim a job for another node than the waiting one", () => {
  expect(started(other).parts).toMatchObject([{ message: { type: "enqueue", target_cn: host } }]);
});
