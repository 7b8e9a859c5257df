// Builds the kernel's command line. The booter's own properties override the arguments of operators. Arguments of
// operators never set the properties that contain secrets.
import { isKernelArgument, reservedKernelArgument } from "../../src/lib/text/kernel-argument.ts";
import type { BootConsole } from "../../src/contract/boot.ts";
import type { BootConsolePort } from "../../src/contract/enums.ts";
import type { BootFacts } from "../api-client/wire.ts";
import { cryptHash, flag, key, ScriptFault, value } from "./word.ts";

export type KernelLine = { readonly flags: readonly string[]; readonly properties: readonly string[] };

export type ArgumentParts = {
  readonly facts: BootFacts;
  readonly kind: "enrol" | "local" | "rescue";
  /** Kernel arguments of the boot policy, for enrolment only. */
  readonly extra: readonly string[];
  /** The console of machines for which neither the record nor a label sets a console. */
  readonly console: BootConsolePort;
  /** user:password:address:port for the AMQP broker; null if no broker is configured. */
  readonly amqp: string | null;
  readonly root_password_hash: string | null;
};

/** The speed of the console that the booter's configuration names. The configuration has no setting for the speed. */
const CONSOLE_SPEED = 115_200;

/** Returns the machine's own console, or otherwise the console of the booter's configuration. */
export function consoleOf({ facts, console }: Pick<ArgumentParts, "facts" | "console">): BootConsole {
  return facts.boot_arguments.console ?? { port: console, speed: CONSOLE_SPEED };
}

/**
 * Returns the kernel arguments of operators. A rescue boot has no arguments of operators, because such an argument may
 * be the reason why the machine does not boot.
 */
export function operatorArguments({ facts, kind, extra }: Pick<ArgumentParts, "facts" | "kind" | "extra">) {
  if (kind === "rescue") return [];
  return [...(kind === "enrol" ? extra : []), ...facts.boot_arguments.kernel_args];
}

export function kernelLine(parts: ArgumentParts): KernelLine {
  const { facts, kind, amqp, root_password_hash } = parts;
  const { port, speed } = consoleOf(parts);
  const flags: string[] = [];
  const properties = new Map<string, string>();
  for (const each of operatorArguments(parts)) addExtra(each, flags, properties);
  for (const [name, text] of networkProperties(facts)) properties.set(name, text);
  if (port !== "text") properties.set(`${port}-mode`, `"${speed},8,n,1,-"`);
  properties.set("console", port);
  if (amqp !== null && kind === "enrol") properties.set("rabbitmq", value(amqp));
  if (root_password_hash !== null) properties.set("root_shadow", cryptHash(root_password_hash));
  // With noimport the platform imports no pool and starts no service of the node. The argument comes last, as in the
  // platform's own rescue entry.
  if (kind === "rescue") {
    properties.delete("noimport");
    properties.set("noimport", "true");
  }
  return { flags: [...flags].sort(), properties: [...properties].map(([name, text]) => `${key(name)}=${text}`) };
}

/** Adds one argument of an operator: `-v`, `a=b`, or the platform's form `-Ba=b,c=d`. */
function addExtra(text: string, flags: string[], properties: Map<string, string>): void {
  if (!isKernelArgument(text)) throw new ScriptFault("a kernel argument has invalid characters");
  const reserved = reservedKernelArgument(text);
  if (reserved !== null) throw new ScriptFault(`no operator may set the kernel argument ${reserved}`);
  for (const part of text.replace(/^-B/, "").split(",").filter((each) => each !== "")) {
    const at = part.indexOf("=");
    if (at < 0 && part.startsWith("-")) {
      flags.push(flag(part));
      continue;
    }
    const name = key(at < 0 ? part : part.slice(0, at));
    properties.set(name, value(at < 0 ? "true" : part.slice(at + 1)));
  }
}

/**
 * Returns the hostname property, the properties of the port's aggregation, and the properties that assign networks to
 * the port, by MAC address or by the name of the aggregation.
 */
function networkProperties({ mac, hostname, networking }: BootFacts): [string, string][] {
  const named = networking?.hostname ?? hostname;
  const properties: [string, string][] = named === null ? [] : [["hostname", value(named)]];
  const aggregate = networking?.aggregate;
  const port = aggregate === undefined ? value(mac) : value(aggregate.name);
  if (aggregate !== undefined) {
    properties.push([`${aggregate.name}_aggr`, `"${aggregate.macs.map(value).join(",")}"`]);
    properties.push([`${aggregate.name}_lacp_mode`, value(aggregate.mode)]);
  }
  for (const tag of new Set(["admin", ...(networking?.nic_tags ?? [])])) properties.push([`${tag}_nic`, port]);
  return properties;
}
