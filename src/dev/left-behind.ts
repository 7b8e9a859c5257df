// Finds rows that a removed tenant left in the database. An empty result passes.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openClient } from "../db/pool.ts";

const EMPTY = ["instance", "disk", "nic", "floating_ip", "nat_gateway", "route", "subnet", "vpc", "image", "project"];
const QUERY = [
  ...EMPTY.map((table) => `select '${table}' as what from ${table}`),
  "select 'public_address' from public_address",
  "select 'room of a node' from cn_usage where cpu_units + ram_mb + disk_bytes + instances > 0",
  "select 'unfinished job' from job where state in ('pending', 'in_progress') or tombstone",
  "select 'unfinished operation' from saga where state in ('running', 'unwinding', 'stuck')",
].join(" union all ");

/** Returns a name for each remaining row. `dataDir` belongs to a server with an embedded PostgreSQL. */
export async function leftBehind(dataDir: string): Promise<string[]> {
  const client = await openClient({ url: await readFile(join(dataDir, "url"), "utf8") });
  try {
    const { rows } = await client.query(QUERY);
    return rows.map(({ what }) => what);
  } finally {
    await client.end();
  }
}
