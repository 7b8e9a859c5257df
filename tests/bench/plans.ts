// Records the query plans that PostgreSQL executed. auto_explain writes them into the server's log, including plans
// inside functions, checks and foreign keys. The settings belong to one database and apply to later connections.
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { openClient } from "../../src/db/pool.ts";

/** A node of a query plan that reads a table. */
export type Scan = {
  /** The node's type, such as Seq Scan or Index Scan. */
  readonly node: string;
  readonly table: string;
  /** The statement that was planned. */
  readonly statement: string;
};

export type PlanRecord = {
  /** Returns the scans that the server ran during `use`. */
  during(use: () => Promise<unknown>): Promise<readonly Scan[]>;
};

const SETTINGS = {
  session_preload_libraries: "auto_explain",
  "auto_explain.log_min_duration": "0",
  "auto_explain.log_nested_statements": "on",
  "auto_explain.log_format": "json",
  // Parameters are not logged, because they may contain secrets.
  "auto_explain.log_parameter_max_length": "0",
};

/** Makes every later connection to the database log its plans. */
export async function recordPlans(
  cluster: { readonly dataDir: string },
  databaseUrl: string,
): Promise<PlanRecord> {
  const client = await openClient({ url: databaseUrl });
  const database = new URL(databaseUrl).pathname.slice(1);
  for (const [name, value] of Object.entries(SETTINGS)) {
    await client.query(`alter database ${database} set ${name} = '${value}'`);
  }
  await client.end();
  const log = join(cluster.dataDir, "postgres.log");
  return {
    async during(use) {
      const { size } = await stat(log);
      await use();
      // PostgreSQL logs a statement's plan before it sends the reply.
      return scansIn(await readFrom(log, size));
    },
  };
}

async function readFrom(path: string, offset: number): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({
      buffer: new Uint8Array((await file.stat()).size - offset),
      position: offset,
    });
    return new TextDecoder().decode(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/**
 * A plan is one log entry. Its first line ends with `plan:`, the other lines begin with a tab, and the last line is a
 * brace.
 */
const ENTRY = /LOG: {2}duration: [\d.]+ ms {2}plan:\n((?:\t.*\n)*?\t\}\n)/g;

type Node = {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly Plans?: readonly Node[];
};

function scansIn(log: string): Scan[] {
  return [...log.matchAll(ENTRY)].flatMap(([, text = ""]) => {
    const entry = JSON.parse(text) as { readonly "Query Text": string; readonly Plan: Node };
    return scansOf(entry.Plan, entry["Query Text"]);
  });
}

function scansOf(node: Node, statement: string): Scan[] {
  const table = node["Relation Name"];
  // A ModifyTable node names the table that is written. It does not scan the table.
  const own = table === undefined || node["Node Type"] === "ModifyTable"
    ? []
    : [{ node: node["Node Type"], table, statement }];
  return [...own, ...(node.Plans ?? []).flatMap((child) => scansOf(child, statement))];
}

/** Returns the scans that read one of these tables completely (Seq Scan). */
export function wholeScans(scans: readonly Scan[], tables: readonly string[]): Scan[] {
  return scans.filter(({ node, table }) => node === "Seq Scan" && tables.includes(table));
}

/** Returns the tables that have more than `rows` rows according to the statistics. */
export async function largeTables(databaseUrl: string, rows: number): Promise<string[]> {
  const client = await openClient({ url: databaseUrl });
  try {
    const found = await client.query<{ name: string }>(
      "select relname as name from pg_class where relkind = 'r' and reltuples > $1 and relname !~ '^pg_' order by 1",
      [rows],
    );
    return found.rows.map(({ name }) => name);
  } finally {
    await client.end();
  }
}
