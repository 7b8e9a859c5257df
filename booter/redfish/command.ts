// Defines the commands of `booter redfish`.
import { type AnyCommand, command, group, oneOf } from "../../cli/framework.ts";
import type { Environment } from "../../cli/internal/environment.ts";
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";
import { environmentOf } from "../../cli/internal/run.ts";
import { ApiFault, openApiClient } from "../api-client/client.ts";
import { readConfigText } from "../check.ts";
import { CONFIG_PATH, readBooterConfig } from "../config.ts";
import { readSecretLine } from "../private-file.ts";
import { type Bmc, BmcFault, openBmc } from "./bmc.ts";
import { ensureUefi } from "./boot-mode.ts";
import { readHardware } from "./inventory.ts";
import { type System, systemOf } from "./system.ts";
import { BOOT_TARGETS, type Pause, powerCycle, powerOff, setOnetimeBoot } from "./verbs.ts";

/** The default of --deadline, enough for slow requests and two power changes. */
const DEADLINE_S = 120;
/** The largest --deadline, a day: timers of the runtime take at most 24 days. */
const DEADLINE_S_MAX = 86_400;
/** The pause between two reads of the power state or the boot override. */
const STEP_MS = 2_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const EXAMPLE = "--host bmc-17 --user admin --password-file /etc/berth/bmc-password";

type Flags = {
  readonly host: string;
  readonly user: string;
  readonly passwordFile: string;
  readonly acceptInvalidCerts?: true | undefined;
  readonly system?: string | undefined;
  readonly deadline: string;
};

export function redfishCommand(): AnyCommand {
  return group("redfish", "Prepare a machine for netboot, read its hardware, or switch it off, through its BMC", [
    command("ensure-uefi", "Set the boot mode to UEFI", EXAMPLE)
      .action((_options, member) => withSystem(member as AnyCommand, ensureUefi)) as AnyCommand,
    command("set-onetime-boot", "Boot from the network once, at the next start", EXAMPLE)
      .addOption(oneOf("--target <target>", "the kind of network boot", BOOT_TARGETS).default("uefi-http" as const))
      .option("--boot-uri <uri>", "load this program by UEFI HTTP boot, instead of the one that DHCP names")
      .action(({ target, bootUri }, member) => {
        const boot_uri = bootUri === undefined ? null : checkedUri(bootUri, target);
        return withSystem(
          member as AnyCommand,
          (bmc, system, pause) => setOnetimeBoot(bmc, system, { target, boot_uri, pause }),
        );
      }) as AnyCommand,
    command("inventory", "Print the hardware and the firmware as JSON, or send them to the control plane", EXAMPLE)
      .option("--report", "send them to the control plane, which shows them: opsctl cn hardware")
      .option("--node <uuid>", "the UUID of the node, if the BMC shows a different UUID")
      .option("--config <file>", "the booter's configuration file, for --report", CONFIG_PATH)
      .action((options, member) =>
        withSystem(member as AnyCommand, (bmc, system) => inventory(bmc, system, options))
      ) as AnyCommand,
    command("power-cycle", "Restart the machine, or switch it on", EXAMPLE)
      .action((_options, member) => withSystem(member as AnyCommand, powerCycle)) as AnyCommand,
    command("power-off", "Switch the machine off at once, and wait until it is off", EXAMPLE)
      .action((_options, member) => withSystem(member as AnyCommand, powerOff)) as AnyCommand,
  ])
    .requiredOption("--host <host>", "the BMC's host name, IPv4 or IPv6 address, or URL")
    .requiredOption("--user <user>", "the BMC's user")
    .requiredOption("--password-file <file>", "a file with the password; only its owner may read it")
    .option("--accept-invalid-certs", "accept a certificate that is not trusted")
    .option("--system <system>", "the UUID, name or id of the system, if the BMC has several")
    .option("--deadline <seconds>", "the longest time that the command may take", String(DEADLINE_S)) as AnyCommand;
}

function checkedUri(text: string, target: string): string {
  if (target !== "uefi-http") throw new Failure("--boot-uri needs --target uefi-http", EXIT.usage);
  if (/^https?:\/\/[!-~]+\.efi$/i.test(text) && URL.canParse(text)) return text;
  throw new Failure(`--boot-uri ${text}: must be an http or https URI that ends with .efi`, EXIT.usage);
}

type InventoryFlags = {
  readonly report?: true | undefined;
  readonly node?: string | undefined;
  readonly config: string;
};

async function inventory(bmc: Bmc, system: System, { report, node, config }: InventoryFlags): Promise<string> {
  const hardware = await readHardware(bmc, system);
  if (report !== true) return JSON.stringify(hardware, null, 2);
  const server_uuid = (node ?? hardware.system.uuid ?? "").toLowerCase();
  if (!UUID.test(server_uuid)) throw new BmcFault("the BMC shows no UUID of the system; pass --node");
  const { control_plane: { url, key_file } } = readBooterConfig(await readConfigText(config), config);
  const api = openApiClient({ url, key: await readSecretLine(key_file, "control_plane.key_file") });
  await api.hardware(server_uuid, hardware).catch((error) => {
    if (!(error instanceof ApiFault) || error.status !== 404) throw error;
    throw new BmcFault(`no node has the UUID ${server_uuid}; pass --node (opsctl cn list shows the nodes)`);
  });
  return `sent the hardware of node ${server_uuid}; see: opsctl cn hardware ${server_uuid}`;
}

type Body = (bmc: Bmc, system: System, pause: Pause) => Promise<string>;

/** Calls `body` with the system that the command line names, and prints the text that `body` returns. */
async function withSystem(member: AnyCommand, body: Body): Promise<void> {
  // The parser has checked the options of the group.
  const flags = member.optsWithGlobals() as Flags;
  const environment = environmentOf(member);
  const limit_s = Number(flags.deadline);
  if (!Number.isInteger(limit_s) || limit_s < 1 || limit_s > DEADLINE_S_MAX) {
    throw new Failure(`--deadline: must be a whole number of seconds from 1 to ${DEADLINE_S_MAX}`, EXIT.usage);
  }
  const password = await readSecretLine(flags.passwordFile, "--password-file");
  const text = await limited(environment, limit_s, async (signal) => {
    const sleep = (ms: number) => environment.sleepMs(ms, signal);
    const bmc = await openBmc({
      host: flags.host,
      user: flags.user,
      password,
      accept_invalid_certs: flags.acceptInvalidCerts === true,
      signal,
      sleep,
    });
    try {
      const system = await systemOf(bmc, flags.system ?? null);
      return await body(bmc, system, { sleep, limit_ms: limit_s * 1_000, step_ms: STEP_MS });
    } finally {
      await bmc.close();
    }
  });
  environment.stdout.write(`${text}\n`);
}

/** Runs `body` until its end, the deadline, Ctrl-C or SIGTERM. */
async function limited<T>(
  { signal: stop }: Environment,
  limit_s: number,
  body: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const deadline = setTimeout(
    () =>
      ended.abort(
        new BmcFault(`the command did not end within ${limit_s} s (--deadline); the BMC may have done a part of it`),
      ),
    limit_s * 1_000,
  );
  const interrupt = () => ended.abort(new Failure("interrupted", EXIT.interrupted));
  if (stop.aborted) interrupt();
  else stop.addEventListener("abort", interrupt, { once: true });
  try {
    return await body(ended.signal);
  } finally {
    clearTimeout(deadline);
    stop.removeEventListener("abort", interrupt);
  }
}
