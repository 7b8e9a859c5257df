// Handles the routes of the HTTP server. Boot scripts and a machine's own files require the machine's ticket and IP
// address. Firmware programs and platform images are served to every machine that decision.ts lets boot.
import { createHash } from "node:crypto";
import type { Counters } from "../counters.ts";
import { type Architecture, type BootSettings, type ClientKind, decide, type Decision } from "../decision.ts";
import type { Files } from "../files.ts";
import type { Leases } from "../dhcp/leases.ts";
import type { Log } from "../log.ts";
import type { Found, Records } from "../api-client/records.ts";
import type { BootFacts } from "../api-client/wire.ts";
import type { BootConsolePort } from "../../src/contract/enums.ts";
import { networkingJson } from "../script/networking.ts";
import { machineFiles } from "../script/machine-files.ts";
import { MACHINE_FILES, renderScript } from "../script/render.ts";
import { ScriptFault } from "../script/word.ts";
import type { ScriptUses } from "../script-uses.ts";
import { issueTicket, readTicket, type Ticket } from "../ticket.ts";
import { fileAnswer, type HttpAnswer, type HttpAsked, type HttpHandler, NOT_FOUND, textAnswer } from "./answer.ts";

export type RouteOptions = {
  readonly secret: Uint8Array;
  readonly records: Records;
  readonly leases: Leases;
  readonly settings: () => BootSettings;
  readonly files: Files;
  readonly console: BootConsolePort;
  /** Returns http://ADDRESS:PORT, where the machine at this address reaches this booter. */
  readonly originFor: (address: string) => string;
  /** Returns a machine's boot parameter for AMQP, or null if no AMQP broker is configured. */
  readonly amqpFor: (mac: string, address: string) => string | null;
  readonly xidOf: (mac: string) => number | null;
  readonly architectureOf: (mac: string) => Architecture | null;
  readonly uses: ScriptUses;
  /**
   * Records which archives with a machine's own files were served. Like boot scripts, these archives contain secrets.
   */
  readonly file_uses: ScriptUses;
  readonly now: () => Date;
  readonly counters: Counters;
  readonly log: Log;
  /** The handlers of setup and mirror. They are tried before the routes of this file. */
  readonly more: readonly ((asked: HttpAsked) => Promise<HttpAnswer | null>)[];
};

export function bootHandler(options: RouteOptions): HttpHandler {
  return async (asked) => {
    for (const more of options.more) {
      const answer = await more(asked);
      if (answer !== null) return answer;
    }
    if (asked.method === "POST") return NOT_FOUND;
    const [, section = "", name = "", ...rest] = asked.path.split("/");
    switch (section) {
      case "time":
        return name === "" && rest.length === 0 ? textAnswer(200, `${options.now().toISOString()}\n`) : NOT_FOUND;
      case "script":
        return rest.length === 0 ? await script(name, asked, options) : NOT_FOUND;
      case "bootfs":
        return rest.length === 1 ? await ownFile(name, rest[0]!, asked, options) : NOT_FOUND;
      case "firmware":
        return await program(programName(asked.path), asked, options);
      case "os":
        return await imageFile(asked, options);
      default:
        return NOT_FOUND;
    }
  };
}

type Boots = Extract<Decision, { readonly stamp: string }>;
type Boot = { readonly facts: BootFacts; readonly decision: Boots };

/** Decides again what the machine boots, because an operator may have changed the record since the DHCP answer. */
async function bootOf(
  mac: string,
  address: string,
  client: ClientKind,
  options: RouteOptions,
  found?: Found,
): Promise<Boot | null> {
  const { facts, verified } = found ?? options.records.fresh(mac) ?? await options.records.find(mac, {});
  const architecture = options.architectureOf(mac);
  const decision = decide({ client, architecture, record: facts, verified, policy: options.settings() });
  if (!("stamp" in decision) || facts === null || !isAddressOf(facts, address, options)) {
    const reason = decision.kind === "nothing" ? decision.reason : "other_address";
    options.counters.count("http_refused_total", { reason });
    options.log("http.refused", { mac, address, reason });
    return null;
  }
  return { facts, decision };
}

