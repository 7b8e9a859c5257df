// nodeagent run: enrols the machine if it has no saved key, then reports and runs jobs until stopped.
import {
  AGENT_APPROVAL_WAIT_S,
  AGENT_CAPACITY_MS,
  AGENT_CONFIG_MS,
  AGENT_ERROR_RETRY_MS,
  AGENT_HEARTBEAT_MS,
  AGENT_JOB_POLL_MS,
  AGENT_METRICS_MS,
  AGENT_PENDING_RETRY_MS,
  AGENT_STATUS_CHECK_MS,
  AGENT_STATUS_FULL_MS,
  CLAIM_WAIT_S_MAX,
  IMAGE_CACHE_BYTES_DEFAULT,
} from "../src/contract/limits.ts";
import { type AnyCommand, command, oneOf, wholeNumber } from "../cli/framework.ts";
import { parseByteSize } from "../cli/internal/byte-size.ts";
import { isExposed, parseEndpoint } from "../cli/internal/endpoint.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure, usageFailure } from "../cli/internal/failure.ts";
import { environmentOf } from "../cli/internal/run.ts";
import { plainText } from "../cli/internal/plain-text.ts";
import { removeDrafts } from "../cli/internal/private-file.ts";
import { VERSION } from "../cli/version.ts";
import { adminAddress, givenAddress, localAddressTo } from "./admin-address.ts";
import { type Agent, log } from "./agent.ts";
import { chooseDriver, DRIVERS } from "./choose-driver.ts";
import { type Credentials, credentialsPath, readCredentials, removeCredentials } from "./credentials.ts";
import { enrol } from "./enrolment.ts";
import { underlayAddress } from "./network/underlay-address.ts";
import { MACHINE_DIR, RUN_DIR } from "./qemu/folders.ts";
import { createListener } from "./migration/listener.ts";
import { ownInstances } from "./own-instances.ts";
import { parseNicTags } from "./nic-tags.ts";
import { report } from "./reports.ts";
import { TROUBLE_HELP } from "./simulated-trouble.ts";

/** Port on which a node receives instances from other nodes. */
const MIGRATION_PORT = 4568;
const ANY_PORT = 0;
const LOOPBACK = "127.0.0.1";
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Percentage of the disk that stays free by default. */
const DISK_RESERVE_PERCENT = 10;
/** UUIDs of mainboards without an identity: they consist of zeros and Fs. */
const NO_IDENTITY = /^(0|f|-)+$/i;

