// `deno run -A npm:vitest run --config tests/booter/stress-config.ts` runs the stress tests of the booter and of the
// server's sockets. They are a part of `deno task trial`. The files run one after the other, because an emulated
// machine needs a whole processor.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL("../../", import.meta.url)),
  test: {
    update: "none",
    include: ["tests/booter/*-stress.ts", "tests/processes/*-{stress,trial}.ts"],
    globalSetup: ["tests/support/global-setup.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
    reporters: ["verbose"],
  },
});
