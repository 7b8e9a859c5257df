// `deno run -A npm:vitest run --config tests/booter/stress-config.ts` runs the stress tests of the booter and of the
// server's sockets, a part of `deno task trial`. Files run one after the other, since emulated machines need a whole
// processor.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL("../../", import.meta.url)),
  test: {
    include: ["tests/booter/*-stress.ts", "tests/processes/*-{stress,trial}.ts"],
    globalSetup: ["tests/support/global-setup.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
    reporters: ["verbose"],
  },
});
