// `deno run -A npm:vitest run --config tests/guides/trial-config.ts` runs the tests of guides that are too slow for
// every test run. `deno task trial` runs them, too.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL("../../", import.meta.url)),
  test: {
    update: "none",
    include: ["tests/guides/*-trial.ts"],
    globalSetup: ["tests/support/global-setup.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 180_000,
    reporters: ["verbose"],
  },
});
