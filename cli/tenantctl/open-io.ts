// Opens the Io of cli/internal with tenantctl's connection and selectors. By default, tenantctl prints a table on a
// terminal and JSON otherwise.
import type { AnyCommand } from "../framework.ts";
import { send, sendForAll, sendForAnswer } from "../internal/api.ts";
import type { Environment } from "../internal/environment.ts";
import type { Io } from "../internal/io.ts";
import { openLink } from "../internal/open-link.ts";
import { openOutput } from "../internal/output/output.ts";
import { environmentOf, runBody } from "../internal/run.ts";
import type { Flags } from "./flags.ts";
import { USER_AGENT } from "./user-agent.ts";

export type TenantIo = Io & {
  readonly flags: Flags;
  /** Returns the UUID of the tenant for a request; undefined if unknown. */
  tenant(): Promise<string | undefined>;
  /** Returns the UUID of the project, from `useProject`, --project or TENANTCTL_PROJECT; undefined without these. */
  project(): Promise<string | undefined>;
  /** Makes `project` return this UUID. */
  useProject(id: string): void;
};
/** `fallback` is the output format if no flag names one. */
export type Setting = { readonly flags: Flags; readonly fallback: "table" | "json" };

/** Returns the action of a command: it opens an Io and calls `body` with the Io. */
export function withIo<R extends unknown[]>(body: (io: TenantIo, ...rest: R) => Promise<void>) {
  return starting(body, (environment) => environment.stdout.isTTY ? "table" : "json");
}

/** Like `withIo`, but the command prints text even into a pipe, unless a flag names another format. */
export function withText<R extends unknown[]>(body: (io: TenantIo, ...rest: R) => Promise<void>) {
  return starting(body, () => "table");
}

function starting<R extends unknown[]>(
  body: (io: TenantIo, ...rest: R) => Promise<void>,
  fallbackOf: (environment: Environment) => "table" | "json",
) {
  return async (...rest: R): Promise<void> => {
    const member = rest.at(-1) as AnyCommand;
    const environment = environmentOf(member);
    const flags = member.optsWithGlobals() as Flags;
    const open = (environment: Environment) => openIo(environment, { flags, fallback: fallbackOf(environment) });
    const hinted = async (io: TenantIo) => {
      try {
        await body(io, ...rest);
      } catch (error) {
        const hinted = await (await import("./hint.ts")).withHint(io, error);
        throw (await import("../internal/uncertain-hint.ts")).withUncertainHint(member, hinted);
      }
    };
    await runBody(environment, open, { flags, body: hinted });
  };
}

export function openIo(environment: Environment, { flags, fallback }: Setting): TenantIo {
  const { connection, link } = openLink(environment, USER_AGENT, {
    resolve: async () => await (await import("./connection.ts")).resolveConnection(environment, flags),
    renew: async (old) => await (await import("./connection.ts")).renewConnection(environment, old),
  });
  let tenant: Promise<string | undefined> | null = null;
  let project: Promise<string | undefined> | null = null;
  const io: TenantIo = {
    ...openOutput(environment, flags, fallback),
    environment,
    flags,
    program: "tenantctl",
    connection,
    tenant: () => tenant ??= import("./scope.ts").then(({ tenantOf }) => tenantOf(io)),
    project: () => project ??= import("./scope.ts").then(({ projectOf }) => projectOf(io)),
    useProject: (id) => void (project = Promise.resolve(id)),
    send: async (request) => await send(environment, await link(), request),
    exchange: async (request) => await sendForAnswer(environment, await link(), request),
    get: async (path, query) => await send(environment, await link(), { method: "GET", path, ...(query && { query }) }),
    post: async (path, body) => await send(environment, await link(), { method: "POST", path, body }),
    all: async (path, query) => await sendForAll(environment, await link(), path, query),
  };
  return io;
}
