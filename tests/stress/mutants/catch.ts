// Runs the check that must catch a mutant.
import type { Invariant } from "../../simulator/violation.ts";
import { ACTOR_MUTANTS } from "./actors.ts";
import type { DatabaseCheck } from "./database-checks.ts";
import { ENGINE_MUTANTS } from "./engine.ts";
import type { Mutant } from "./mutant.ts";
import type { SourceCopy } from "./source-copy.ts";

export const SIMULATED_MUTANTS: readonly Mutant<Invariant>[] = [...ENGINE_MUTANTS, ...ACTOR_MUTANTS];

/** Returns the corpus plan or the seed of the first history that catches the mutant; null if no history catches it. */
export async function catchSimulated(copy: SourceCopy, mutant: Mutant<Invariant>): Promise<string | null> {
  const output = await copy.run(mutant, ["tests/stress/mutants/search-histories.ts", mutant.caughtBy]);
  return output.trim() || null;
}

export type DatabaseSearch = { readonly check: DatabaseCheck; readonly server_url: string; readonly database: string };

/** Returns the violations that a check finds on a new database, with a mutant or (null) with the original source. */
export async function searchDatabase(
  copy: SourceCopy,
  mutant: Mutant | null,
  { check, server_url, database }: DatabaseSearch,
): Promise<readonly string[]> {
  const output = await copy.run(mutant, ["tests/stress/mutants/search-database.ts", check, server_url, database]);
  return output.split("\n").filter((line) => line !== "");
}

/** Formats a mutant's line of the report. `first`: the history or violation that caught the mutant. */
export function mutantLine({ name, caughtBy }: Mutant, first: string | null): string {
  return `${name.padEnd(28)} ${caughtBy.padEnd(44)} ${first ?? "not caught"}`;
}
