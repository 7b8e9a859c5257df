// Waits until the operations of a manifest's instances have ended. An interrupted `apply` leaves such operations: the
// server continues with them. Until an operation ends, the server refuses to change or delete its instance. A failed
// creation deletes its instance.
import { INSTANCE_CREATE_WAIT_S } from "../../../src/contract/limits.ts";
import type { OperationSummary } from "../../../src/contract/operation.ts";
import { pause } from "../../internal/api.ts";
import { inParallel } from "../../internal/in-parallel.ts";
import type { Plan } from "../../internal/manifest/plan.ts";
import type { Manifest } from "../../internal/manifest/read.ts";
import type { Settled } from "../../internal/manifest/verbs.ts";
import { statusLine } from "../../internal/status-line.ts";
import type { TenantIo } from "../open-io.ts";
import { type Project, REQUESTS_AT_A_TIME } from "./project.ts";

const PERIOD_MS = 1_000;
/**
 * The server's default time limit of an operation. After this time the plan runs anyway, and the server refuses the
 * steps that must wait.
 */
const LIMIT_MS = INSTANCE_CREATE_WAIT_S * 1_000;
const MOVING: readonly OperationSummary["state"][] = ["pending", "running", "unwinding"];

type Given = { readonly plan: Plan; readonly manifest: Manifest | null; readonly project: Project };

/** Waits for the unsettled instances that the manifest names or the plan deletes. */
export async function settle(io: TenantIo, { plan, manifest, project }: Given): Promise<Settled> {
  const deleted = plan.steps.flatMap((step) => step.kind === "delete" ? [step.existing] : []);
  const entries = [...manifest?.entries ?? [], ...deleted].filter(({ list }) => list === "instances");
  const names = new Set(entries.map(({ key }) => key));
  const unsettled = project.unsettled.filter(({ name }) => names.has(name));
  const kinds = await inParallel(REQUESTS_AT_A_TIME, unsettled, ({ id }) => operationOf(io, id));
  const moving = unsettled.filter((_, at) => kinds[at] !== null);
  const end_ms = io.environment.monotonicMs() + LIMIT_MS;
  const late: string[] = [];
  for (const instance of moving) late.push(...await untilSettled(io, instance, end_ms));
  // True even without a wait: an operation may have ended after the project was read and before operations were read.
  return { changed: unsettled.length > 0, late };
}

/** Returns a list with the name of the operation if it has not ended at `end_ms`, or an empty list if it has ended. */
async function untilSettled(
  io: TenantIo,
  { id, name }: Project["unsettled"][number],
  end_ms: number,
): Promise<readonly string[]> {
  const line = statusLine(io);
  try {
    for (let kind = await operationOf(io, id); kind !== null; kind = await operationOf(io, id)) {
      if (io.environment.monotonicMs() >= end_ms) return [`the operation ${kind} of instance ${name}`];
      line.show(`waiting for instance ${name}, whose operation ${kind} has not ended`);
      await pause(io.environment, PERIOD_MS);
    }
    return [];
  } finally {
    line.clear();
  }
}

/** Returns the kind of the instance's operation that is in progress; null without one, or if it is stuck. */
async function operationOf(io: TenantIo, resource_id: string): Promise<string | null> {
  const query = { resource_scope: "instance", resource_id };
  const newest_first = await io.get<readonly OperationSummary[]>("/v1/operations", query);
  return newest_first.find(({ state }) => MOVING.includes(state))?.kind ?? null;
}
