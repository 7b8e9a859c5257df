// Checks the columns of a firewall rule that select packets.
import type { FirewallAction, FirewallDirection, FirewallProtocol } from "../../src/contract/enums.ts";
import { badRequest, type Fault, isFault } from "../../src/contract/fault.ts";
import type { IcmpTypeCode, PortRange } from "../../src/contract/network.ts";
import { type Blocks, blockText, NOT_A_BLOCK, parseBlock, planFor } from "../../src/lib/net/ip-block.ts";

export type Rule = {
  readonly priority: number;
  readonly direction: FirewallDirection;
  readonly action: FirewallAction;
  readonly protocol: FirewallProtocol;
  readonly source_cidr: string | null;
  readonly destination_cidr: string | null;
  readonly source_ports: PortRange | null;
  readonly destination_ports: PortRange | null;
  readonly icmp_type_code: IcmpTypeCode | null;
};

type Networks = Pick<Rule, "source_cidr" | "destination_cidr">;

/**
 * Returns the networks in canonical form, or a 400. Refuses two networks of different families, because no packet would
 * match both.
 */
export function readNetworks({ source_cidr, destination_cidr }: Networks): Networks | Fault {
  const [source, destination] = [source_cidr, destination_cidr].map((text) => text === null ? null : parseBlock(text));
  if (source_cidr !== null && !source) return badRequest(`source_cidr ${source_cidr} ${NOT_A_BLOCK}`);
  if (destination_cidr !== null && !destination) {
    return badRequest(`destination_cidr ${destination_cidr} ${NOT_A_BLOCK}`);
  }
  if (source && destination && source.family !== destination.family) {
    return badRequest("source_cidr and destination_cidr must both be IPv4 or both be IPv6");
  }
  return {
    source_cidr: source ? blockText(source) : null,
    destination_cidr: destination ? blockText(destination) : null,
  };
}

/**
 * Returns a 400 if the rule has ports or an ICMP type that its protocol does not have, or a range of ports that ends
 * before it begins. Otherwise returns null.
 */
export function ruleFault({ protocol, source_ports, destination_ports, icmp_type_code }: Rule): Fault | null {
  for (const [field, range] of Object.entries({ source_ports, destination_ports })) {
    if (range === null) continue;
    if (protocol !== "tcp" && protocol !== "udp") {
      return badRequest(`${field} needs the protocol tcp or udp, not ${protocol}`);
    }
    if (range.low > range.high) return badRequest(`${field}: low ${range.low} is above high ${range.high}`);
  }
  if (icmp_type_code !== null && protocol !== "icmp4" && protocol !== "icmp6") {
    return badRequest(`icmp_type_code needs the protocol icmp4 or icmp6, not ${protocol}`);
  }
  return null;
}

/** Returns a 409 if a network of the rule is of a family in which the VPC has no block; otherwise null. */
export function unplanned(
  { source_cidr, destination_cidr }: Networks,
  { plan }: { readonly plan: Blocks },
): Fault | null {
  for (const text of [source_cidr, destination_cidr]) {
    const block = text === null ? null : parseBlock(text);
    const planned = block === null ? null : planFor(block, plan);
    if (planned !== null && isFault(planned)) return planned;
  }
  return null;
}
