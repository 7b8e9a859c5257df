// Sends requests that start an operation, and waits for the operation. By default, the wait is one long request. If its
// response is lost, the command repeats short requests. With --wait, it sends only short requests and shows progress.
// With --no-wait, it does not wait. All requests of one operation carry one Idempotency-Key: the operation starts once,
// and a repeated request returns its result.
import type { Instance } from "../../../src/contract/instance.ts";
import { INSTANCE_CREATE_WAIT_S, OPERATION_GRACE_MS } from "../../../src/contract/limits.ts";
import type { OperationSummary } from "../../../src/contract/operation.ts";
import { pause, type Request } from "../../internal/api.ts";
import { Unreachable } from "../../internal/exchange.ts";
import { Failure } from "../../internal/failure.ts";
import { notingInterrupt } from "../../internal/operation/on-interrupt.ts";
import { statusLine } from "../../internal/status-line.ts";
import { blockText } from "../../internal/table.ts";
import type { TenantIo } from "../open-io.ts";
import { INSTANCE } from "./instance.ts";

export const WAIT_OPTION = ["--wait", "show progress while waiting"] as const;
export const NO_WAIT_OPTION = ["--no-wait", "do not wait: print the operation"] as const;

export type Start = Pick<Request, "path" | "query" | "body"> & { readonly method: "POST" | "DELETE" };
export type Ended<T> =
  | { readonly ended: true; readonly answer: T }
  /** The result with --no-wait. */
  | { readonly ended: false; readonly operation: OperationSummary };

/** Time limit of the long request: the server's default limit of an operation, and time for the response. */
const REQUEST_LIMIT_MS = INSTANCE_CREATE_WAIT_S * 1_000 + OPERATION_GRACE_MS + 20_000;
const PERIOD_MS = 1_000;
const STATUS = { accepted: 202, not_found: 404, conflict: 409, unavailable: 503, gateway_timeout: 504 } as const;

/**
 * Starts an operation. `wait` is true with --wait, false with --no-wait, and undefined with neither. Throws a Failure
 * if the command waits and the operation fails.
 */
export async function operate<T>(io: TenantIo, start: Start, wait: boolean | undefined): Promise<Ended<T>> {
  const note = "The server continues with the request; to watch it, run: tenantctl instance list --watch";
  return await notingInterrupt(io, note, () => started<T>(io, start, wait));
}

async function started<T>(io: TenantIo, start: Start, wait: boolean | undefined): Promise<Ended<T>> {
  const key = { "idempotency-key": io.environment.newId() };
  const request: Request = { ...start, headers: key };
  let sent_before = false;
  try {
    if (wait === undefined) {
      try {
        return { ended: true, answer: await longRequest<T>(io, request) };
      } catch (error) {
        if (!isLost(error)) throw error;
        sent_before = !(error instanceof Unreachable) || error.is_uncertain;
      }
    }
    const accepted = await io.exchange({ ...start, headers: { ...key, prefer: "respond-async" } });
    if (accepted.status !== STATUS.accepted) return { ended: true, answer: accepted.body as T };
    const operation = accepted.body as OperationSummary;
    if (wait === false) return { ended: false, operation };
    sent_before = true;
    return { ended: true, answer: await untilEnded<T>(io, request, wait === true ? operation : null) };
  } catch (error) {
    // The object is gone because an earlier request of this command deleted it.
    if (start.method === "DELETE" && sent_before && hasStatus(error, STATUS.not_found)) {
      return { ended: true, answer: null as T };
    }
    if (sent_before && error instanceof Unreachable) {
      throw new Unreachable(error.message, error.exit_code, { is_uncertain: true });
    }
    throw error;
  }
}

/**
 * Starts an operation and waits for its end with short requests and without any output. Aborting `signal` ends the
 * wait; the operation continues.
 */
export async function operateSilently(io: TenantIo, start: Start, signal: AbortSignal): Promise<void> {
  const request: Request = { ...start, headers: { "idempotency-key": io.environment.newId() } };
  await io.exchange({ ...request, headers: { ...request.headers, prefer: "respond-async" } });
  await untilEnded({ ...io, environment: { ...io.environment, signal } }, request, null);
}

/** Sends the long request. On a terminal, a clock appears if there is no response within a second. */
async function longRequest<T>(io: TenantIo, request: Request): Promise<T> {
  const line = statusLine(io);
  const started_ms = Date.now();
  const clock = io.environment.stderr.isTTY
    ? setInterval(
      () => line.show("waiting for the server", `[${Math.floor((Date.now() - started_ms) / 1_000)} s] `),
      PERIOD_MS,
    )
    : undefined;
  try {
    return await io.send<T>({ ...request, limit_ms: REQUEST_LIMIT_MS, tries_max: 1 });
  } finally {
    clearInterval(clock);
    line.clear();
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

/**
 * Repeats the request until the operation has ended; until then the server answers 409. If `shown` is null, shows no
 * progress.
 */
async function untilEnded<T>(io: TenantIo, request: Request, shown: OperationSummary | null): Promise<T> {
  const line = statusLine(io);
  const started_ms = io.environment.monotonicMs();
  try {
    for (;;) {
      try {
        return await io.send<T>(request);
      } catch (error) {
        if (!hasStatus(error, STATUS.conflict)) throw error;
      }
      if (shown !== null) {
        line.show(
          await progressText(io, shown),
          `[${Math.floor((io.environment.monotonicMs() - started_ms) / 1_000)} s] `,
        );
      }
      await pause(io.environment, PERIOD_MS);
    }
  } finally {
    line.clear();
  }
}

/**
 * Returns the instance's state as the progress text, because the state is clearer to users than the operation's steps.
 */
async function progressText(io: TenantIo, operation: OperationSummary): Promise<string> {
  const id = instanceOf(operation);
  if (id === null) return `${operation.kind}: ${operation.state}`;
  return `${operation.kind}: ${await instanceText(io, id)}`;
}

async function instanceText(io: TenantIo, id: string): Promise<string> {
  try {
    return `instance ${id} is ${(await io.get<Instance>(`${INSTANCE.path}/${id}`)).lifecycle.state}`;
  } catch (error) {
    // The wait continues: the next response of the request shows whether the operation has ended.
    return hasStatus(error, STATUS.not_found) ? "instance deleted" : `the state of instance ${id} is not known now`;
  }
}

function instanceOf({ references }: OperationSummary): string | null {
  return references.find(({ scope }) => scope === "instance")?.id ?? null;
}

/** Returns whether the operation may still run after this error: the server did not answer, or answered 503 or 504. */
function isLost(error: unknown): boolean {
  return error instanceof Unreachable || hasStatus(error, STATUS.unavailable) ||
    hasStatus(error, STATUS.gateway_timeout);
}

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof Failure && error.status === status;
}
