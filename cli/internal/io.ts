// The tools of a verb: calls to the control plane, and output as text or JSON.
import { type Request, send, sendForAll, sendForAnswer } from "./api.ts";
import type { Connection, Globals } from "./connection.ts";
import type { Answer, Query } from "./exchange.ts";
import { openLink } from "./open-link.ts";
import { plainJson, plainText } from "./plain-text.ts";
import { type Column, tableText } from "./table.ts";
import { type Environment, hasColour } from "./environment.ts";

export type Io = {
  readonly environment: Environment;
  readonly flags: Globals;
  readonly json: boolean;
  connection(): Promise<Connection>;
  send<T>(request: Request): Promise<T>;
  /** Sends a request like `send`, and returns the headers, too. */
  exchange(request: Request): Promise<Answer>;
  get<T>(path: string, query?: Query): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
  /** Returns every item of a paged list. */
  all<T>(path: string, query?: Query): Promise<T[]>;
  /** Prints the answer with --json, otherwise the text, which must be safe to print. */
  print(answer: unknown, text: string): void;
  table<T>(answer: unknown, rows: readonly T[], columns: readonly Column<T>[], empty: string): void;
  /** Prints a line on stderr. */
  note(line: string): void;
};

export function openIo(environment: Environment, flags: Globals, user_agent: string): Io {
  const { connection, link } = openLink(environment, user_agent, {
    resolve: async () => (await import("./connection.ts")).resolveConnection(environment, flags),
    renew: async (old) => (await import("./connection.ts")).renewConnection(environment, old, user_agent),
  });
  const json = flags.json === true;
  const print = (answer: unknown, text: string) => environment.stdout.write(`${json ? plainJson(answer) : text}\n`);
  const request = async <T>(what: Request): Promise<T> => await send<T>(environment, await link(), what);
  return {
    environment,
    flags,
    json,
    connection,
    print,
    send: request,
    exchange: async (what) => await sendForAnswer(environment, await link(), what),
    get: (path, query) => request({ method: "GET", path, query }),
    post: (path, body) => request({ method: "POST", path, body }),
    all: async (path, query) => await sendForAll(environment, await link(), path, query),
    table: (answer, rows, columns, empty) =>
      print(answer, rows.length === 0 ? empty : tableText(columns, rows, hasColour(environment, environment.stdout))),
    note: (line) => environment.stderr.write(`${plainText(line)}\n`),
  };
}
