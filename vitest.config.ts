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
    // Three workers use two cores well, because many tests wait for the start of a process or for a time limit.
    maxWorkers: 3,
    // A worker process runs its files one after another, so each file must end everything that it started. A process
    // for each file would load all sources again, which took a quarter of the processor time in a measurement.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } }, // Vitest's default of 1 s is too short for a busy machine.
  },
});
