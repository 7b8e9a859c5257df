// Applies each mutant to a copy of the sources and expects the mutant's check to catch the mutant. A check on
// PostgreSQL first runs without the mutant and must then find nothing. deno run -A tests/stress/mutants/main.ts
import process from "node:process";
import { ownCluster } from "../../support/cluster.ts";
import { catchSimulated, mutantLine, searchDatabase, SIMULATED_MUTANTS } from "./catch.ts";
import { DATABASE_MUTANTS } from "./database.ts";
import { copySources, type SourceCopy } from "./source-copy.ts";

const copy = await copySources();
let missed = 0;
try {
  missed = await simulated(copy) + await onDatabase(copy);
} finally {
  await copy.remove();
}
console.log(`mutants ${SIMULATED_MUTANTS.length + DATABASE_MUTANTS.length}, not caught ${missed}`);
process.exit(missed === 0 ? 0 : 1);

/** Returns how many mutants the simulated histories do not catch. */
async function simulated(copy: SourceCopy): Promise<number> {
  let missed = 0;
  for (const mutant of SIMULATED_MUTANTS) {
    const first = await catchSimulated(copy, mutant);
    if (first === null) missed += 1;
    console.log(mutantLine(mutant, first));
  }
  return missed;
}

/**
 * Returns how many mutants the checks on PostgreSQL do not catch. A check catches its mutant if it finds a fault with
 * the mutant, and none without it.
 */
async function onDatabase(copy: SourceCopy): Promise<number> {
  const cluster = await ownCluster({ fsync: "off", max_connections: "60" });
  let missed = 0;
  try {
    for (const [index, mutant] of DATABASE_MUTANTS.entries()) {
      const search = { check: mutant.caughtBy, server_url: cluster.url };
      const before = await searchDatabase(copy, null, { ...search, database: `without_${index}` });
      const found = await searchDatabase(copy, mutant, { ...search, database: `with_${index}` });
      console.log(mutantLine(mutant, found[0]?.slice(0, 120) ?? null));
      for (const text of before) console.log(`  found without the mutant: ${text}`);
      if (found.length === 0 || before.length > 0) missed += 1;
    }
  } finally {
    await cluster.remove();
  }
  return missed;
}
