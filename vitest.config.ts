import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    globalSetup: ["tests/harness/global-setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    // A worker runs one file after the other, so a file ends what it began: a process for each, which reads all sources
    // anew, took a quarter of the processor time of a sample.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
