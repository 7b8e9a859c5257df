// Returns the URLs of the databases of a test run, for its setup and its tests.
import type {} from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** URL of a database on the run's server. Tests never write to that database. */
    serverUrl: string;
  }
}

/** The migrated database that tests copy. PostgreSQL copies it only while no connection to it is open. */
export const TEMPLATE = "berth_template";

export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
