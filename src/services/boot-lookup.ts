// Reads the data that boot routes need: the boot policy's decision about a machine, and the machine's roster entry.
import { randomUUID } from "node:crypto";
import type { Kysely } from "kysely";
import { findPolicy } from "../../actors/boot-policy/reads.ts";
import { type Declarations, findDeclarations } from "../../actors/boot-roster/reads.ts";
import type { Admitted, Declared } from "../../actors/boot-record/messages.ts";
import { findSysinfoByMac } from "../../actors/cn/reads.ts";
import { findBootRecords, findRelays } from "../../actors/boot-record/reads.ts";
import type { AllowlistEntry, BootPolicy } from "../contract/boot.ts";
import { MACS_PER_NODE_MAX } from "../contract/limits.ts";
import type { Database } from "../db/tables.ts";
import { serialOfGuid } from "../lib/ids/guid-serial.ts";
import { macsOf } from "../lib/net/sysinfo-macs.ts";
import { serialOf } from "../lib/ids/sysinfo-serial.ts";
import { segmentOf } from "./admin-network.ts";

/**
 * Returns the policy's decision about a machine, and the input for reserving its address. The messages `seen`,
 * `authorize` and `rescue` contain this input.
 * @param request - The machine's request: its GUID, which encodes the service tag on some machines, and its relay.
 *   Without a request, the relay of the last request is used.
 */
export async function lookUp(kysely: Kysely<Database>, mac: string, request: Request | null = null) {
  const [{ policy, version }, declarations, sysinfo, relays] = await Promise.all([
    findPolicy(kysely),
    findDeclarations(kysely),
    findSysinfoByMac(kysely, mac),
    request === null ? findRelays(kysely, [mac]) : new Map<string, string>(),
  ]);
  return {
    enroll: policy.auto_enroll && allowed(policy.allowlist, mac, [serialOf(sysinfo), serialOfGuid(request?.guid)]),
    policy_version: version,
    segment: segmentOf(policy, request === null ? relays.get(mac) ?? null : request.relay),
    declared: declaredOf(declarations, mac),
    address_token: newAddressToken(),
  };
}

type Request = { readonly guid: unknown; readonly relay: string | null };

/**
 * Returns a placeholder that the commit replaces with the assigned address. The placeholder is random, so that no other
 * text equals it.
 */
function newAddressToken(): string {
  return `address:${randomUUID()}`;
}

/**
 * Returns the discovered boot records of an announced machine's ports, if auto_enroll is on and a service_tag entry
 * matches the machine's serial number. Leaves out a record if the policy has no network for it.
 */
export async function admittedBy(kysely: Kysely<Database>, sysinfo: unknown): Promise<readonly Admitted[]> {
  const macs = macsOf(sysinfo).slice(0, MACS_PER_NODE_MAX);
  const [{ policy, version }, declarations, records, relays] = await Promise.all([
    findPolicy(kysely),
    findDeclarations(kysely),
    findBootRecords(kysely, macs),
    findRelays(kysely, macs),
  ]);
  const serial = serialOf(sysinfo);
  const tagged = policy.allowlist.some(({ kind, value }) => kind === "service_tag" && value === serial);
  if (!policy.auto_enroll || !tagged) return [];
  return [...records.values()].filter(({ state }) => state === "discovered").flatMap(({ mac }) => {
    const segment = segmentOf(policy, relays.get(mac) ?? null);
    if (segment === null) return [];
    const declared = declaredOf(declarations, mac);
    return [{ mac, policy_version: version, segment, declared, address_token: newAddressToken() }];
  });
}

/**
 * Returns whether the allowlist admits a machine. An empty list admits all. `serials` are the known serial numbers of
 * the machine: from its inventory, or decoded from its GUID.
 */
export function allowed(
  allowlist: BootPolicy["allowlist"],
  mac: string,
  serials: readonly (string | null)[],
): boolean {
  return allowlist.length === 0 || allowlist.some((entry) => matches(entry, mac, serials));
}

function matches(entry: AllowlistEntry, mac: string, serials: readonly (string | null)[]): boolean {
  switch (entry.kind) {
    case "mac_prefix":
      return mac === entry.value || mac.startsWith(`${entry.value}:`);
    case "service_tag":
      return serials.includes(entry.value);
  }
}

/**
 * Returns the roster's data about the machine that boots from this MAC; empty values if the roster has no entry for it.
 */
export function declaredOf({ byBootMac }: Declarations, mac: string): Declared {
  const entry = byBootMac.get(mac);
  if (entry === undefined) return { hostname: null, nic_tags: [] };
  const { hostname, nic_tags, aggregate } = entry;
  return { hostname, nic_tags, ...(aggregate === undefined ? {} : { aggregate }) };
}
