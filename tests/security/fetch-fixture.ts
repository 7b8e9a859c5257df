// Opens a server process on its own database, a client for its API, and a target on this machine that no fetch may
// reach.
import { type Answer, type CallOptions, okOf } from "../support/control-plane.ts";
import { freshDatabase } from "../support/database.ts";
import { ROOT_KEY, type ServerOptions, type ServerProcess, startServer } from "../support/server-process.ts";
import { type FetchTarget, openFetchTarget } from "./fetch-target.ts";

export const REDIRECT_CODES: readonly number[] = [301, 302, 303, 307, 308];

export type FetchFixture = {
  readonly databaseUrl: string;
  readonly server: ServerProcess;
  readonly target: FetchTarget;
  /** Calls the server's API, by default with the root key. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Sets the networks that fetches may use although they are not public. */
  allow(ranges: readonly string[]): Promise<void>;
  close(): Promise<void>;
};

export async function openFetchFixture(options: Pick<ServerOptions, "as_task"> = {}): Promise<FetchFixture> {
  const [database, target] = await Promise.all([freshDatabase(), openFetchTarget()]);
  const server = await startServer({ env: { DATABASE_URL: database.url }, ...options });

  async function call(method: string, path: string, { key, body }: CallOptions = {}): Promise<Answer> {
    const response = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${key ?? ROOT_KEY}`, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text === "" ? null : JSON.parse(text) };
  }

  return {
    databaseUrl: database.url,
    server,
    target,
    call,
    allow: async (value) => void okOf(await call("PUT", "/v1/config/fetch.allowed_private", { body: { value } })),
    async close() {
      await server.stop();
      await target.close();
      await database.drop();
    },
  };
}
