// The addresses of the run's databases, for the setup of the run and the tests.
import type {} from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** A database of the run's server; tests never write to it. */
    serverUrl: string;
  }
}

/** The migrated database that tests copy. Connections to it must be closed. */
export const TEMPLATE = "berth_template";

export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
