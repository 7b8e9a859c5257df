// Finds rows that remain in the database after a tenant was removed. An empty list means that no row remains.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openClient } from "../db/pool.ts";

const EMPTY = [
  "instance",
  "disk",
  "nic",
  "floating_ip",
  "port_forward",
  "webhook",
  "placement_group",
  "nat_gateway",
  "route",
  "subnet",
  "vpc",
  "image",
  "project",
];
const QUERY = [
  ...EMPTY.map((table) => `select '${table}' as what from ${table}`),
  "select 'public_address' from public_address",
  "select 'room of a node' from cn_usage where cpu_units + ram_mb + disk_bytes + instances > 0",
  "select 'unfinished job' from job where state in ('pending', 'in_progress') or tombstone",
  "select 'unfinished operation' from saga where state in ('running', 'unwinding', 'stuck')",
].join(" union all ");

/**
 * Returns a text for each remaining row: the name of its table, or what the row means, such as `unfinished job`.
 * `dataDir` is the data folder of a server with embedded PostgreSQL.
 */
export async function leftBehind(dataDir: string): Promise<string[]> {
  const client = await openClient({ url: await readFile(join(dataDir, "url"), "utf8") });
  try {
    const { rows } = await client.query(QUERY);
    return rows.map(({ what }) => what);
  } finally {
    await client.end();
  }
}
