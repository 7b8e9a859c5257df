// Finds a PostgreSQL that a distribution installed with all its tools. The embedded PostgreSQL has no pg_dump.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import type { TestContext } from "vitest";
import { choosePostgresUser } from "../../src/db/postgres-user.ts";
import { present } from "../support/optional-programs.ts";
import type { Session } from "./run.ts";

export type Postgres = { readonly folder: string; readonly wrap: NonNullable<Session["wrap"]> };

/** Returns this machine's installed PostgreSQL. Skips the rest of the test if this user cannot run it. */
export async function installedPostgres({ skip }: Pick<TestContext, "skip">): Promise<Postgres> {
  const user = await choosePostgresUser();
  skip(!user.seesOurFiles, "PostgreSQL does not run as root, and user namespaces are forbidden: try an ordinary user");
  return { folder: dirname(present("PostgreSQL's tools")), wrap: user.wrap };
}

/** Ends the servers whose data folders are `primary`, `standby` and `base` in this folder. */
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
    // The server has ended already.
  }
}
