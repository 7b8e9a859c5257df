// `deno task test:networks` tests the overlay network with real packets, in a user namespace. It needs Linux, iproute2
// and nftables.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** The files of this task. `deno task test` omits them. */
export const NETWORKS = ["tests/networks/*.test.ts"] as const;

export default defineConfig({
  root: fileURLToPath(new URL("../", import.meta.url)),
  test: {
    update: "none",
    include: [...NETWORKS],
    globalSetup: ["tests/support/global-setup.ts"],
    pool: "forks",
    maxWorkers: 1,
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } }, // Vitest's default of 1 s is too short for a busy machine.
  },
});
