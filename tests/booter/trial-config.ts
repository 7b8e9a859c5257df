// `deno run -A npm:vitest run --config tests/booter/trial-config.ts`: the long trials of the booter and of the
// server's sockets, as a part of `deno task trial`. One file after the other: emulated machines want the processor for
// themselves.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL("../../", import.meta.url)),
  test: {
    include: ["tests/booter/*-trial.ts", "tests/processes/*-trial.ts"],
    globalSetup: ["tests/support/global-setup.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
    reporters: ["verbose"],
  },
});
