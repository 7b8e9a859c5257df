// What to do about a selector that the server asks for, in the same line as its own words.
import { Failure } from "../internal/failure.ts";
import type { TenantIo } from "./open-io.ts";

type Selector = {
  readonly selector: string;
  readonly flag: string;
  /** What was sent. A list that asks for it has looked for it already, so this costs nothing. */
  given(io: TenantIo): Promise<string | undefined>;
};

const nothing = () => Promise.resolve(undefined);
const SELECTORS: readonly Selector[] = [
  { selector: "tenant=", flag: "--tenant (or TENANTCTL_TENANT)", given: (io) => io.tenant() },
  { selector: "project=", flag: "--project (or TENANTCTL_PROJECT)", given: (io) => io.project() },
  { selector: "vpc=", flag: "--vpc", given: nothing },
  { selector: "route_table=", flag: "--route-table", given: nothing },
];

/** The same failure, with a hint when it is about a missing selector. */
export async function withHint(io: TenantIo, error: unknown): Promise<unknown> {
  if (!(error instanceof Failure) || error.error_code !== "MissingScope") return error;
  const { message, exit_code, error_code, request_id } = error;
  const flags: string[] = [];
  for (const { selector, flag, given } of SELECTORS) {
    if (message.includes(selector) && await given(io) === undefined) flags.push(flag);
  }
  if (flags.length === 0) return error;
  const hinted = `${message}; pass ${flags.join(" and ")}`;
  return new Failure(hinted, exit_code, { error_code, request_id, status: error.status ?? undefined });
}
