// Follows one packet through a VPC's router, by the document and the existing taps, and finds where the packet stops.
import type { DocumentRoute, DocumentSubnet, LocalNic, NetworkDocument } from "../../src/contract/network-document.ts";
import { inCidr, type Ip, parseCidr, parseIp } from "../../src/lib/net/ip-address.ts";
import { firewallOf, type FirewallVerdict, firstPacket } from "../../src/lib/net/firewall-verdict.ts";
import type { PacketProtocol } from "../../src/contract/enums.ts";
import type { TraceNext } from "../../src/contract/network-trace.ts";
import { stopsAtRoute, stopsWithoutNic } from "../../src/lib/net/trace-step.ts";
import { gatewayOf } from "./route-gateway.ts";
import { METADATA_IPV4, METADATA_IPV6, tapName } from "./names.ts";

export type Trace = {
  /** Sentences about the packet's path, in order. The last sentence describes where the packet ends. */
  readonly steps: readonly string[];
  /** True if this node's router passes the packet on. */
  readonly passes: boolean;
  /** The firewall rule that decided last; null if no rule decided. */
  readonly rule_id: string | null;
  /** Where the packet goes after this node; null if it ends on this node. */
  readonly next: TraceNext | null;
};

export type TraceQuery = {
  readonly document: NetworkDocument;
  /** Names of the taps in the router. */
  readonly taps: ReadonlySet<string>;
  readonly underlay_address: string | null;
  readonly from: string;
  readonly to: string;
  readonly protocol?: PacketProtocol;
  /** Destination port; null for ICMP. */
  readonly port: number | null;
};

/** Traces the first packet of a connection, by default of TCP. */
export function trace(query: TraceQuery): Trace {
  const { document, taps, underlay_address, from, to, protocol = "tcp", port } = query;
  const steps: string[] = [];
  let rule_id: string | null = null;
  const stop = (why: string): Trace => ({ steps: [...steps, why], passes: false, rule_id, next: null });
  const end = (where: string, next: TraceNext | null = null): Trace => (
    { steps: [...steps, where], passes: true, rule_id, next }
  );
  const leaveByGateway = (route: DocumentRoute | null): Trace => {
    const gateway = route === null ? undefined : gatewayOf(document, route);
    if (gateway === undefined || document.external === null) {
      return stop("stops: this node does not run the NAT gateway");
    }
    const { public_address } = gateway;
    const where =
      `leaves by the NAT gateway ${public_address} on this node, over the bridge ${document.external.bridge}`;
    return end(where, { kind: "outside", source: public_address });
  };
  const packet = firstPacket({
    ...{ source: from, destination: innerAddress(document, to) },
    ...{ protocol, destination_port: port },
  });
  const source = nicOf(document, from);
  const destination = nicOf(document, packet.destination);
  const missing = [source, destination].find((nic) => nic !== undefined && !taps.has(tapName(nic.mac)));
  if (missing !== undefined) {
    return stop(`stops: the tap of ${missing.hostname} is not in the router; its VM does not run`);
  }
  if (source !== undefined) {
    steps.push(`${source.hostname} sends from ${from} into the router of VPC ${document.vpc_id}`);
    if (to === METADATA_IPV4 || to === METADATA_IPV6) return end("arrives: the router answers it itself");
    const verdict = firewallOf(document, "outbound")(packet);
    rule_id = verdict.rule_id;
    if (!verdict.is_allowed) return stop(`stops: ${ruleText(verdict)} denies it, outbound`);
    steps.push(`${ruleText(verdict)} allows it, outbound`);
    const route = routeOf(document, source, packet.destination, destination !== undefined || isRemote(document, to));
    if (route !== null) {
      if (route.target.kind !== "nat_gateway") {
        return stop(stopsAtRoute(route.destination, route.target.kind));
      }
      const node = route.target.underlay_address;
      if (node === underlay_address) return leaveByGateway(route);
      return end(`leaves by the NAT gateway on the node ${node}`, { kind: "node", underlay_address: node });
    }
  }
  if (destination === undefined) {
    const remote = remoteOf(document, to);
    if (remote !== null) {
      return end(`leaves to the node ${remote}; continue with the trace there`, {
        kind: "node",
        underlay_address: remote,
      });
    }
    if (isInBlocks(document, to)) return stop(stopsWithoutNic(to));
    const floating_ip = source?.floating_ips.find((address) => isOfFamily(address, to));
    if (floating_ip !== undefined) {
      return end(`leaves by the floating IP ${floating_ip}`, { kind: "outside", source: floating_ip });
    }
    // A packet of a NIC on another node comes here because this node runs the NAT gateway of its route.
    if (source === undefined && isRemote(document, from)) return leaveByGateway(routeOfRemote(document, from, to));
    return stop(`stops: no route leads to ${to}`);
  }
  if (destination.arriving) return stop(`stops: ${destination.hostname} is still on the source node of its migration`);
  const verdict = firewallOf(document, "inbound")(packet);
  rule_id = verdict.rule_id;
  if (!verdict.is_allowed) return stop(`stops: ${ruleText(verdict)} denies it, inbound`);
  steps.push(`${ruleText(verdict)} allows it, inbound`);
  return end(`arrives at ${destination.hostname}; if the sender gets no answer, the guest itself drops the packet`);
}

