// Builds network documents of test VPCs for the three nodes of site.ts. Two VPCs may have the same addresses.
import {
  type DocumentRoute,
  type DocumentRule,
  type LocalNic,
  NETWORK_DOCUMENT_FORMAT,
  type NetworkDocument,
} from "../../src/contract/network-document.ts";

/** Underlay addresses of the nodes. */
export const NODES = { n1: "192.0.2.1", n2: "192.0.2.2", n3: "192.0.2.3" } as const;
export type NodeName = keyof typeof NODES;
export const NODE_NAMES = Object.keys(NODES) as readonly NodeName[];

/** Addresses of the external router, which also simulates the internet behind it. */
export const EXTERNAL_GATEWAY = { ipv4: "203.0.113.1", ipv6: "2001:db8::1" } as const;
export const INTERNET_HOST = { ipv4: "198.51.100.10", ipv6: "2001:db8:ffff::10" } as const;

export type Machine = LocalNic & { readonly node: NodeName };

export type TestVpc = {
  readonly vni: number;
  readonly machines: readonly Machine[];
  readonly rules: readonly DocumentRule[];
  /** The node of the NAT gateways, or null. */
  readonly edge: NodeName | null;
  /** Additional routes of the second subnet. */
  readonly routes: readonly DocumentRoute[];
};

/** Public addresses of the NAT gateways. */
export const NAT = { ipv4: "203.0.113.2", ipv6: "2001:db8::2" } as const;
const MTU = 1_450;

export function machine(name: string, node: NodeName, at: { net: 1 | 2; host: number; vpc: string }): Machine {
  const host = at.host.toString(16).padStart(2, "0");
  return {
    nic_id: name,
    instance_id: name,
    hostname: name,
    node,
    subnet_id: `s${at.net}`,
    mac: `02:00:00:0${at.net}:0${at.vpc}:${host}`,
    ipv4: `10.0.${at.net}.${at.host}`,
    ipv6: `fd00:a:${at.net}::${host.replace(/^0/, "")}`,
    floating_ips: [],
    arriving: false,
    connections_max: null,
  };
}

export function rule(fields: Partial<DocumentRule> & Pick<DocumentRule, "direction" | "action">): DocumentRule {
  return {
    rule_id: crypto.randomUUID(),
    priority: 100,
    protocol: "any",
    source_cidr: null,
    destination_cidr: null,
    source_ports: null,
    destination_ports: null,
    icmp_type_code: null,
    ...fields,
  };
}

/** Returns the network document of a VPC for a node. */
export function documentOf(vpc: TestVpc, node: NodeName, generation = 1): NetworkDocument {
  const { edge } = vpc;
  const here = vpc.machines.filter((each) => each.node === node);
  const nat = edge === null ? [] : ["0.0.0.0/0", "::/0"].map((destination) => ({
    destination,
    target: { kind: "nat_gateway" as const, underlay_address: NODES[edge] },
  }));
  const gateways = edge === node
    ? [
      { nat_gateway_id: "nat4", public_address: NAT.ipv4 },
      { nat_gateway_id: "nat6", public_address: NAT.ipv6 },
    ]
    : [];
  const needsExternal = gateways.length > 0 || here.some(({ floating_ips }) => floating_ips.length > 0);
  return {
    format: NETWORK_DOCUMENT_FORMAT,
    vpc_id: `vpc-${vpc.vni}`,
    vni: vpc.vni,
    generation,
    mtu: MTU,
    blocks: ["10.0.0.0/16", "fd00:a::/32"],
    subnets: ([1, 2] as const).map((net) => ({
      subnet_id: `s${net}`,
      ipv4_block: `10.0.${net}.0/24`,
      ipv6_block: `fd00:a:${net}::/64`,
      gateway_ipv4: `10.0.${net}.1`,
      routes: net === 2 ? [...nat, ...vpc.routes] : nat,
    })),
    local_nics: here.map(({ node: _, ...nic }) => nic),
    remote_nics: vpc.machines.filter((each) => each.node !== node).map((nic) => ({
      ipv4: nic.ipv4,
      ipv6: nic.ipv6,
      ...nic.blocks !== undefined && { blocks: nic.blocks },
      ...nic.addresses !== undefined && { addresses: nic.addresses },
      underlay_address: NODES[nic.node],
    })),
    nat_gateways: gateways,
    external: needsExternal
      ? { bridge: "ext", gateway_ipv4: EXTERNAL_GATEWAY.ipv4, gateway_ipv6: EXTERNAL_GATEWAY.ipv6 }
      : null,
    firewall_rules: [...vpc.rules],
    names: vpc.machines.map(({ hostname, ipv4, ipv6 }) => ({ name: `${hostname}.p1.internal`, ipv4, ipv6 })),
    resolvers: [],
  };
}
