// Finds the test files that use an optional program, directly or through a module. Also finds the test files that start
// any program. `deno run -A tests/support/optional-users.ts` prints the paths of these files. `.ci/run` runs the files
// again on a PATH without optional programs.
import { filesBelow, importsOf, readText } from "../lint/sources.ts";

const PROBE = "tests/support/optional-programs.ts";

/** Matches code that starts a program. Does not look for the program's name, which can be in a variable or a script. */
const STARTS = /node:child_process|Deno\.Command|\bsh -c\b|`sh /;

/**
 * Returns the test files that import optional-programs.ts, directly or through other modules, and the test files that
 * start a program. Omits the files in tests/lint.
 */
export function optionalUsers(): readonly string[] {
  const imports = new Map(
    filesBelow(["tests"], ".ts").map((
      path,
    ) => [path, importsOf({ path, text: readText(path) }).map(({ from }) => from)]),
  );
  const leads = new Set([PROBE]);
  for (let size = 0; size < leads.size;) {
    size = leads.size;
    for (const [path, own] of imports) if (own.some((each) => leads.has(each))) leads.add(path);
  }
  for (const path of imports.keys()) if (STARTS.test(readText(path))) leads.add(path);
  return [...leads].filter((path) => path.endsWith(".test.ts") && !path.startsWith("tests/lint/")).sort();
}

if (import.meta.main) console.log(optionalUsers().join("\n"));
