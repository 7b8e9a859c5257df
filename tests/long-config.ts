// `deno task test:long` runs the slow tests. `.ci/run` runs them after the other tests; `deno task test` omits them.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/**
 * The slow tests. For example, they boot an emulated PC, compile a generated client, use the web console in a browser,
 * run whole scenarios with compiled programs, upload images, or send load while servers and the database are killed.
 * Other tests run many simulator seeds, cause every fault at every step of an instance's operations, end agents at
 * every step of a job or a migration, or wait for time limits. `deno task trial` runs the PC, the seeds, the kills and
 * the mutants in larger numbers.
 */
export const LONG = [
  "tests/booter/firmware.test.ts",
  "tests/booter/handover-process.test.ts",
  "tests/booter/proxy.test.ts",
  "tests/booter/qemu.test.ts",
  "tests/booter/redfish-process.test.ts",
  "tests/booter/script-retry.test.ts",
  "tests/booter/two-booters.test.ts",
  "tests/simulator/second-half.test.ts",
  "tests/http/generated-client.test.ts",
  "tests/processes/agent-poll.test.ts",
  "tests/processes/two-servers.test.ts",
  "tests/processes/broken-database.test.ts",
  "tests/processes/netboot.test.ts",
  "tests/processes/opsctl.test.ts",
  "tests/processes/rolling-upgrade.test.ts",
  "tests/cli/hostile-environment.test.ts",
  "tests/console/browser.test.ts",
  "tests/console/instance.test.ts",
  "tests/console/other-user.test.ts",
  "tests/console/long-lists.test.ts",
  "tests/console/pages.test.ts",
  "tests/console/refusals.test.ts",
  "tests/console/rights.test.ts",
  "tests/console/shown.test.ts",
  "tests/console/flows-more.test.ts",
  "tests/console/flows-operator.test.ts",
  "tests/console/flows-others.test.ts",
  "tests/console/flows-tenant.test.ts",
  "tests/processes/console.test.ts",
  "tests/processes/image-upload.test.ts",
  "tests/processes/webhooks.test.ts",
  "tests/release/channel.test.ts",
  "tests/release/compose.test.ts",
  "tests/release/container.test.ts",
  "tests/release/setup-agent.test.ts",
  "tests/security/fetches-by-nodes.test.ts",
  "tests/security/fetches-by-import.test.ts",
  "tests/security/permissions.test.ts",
  "tests/index-builder/hostile.test.ts",
  "tests/network/race.test.ts",
  "tests/guides/channel.test.ts",
  "tests/guides/maintenance.test.ts",
  "tests/guides/netboot.test.ts",
  "tests/security/tls-renewal.test.ts",
  "tests/security/edge-shares.test.ts",
  "tests/security/revocation.test.ts",
  "tests/security/growth.test.ts",
  "tests/compute/evacuate-agent.test.ts",
  "tests/sagas/instance-steps.test.ts",
  "tests/sagas/cn-drain.test.ts",
  "tests/sagas/drain-limit.test.ts",
  "tests/sagas/abandoned-drain.test.ts",
  "tests/sagas/label-retention.test.ts",
  "tests/sagas/cn-drain-label.test.ts",
  "tests/compute/drain-agent.test.ts",
  "tests/compute/placement-group-agent.test.ts",
  "tests/compute/label-drain-agent.test.ts",
  "tests/compute/label-upgrade-agent.test.ts",
  "tests/stress/rack-drain.test.ts",
  "tests/sagas/cn-upgrade.test.ts",
  "tests/compute/job-agent.test.ts",
  "tests/compute/migration-agent.test.ts",
  "tests/db/embedded-logins.test.ts",
  "tests/simulator/mutants.test.ts",
  "tests/setup/saga.test.ts",
] as const;

export default defineConfig({
  root: fileURLToPath(new URL("../", import.meta.url)),
  test: {
    update: "none",
    include: [...LONG],
    globalSetup: ["tests/support/global-setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    isolate: false,
    // Most tests take a few seconds. On a machine that is busy with other work, a test of a page in Chromium took 40 s.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } }, // Vitest's default of 1 s is too short for a busy machine.
  },
});
