// `deno task test:machines` runs the tests with real virtual machines. The tests run one at a time, because
// each guest needs a whole processor while it boots.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export const MACHINES = ["tests/machines/*.test.ts"] as const;

export default defineConfig({
  root: fileURLToPath(new URL("../", import.meta.url)),
  test: {
    update: "none",
    include: [...MACHINES],
    globalSetup: ["tests/support/global-setup.ts"],
    pool: "forks",
    maxWorkers: 1,
    fileParallelism: false,
    isolate: false,
    // Without KVM a guest takes 10 s to boot on an idle machine, and far longer on a busy machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 20_000 } }, // Vitest's default of 1 s is too short for a busy machine.
  },
});
