// A mutant is a bug that a developer could make, written as replacements in the source. The tests apply mutants to a
// copy of the tree, so production code contains no switch for them.

/** A replacement in one file of the tree. `find` must occur in the file exactly once. */
export type Edit = { readonly file: string; readonly find: string; readonly replace: string };

/** A bug and the check that must catch it. */
export type Mutant<CaughtBy extends string = string> = {
  readonly name: string;
  readonly caughtBy: CaughtBy;
  readonly edits: readonly Edit[];
};

/** Returns the source with the replacement. Throws when `find` does not occur exactly once. */
export function mutated(source: string, { file, find, replace }: Edit): string {
  const found = source.split(find).length - 1;
  if (found !== 1) throw new Error(`${file} contains this text ${found} times, expected once: ${find}`);
  return source.replace(find, () => replace);
}
