// Creates an empty database for one part of the benchmark.
import { migrate } from "../../src/db/migrate.ts";
import { openClient } from "../../src/db/pool.ts";
import { databaseUrl } from "../support/database-url.ts";

const CREATE_LIMIT_MS = 60_000;

/** Creates a migrated database. Deletes an earlier database with this name. Returns the URL. */
export async function benchDatabase(server_url: string, name: string): Promise<string> {
  const url = await emptyBenchDatabase(server_url, name);
  await migrate(url);
  return url;
}

/**
 * Creates a database without tables, for a server that migrates the database when the server starts. Returns the URL.
 */
export async function emptyBenchDatabase(server_url: string, name: string): Promise<string> {
  const admin = await openClient({ url: server_url, statementLimit_ms: CREATE_LIMIT_MS });
  try {
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.query(`create database ${name}`);
  } finally {
    await admin.end();
  }
  return databaseUrl(server_url, name);
}
