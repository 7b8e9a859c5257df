// `deno task test:long`: tests that take long. `.ci/run` runs them after the others; `deno task test` omits them.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/**
 * The long tests: an emulated PC that netboots, the second half of the simulator's seeds, a TypeScript compiler, load
 * while servers and the database are killed, scenarios with compiled programs, every fault at every step of an
 * instance's operations, and limits that take time. `deno task trial` repeats the PC, the seeds, the kills and the
 * mutants with larger sizes.
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
  "tests/sagas/instance-steps.test.ts",
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
