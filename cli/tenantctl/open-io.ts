// The kit's Io with tenantctl's own connection, selectors and output (document 3: a table on a terminal, JSON otherwise;
// wide has the same columns).
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
  /** The UUID of the tenant to name in a request; undefined when nothing says which. */
  tenant(): Promise<string | undefined>;
  /** The UUID of the project, from --project or TENANTCTL_PROJECT. */
  project(): Promise<string | undefined>;
  /** One line, whatever the output format. */
  say(line: string): void;
};
export type Setting = { readonly flags: Flags; readonly format: Format };

/** An action that starts with an Io. */
export function withIo<R extends unknown[]>(body: (io: TenantIo, ...rest: R) => Promise<void>) {
  return starting(body, (environment) => environment.stdout.isTTY ? "table" : "json");
}

/** The same for words that a shell reads: not JSON in a pipe, unless that is asked for. */
export function withWords<R extends unknown[]>(body: (io: TenantIo, ...rest: R) => Promise<void>) {
  return starting(body, () => "table");
}

function starting<R extends unknown[]>(
  body: (io: TenantIo, ...rest: R) => Promise<void>,
  usual: (environment: Environment) => Format,
) {
  return async (...rest: R): Promise<void> => {
    const member = rest.at(-1) as AnyCommand;
    const environment = environmentOf(member);
    const flags = member.optsWithGlobals() as Flags;
    const format = flags.output ?? (flags.json === true ? "json" : usual(environment));
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
  const print = (answer: unknown, argv: string) =>
    environment.stdout.write(`${written === null ? argv : written(answer)}\n`);
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
      // No cell holds a line end, so the first line is the headers.
      print(answer, flags.headers === false && rows.length > 0 ? text.slice(text.indexOf("\n") + 1) : text);
    },
    note: (line) => environment.stderr.write(`${plainText(line)}\n`),
  };
  return io;
}

/** Null for words. */
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
