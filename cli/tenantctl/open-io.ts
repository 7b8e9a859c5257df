// The kit's Io with tenantctl's own connection and output (document 3: a table on a terminal, JSON otherwise; wide has the
// same columns).
import { type AnyCommand, rootOf } from "../framework.ts";
import { send, sendForAll, sendForAnswer } from "../kit/api.ts";
import type { Connection } from "../kit/connection.ts";
import type { Link } from "../kit/exchange.ts";
import type { Io } from "../kit/io.ts";
import { plainJson, plainText } from "../kit/plain-text.ts";
import { worldOf } from "../kit/run.ts";
import { tableText } from "../kit/table.ts";
import { hasColour, type World } from "../kit/world.ts";
import { VERSION } from "../version.ts";
import type { Flags, Format } from "./flags.ts";

export type Setting = { readonly flags: Flags; readonly format: Format; readonly user_agent: string };

/** An action that starts with an Io. */
export function withIo<R extends unknown[]>(body: (io: Io, ...rest: R) => Promise<void>) {
  return starting(body, (world) => world.stdout.isTTY ? "table" : "json");
}

/** The same for words that a shell reads: not JSON in a pipe, unless that is asked for. */
export function withWords<R extends unknown[]>(body: (io: Io, ...rest: R) => Promise<void>) {
  return starting(body, () => "table");
}

function starting<R extends unknown[]>(
  body: (io: Io, ...rest: R) => Promise<void>,
  usual: (world: World) => Format,
) {
  return async (...rest: R): Promise<void> => {
    const member = rest.at(-1) as AnyCommand;
    const world = worldOf(member);
    const flags = member.optsWithGlobals() as Flags;
    const format = flags.output ?? (flags.json === true ? "json" : usual(world));
    await body(await openIo(world, { flags, format, user_agent: `${rootOf(member).name()}/${VERSION}` }), ...rest);
  };
}

export async function openIo(world: World, { flags, format, user_agent }: Setting): Promise<Io> {
  const written = await writerOf(format);
  let opened: Promise<Connection> | null = null;
  const resolve = async () => (await import("./connection.ts")).resolveConnection(world, flags);
  const connection = () => opened ??= resolve();
  const link = async (): Promise<Link> => ({ ...await connection(), user_agent });
  const print = (answer: unknown, words: string) =>
    world.stdout.write(`${written === null ? words : written(answer)}\n`);
  return {
    world,
    flags,
    json: written !== null,
    connection,
    print,
    send: async (request) => await send(world, await link(), request),
    exchange: async (request) => await sendForAnswer(world, await link(), request),
    get: async (path, query) => await send(world, await link(), { method: "GET", path, ...(query && { query }) }),
    post: async (path, body) => await send(world, await link(), { method: "POST", path, body }),
    all: async (path, query) => await sendForAll(world, await link(), path, query),
    table: (answer, rows, columns, empty) => {
      const text = rows.length === 0 ? empty : tableText(columns, rows, hasColour(world, world.stdout));
      // No cell holds a line end, so the first line is the headers.
      print(answer, flags.headers === false && rows.length > 0 ? text.slice(text.indexOf("\n") + 1) : text);
    },
    note: (line) => world.stderr.write(`${plainText(line)}\n`),
  };
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