export function run(): AnyCommand {
  const period = wholeNumber(1);
  return command(
    "run",
    "Enrol this machine, then report to the control plane and run its jobs until stopped",
    "--endpoint https://berth.example --state-dir /var/lib/berth",
  )
    .requiredOption("--endpoint <url>", "address of the control plane")
    .requiredOption("--state-dir <folder>", "directory for the agent's key and state; must persist across restarts")
    .addOption(
      oneOf("--driver <name>", "how to run VMs; auto: qemu if this machine can run it, else simulated", DRIVERS)
        .default(
          "simulated" as const,
        ),
    )
    .option(
      "--server-uuid <uuid>",
      "identity of the machine; default: the firmware's; for a simulated machine, a generated one",
      serverUuid,
    )
    .option("--machine-dir <folder>", "directory of the VMs' disks and images", MACHINE_DIR)
    .option("--run-dir <folder>", "directory of the VMs' sockets", RUN_DIR)
    .option(
      "--disk-reserve-percent <percent>",
      "percentage of the file system that is not offered to instances",
      wholeNumber(0),
      DISK_RESERVE_PERCENT,
    )
    .option(
      "--nic-tags <tags>",
      "networks of the machine, separated by commas; NAME:BRIDGE for a network with public addresses",
      "admin,external",
    )
    .option("--hostname <name>", "hostname of the machine")
    .option(
      "--admin-ip <address>",
      "IPv4 address for operators; by default ADMIN_IP, or the address that reaches the control plane",
      (text) => givenAddress(text, "--admin-ip"),
    )
    .option(
      "--underlay-address <address>",
      "IPv4 address for the packets of VPCs between nodes; by default the address that reaches the control plane",
      (text) => givenAddress(text, "--underlay-address"),
    )
    .option(
      "--migration-address <address>",
      "IPv4 address to which other nodes send instances; by default the address that reaches the control plane",
      (text) => givenAddress(text, "--migration-address"),
    )
    .option(
      "--migration-port <port>",
      `port to which other nodes send instances; by default ${MIGRATION_PORT}, on a simulated machine any free port`,
      wholeNumber(0),
    )
    .option(
      "--image-cache-bytes <size>",
      "limit on unused cached images: bytes, or a size such as 64GiB",
      (text) => parseByteSize(text, "--image-cache-bytes"),
      IMAGE_CACHE_BYTES_DEFAULT,
    )
    .option("--re-register", "discard a rejected key and register again")
    .option(
      "--heartbeat-ms <ms>",
      "time between heartbeats; polls replace heartbeats unless this time is below 5000",
      period,
      AGENT_HEARTBEAT_MS,
    )
    .option("--status-check-ms <ms>", "time between checks of the machine's status", period, AGENT_STATUS_CHECK_MS)
    .option("--status-full-ms <ms>", "longest time between status reports", period, AGENT_STATUS_FULL_MS)
    .option("--metrics-ms <ms>", "time between samples of the VMs' metrics", period, AGENT_METRICS_MS)
    .option("--capacity-ms <ms>", "time between capacity reports", period, AGENT_CAPACITY_MS)
    .option("--config-ms <ms>", "time between checks of the configuration", period, AGENT_CONFIG_MS)
    .option(
      "--job-poll-ms <ms>",
      "minimum time between two claims, if the first gets no work",
      period,
      AGENT_JOB_POLL_MS,
    )
    .option(
      "--claim-wait-s <seconds>",
      "long poll of a claim: how long the server may wait for work",
      period,
      CLAIM_WAIT_S_MAX,
    )
    .option("--pending-retry-ms <ms>", "pause between checks for approval", period, AGENT_PENDING_RETRY_MS)
    .option("--error-retry-ms <ms>", "pause after a failed request", period, AGENT_ERROR_RETRY_MS)
    .option("--approval-wait-s <seconds>", "time limit for the approval", period, AGENT_APPROVAL_WAIT_S)
    .addHelpText("after", TROUBLE_HELP)
    .action(async (options, member) => {
      const environment = environmentOf(member as AnyCommand);
      const endpoint = parseEndpoint(options.endpoint, "--endpoint");
      const nic_tags = parseNicTags(options.nicTags);
      const given_underlay = options.underlayAddress ?? null;
      await removeDrafts(options.stateDir);
      const link = { endpoint, user_agent: `nodeagent/${VERSION}` };
      const logLine = (line: string) => void environment.stderr.write(`${plainText(line)}\n`);
      const in_environment = environment.env.ADMIN_IP ?? "";
      const given = options.adminIp ?? (in_environment === "" ? null : givenAddress(in_environment, "ADMIN_IP"));
      const enrolling = {
        environment,
        link,
        adminIp: async () => adminAddress({ given, local: given ?? await localAddressTo(endpoint) }),
        state_dir: options.stateDir,
        timers: {
          heartbeat_ms: options.heartbeatMs,
          status_check_ms: options.statusCheckMs,
          status_full_ms: options.statusFullMs,
          metrics_ms: options.metricsMs,
          capacity_ms: options.capacityMs,
          config_ms: options.configMs,
          job_poll_ms: options.jobPollMs,
          claim_wait_s: Math.min(options.claimWaitS, CLAIM_WAIT_S_MAX),
          pending_retry_ms: options.pendingRetryMs,
          error_retry_ms: options.errorRetryMs,
          // Limited to one hour (docs/limits.md).
          approval_wait_s: Math.min(options.approvalWaitS, AGENT_APPROVAL_WAIT_S),
        },
      };
      const driver = await chooseDriver({
        name: options.driver,
        state_dir: options.stateDir,
        folders: { machine_dir: options.machineDir, run_dir: options.runDir },
        server_uuid: options.serverUuid,
        hostname: options.hostname,
        disk_reserve: Math.min(100, options.diskReservePercent) / 100,
        nic_tags: nic_tags.map(({ name }) => name),
        underlay_address: options.driver === "simulated" ? given_underlay : await underlayAddress({
          given: given_underlay,
          local: given_underlay ?? await localAddressTo(endpoint),
          state_dir: options.stateDir,
        }),
        environment,
        ownInstances: (hardware) =>
          ownInstances({
            environment,
            link,
            state_dir: options.stateDir,
            error_retry_ms: options.errorRetryMs,
            log: logLine,
            enrol: () => enrol({ ...enrolling, driver: { hardware } }),
          }),
        log: logLine,
      });
      const listener = createListener({
        state_dir: options.stateDir,
        address: options.migrationAddress ?? given_underlay ?? await localAddressTo(endpoint) ?? LOOPBACK,
        port: options.migrationPort ?? (options.driver === "simulated" ? ANY_PORT : MIGRATION_PORT),
        migrations: driver.migrations,
        signal: environment.signal,
        log: logLine,
      });
      // After a restart, the source of a VM that is arriving may be waiting to connect again.
      if (driver.migrations.awaits()) await listener.start();
      const agent: Agent = { ...enrolling, listener, driver, nic_tags, image_bytes_max: options.imageCacheBytes };
      await serve(agent, options.reRegister === true);
    }) as AnyCommand;
}

function serverUuid(text: string): string {
  if (!UUID.test(text) || NO_IDENTITY.test(text)) {
    throw usageFailure(`--server-uuid must be the UUID of a machine, not ${text}`);
  }
  return text.toLowerCase();
}

/** Enrols and reports forever. Throws when the agent stops, is not approved, or may not replace a rejected key. */
async function serve(agent: Agent, re_register: boolean): Promise<never> {
  if (isExposed(agent.link.endpoint)) log(agent, `warning: ${agent.link.endpoint} is not encrypted`);
  const { server_uuid } = await agent.driver.hardware();
  for (;;) {
    const saved = await readCredentials(agent.state_dir, server_uuid);
    const credentials: Credentials = saved ?? await enrol(agent);
    log(agent, `node ${server_uuid} reports to ${agent.link.endpoint}`);
    await report(agent, credentials.api_key);
    if (!re_register) throw keyRefused(agent);
    log(agent, "the control plane rejected the saved key; registering again");
    await removeCredentials(agent.state_dir);
  }
}

function keyRefused({ state_dir }: Agent): Failure {
  const path = credentialsPath(state_dir);
  return new Failure(
    `the control plane rejected the saved key: it was deleted, or the node was removed or reset. ` +
      `To register again, remove ${path} and restart the agent, or start it with --re-register`,
    EXIT.auth,
  );
}
