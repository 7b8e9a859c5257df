// Adds a hint to the server's message about a missing selector or a protected instance.
import { Failure } from "../internal/failure.ts";
import { withProtectionHint } from "../internal/protection.ts";
import type { TenantIo } from "./open-io.ts";
import { vpcsText } from "./record/scope.ts";

type Selector = {
  readonly selector: string;
  readonly flag: string;
  /** Returns the value that the flags, the environment or the credential give for the selector, or undefined. */
  given(io: TenantIo): Promise<string | undefined>;
};

const nothing = () => Promise.resolve(undefined);
const SELECTORS: readonly Selector[] = [
  { selector: "tenant=", flag: "--tenant (or TENANTCTL_TENANT)", given: (io) => io.tenant() },
  { selector: "project=", flag: "--project (or TENANTCTL_PROJECT)", given: (io) => io.project() },
  { selector: "vpc=", flag: "--vpc", given: nothing },
  { selector: "route_table=", flag: "--route-table", given: nothing },
];

/** Returns the failure, with a hint if it is about a missing selector or a protected instance. */
export async function withHint(io: TenantIo, error: unknown): Promise<unknown> {
  if (!(error instanceof Failure)) return error;
  if (error.error_code !== "MissingScope") return withProtectionHint(error);
  const { message, exit_code, error_code, request_id } = error;
  const flags: string[] = [];
  for (const { selector, flag, given } of SELECTORS) {
    if (message.includes(selector) && await given(io) === undefined) flags.push(flag);
  }
  if (flags.length === 0) return error;
  const vpcs = flags.includes("--vpc") ? await vpcsText(io).catch(() => null) : null;
  const hinted = `${vpcs ?? message}; pass ${flags.join(" and ")}`;
  return new Failure(hinted, exit_code, { error_code, request_id, status: error.status ?? undefined });
}
