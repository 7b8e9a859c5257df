// Derives the document for one node from the network of a VPC in one snapshot of the database (docs/networking.md,
// "Network documents").
import type { FirewallRule } from "../../contract/network.ts";
import { MTU_MIN, OVERLAY_HEADER_BYTES, VPC_MTU_MAX } from "../../contract/limits.ts";
import {
  type DocumentName,
  type DocumentPortForward,
  type DocumentRoute,
  type DocumentRouteTarget,
  type DocumentRule,
  type LocalNic,
  NETWORK_DOCUMENT_FORMAT,
  type NetworkDocument,
  type RemoteNic,
} from "../../contract/network-document.ts";
import { type NicLimitClasses, nicLimitsOf } from "../../contract/nic-limits.ts";
import { formatIp, parseCidr } from "./ip-address.ts";
import { storedBlock } from "./ip-block.ts";

type Addresses = { readonly ipv4: string | null; readonly ipv6: string | null };

/** A node that needs the document of the VPC (the view vpc_node). */
export type ContentHost = {
  readonly server_uuid: string;
  /** Null when the node has no address on the underlay. */
  readonly underlay_address: string | null;
  readonly underlay_mtu: number;
};

/** A NIC whose instance is on a node. */
export type ContentNic = Addresses & {
  readonly nic_id: string;
  readonly instance_id: string;
  readonly hostname: string;
  /** The vCPUs of the instance, which determine the limits of the NIC. */
  readonly cpu: number;
  readonly ordinal: number;
  readonly subnet_id: string;
  readonly mac: string;
  readonly host_cn_uuid: string;
  /** The NIC's addresses other than `ipv4` and `ipv6`, and its allowed blocks. */
  readonly blocks: readonly string[];
  /** The NIC's addresses other than `ipv4` and `ipv6`. */
  readonly addresses: readonly string[];
  readonly floating_ips: readonly string[];
};

/** A route of a subnet. Routes to the virtual gateway are left out, because the node does nothing for them. */
export type ContentRoute = {
  readonly destination: string;
  readonly target_kind: "blackhole" | "reject" | "nat_gateway";
  readonly nat_gateway_id: string | null;
  /**
   * The node of the NAT gateway. Null if the target is not a gateway, if the gateway has no node, or if the gateway and
   * the route have different address families.
   */
  readonly host_cn_uuid: string | null;
};

/** The network of a VPC. */
export type NetworkContent = {
  readonly vni: number;
  readonly project: string;
  readonly blocks: readonly string[];
  readonly subnets: readonly {
    readonly subnet_id: string;
    readonly ipv4_block: string | null;
    readonly ipv6_block: string | null;
    readonly routes: readonly ContentRoute[];
  }[];
  /** The NICs whose instance is on a node. */
  readonly nics: readonly ContentNic[];
  readonly nat_gateways: readonly {
    readonly nat_gateway_id: string;
    readonly public_address: string;
    readonly host_cn_uuid: string;
    readonly port_forwards: readonly DocumentPortForward[];
  }[];
  /** The rules in the order in which they are evaluated. */
  readonly firewall_rules: readonly (Pick<FirewallRule, Exclude<keyof DocumentRule, "rule_id">> & {
    readonly rule_id: string;
  })[];
  readonly hosts: readonly ContentHost[];
  /** The external network of each node that has a gateway or a floating IP, by the node's UUID. */
  readonly externals: Readonly<Record<string, NonNullable<NetworkDocument["external"]>>>;
};

/** The settings of the site that documents contain. */
export type DocumentSettings = {
  /** Addresses of the DNS servers that answer guests. */
  readonly resolvers: readonly string[];
  /** Addresses of the time servers that guests learn. */
  readonly ntp_servers: readonly string[];
  readonly nic_limits: NicLimitClasses;
};