function ruleText({ rule_id }: FirewallVerdict): string {
  return rule_id === null ? "the default without a matching rule" : `the firewall rule ${rule_id}`;
}

/** Returns the address of the NIC that a floating IP leads to; other addresses unchanged. */
function innerAddress({ local_nics }: NetworkDocument, address: string): string {
  const nic = local_nics.find(({ floating_ips }) => floating_ips.includes(address));
  return (address.includes(":") ? nic?.ipv6 : nic?.ipv4) ?? address;
}

function isOfFamily(address: string, other: string): boolean {
  return address.includes(":") === other.includes(":");
}

/** Returns how a NIC of this node has the address: as an address or in one of its blocks. Null if no NIC has it. */
export function localBy(document: NetworkDocument, address: string): "address" | "block" | null {
  const inner = innerAddress(document, address);
  if (byAddress(document.local_nics, inner) !== undefined) return "address";
  return nicOf(document, inner) === undefined ? null : "block";
}

function nicOf({ local_nics, remote_nics }: NetworkDocument, address: string): LocalNic | undefined {
  const own = byAddress(local_nics, address);
  // An address of a NIC belongs to this NIC, even if an allowed block of another NIC contains the address.
  return own === undefined && byAddress(remote_nics, address) === undefined ? byBlock(local_nics, address) : own;
}

function remoteOf({ remote_nics }: NetworkDocument, address: string): string | null {
  const nic = byAddress(remote_nics, address) ?? byBlock(remote_nics, address);
  return nic?.underlay_address ?? null;
}

function byAddress<T extends Pick<LocalNic, "ipv4" | "ipv6" | "addresses">>(
  nics: readonly T[],
  address: string,
): T | undefined {
  return nics.find(({ ipv4, ipv6, addresses = [] }) => [ipv4, ipv6, ...addresses].includes(address));
}

/** Returns the NIC with the smallest block that contains the address. */
function byBlock<T extends { readonly blocks?: readonly string[] | undefined }>(
  nics: readonly T[],
  address: string,
): T | undefined {
  const ip = parseIp(address);
  if (ip === null) return undefined;
  const fitting = nics.flatMap((nic) =>
    (nic.blocks ?? []).filter((block) => contains(block, ip)).map((block) => ({ nic, prefix: prefixOf(block) }))
  );
  return fitting.toSorted((a, b) => b.prefix - a.prefix)[0]?.nic;
}

function isRemote(document: NetworkDocument, address: string): boolean {
  return remoteOf(document, address) !== null;
}

/**
 * Returns the route of the sender's subnet that the packet takes. Returns null if no route fits, or if a NIC of the
 * VPC, a floating IP or a block of the VPC comes first.
 */
function routeOf(document: NetworkDocument, nic: LocalNic, to: string, has_nic: boolean): DocumentRoute | null {
  const subnet = document.subnets.find(({ subnet_id }) => subnet_id === nic.subnet_id);
  const address = parseIp(to);
  if (subnet === undefined || address === null) return null;
  const fitting = fittingRoutes(subnet, address);
  const inside = fitting.find(({ destination }) => document.subnets.some((each) => isInSubnet(each, destination)));
  if (inside !== undefined) return inside;
  const has_floating_ip = nic.floating_ips.some((each) => each.includes(":") === to.includes(":"));
  const [first] = fitting;
  // In the router, each block of the VPC is an `unreachable` route. It wins over a route with a shorter prefix.
  const block = document.blocks.find((each) => contains(each, address));
  if (has_nic || has_floating_ip || first === undefined) return null;
  return block !== undefined && prefixOf(block) > prefixOf(first.destination) ? null : first;
}

/** Returns the route of a sender on another node, which has sent the packet to this node. */
function routeOfRemote({ subnets }: NetworkDocument, from: string, to: string): DocumentRoute | null {
  const [sender, address] = [parseIp(from), parseIp(to)];
  if (sender === null || address === null) return null;
  const subnet = subnets.find(({ ipv4_block, ipv6_block }) =>
    [ipv4_block, ipv6_block].some((block) => block !== null && contains(block, sender))
  );
  return subnet === undefined ? null : fittingRoutes(subnet, address)[0] ?? null;
}

/** Returns the routes to an address. The longest prefix is first. */
function fittingRoutes({ routes }: DocumentSubnet, address: Ip): readonly DocumentRoute[] {
  return routes.filter(({ destination }) => contains(destination, address))
    .toSorted((a, b) => prefixOf(b.destination) - prefixOf(a.destination));
}

function isInBlocks({ blocks }: NetworkDocument, address: string): boolean {
  const ip = parseIp(address);
  return ip !== null && blocks.some((block) => contains(block, ip));
}

function isInSubnet({ ipv4_block, ipv6_block }: DocumentSubnet, destination: string): boolean {
  const inner = parseCidr(destination);
  if (inner === null) return false;
  return [ipv4_block, ipv6_block].some((block) =>
    block !== null && prefixOf(block) <= inner.prefix && contains(block, { family: inner.family, value: inner.network })
  );
}

function contains(block: string, ip: Ip): boolean {
  const cidr = parseCidr(block);
  return cidr !== null && inCidr(ip, cidr);
}

function prefixOf(block: string): number {
  return parseCidr(block)?.prefix ?? 0;
}
