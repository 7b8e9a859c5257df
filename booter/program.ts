// The booter's command line.
import process from "node:process";
import { Command, Option } from "@commander-js/extra-typings";
import manifest from "../package.json" with { type: "json" };
import { canonicalMac } from "../src/lib/net/mac.ts";
import { openBooter } from "./booter.ts";
import { check, readConfigText } from "./check.ts";
import { readBooterConfig } from "./config.ts";
import { CLIENT_KINDS } from "./decision.ts";
import { type Fields, lineOf } from "./log.ts";
import { readSecretLine } from "./private-file.ts";
import { type Bmc, openBmc } from "./redfish/bmc.ts";
import { BOOT_TARGETS, ensureUefi, powerCycle, setOnetimeBoot } from "./redfish/verbs.ts";

/** Exit codes. The other executables use the same numbers. */
export const EXIT = { ok: 0, failure: 1, usage: 2 } as const;

export type Terminal = {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Fires when the program must end. */
  readonly stopped: AbortSignal;
};

const CONFIG_PATH = "/etc/berth/booter.toml";
const POWER_LIMIT_MS = 120_000;
const POWER_STEP_MS = 2_000;

/** Builds the command tree. `ended` is called with the exit code of `check`. */
export function buildProgram(terminal: Terminal, ended: (code: number) => void) {
  const root = new Command("booter").description("Boots the machines of a Berth site over their network");
  root.version(manifest.version, "-V, --version", "print the version");
  root.addCommand(
    new Command("serve").description("Serve DHCP, TFTP, HTTP and AMQP until stopped")
      .option("--config <file>", "the configuration file", CONFIG_PATH)
      .action(async ({ config }) => await serve(config, terminal)),
  );
  root.addCommand(
    new Command("check").description(
      "Check the configuration, the files and the control plane, and show what a machine would get",
    )
      .option("--config <file>", "the configuration file", CONFIG_PATH)
      .option("--mac <mac>", "the MAC address of a machine")
      .addOption(
        new Option("--client <kind>", "show what a client of this kind would boot").choices(CLIENT_KINDS).default(
          "ipxe" as const,
        ),
      )
      .option("--json", "print the findings as JSON")
      .action(async (options) => ended(await checkCommand(options, terminal))),
  );
  root.addCommand(redfishCommand(terminal));
  return root;
}

export async function runBooter(argv: readonly string[], terminal: Terminal): Promise<number> {
  let code: number = EXIT.ok;
  const root = buildProgram(terminal, (ended) => void (code = ended));
  for (const command of [root, ...root.commands, ...root.commands.flatMap((each) => each.commands)]) {
    command.exitOverride().configureOutput({ writeOut: terminal.out, writeErr: terminal.err });
  }
  try {
    await root.parseAsync([...argv], { from: "user" });
    return code;
  } catch (error) {
    const { code: kind, exitCode } = error as { code?: unknown; exitCode?: unknown };
    if (typeof kind === "string" && kind.startsWith("commander.")) return exitCode === 0 ? EXIT.ok : EXIT.usage;
    terminal.err(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    return EXIT.failure;
  }
}

async function serve(path: string, { err, stopped }: Terminal): Promise<void> {
  const config = readBooterConfig(await readConfigText(path), path);
  const log = (event: string, fields?: Fields) => err(`${lineOf(new Date(), event, fields)}\n`);
  const booter = await openBooter({ config, log });
  await new Promise<void>((resolve) => {
    if (stopped.aborted) return resolve();
    stopped.addEventListener("abort", () => resolve(), { once: true });
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

async function checkCommand(
  { config: path, mac: given, client, json }: CheckFlags,
  { out }: Terminal,
): Promise<number> {
  const config = readBooterConfig(await readConfigText(path), path);
  const mac = given === undefined ? null : canonicalMac(given);
  if (given !== undefined && mac === null) throw new Error(`--mac ${given}: must be 12 hex digits`);
  const findings = await check({ config, mac, client });
  if (json === true) out(`${JSON.stringify(findings, null, 2)}\n`);
  else for (const { level, text } of findings) out(`${level.padEnd(4)} ${text}\n`);
  return findings.some(({ level }) => level === "fail") ? EXIT.failure : EXIT.ok;
}

type BmcFlags = {
  readonly host: string;
  readonly user: string;
  readonly passwordFile: string;
  readonly acceptInvalidCerts?: true | undefined;
};

function redfishCommand({ out }: Terminal) {
  const group = new Command("redfish").description("Prepare a machine for netboot through its BMC")
    .requiredOption("--host <host>", "the BMC's host name or address")
    .requiredOption("--user <user>", "the BMC's user")
    .requiredOption("--password-file <file>", "a file with the password; only its owner may read it")
    .option("--accept-invalid-certs", "accept a certificate that is not trusted");
  const withBmc = async (body: (bmc: Bmc) => Promise<string>) => {
    const { host, user, passwordFile, acceptInvalidCerts } = group.opts() as BmcFlags;
    const password = await readSecretLine(passwordFile, "--password-file");
    const bmc = await openBmc({ host, user, password, accept_invalid_certs: acceptInvalidCerts === true });
    try {
      out(`${await body(bmc)}\n`);
    } finally {
      await bmc.close();
    }
  };
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  group.command("ensure-uefi").description("Set the boot mode to UEFI").action(() => withBmc(ensureUefi));
  group.command("set-onetime-boot").description("Boot from the network once, at the next start")
    .addOption(
      new Option("--target <target>", "the kind of network boot").choices(BOOT_TARGETS).default("uefi-http" as const),
    )
    .action(({ target }) => withBmc((bmc) => setOnetimeBoot(bmc, target)));
  group.command("power-cycle").description("Restart the machine, or switch it on")
    .action(() => withBmc((bmc) => powerCycle(bmc, { sleep, limit_ms: POWER_LIMIT_MS, step_ms: POWER_STEP_MS })));
  return group;
}

export function processTerminal(): Terminal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    stopped: stop.signal,
  };
}
