// Writes the chains that translate public addresses: floating IPs in both directions, port forwards, and the packets
// that leave by the NAT gateways of this node. The route of a packet decides which gateway translates it.
import type {
  DocumentNatGateway,
  DocumentSubnet,
  LocalNic,
  NetworkDocument,
} from "../../src/contract/network-document.ts";
import { parseCidr } from "../../src/lib/net/ip-address.ts";
import { EXTERNAL_DEVICE } from "./names.ts";
import { gatewayOf } from "./route-gateway.ts";
import { base, chain, familyOf } from "./ruleset-text.ts";

const FAMILIES = ["ip", "ip6"] as const;

/** Returns the chains. `nics` are the NICs whose floating IPs this router translates. */
export function translation(document: NetworkDocument, nics: readonly LocalNic[]): string[] {
  const { nat_gateways } = document;
  const bound = floatingPairs(nics);
  const families = FAMILIES.map((family) => ({
    family,
    pairs: bound.filter(({ outer }) => familyOf(outer) === family),
  }));
  const map = (pairs: readonly (readonly [string, string])[]) =>
    `map { ${pairs.map(([from, to]) => `${from} : ${to}`).join(", ")} }`;
  return [
    ...base(
      "translate_in",
      "nat hook prerouting priority dstnat",
      families.flatMap(({ family, pairs }) =>
        pairs.length === 0
          ? []
          : [`dnat ${family} to ${family} daddr ${map(pairs.map(({ outer, inner }) => [outer, inner]))}`]
      ).concat(nat_gateways.flatMap(forwardRules)),
    ),
    ...nat_gateways.flatMap(({ nat_gateway_id, public_address }, index) =>
      // Only the first packet of each connection passes here, so the counter counts connections.
      chain(gatewayChain(index), [
        `counter snat ${familyOf(public_address)} to ${public_address} comment "${nat_gateway_id}"`,
      ])
    ),
    ...base(
      "translate_out",
      "nat hook postrouting priority srcnat",
      families.flatMap(({ family, pairs }) => [
        ...(pairs.length === 0 ? [] : [
          `oifname "${EXTERNAL_DEVICE}" snat ${family} to ${family} saddr ` +
          map(pairs.map(({ outer, inner }) => [inner, outer])),
        ]),
        ...leavingRules(document, family),
      ]),
    ),
  ];
}

/** Returns the floating IPs of NICs, each with the address of the NIC that it is translated to. */
export function floatingPairs(
  nics: readonly LocalNic[],
): readonly { readonly outer: string; readonly inner: string }[] {
  // An earlier release could attach a floating IP to a NIC without an address of the same family. Such a floating IP is
  // left out.
  return nics.flatMap(({ floating_ips, ipv4, ipv6 }) =>
    floating_ips.flatMap((outer) => {
      const inner = familyOf(outer) === "ip" ? ipv4 : ipv6;
      return inner === null ? [] : [{ outer, inner }];
    })
  );
}

/** Returns the rules for a gateway's port forwards. */
function forwardRules({ public_address, port_forwards = [] }: DocumentNatGateway): string[] {
  const family = familyOf(public_address);
  return port_forwards.map(({ protocol, public_port, address, port }) =>
    `iifname "${EXTERNAL_DEVICE}" ${family} daddr ${public_address} ${protocol} dport ${public_port} ` +
    `dnat ${family} to ${family === "ip6" ? `[${address}]` : address}:${port}`
  );
}

function gatewayChain(index: number): string {
  return `gateway_${index}`;
}

/** Returns the rules that send each packet to the chain of the gateway to which the packet's route leads. */
function leavingRules(document: NetworkDocument, family: "ip" | "ip6"): string[] {
  const rule = (match: string, index: number) =>
    `oifname "${EXTERNAL_DEVICE}" ${family} ${match} goto ${gatewayChain(index)}`;
  const subnets = document.subnets.map((subnet) => ({
    block: family === "ip" ? subnet.ipv4_block : subnet.ipv6_block,
    ways: waysOf(document, subnet, family),
  })).filter((subnet): subnet is typeof subnet & { readonly block: string } => subnet.block !== null);
  const gatewaysOf = ({ ways }: (typeof subnets)[number]) => new Set(ways.map(({ index }) => index)).size;
  const only = subnets.filter((subnet) => gatewaysOf(subnet) === 1);
  const several = subnets.filter((subnet) => gatewaysOf(subnet) > 1);
  return [
    ...document.nat_gateways.flatMap((_, index) => {
      const blocks = only.filter(({ ways: [first] }) => first!.index === index).map(({ block }) => block);
      return blocks.length === 0 ? [] : [rule(`saddr { ${blocks.join(", ")} }`, index)];
    }),
    ...several.flatMap(({ block, ways }) =>
      // The route with the longest prefix decides, so its rule comes first.
      [...Map.groupBy(ways, ({ prefix, index }) => `${prefix} ${index}`).values()]
        .toSorted(([a], [b]) => b!.prefix - a!.prefix)
        .map((equal) => {
          const { prefix, index } = equal[0]!;
          const destinations = equal.map(({ destination }) => destination).join(", ");
          return rule(`saddr ${block}${prefix === 0 ? "" : ` ${family} daddr { ${destinations} }`}`, index);
        })
    ),
  ];
}

/** A route of a subnet to a NAT gateway of this node. `index` is the gateway's index in the document. */
type Way = { readonly destination: string; readonly prefix: number; readonly index: number };

function waysOf(document: NetworkDocument, { routes }: DocumentSubnet, family: "ip" | "ip6"): Way[] {
  return routes.flatMap((route) => {
    if (familyOf(route.destination) !== family) return [];
    const gateway = gatewayOf(document, route);
    if (gateway === undefined) return [];
    const { destination } = route;
    return [{
      destination,
      prefix: parseCidr(destination)?.prefix ?? 0,
      index: document.nat_gateways.indexOf(gateway),
    }];
  });
}
