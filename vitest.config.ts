import { defineConfig } from "vitest/config";
import { LONG } from "./tests/long-config.ts";
import { MACHINES } from "./tests/machines-config.ts";
import { NETWORKS } from "./tests/networks-config.ts";
import { NIGHTLY } from "./tests/nightly-config.ts";

export default defineConfig({
  test: {
    // A test without its stored snapshot fails; `-u` writes it. The other configurations have this setting, too.
    update: "none",
    include: ["tests/**/*.test.ts"],
    exclude: [...LONG, ...MACHINES, ...NETWORKS, ...NIGHTLY],
    globalSetup: ["tests/support/global-setup.ts"],
    pool: "forks",
    // On two cores. Many tests wait: for a process that starts, or for a time limit that passes. Meanwhile the third
    // works.
    maxWorkers: 3,
    // A worker runs one file after the other, so a file ends what it began: a process for each, which reads all sources
    // anew, took a quarter of the processor time of a sample.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
