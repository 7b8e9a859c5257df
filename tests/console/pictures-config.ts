// Configures `deno task pictures`, which takes pictures of the web console (pictures.ts).
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL("../../", import.meta.url)),
  test: {
    update: "none",
    include: ["tests/console/pictures.ts"],
    globalSetup: ["tests/support/global-setup.ts"],
    pool: "forks",
  },
});
