import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    globalSetup: ["tests/harness/global-setup.ts"],
    // A test that ends its process or leaks a socket harms nobody but itself.
    pool: "forks",
    // More than cores: some tests mostly wait for a limit to pass.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
