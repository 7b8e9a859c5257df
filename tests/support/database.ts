import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { type Connection, openClient, sqlState } from "../../src/db/pool.ts";
import { databaseUrl, TEMPLATE } from "./database-url.ts";

export type FreshDatabase = { readonly url: string; drop(): Promise<void> };

const OBJECT_IN_USE = "55006";
const TRIES_MAX = 20;
const RETRY_MS = 50;
const COPY_LIMIT_MS = 60_000;

/** Creates a migrated database without data, for one test file or one test. */
export function freshDatabase(): Promise<FreshDatabase> {
  return createDatabase(TEMPLATE);
}

/** Creates a database without migrations. */
export function emptyDatabase(): Promise<FreshDatabase> {
  return createDatabase("template0");
}

/** Copies a database. No client may be connected to the original. */
export function copyOf({ url }: FreshDatabase): Promise<FreshDatabase> {
  return createDatabase(new URL(url).pathname.slice(1));
}

async function createDatabase(template: string): Promise<FreshDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  await asAdministrator(async (client) => {
    for (let tries = 1;; tries++) {
      try {
        // The strategy file_copy copies the files. The default strategy writes every page to the WAL and takes three
        // times as long.
        return await client.query(`create database ${name} template ${template} strategy file_copy`);
      } catch (error) {
        // Autovacuum may be connected to the template.
        if (sqlState(error) !== OBJECT_IN_USE || tries === TRIES_MAX) throw error;
        await new Promise((wake) => setTimeout(wake, RETRY_MS));
      }
    }
  });
  return {
    url: databaseUrl(inject("serverUrl"), name),
    drop: () =>
      asAdministrator(async (client) => void await client.query(`drop database if exists ${name} with (force)`)),
  };
}

async function asAdministrator<T>(use: (client: Connection) => Promise<T>): Promise<T> {
  const client = await openClient({
    url: inject("serverUrl"),
    statementLimit_ms: COPY_LIMIT_MS,
    lockLimit_ms: COPY_LIMIT_MS,
  });
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
