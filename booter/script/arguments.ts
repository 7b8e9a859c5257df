// Builds the kernel's command line. The booter's own properties override the arguments of the boot policy, and secrets
// never come from the boot policy.
import { isKernelArgument } from "../../src/lib/text/kernel-argument.ts";
import type { BootFacts } from "../api-client/wire.ts";
import { cryptHash, flag, key, ScriptFault, value } from "./word.ts";

export type KernelLine = { readonly flags: readonly string[]; readonly properties: readonly string[] };

export type ArgumentParts = {
  readonly facts: BootFacts;
  readonly kind: "enrol" | "local" | "rescue";
  /** Kernel arguments of the boot policy. They are used for enrolment only. */
  readonly extra: readonly string[];
  readonly console: Console;
  /** user:password:address:port for the AMQP broker; null if no broker is configured. */
  readonly amqp: string | null;
  readonly root_password_hash: string | null;
};

export const CONSOLES = ["text", "ttya", "ttyb", "ttyc", "ttyd"] as const;
export type Console = (typeof CONSOLES)[number];

/** Properties that the boot policy cannot set. The booter sets the first two; the last would destroy the pools. */
const NEVER_EXTRA: ReadonlySet<string> = new Set(["root_shadow", "rabbitmq", "destroy_zpools"]);

export function kernelLine(parts: ArgumentParts): KernelLine {
  const { facts, kind, extra, console, amqp, root_password_hash } = parts;
  const flags: string[] = [];
  const properties = new Map<string, string>();
  if (kind === "enrol") { for (const each of extra) addExtra(each, flags, properties); }
  for (const [name, text] of networkProperties(facts)) properties.set(name, text);
  if (console !== "text") properties.set(`${console}-mode`, '"115200,8,n,1,-"');
  properties.set("console", console === "text" ? "text" : `${console}`);
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

/** Adds one argument of the boot policy: `-v`, `a=b`, or the platform's form `-Ba=b,c=d`. */
function addExtra(text: string, flags: string[], properties: Map<string, string>): void {
  if (!isKernelArgument(text)) throw new ScriptFault("a kernel argument of the boot policy has invalid characters");
  for (const part of text.replace(/^-B/, "").split(",").filter((each) => each !== "")) {
    const at = part.indexOf("=");
    if (at < 0 && part.startsWith("-")) {
      flags.push(flag(part));
      continue;
    }
    const name = key(at < 0 ? part : part.slice(0, at));
    if (NEVER_EXTRA.has(name.toLowerCase().replaceAll("-", "_"))) {
      throw new ScriptFault(`the boot policy may not set the kernel argument ${name}`);
    }
    properties.set(name, value(at < 0 ? "true" : part.slice(at + 1)));
  }
}

/**
 * Returns the hostname property and the properties that assign networks to ports, by MAC address or by the name of the
 * port's aggregation.
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
