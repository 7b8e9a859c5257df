// PostgreSQL with all its tools, as a distribution installs it: what the control plane brings along has no pg_dump.
import { existsSync, globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { choosePostgresUser } from "../../src/db/postgres-user.ts";
import type { Session } from "./run.ts";

const TOOLS = ["initdb", "pg_ctl", "psql", "pg_dump", "pg_dumpall", "pg_restore", "pg_basebackup"];

export type Postgres = { readonly folder: string; readonly wrap: NonNullable<Session["wrap"]> };

/** Null, with a word on the console, where there is none or nobody who may run it. */
export async function installedPostgres(): Promise<Postgres | null> {
  const places = [...(process.env.PATH ?? "").split(":"), ...globSync("/usr/lib/postgresql/*/bin").sort().reverse()];
  const folder = places.find((place) => TOOLS.every((tool) => existsSync(join(place, tool))));
  if (folder === undefined) {
    console.warn(
      `skipped: PostgreSQL's ${TOOLS.join(", ")} are missing; install the packages postgresql and its client`,
    );
    return null;
  }
  const user = await choosePostgresUser();
  if (!user.seesOurFiles) {
    console.warn(
      "skipped: PostgreSQL does not run as root, and user namespaces are forbidden; run as an ordinary user",
    );
    return null;
  }
  return { folder, wrap: user.wrap };
}

/** Ends what runs on a data folder below this one. */
export async function endServers(folder: string): Promise<void> {
  for (const name of ["primary", "standby", "base"]) {
    const text = await readFile(join(folder, name, "postmaster.pid"), "utf8").catch(() => "");
    const pid = Number(text.split("\n")[0]);
    if (Number.isSafeInteger(pid) && pid > 1) end(pid);
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGQUIT");
  } catch {
    // It has ended by itself.
  }
}
