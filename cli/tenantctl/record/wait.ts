// Implements --wait: a command that changes a VPC ends when all nodes of the VPC have applied the change.
import { PREFER_WAIT_S_MAX } from "../../../src/contract/limits.ts";
import type { Request } from "../../internal/api.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure } from "../../internal/failure.ts";
import type { TenantIo } from "../open-io.ts";

export const WAIT_OPTION = [
  "--wait",
  `wait up to ${PREFER_WAIT_S_MAX} s until all nodes of the VPC have applied the change; exit code 1 if they have not`,
] as const;

/** The time limit of a request: the longest wait, and 30 s for the request itself. */
const WAIT_LIMIT_MS = (PREFER_WAIT_S_MAX + 30) * 1_000;

type Options<T> = {
  readonly wait: boolean | undefined;
  readonly print: (answer: T) => void;
  readonly missing?: (answer: T) => string | null;
};

/**
 * Sends a change of a VPC and calls `print` with the answer. With `wait`, then throws a Failure unless all nodes have
 * applied the change. By default this Failure lists the pending nodes. `missing` may return a more exact reason.
 */
export async function change<T>(
  io: TenantIo,
  request: Request,
  { wait, print, missing = () => null }: Options<T>,
): Promise<void> {
  const headers: Record<string, string> = wait === true ? { prefer: `wait=${PREFER_WAIT_S_MAX}` } : {};
  const { body, is_preference_applied } = await io.exchange({ ...request, headers, limit_ms: WAIT_LIMIT_MS });
  print(body as T);
  if (wait === true && is_preference_applied !== true) {
    const reason = missing(body as T) ?? "not all nodes of the VPC have applied it";
    throw new Failure(`the change is stored, but ${reason}`, EXIT.failure);
  }
}
