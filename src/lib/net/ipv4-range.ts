// Parses an IPv4 block and the range in it from which addresses are allocated. The admin_network of the boot policy has
// this form.
import { formatIp, networkOf, parseCidr, parseIp } from "./ip-address.ts";

/** The fields of a range in the request. */
export type Ipv4RangeFields = {
  readonly ipv4_block: string;
  readonly provision_start_ipv4: string;
  readonly provision_end_ipv4: string;
  readonly gateway: string | null;
};

/**
 * A parsed range. Addresses are numbers, and the range includes both ends. `block` is canonical text. `count` does not
 * include the gateway.
 */
export type Ipv4Range = {
  readonly block: string;
  readonly prefix: number;
  readonly start: bigint;
  readonly end: bigint;
  readonly gateway: bigint | null;
  readonly count: bigint;
};

/** The longest prefix. A block with a longer prefix has only its network and broadcast addresses. */
const PREFIX_MAX = 30;

/**
 * Parses the fields. The gateway may be inside the range, but is never allocated.
 * @returns the range, or the text of a 400 that begins with the name of the field
 */
export function parseIpv4Range(fields: Ipv4RangeFields): { readonly range: Ipv4Range } | { readonly error: string } {
  const block = fields.ipv4_block.includes(":") ? null : parseCidr(fields.ipv4_block);
  if (block === null || block.prefix > PREFIX_MAX) {
    return { error: `ipv4_block must be an IPv4 network with a prefix of at most ${PREFIX_MAX}, like 10.0.0.0/24` };
  }
  const text = `${formatIp({ family: 4, value: block.network })}/${block.prefix}`;
  const first = block.network + 1n;
  const last = block.network + (1n << BigInt(32 - block.prefix)) - 2n;

  const hosts: Record<string, bigint> = {};
  for (const name of ["provision_start_ipv4", "provision_end_ipv4", "gateway"] as const) {
    const sent = fields[name];
    if (sent === null) continue;
    const value = ipv4(sent);
    if (value === null) return { error: `${name} must be an IPv4 address` };
    if (networkOf({ family: 4, value }, block.prefix) !== block.network) {
      return { error: `${name} is not inside ${text}` };
    }
    if (value < first) return { error: `${name} is the network address of ${text}` };
    if (value > last) return { error: `${name} is the broadcast address of ${text}` };
    hosts[name] = value;
  }
  const start = hosts.provision_start_ipv4!, end = hosts.provision_end_ipv4!, gateway = hosts.gateway ?? null;
  if (start > end) return { error: "provision_start_ipv4 is above provision_end_ipv4" };
  const count = end - start + 1n - (gateway !== null && gateway >= start && gateway <= end ? 1n : 0n);
  if (count === 0n) {
    return { error: "provision_start_ipv4 to provision_end_ipv4 contains only the gateway; include another address" };
  }
  return { range: { block: text, prefix: block.prefix, start, end, gateway, count } };
}

function ipv4(text: string): bigint | null {
  return text.includes(":") ? null : parseIp(text)?.value ?? null;
}
