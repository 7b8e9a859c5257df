// A control plane on a PostgreSQL that writes down every statement it is asked to run, without the values. Nothing runs
// in the background, so what stands in the log was asked for by a request.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readConfig } from "../../src/config.ts";
import { type Db, openPool } from "../../src/db/pool.ts";
import { type ControlPlane, openControlPlane } from "../../src/wiring.ts";
import { ADDRESS, ROOT_KEY, SECRET_KEY } from "../harness/control-plane.ts";
import { ownCluster } from "../harness/cluster.ts";

export type Call = {
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

export type LoggedPlane = {
  readonly db: Db;
  // deno-lint-ignore no-explicit-any -- answers of every shape
  call(method: string, path: string, call?: Call): Promise<{ status: number; text: string; body: any }>;
  /** The statements of the control plane since the last question, in their order. */
  statements(): Promise<string[]>;
  close(): Promise<void>;
};

const NAME = "berth";
const WRITTEN_MS_MAX = 20_000;

export async function openLoggedPlane(): Promise<LoggedPlane> {
  const cluster = await ownCluster({
    fsync: "off",
    log_statement: "all",
    log_parameter_max_length: "0",
    log_min_messages: "log",
    log_checkpoints: "off",
    log_line_prefix: "%a|",
  });
  const env = {
    BERTH_ROOT_KEY: ROOT_KEY,
    BERTH_SECRET_KEY: SECRET_KEY,
    BERTH_LAB: "1",
    BERTH_APPROVE_PER_MINUTE: "1000000",
    BERTH_REGISTER_PER_MINUTE: "1000000",
    BERTH_LOGIN_PER_MINUTE: "1000000",
  };
  const plane: ControlPlane = await openControlPlane({
    config: readConfig(env),
    databaseUrl: cluster.url,
    resident: false,
    show: () => {},
  });
  const db = openPool({ url: cluster.url, connectionsMax: 1, applicationName: "marker" });
  let marks = 0;
  let read = 0;

  async function statements(): Promise<string[]> {
    const mark = `mark ${marks++} of the log`;
    await db.query(`select '${mark}'`);
    for (const started = Date.now(); Date.now() - started < WRITTEN_MS_MAX;) {
      const text = await readFile(join(cluster.dataDir, "postgres.log"), "utf8");
      const end = text.indexOf(mark, read);
      if (end !== -1) {
        const part = text.slice(read, end);
        read = end + mark.length;
        return statementsIn(part);
      }
      await new Promise((wake) => setTimeout(wake, 10));
    }
    throw new Error(`${mark} was never written`);
  }

  return {
    db,
    statements,
    async call(method, path, { key = ROOT_KEY, body, headers = {} } = {}) {
      const request = new Request(`http://berth.test${path}`, {
        method,
        headers: {
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          "content-type": "application/json",
          ...headers,
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      const answer = await plane.fetch(request, { remoteAddress: ADDRESS });
      const text = await answer.text();
      return { status: answer.status, text, body: /^[{[]/.test(text) ? JSON.parse(text) : undefined };
    },
    async close() {
      await plane.close();
      await db.close();
      await cluster.remove();
    },
  };
}

/** Lines that go on begin with a tab. */
function statementsIn(log: string): string[] {
  return log.split(/\n(?!\t)/).flatMap((entry) => {
    const found = new RegExp(`^${NAME}\\|LOG:\\s+(?:execute [^:]*|statement): ([\\s\\S]*)$`).exec(entry);
    return found?.[1] === undefined ? [] : [found[1].replace(/\s+/g, " ").trim()];
  });
}
