// The Io of cli/internal with tenantctl's connection, selectors and output formats: a table on a terminal, JSON
// otherwise.
import type { AnyCommand } from "../framework.ts";
import { send, sendForAll, sendForAnswer } from "../internal/api.ts";
import type { Io } from "../internal/io.ts";
import { openLink } from "../internal/open-link.ts";
import { plainJson, plainText } from "../internal/plain-text.ts";
import { environmentOf } from "../internal/run.ts";
import { tableText } from "../internal/table.ts";
import { type Environment, hasColour } from "../internal/environment.ts";
import type { Flags, Format } from "./flags.ts";
import { USER_AGENT } from "./user-agent.ts";

export type TenantIo = Io & {
  readonly flags: Flags;
  /** Returns the UUID of the tenant for a request; undefined if unknown. */
  tenant(): Promise<string | undefined>;
  /** Returns the UUID of the project, from --project or TENANTCTL_PROJECT. */
  project(): Promise<string | undefined>;
  /** Prints one line in every output format. */
  say(line: string): void;
};
export type Setting = { readonly flags: Flags; readonly format: Format };

/** Wraps a body into an action with an Io. */
export function withIo<R extends unknown[]>(body: (io: TenantIo, ...rest: R) => Promise<void>) {
  return starting(body, (environment) => environment.stdout.isTTY ? "table" : "json");
}

/** Wraps a body whose output a shell reads: prints text even into a pipe, unless a flag asks for JSON. */
export function withText<R extends unknown[]>(body: (io: TenantIo, ...rest: R) => Promise<void>) {
  return starting(body, () => "table");
}

function starting<R extends unknown[]>(
  body: (io: TenantIo, ...rest: R) => Promise<void>,
  defaultFormat: (environment: Environment) => Format,
) {
  return async (...rest: R): Promise<void> => {
    const member = rest.at(-1) as AnyCommand;
    const environment = environmentOf(member);
    const flags = member.optsWithGlobals() as Flags;
    const format = flags.output ?? (flags.json === true ? "json" : defaultFormat(environment));
    const io = await openIo(environment, { flags, format });
    try {
      await body(io, ...rest);
    } catch (error) {
      throw await (await import("./hint.ts")).withHint(io, error);
    }
  };
}

export async function openIo(environment: Environment, { flags, format }: Setting): Promise<TenantIo> {
  const written = await writerOf(format);
  const { connection, link } = openLink(environment, USER_AGENT, {
    resolve: async () => await (await import("./connection.ts")).resolveConnection(environment, flags),
    renew: async (old) => await (await import("./connection.ts")).renewConnection(environment, old),
  });
  let tenant: Promise<string | undefined> | null = null;
  let project: Promise<string | undefined> | null = null;
  const print = (answer: unknown, text: string) =>
    environment.stdout.write(`${written === null ? text : written(answer)}\n`);
  const io: TenantIo = {
    environment,
    flags,
    json: written !== null,
    connection,
    tenant: () => tenant ??= import("./scope.ts").then(({ tenantOf }) => tenantOf(io)),
    project: () => project ??= import("./scope.ts").then(({ projectOf }) => projectOf(io)),
    print,
    say: (line) => environment.stdout.write(`${plainText(line)}\n`),
    send: async (request) => await send(environment, await link(), request),
    exchange: async (request) => await sendForAnswer(environment, await link(), request),
    get: async (path, query) => await send(environment, await link(), { method: "GET", path, ...(query && { query }) }),
    post: async (path, body) => await send(environment, await link(), { method: "POST", path, body }),
    all: async (path, query) => await sendForAll(environment, await link(), path, query),
    table: (answer, rows, columns, empty) => {
      const text = rows.length === 0 ? empty : tableText(columns, rows, hasColour(environment, environment.stdout));
      // Cells have no line breaks, so the first line is the header.
      print(answer, flags.headers === false && rows.length > 0 ? text.slice(text.indexOf("\n") + 1) : text);
    },
    note: (line) => environment.stderr.write(`${plainText(line)}\n`),
  };
  return io;
}

/** Returns the writer of a data format; null for tables. */
async function writerOf(format: Format): Promise<((value: unknown) => string) | null> {
  switch (format) {
    case "json":
      return plainJson;
    case "yaml":
      return (await import("./yaml-text.ts")).yamlText;
    case "table":
    case "wide":
      return null;
  }
}
