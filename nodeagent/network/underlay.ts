// The node's own filter for the underlay: VXLAN is accepted only from known nodes. A foreign host on the underlay could
// otherwise send packets into any VPC.
import { VXLAN_PORT } from "./names.ts";

const TABLE = "inet berth_underlay";

/** Removes the filter. A node without VPCs has no device that receives VXLAN. */
export const NO_UNDERLAY_FILTER = `table ${TABLE}\ndelete table ${TABLE}\n`;

/** Returns the ruleset of the node's own namespace. */
export function underlayRuleset(nodes: readonly string[]): string {
  const elements = nodes.length === 0 ? "" : `elements = { ${nodes.join(", ")} }`;
  return `table ${TABLE}
delete table ${TABLE}
table ${TABLE} {
  set nodes {
    type ipv4_addr
    ${elements}
  }
  chain input {
    type filter hook input priority raw; policy accept;
    udp dport ${VXLAN_PORT} ip saddr != @nodes counter drop
    meta nfproto ipv6 udp dport ${VXLAN_PORT} counter drop
  }
}
`;
}
