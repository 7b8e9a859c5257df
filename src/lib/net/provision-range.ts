// Parses a block of public IPv4 or IPv6 addresses, with the range from which addresses are allocated. Some addresses of
// a block are never allocated: the network address, the address after it, the gateway and the IPv4 broadcast address.
// By default, the gateway is the address after the network address.
import type { AddressFamily } from "../../contract/enums.ts";
import { SUBNET_ADDRESSES_KEPT } from "../../contract/limits.ts";
import { type Cidr, formatIp, inCidr, parseCidr, parseIp } from "./ip-address.ts";

/** The fields of one family in the request. */
export type ProvisionFields = {
  readonly block: string;
  /**
   * The first address of the range. Null means the first address that can be allocated; a null `end` means the last
   * such address.
   */
  readonly start: string | null;
  readonly end: string | null;
  /** The router of the network; null means the first address after the network address. */
  readonly gateway: string | null;
};

/** A block and the part from which addresses are allocated. */
export type ProvisionRange = {
  /** The network in canonical text, with host bits cleared. */
  readonly block: string;
  /** The first and the last address of the range. */
  readonly start: string;
  readonly end: string;
  /** The router of the network, outside of the range. */
  readonly gateway: string;
  /** Distance from the network address to `start`, at most MAX_SAFE_INTEGER. */
  readonly offset: number;
  /** Number of addresses from `start`, at most MAX_SAFE_INTEGER. */
  readonly count: number;
};

/** The longest prefix length. A longer prefix leaves only reserved addresses. */
const PREFIX_MAX = { v4: 30, v6: 126 } as const;
const NAMES = { v4: { bits: 32, text: "IPv4" }, v6: { bits: 128, text: "IPv6" } } as const;
const EXAMPLE = { v4: "198.51.100.0/24", v6: "2001:db8:1::/48" } as const;

/**
 * Parses the fields of one family. A range may begin at the first address after the network address, but this address
 * is never allocated.
 * @returns the range, or the text of a 400 that begins with the name of the field
 */
export function parseProvisionRange(
  family: AddressFamily,
  fields: ProvisionFields,
): { readonly range: ProvisionRange } | { readonly error: string } {
  const { bits, text } = NAMES[family];
  const name = text.toLowerCase();
  const block = parseCidr(fields.block);
  if (block === null || `v${block.family}` !== family || block.prefix > PREFIX_MAX[family]) {
    const rule = `must be an ${text} network with a prefix of at most ${PREFIX_MAX[family]}, like ${EXAMPLE[family]}`;
    return { error: `${name}_block ${rule}` };
  }
  const first = block.network + BigInt(SUBNET_ADDRESSES_KEPT);
  const last = block.network + (1n << BigInt(bits - block.prefix)) - (family === "v4" ? 2n : 1n);

  const start = hostOf(block, `provision_start_${name}`, fields.start ?? format(block, first));
  if ("error" in start) return start;
  const end = hostOf(block, `provision_end_${name}`, fields.end ?? format(block, last));
  if ("error" in end) return end;
  if (start.host > end.host) return { error: `provision_start_${name} is above provision_end_${name}` };
  if (end.host < first) {
    return {
      error: `provision_start_${name} to provision_end_${name} contains only the gateway; include another address`,
    };
  }
  const from = start.host < first ? first : start.host;
  const gateway = hostOf(block, `gateway_${name}`, fields.gateway ?? format(block, first - 1n));
  if ("error" in gateway) return gateway;
  if (gateway.host >= from && gateway.host <= end.host) {
    return { error: `gateway_${name} is between provision_start_${name} and provision_end_${name}` };
  }
  return {
    range: {
      block: `${format(block, block.network)}/${block.prefix}`,
      start: format(block, from),
      end: format(block, end.host),
      gateway: format(block, gateway.host),
      offset: safe(from - block.network),
      count: safe(end.host - from + 1n),
    },
  };
}

function hostOf(block: Cidr, name: string, text: string): { readonly host: bigint } | { readonly error: string } {
  const ip = parseIp(text);
  const whole = `${format(block, block.network)}/${block.prefix}`;
  if (ip === null || ip.family !== block.family) return { error: `${name} must be an IPv${block.family} address` };
  if (!inCidr(ip, block)) return { error: `${name} is not inside ${whole}` };
  if (ip.value === block.network) return { error: `${name} is the network address of ${whole}` };
  const broadcast = block.network + (1n << BigInt(32 - Math.min(block.prefix, 32))) - 1n;
  if (block.family === 4 && ip.value === broadcast) return { error: `${name} is the broadcast address of ${whole}` };
  return { host: ip.value };
}

function format({ family }: Cidr, value: bigint): string {
  return formatIp({ family, value });
}

function safe(value: bigint): number {
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
}
