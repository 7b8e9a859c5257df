// `deno task test:long`: tests that take long and prove something that no other test waits for. `.ci/run` runs them after
// the others; `deno task test` leaves them out.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/**
 * What takes long: an emulated PC that boots, the second of two sets of seeds, a TypeScript compiler, and load during which
 * servers and the database are killed. `deno task trial` does the first two and the last at greater length.
 */
export const LONG = [
  "tests/booter/qemu.test.ts",
  "tests/simulator/second-half.test.ts",
  "tests/http/generated-client.test.ts",
  "tests/processes/two-servers.test.ts",
  "tests/processes/broken-database.test.ts",
] as const;

export default defineConfig({
  root: fileURLToPath(new URL("../", import.meta.url)),
  test: {
    include: [...LONG],
    globalSetup: ["tests/harness/global-setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
