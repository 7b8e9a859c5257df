// Defines the functions with which a verb calls the control plane and prints output in the format of `-o`.
import { type Request, send, sendForAll, sendForAnswer } from "./api.ts";
import type { Connection, Globals } from "./connection.ts";
import type { Environment } from "./environment.ts";
import type { Answer, Query } from "./exchange.ts";
import { openLink } from "./open-link.ts";
import { openOutput, type Output } from "./output/output.ts";

export type Io = Output & {
  readonly environment: Environment;
  readonly flags: Globals;
  /** Name of the program, for commands in notes. */
  readonly program: "opsctl" | "tenantctl";
  connection(): Promise<Connection>;
  send<T>(request: Request): Promise<T>;
  /** Sends a request like `send`, and returns the status and the values of headers, too. */
  exchange(request: Request): Promise<Answer>;
  get<T>(path: string, query?: Query): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
  /** Returns every item of a paged list. */
  all<T>(path: string, query?: Query): Promise<T[]>;
};

export function openIo(environment: Environment, flags: Globals, user_agent: string): Io {
  const { connection, link } = openLink(environment, user_agent, {
    resolve: async () => (await import("./connection.ts")).resolveConnection(environment, flags),
    renew: async (old) => (await import("./connection.ts")).renewConnection(environment, old, user_agent),
  });
  const request = async <T>(what: Request): Promise<T> => await send<T>(environment, await link(), what);
  return {
    ...openOutput(environment, flags, "table"),
    environment,
    flags,
    program: "opsctl",
    connection,
    send: request,
    exchange: async (what) => await sendForAnswer(environment, await link(), what),
    get: (path, query) => request({ method: "GET", path, query }),
    post: (path, body) => request({ method: "POST", path, body }),
    all: async (path, query) => await sendForAll(environment, await link(), path, query),
  };
}
