// Requests that begin an operation, and three ways to hear of its end: hold the one request until there is an answer, ask
// again while telling how far it has come, or leave with the operation. All that is asked for one operation carries one
// Idempotency-Key, so that it begins once, and so that whoever began it hears how it ended.
import type { Instance } from "../../../src/contract/instance.ts";
import { INSTANCE_CREATE_WAIT_S, OPERATION_GRACE_MS } from "../../../src/contract/limits.ts";
import type { OperationSummary } from "../../../src/contract/operation.ts";
import { pause, type Request } from "../../internal/api.ts";
import { Unreachable } from "../../internal/exchange.ts";
import { Failure } from "../../internal/failure.ts";
import { statusLine } from "../../internal/status-line.ts";
import { blockText } from "../../internal/table.ts";
import type { TenantIo } from "../open-io.ts";
import { INSTANCE } from "./instance.ts";

export const WAIT_OPTION = ["--wait", "tell on the way how far it has come"] as const;
export const NO_WAIT_OPTION = ["--no-wait", "do not wait for the end: print the operation"] as const;

export type Doing = Pick<Request, "path" | "query" | "body"> & { readonly method: "POST" | "DELETE" };
export type Ended<T> =
  | { readonly ended: true; readonly answer: T }
  /** With --no-wait. */
  | { readonly ended: false; readonly operation: OperationSummary };

/** Beyond the time that the server takes, what an answer may take on the way. */
const HOLD_LIMIT_MS = INSTANCE_CREATE_WAIT_S * 1_000 + OPERATION_GRACE_MS + 20_000;
const PERIOD_MS = 1_000;
const STATUS = { accepted: 202, not_found: 404, conflict: 409, unavailable: 503, gateway_timeout: 504 } as const;

/** `wait`: true with --wait, false with --no-wait. Throws the Failure that the operation ended with. */
export async function operate<T>(io: TenantIo, doing: Doing, wait: boolean | undefined): Promise<Ended<T>> {
  const key = { "idempotency-key": io.environment.newId() };
  const held: Request = { ...doing, headers: key };
  let asked_before = false;
  try {
    if (wait === undefined) {
      try {
        return { ended: true, answer: await io.send<T>({ ...held, limit_ms: HOLD_LIMIT_MS, tries_max: 1 }) };
      } catch (error) {
        if (!isLost(error)) throw error;
        asked_before = true;
      }
    }
    const begun = await io.exchange({ ...doing, headers: { ...key, prefer: "respond-async" } });
    if (begun.status !== STATUS.accepted) return { ended: true, answer: begun.body as T };
    const operation = begun.body as OperationSummary;
    if (wait === false) return { ended: false, operation };
    asked_before = true;
    return { ended: true, answer: await untilEnded<T>(io, held, wait === true ? operation : null) };
  } catch (error) {
    // What was deleted by an earlier request of ours is found no more.
    if (doing.method === "DELETE" && asked_before && hasStatus(error, STATUS.not_found)) {
      return { ended: true, answer: null as T };
    }
    throw error;
  }
}

export function operationText(operation: OperationSummary): string {
  return blockText([
    ["operation", operation.id],
    ["kind", operation.kind],
    ["state", operation.state],
    ["instance", instanceOf(operation)],
  ]);
}

/** The repeated request is refused for as long as the operation runs, and then answered. `told`: null to be silent. */
async function untilEnded<T>(io: TenantIo, request: Request, told: OperationSummary | null): Promise<T> {
  const line = statusLine(io);
  const begun_ms = io.environment.monotonicMs();
  try {
    for (;;) {
      try {
        return await io.send<T>(request);
      } catch (error) {
        if (!hasStatus(error, STATUS.conflict)) throw error;
      }
      if (told !== null) {
        line.show(
          await progressText(io, told),
          `[${Math.floor((io.environment.monotonicMs() - begun_ms) / 1_000)} s] `,
        );
      }
      await pause(io.environment, PERIOD_MS);
    }
  } finally {
    line.clear();
  }
}

/** What the operation works on says more than its steps do. */
async function progressText(io: TenantIo, operation: OperationSummary): Promise<string> {
  const id = instanceOf(operation);
  if (id === null) return `${operation.kind}: ${operation.state}`;
  // It may be gone already: that is told by the answer.
  const instance = await io.get<Instance>(`${INSTANCE.path}/${id}`).catch(() => null);
  return `${operation.kind}: ${instance === null ? "undone or done" : `instance ${id} is ${instance.lifecycle.state}`}`;
}

function instanceOf({ references }: OperationSummary): string | null {
  return references.find(({ scope }) => scope === "instance")?.id ?? null;
}

/** Whether the request may have begun something without our hearing of its end: cut on the way, or held no longer. */
function isLost(error: unknown): boolean {
  return error instanceof Unreachable || hasStatus(error, STATUS.unavailable) ||
    hasStatus(error, STATUS.gateway_timeout);
}

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof Failure && error.status === status;
}
