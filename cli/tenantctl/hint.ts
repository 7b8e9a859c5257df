// Adds a hint to the server's message about a missing selector or a protected instance.
import { Failure } from "../internal/failure.ts";
import { withProtectionHint } from "../internal/protection.ts";
import type { TenantIo } from "./open-io.ts";
import { vpcsText } from "./record/scope.ts";
import { projectsOf, projectsText } from "./scope.ts";

type Selector = {
  readonly selector: string;
  readonly flag: string;
  /** Returns the value that the flags, the environment or the credential give for the selector, or undefined. */
  given(io: TenantIo): Promise<string | undefined>;
};

const TENANT_FLAG = "--tenant (or TENANTCTL_TENANT)";
const PROJECT_FLAG = "--project (or TENANTCTL_PROJECT)";

const nothing = () => Promise.resolve(undefined);
const SELECTORS: readonly Selector[] = [
  { selector: "tenant=", flag: TENANT_FLAG, given: (io) => io.tenant() },
  { selector: "project=", flag: PROJECT_FLAG, given: (io) => io.project() },
  { selector: "vpc=", flag: "--vpc", given: nothing },
  { selector: "route_table=", flag: "--route-table", given: nothing },
];

/** Matches a message that only names parameters of the request. */
const PARAMETERS = /^[A-Z]+ \S+ requires /;

/**
 * Returns a message about the missing tenant or project, and the tenant's projects if they are known. Keeps the
 * server's message if it does more than name parameters of the request.
 */
async function unselectedText(io: TenantIo, message: string, flags: readonly string[]): Promise<string> {
  const named = (text: string) => PARAMETERS.test(message) ? text : message;
  if (!flags.includes(PROJECT_FLAG)) return named("no tenant is selected");
  const tenant = await io.tenant();
  if (tenant === undefined) return named("no tenant and no project is selected");
  const projects = await projectsOf(io, tenant).catch(() => null);
  return named("no project is selected") + (projects === null ? "" : `; ${projectsText(projects)}`);
}

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
  const found = flags.includes("--vpc")
    ? await vpcsText(io).catch(() => null)
    : flags.some((flag) => flag === TENANT_FLAG || flag === PROJECT_FLAG)
    ? await unselectedText(io, message, flags)
    : null;
  const hinted = `${found ?? message}; pass ${flags.join(" and ")}`;
  return new Failure(hinted, exit_code, { error_code, request_id, status: error.status ?? undefined });
}
