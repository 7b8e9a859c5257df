// Opens a control plane on a PostgreSQL that logs every statement without its values. No background worker runs. So
// every logged statement belongs to a request, records the use of an API key, notifies, or reads the settings.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openPool } from "../../src/db/pool.ts";
import { ownCluster } from "../support/cluster.ts";
import { openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";

export type LoggedControlPlane = {
  readonly t: TestControlPlane;
  /** Returns the control plane's statements since the last call, in their order. */
  statements(): Promise<string[]>;
  close(): Promise<void>;
};

const NAME = "berth";
const WRITTEN_MS_MAX = 20_000;

export async function openLoggedControlPlane(): Promise<LoggedControlPlane> {
  const cluster = await ownCluster({
    fsync: "off",
    log_statement: "all",
    log_parameter_max_length: "0",
    log_min_messages: "log",
    log_checkpoints: "off",
    log_line_prefix: "%a|",
  });
  const t = await openTestControlPlane({ databaseUrl: cluster.url, resident: false });
  const marker = openPool({ url: cluster.url, connectionsMax: 1, applicationName: "marker" });
  let marks = 0;
  let read = 0;

  async function statements(): Promise<string[]> {
    const mark = `mark ${marks++} of the log`;
    await marker.query(`select '${mark}'`);
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
    throw new Error(`${mark} did not appear in the log`);
  }

  return {
    t,
    statements,
    async close() {
      await marker.close();
      await t.close();
      await cluster.remove();
    },
  };
}

/** Parses the log. Continuation lines begin with a tab. */
function statementsIn(log: string): string[] {
  return log.split(/\n(?!\t)/).flatMap((entry) => {
    const found = new RegExp(`^${NAME}\\|LOG:\\s+(?:execute [^:]*|statement): ([\\s\\S]*)$`).exec(entry);
    return found?.[1] === undefined ? [] : [found[1].replace(/\s+/g, " ").trim()];
  });
}
