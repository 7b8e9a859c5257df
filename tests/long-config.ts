// `deno task test:long`: tests that take long and prove something that no other test waits for. `.ci/run` runs them after
// the others; `deno task test` leaves them out.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/**
 * What takes long: an emulated PC that boots, the second of two sets of seeds, a TypeScript compiler, load during which
 * servers and the database are killed, whole ways through compiled programs, and limits that need time to show. `deno task
 * trial` does the machine that boots, the seeds, the kills and the mutants at greater length.
 */
export const LONG = [
  "tests/booter/qemu.test.ts",
  "tests/simulator/second-half.test.ts",
  "tests/http/generated-client.test.ts",
  "tests/processes/two-servers.test.ts",
  "tests/processes/broken-database.test.ts",
  "tests/processes/netboot.test.ts",
  "tests/release/setup-agent.test.ts",
  "tests/security/fetches-by-nodes.test.ts",
  "tests/security/tls-renewal.test.ts",
  "tests/security/edge-shares.test.ts",
  "tests/security/revocation.test.ts",
  "tests/security/growth.test.ts",
  "tests/db/embedded-logins.test.ts",
  "tests/simulator/mutants.test.ts",
] as const;

export default defineConfig({
  root: fileURLToPath(new URL("../", import.meta.url)),
  test: {
    include: [...LONG],
    globalSetup: ["tests/support/global-setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
