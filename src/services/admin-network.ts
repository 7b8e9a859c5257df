// Converts the admin network of the boot policy to the forms that boot records and the address pool use.
import type { PoolSpan } from "../../actors/boot-policy/transition.ts";
import type { Segment } from "../../actors/boot-record/messages.ts";
import type { AdminNetwork } from "../contract/boot.ts";
import { type Ipv4Range, parseIpv4Range } from "../lib/net/ipv4-range.ts";
import { parseCidr } from "../lib/net/ip-address.ts";

/** Returns the range of addresses to assign, or the text of a 400. Without a network the range is empty. */
export function spanOf(network: AdminNetwork | null): { readonly span: PoolSpan } | { readonly error: string } {
  if (network === null) return { span: { network: null, low: 0, high: -1, except: [] } };
  const parsed = parseIpv4Range(network);
  if ("error" in parsed) return { error: `admin_network.${parsed.error}` };
  const { range } = parsed;
  const base = parseCidr(range.block)!.network;
  const offset = (value: bigint) => Number(value - base);
  return {
    span: {
      network: range.block.slice(0, range.block.indexOf("/")),
      low: offset(range.start),
      high: offset(range.end),
      except: gatewayOffsets(range, offset),
    },
  };
}

function gatewayOffsets({ gateway }: Ipv4Range, offset: (value: bigint) => number): number[] {
  return gateway === null ? [] : [offset(gateway)];
}

/** Returns the network settings of a boot record, without its address. */
export function segmentOf(network: AdminNetwork | null): Segment | null {
  if (network === null) return null;
  const prefix_len = parseCidr(network.ipv4_block)?.prefix ?? 32;
  return { prefix_len, gateway: network.gateway, resolvers: network.resolvers };
}