function ticketOf(text: string, asked: HttpAsked, options: RouteOptions): Ticket | null {
  const { secret, xidOf, now } = options;
  const ticket = readTicket(secret, { text, source: asked.source, now: now(), xidOf });
  if (typeof ticket !== "string") return ticket;
  alarm(`ticket_${ticket}`, { address: asked.source }, options);
  return null;
}

/**
 * Logs and counts a refused request for a boot script or for a machine's own files. A machine that boots normally never
 * causes such a request.
 */
function alarm(reason: string, fields: Readonly<Record<string, string>>, { counters, log }: RouteOptions): void {
  counters.count("http_refused_total", { reason });
  log("http.refused", { ...fields, reason });
}

/**
 * Asks the control plane for the record, because the root password may have just changed. If the control plane does not
 * answer, returns the cached record.
 */
async function latest(mac: string, { records }: RouteOptions): Promise<Found> {
  const asked = await records.find(mac, {});
  return asked.verified ? asked : records.fresh(mac) ?? asked;
}

async function script(text: string, asked: HttpAsked, options: RouteOptions): Promise<HttpAnswer> {
  const ticket = ticketOf(text, asked, options);
  if (ticket === null) return NOT_FOUND;
  const { mac, address } = ticket;
  if (options.uses.isUsed(ticket)) return refusedAsUsed(ticket, options);
  const boot = await bootOf(mac, address, "ipxe", options, await latest(mac, options));
  if (boot === null) return NOT_FOUND;
  const { facts, decision } = boot;
  const image = options.files.image(decision.stamp);
  if (image === null) return NOT_FOUND;
  try {
    const made = renderScript({ ...argumentsOf(boot, options), facts, stamp: decision.stamp, ticket: text, image });
    if (asked.method === "HEAD") return textAnswer(200, made);
    const use = await options.uses.use(ticket);
    if (use === null) return refusedAsUsed(ticket, options);
    options.counters.count("scripts_total", { kind: decision.kind });
    const locked = facts.root_password_known ? {} : { root_password: "locked" };
    options.log("script.served", { mac, address, kind: decision.kind, stamp: decision.stamp, ...locked });
    return { ...textAnswer(200, made), ended: use.ended };
  } catch (error) {
    if (!(error instanceof ScriptFault)) throw error;
    options.counters.count("scripts_refused_total");
    options.log("script.refused", { mac, reason: error.message });
    return NOT_FOUND;
  }
}

function refusedAsUsed({ mac, address }: Ticket, options: RouteOptions): HttpAnswer {
  alarm("ticket_used", { mac, address }, options);
  return NOT_FOUND;
}

/**
 * The hash for a machine whose own hash is unknown. Without a hash, a SmartOS machine would boot with the password of
 * its image, which is public. This hash is 64 zero bytes, and no password with this hash is known. It has the form of
 * other hashes, so every image accepts it.
 */
export const LOCKED_PASSWORD_HASH = `$6$locked$${".".repeat(86)}`;

/** Returns the values in a script and in a machine's own files, for every kind of image. */
function argumentsOf({ facts, decision }: Boot, options: RouteOptions) {
  return {
    facts,
    kind: decision.kind,
    origin: options.originFor(facts.address ?? ""),
    extra: options.records.policy().enrollment_kernel_args,
    console: options.console,
    amqp: options.amqpFor(facts.mac, facts.address ?? ""),
    root_password_hash: facts.root_password_known ? facts.root_password_hash : LOCKED_PASSWORD_HASH,
  };
}

