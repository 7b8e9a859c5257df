// Defines the booter's command line.
import { type AnyCommand, command, group, oneOf } from "../cli/framework.ts";
import type { Environment } from "../cli/internal/environment.ts";
import { EXIT, type ExitCode } from "../cli/internal/exit-code.ts";
import { Ended, usageFailure } from "../cli/internal/failure.ts";
import { environmentOf, runCommand } from "../cli/internal/run.ts";
import { VERSION } from "../cli/version.ts";
import { canonicalMac } from "../src/lib/net/mac.ts";
import { openBooter } from "./booter.ts";
import { check, readConfigText } from "./check.ts";
import { CONFIG_PATH, readBooterConfig } from "./config.ts";
import { CLIENT_KINDS } from "./decision.ts";
import { type Fields, lineOf } from "./log.ts";
import { redfishCommand } from "./redfish/command.ts";
import { wake } from "./wake.ts";
import { broadcastOf } from "./ipv4.ts";

const CONFIG_OPTION = ["--config <file>", "the configuration file", CONFIG_PATH] as const;

export function buildBooter(): AnyCommand {
  const root = group("booter", "Boot the machines of a Berth site over their network", [
    serveCommand(),
    checkCommand(),
    redfishCommand(),
    wakeCommand(),
  ]);
  root.version(VERSION, "-V, --version", "print the version");
  return root;
}

export async function runBooter(argv: readonly string[], environment: Environment): Promise<ExitCode> {
  return await runCommand(buildBooter(), argv, environment);
}

function serveCommand(): AnyCommand {
  return command("serve", "Serve DHCP, TFTP, HTTP and AMQP until stopped", `--config ${CONFIG_PATH}`)
    .option(...CONFIG_OPTION)
    .action(async ({ config }, member) => await serve(config, environmentOf(member as AnyCommand))) as AnyCommand;
}

function checkCommand(): AnyCommand {
  return command(
    "check",
    "Check the configuration, the files and the control plane, and show what a machine would get",
    "--mac 02:00:00:00:00:17",
  )
    .option(...CONFIG_OPTION)
    .option("--mac <mac>", "the MAC address of a machine")
    .addOption(
      oneOf("--client <kind>", "show what a client of this kind would boot", CLIENT_KINDS).default("ipxe" as const),
    )
    .option("--json", "print the findings as JSON")
    .action(async (options, member) => await runCheck(options, environmentOf(member as AnyCommand))) as AnyCommand;
}

function wakeCommand(): AnyCommand {
  return command("wake", "Switch machines on by wake-on-LAN, on each network of the booter", "02:00:00:00:00:17")
    .argument("<mac...>", "the MAC addresses of the machines")
    .option(...CONFIG_OPTION)
    .action(async (given, { config: path }, member) => {
      const { stdout } = environmentOf(member as AnyCommand);
      const macs = given.map((text) => {
        const mac = canonicalMac(text);
        if (mac === null) throw usageFailure(`${text}: a MAC address has 12 hex digits`);
        return mac;
      });
      const { segment } = readBooterConfig(await readConfigText(path), path);
      await wake(macs, segment);
      const where = segment.map(broadcastOf).join(", ");
      stdout.write(`Sent to ${where}. No machine answers such a packet; watch: opsctl cn boot list\n`);
    }) as AnyCommand;
}

async function serve(path: string, { stderr, signal }: Environment): Promise<void> {
  const config = readBooterConfig(await readConfigText(path), path);
  const log = (event: string, fields?: Fields) => stderr.write(`${lineOf(new Date(), event, fields)}\n`);
  const booter = await openBooter({ config, log });
  await new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await booter.close();
  log("booter.stopped");
}

type CheckFlags = {
  readonly config: string;
  readonly mac?: string | undefined;
  readonly client: (typeof CLIENT_KINDS)[number];
  readonly json?: true | undefined;
};

async function runCheck(
  { config: path, mac: given, client, json }: CheckFlags,
  { stdout }: Environment,
): Promise<void> {
  const config = readBooterConfig(await readConfigText(path), path);
  const mac = given === undefined ? null : canonicalMac(given);
  if (given !== undefined && mac === null) throw new Error(`--mac ${given}: must be 12 hex digits`);
  const findings = await check({ config, mac, client });
  if (json === true) stdout.write(`${JSON.stringify(findings, null, 2)}\n`);
  else for (const { level, text } of findings) stdout.write(`${level.padEnd(4)} ${text}\n`);
  if (findings.some(({ level }) => level === "fail")) throw new Ended(EXIT.failure);
}
