// Waits until the operations of a manifest's instances have ended. An interrupted `apply` leaves such operations: the
// server continues with them. Until their end it refuses changes and deletions, and a failed creation deletes its
// instance.
import { INSTANCE_CREATE_WAIT_S } from "../../../src/contract/limits.ts";
import type { OperationSummary } from "../../../src/contract/operation.ts";
import { pause } from "../../internal/api.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import type { Plan } from "../../internal/manifest/plan.ts";
import type { Manifest } from "../../internal/manifest/read.ts";
import { statusLine } from "../../internal/status-line.ts";
import type { TenantIo } from "../open-io.ts";
import type { Project } from "./project.ts";

const PERIOD_MS = 1_000;
/** The server's default time limit of an operation. */
const LIMIT_MS = INSTANCE_CREATE_WAIT_S * 1_000;
const MOVING: readonly OperationSummary["state"][] = ["pending", "running", "unwinding"];

type Settled = { readonly plan: Plan; readonly manifest: Manifest | null; readonly project: Project };

/** Waits for the instances that the manifest names or the plan deletes. Returns whether it waited for any. */
export async function settle(io: TenantIo, { plan, manifest, project }: Settled): Promise<boolean> {
  const deleted = plan.steps.flatMap((step) => step.kind === "delete" ? [step.existing] : []);
  const entries = [...manifest?.entries ?? [], ...deleted].filter(({ list }) => list === "instances");
  const names = new Set(entries.map(({ key }) => key));
  const line = statusLine(io);
  const end_ms = io.environment.monotonicMs() + LIMIT_MS;
  let has_waited = false;
  try {
    for (const { id, name } of project.unsettled.filter((each) => names.has(each.name))) {
      for (let kind = await operationOf(io, id); kind !== null; kind = await operationOf(io, id)) {
        if (io.environment.monotonicMs() >= end_ms) {
          throw new Failure(
            `instance ${name}: its operation ${kind} has not ended; run the command again later`,
            EXIT.failure,
          );
        }
        has_waited = true;
        line.show(`waiting for instance ${name}, whose operation ${kind} has not ended`);
        await pause(io.environment, PERIOD_MS);
      }
    }
  } finally {
    line.clear();
  }
  return has_waited;
}

/** Returns the kind of an instance's operation that has not ended; null without one, or if it is stuck. */
async function operationOf(io: TenantIo, resource_id: string): Promise<string | null> {
  const query = { resource_scope: "instance", resource_id };
  const newest_first = await io.get<readonly OperationSummary[]>("/v1/operations", query);
  return newest_first.find(({ state }) => MOVING.includes(state))?.kind ?? null;
}
