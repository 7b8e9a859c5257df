// Describes the services that a VPC's router offers its guests, as one message from the agent to the process that
// serves the guests.
import type { DocumentName, NetworkDocument } from "../../../src/contract/network-document.ts";
import { formatIp, parseCidr } from "../../../src/lib/net/ip-address.ts";

/**
 * A guest as the services know it. The router accepts packets from a guest only with the guest's own MAC and an address
 * that the guest may use.
 */
export type Guest = {
  readonly instance_id: string;
  readonly hostname: string;
  readonly mac: string;
  readonly ipv4: string | null;
  readonly ipv6: string | null;
  /** Mask and first host address of the subnet's IPv4 block. */
  readonly netmask: string | null;
  readonly gateway: string | null;
  readonly floating_ips: readonly string[];
  /** The guest's search domain, which has the names of the VPC's guests. Null if the VPC has no names. */
  readonly search: string | null;
  readonly ntp_servers: readonly string[];
};

export type GuestPlan = {
  /** Name of the router's namespace. */
  readonly namespace: string;
  readonly mtu: number;
  readonly guests: readonly Guest[];
  /** The VPC's blocks. The services answer queries for the reverse names of the addresses in these blocks. */
  readonly blocks: readonly string[];
  readonly names: readonly DocumentName[];
  readonly resolvers: readonly string[];
};

export function guestPlan(document: NetworkDocument, namespace: string): GuestPlan {
  const subnets = new Map(document.subnets.map((subnet) => [subnet.subnet_id, subnet]));
  // All names of a VPC are in the domain of its project.
  const name = document.names[0]?.name ?? "";
  const search = name.includes(".") ? name.slice(name.indexOf(".") + 1) : null;
  return {
    namespace,
    mtu: document.mtu,
    blocks: document.blocks,
    names: document.names,
    resolvers: document.resolvers,
    guests: document.local_nics.map((nic) => {
      const subnet = subnets.get(nic.subnet_id);
      return {
        instance_id: nic.instance_id,
        hostname: nic.hostname,
        mac: nic.mac,
        ipv4: nic.ipv4,
        ipv6: nic.ipv6,
        netmask: netmaskOf(subnet?.ipv4_block ?? null),
        gateway: subnet?.gateway_ipv4 ?? null,
        floating_ips: nic.floating_ips,
        search,
        ntp_servers: document.ntp_servers ?? [],
      };
    }),
  };
}

function netmaskOf(block: string | null): string | null {
  const cidr = block === null ? null : parseCidr(block);
  if (cidr === null || cidr.family !== 4) return null;
  const host_bits = 32n - BigInt(cidr.prefix);
  return formatIp({ family: 4, value: (0xffff_ffffn >> host_bits) << host_bits });
}
