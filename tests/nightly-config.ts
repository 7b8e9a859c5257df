// `deno task test:nightly` runs tests with real virtual machines, which take many minutes. They need root, QEMU,
// debootstrap, mmdebstrap and Debian's archive. `.ci/run` runs only the test files packages, linux-disks and rack.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** The files of this task. `deno task test` omits them. */
export const NIGHTLY = ["tests/nightly/*.test.ts"] as const;

export default defineConfig({
  root: fileURLToPath(new URL("../", import.meta.url)),
  test: {
    update: "none",
    include: [...NIGHTLY],
    globalSetup: ["tests/support/global-setup.ts"],
    pool: "forks",
    maxWorkers: 1,
    fileParallelism: false,
    isolate: false,
    // Without KVM a Debian with systemd takes minutes to boot, and debootstrap takes minutes on a slow disk.
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
  },
});
