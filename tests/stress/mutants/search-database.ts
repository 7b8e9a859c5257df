// Runs one check of database-checks.ts on a new database and prints a line for each violation. A check that throws
// ends with an error: a mutant that breaks the set-up does not count as caught.
// deno run -A tests/stress/mutants/search-database.ts CHECK SERVER_URL DATABASE
import process from "node:process";
import { openTwoEngines } from "../two-engines.ts";
import { DATABASE_CHECKS, isDatabaseCheck } from "./database-checks.ts";

const [check = "", server_url = "", name = ""] = process.argv.slice(2);
if (!isDatabaseCheck(check)) throw new Error(`no check ${check}`);

const two = await openTwoEngines(server_url, name);
try {
  for (const text of await DATABASE_CHECKS[check](two)) console.log(text.replaceAll("\n", " "));
} finally {
  await two.close();
}
