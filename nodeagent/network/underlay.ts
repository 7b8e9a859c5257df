// Writes the node's own filter for the underlay: VXLAN packets of a VPC are accepted only from nodes that also serve
// this VPC. Without the filter, a foreign host on the underlay, or a node that an attacker controls, could send packets
// into any VPC.
import { VXLAN_PORT } from "./names.ts";

const TABLE = "inet berth_underlay";

/** Removes the filter. A node without VPCs has no device that receives VXLAN. */
export const NO_UNDERLAY_FILTER = `table ${TABLE}\ndelete table ${TABLE}\n`;

/** The nodes that may send packets to this node: underlay addresses. */
export type Senders = {
  /** All nodes that share a VPC with this node. */
  readonly nodes: readonly string[];
  /** The other nodes of each VPC. A VPC without an entry accepts packets of all `nodes`. */
  readonly vpcs: readonly { readonly vni: number; readonly peers: readonly string[] }[];
};

/** Where the VNI is in a packet: bits after the start of the UDP header, and its length. */
const VNI_FIELD = "@th,96,24";

/** Returns the ruleset of the node's own namespace. */
export function underlayRuleset({ nodes, vpcs }: Senders): string {
  const elements = nodes.length === 0 ? "" : `elements = { ${nodes.join(", ")} }`;
  const chains = vpcs.map(({ vni, peers }) => {
    const accepted = peers.length === 0 ? "" : `ip saddr { ${peers.join(", ")} } return; `;
    return `  chain vpc${vni} { ${accepted}counter drop; }\n`;
  });
  const jumps = vpcs.map(({ vni }) => `${vni} : jump vpc${vni}`);
  const perVpc = jumps.length === 0 ? "" : `udp dport ${VXLAN_PORT} ${VNI_FIELD} vmap { ${jumps.join(", ")} }`;
  return `table ${TABLE}
delete table ${TABLE}
table ${TABLE} {
  set nodes {
    type ipv4_addr
    ${elements}
  }
${chains.join("")}  chain input {
    type filter hook input priority raw; policy accept;
    udp dport ${VXLAN_PORT} ip saddr != @nodes counter drop
    meta nfproto ipv6 udp dport ${VXLAN_PORT} counter drop
    ${perVpc}
  }
}
`;
}