async function ownFile(text: string, name: string, asked: HttpAsked, options: RouteOptions): Promise<HttpAnswer> {
  const ticket = ticketOf(text, asked, options);
  if (ticket === null) return NOT_FOUND;
  if (name === MACHINE_FILES) return await ownArchive(ticket, asked, options);
  if (name !== "networking.json" && name !== "networking.json.hash") return NOT_FOUND;
  const boot = await bootOf(ticket.mac, ticket.address, "ipxe", options);
  if (boot === null) return NOT_FOUND;
  const document = networkingJson(boot.facts);
  if (name === "networking.json") return textAnswer(200, document, "application/json");
  return textAnswer(200, `${createHash("sha1").update(document).digest("hex")}\n`);
}

/**
 * Answers with the files of a machine that boots a Linux node image. The files contain secrets, so they are served
 * once, like the machine's script.
 */
async function ownArchive(ticket: Ticket, asked: HttpAsked, options: RouteOptions): Promise<HttpAnswer> {
  if (options.file_uses.isUsed(ticket)) return refusedAsUsed(ticket, options);
  const boot = await bootOf(ticket.mac, ticket.address, "ipxe", options, await latest(ticket.mac, options));
  if (boot === null || options.files.image(boot.decision.stamp)?.kind !== "linux") return NOT_FOUND;
  try {
    const bytes = machineFiles({ ...argumentsOf(boot, options), stamp: boot.decision.stamp });
    const answer = { status: 200, type: "application/octet-stream", content: { bytes } };
    if (asked.method === "HEAD") return answer;
    const use = await options.file_uses.use(ticket);
    return use === null ? refusedAsUsed(ticket, options) : { ...answer, ended: use.ended };
  } catch (error) {
    if (!(error instanceof ScriptFault)) throw error;
    options.counters.count("scripts_refused_total");
    options.log("script.refused", { mac: ticket.mac, reason: error.message });
    return NOT_FOUND;
  }
}

/**
 * Returns the name of the program in a path. When a shim requests the program that it starts next, it puts a slash or
 * backslashes before the name.
 */
function programName(path: string): string {
  return path.slice("/firmware/".length).replace(/^(?:[/\\]|%5c)+/i, "");
}

async function program(name: string, asked: HttpAsked, options: RouteOptions): Promise<HttpAnswer> {
  if (!await mayBoot(asked.source, options)) return NOT_FOUND;
  const bytes = options.files.program(name);
  return bytes === null ? NOT_FOUND : { status: 200, type: "application/efi", content: { bytes } };
}

async function imageFile(asked: HttpAsked, options: RouteOptions): Promise<HttpAnswer> {
  if (!await mayBoot(asked.source, options)) return NOT_FOUND;
  const path = await options.files.imageFile(asked.path);
  return path === null ? NOT_FOUND : fileAnswer(path);
}

/** Returns whether the machine at this IP address may boot. The TFTP server also calls this function. */
export async function mayBoot(
  address: string,
  options: Pick<RouteOptions, "records" | "leases" | "settings">,
): Promise<boolean> {
  const { records, leases, settings } = options;
  const mac = records.macOf(address) ?? leases.macOf(address);
  if (mac === null) return false;
  const { facts, verified } = records.fresh(mac) ?? await records.find(mac, {});
  if (facts === null || !isAddressOf(facts, address, options)) return false;
  // The request itself names the program, so the decision does not need the machine's architecture.
  return decide({ client: "ipxe", architecture: null, record: facts, verified, policy: settings() }).kind !== "nothing";
}

/** Returns whether the machine's record has this address, or another DHCP server gave the address to the machine. */
function isAddressOf({ mac, address }: BootFacts, asked: string, { leases }: Pick<RouteOptions, "leases">): boolean {
  return address === asked || leases.addressOf(mac) === asked;
}

/** Returns the URL of a machine's boot script: http://ADDRESS:PORT/script/TICKET. */
export function scriptUrl(secret: Uint8Array, origin: string, ticket: Ticket, now: Date): string {
  return `${origin}/script/${issueTicket(secret, ticket, now)}`;
}
