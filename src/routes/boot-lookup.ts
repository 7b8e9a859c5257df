// What the boot routes look up before they send: the policy's verdict on a machine, and what the roster declares of it.
import { randomUUID } from "node:crypto";
import type { Kysely } from "kysely";
import { findPolicy } from "../../actors/boot-policy/reads.ts";
import { findRoster } from "../../actors/boot-roster/reads.ts";
import type { Declared } from "../../actors/boot-record/messages.ts";
import { findSysinfoByMac } from "../../actors/cn/reads.ts";
import type { AllowlistEntry, BootPolicy, Roster, RosterEntry } from "../contract/boot.ts";
import type { Database } from "../db/tables.ts";
import { canonicalMac } from "../pure/mac.ts";
import { serialOf } from "../pure/sysinfo-serial.ts";
import { segmentOf } from "./admin-network.ts";

/** What `seen` and `authorize` carry. */
export async function lookUp(kysely: Kysely<Database>, mac: string) {
  const [{ policy, version }, roster, sysinfo] = await Promise.all([
    findPolicy(kysely),
    findRoster(kysely),
    findSysinfoByMac(kysely, mac),
  ]);
  return {
    enroll: policy.auto_enroll && allowed(policy.allowlist, mac, serialOf(sysinfo)),
    policy_version: version,
    segment: segmentOf(policy.admin_network),
    declared: declaredOf(roster, mac),
    // Replaced by the address inside the commit; random, so that nothing else can look like it.
    address_token: `address:${randomUUID()}`,
  };
}

/** An empty list is unconstrained. A serial number is known only of machines that announced. */
export function allowed(allowlist: BootPolicy["allowlist"], mac: string, serial: string | null): boolean {
  return allowlist.length === 0 || allowlist.some((entry) => matches(entry, mac, serial));
}

function matches(entry: AllowlistEntry, mac: string, serial: string | null): boolean {
  switch (entry.kind) {
    case "mac_prefix":
      return mac === entry.value || mac.startsWith(`${entry.value}:`);
    case "service_tag":
      return serial === entry.value;
  }
}

/** What the roster says of the machine that boots from this MAC. */
export function declaredOf(roster: Roster, mac: string): Declared {
  const entry = roster.find((each) => bootMacOf(each) === mac);
  if (entry === undefined) return { hostname: null, nic_tags: [] };
  const { hostname, nic_tags, aggregate } = entry;
  return { hostname, nic_tags, ...(aggregate === undefined ? {} : { aggregate }) };
}

/** Document 2: a declared aggregate's first member is the boot MAC; otherwise the entry's first. */
export function bootMacOf(entry: RosterEntry): string {
  const text = entry.aggregate?.macs[0] ?? entry.macs[0] ?? "";
  return canonicalMac(text) ?? text;
}