/** Returns the document of the VPC for a node. */
export function documentFor(
  server_uuid: string,
  of: { readonly vpc_id: string; readonly generation: number; readonly content: NetworkContent },
  settings: DocumentSettings,
): NetworkDocument {
  const { vpc_id, generation, content } = of;
  const underlay = new Map(content.hosts.map((host) => [host.server_uuid, host.underlay_address]));
  const underlay_address = underlay.get(server_uuid);
  return {
    format: NETWORK_DOCUMENT_FORMAT,
    vpc_id,
    vni: content.vni,
    generation,
    mtu: mtuOf(content),
    blocks: [...content.blocks],
    subnets: content.subnets.map(({ routes, ...subnet }) => ({
      ...subnet,
      gateway_ipv4: subnet.ipv4_block && firstAddress(subnet.ipv4_block),
      routes: routes.map((route): DocumentRoute => (
        { destination: route.destination, target: targetOf(route, underlay) }
      )),
    })),
    local_nics: content.nics.filter((nic) => nic.host_cn_uuid === server_uuid).map((nic) => localNic(nic, settings)),
    remote_nics: content.nics.filter((nic) => nic.host_cn_uuid !== server_uuid).flatMap((nic) =>
      remoteNic(nic, underlay)
    ),
    nat_gateways: content.nat_gateways.filter(({ host_cn_uuid }) => host_cn_uuid === server_uuid)
      .map(({ host_cn_uuid: _host, port_forwards, ...gateway }) => ({ ...gateway, port_forwards: [...port_forwards] })),
    external: content.externals[server_uuid] ?? null,
    firewall_rules: [...content.firewall_rules],
    names: namesOf(content),
    resolvers: [...settings.resolvers],
    ntp_servers: [...settings.ntp_servers],
    peers: content.hosts.filter((host) => host.server_uuid !== server_uuid)
      .flatMap((host) => host.underlay_address === null ? [] : [host.underlay_address]).toSorted(),
    ...underlay_address && { underlay_address },
  };
}

/** Returns whether the node needs the document of the VPC. */
export function hasPart(server_uuid: string, { hosts }: NetworkContent): boolean {
  return hosts.some((host) => host.server_uuid === server_uuid);
}

/**
 * The MTU is the same on all nodes, so that a guest can move. It is the largest MTU that the underlays of all nodes of
 * the VPC allow, but at most VPC_MTU_MAX. It is at least MTU_MIN, because nodes refuse a document with a smaller MTU.
 * Without this minimum, one node with a too small underlay would make every node of the VPC refuse its document.
 */
function mtuOf({ hosts }: NetworkContent): number {
  const smallest = Math.min(VPC_MTU_MAX, ...hosts.map(({ underlay_mtu }) => underlay_mtu - OVERLAY_HEADER_BYTES));
  return Math.max(MTU_MIN, smallest);
}

function firstAddress(block: string): string | null {
  const cidr = parseCidr(block);
  return cidr && formatIp({ family: cidr.family, value: cidr.network + 1n });
}

function targetOf(route: ContentRoute, underlay: ReadonlyMap<string, string | null>): DocumentRouteTarget {
  if (route.target_kind !== "nat_gateway") return { kind: route.target_kind };
  const underlay_address = route.host_cn_uuid && underlay.get(route.host_cn_uuid);
  // The sender gets an ICMP error if no node runs the gateway now, if the gateway's node has no underlay address, or if
  // the gateway and the route have different address families.
  if (!underlay_address) return { kind: "reject" };
  return { kind: "nat_gateway", underlay_address, nat_gateway_id: route.nat_gateway_id };
}

function localNic(given: ContentNic, { nic_limits }: DocumentSettings): LocalNic {
  const { host_cn_uuid: _host, ordinal: _ordinal, cpu, floating_ips, blocks, addresses, ...nic } = given;
  return {
    ...nic,
    blocks: blocks.map((block) => storedBlock(block)),
    ...addresses.length > 0 && { addresses: [...addresses] },
    floating_ips: [...floating_ips],
    arriving: false,
    ...nicLimitsOf(cpu, nic_limits),
  };
}

function remoteNic(nic: ContentNic, underlay: ReadonlyMap<string, string | null>): RemoteNic[] {
  const underlay_address = underlay.get(nic.host_cn_uuid);
  if (!underlay_address) return [];
  const blocks = nic.blocks.map((block) => storedBlock(block));
  const addresses = [...nic.addresses];
  // Empty lists are left out: most NICs have no block, and a document may list thousands of NICs.
  return [{
    ...{ ipv4: nic.ipv4, ipv6: nic.ipv6 },
    ...blocks.length > 0 && { blocks },
    ...addresses.length > 0 && { addresses },
    underlay_address,
  }];
}

/** A DNS label. If the name of an instance or of its project is not a label, the instance has no DNS name. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

function namesOf({ project, nics }: NetworkContent): DocumentName[] {
  const domain = project.toLowerCase();
  if (!LABEL.test(domain)) return [];
  const first = new Map<string, ContentNic>();
  for (const nic of nics) {
    const known = first.get(nic.instance_id);
    if (known === undefined || nic.ordinal < known.ordinal) first.set(nic.instance_id, nic);
  }
  return [...first.values()].flatMap(({ hostname, ipv4, ipv6 }) => {
    const label = hostname.toLowerCase();
    return LABEL.test(label) ? [{ name: `${label}.${domain}.internal`, ipv4, ipv6 }] : [];
  });
}
