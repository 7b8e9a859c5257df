// Where the run's databases are. Both the setup of the run and the tests use it.
import type {} from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** A database of the run's server that no test writes to. */
    serverUrl: string;
  }
}

/** The migrated database that tests copy. Nobody may stay connected to it. */
export const TEMPLATE = "berth_template";

export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
