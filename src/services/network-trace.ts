// Follows the first packet of a connection from an instance, from node to node. Each node answers from the network
// document that it has applied. The control plane finds the next node and writes the summary.
import { findCn } from "../../actors/cn/reads.ts";
import { findFirewallRule } from "../../actors/firewall-rule/reads.ts";
import { findNicOfAddress } from "../../actors/floating-ip/reads.ts";
import { findInstance, findNic, findNicsOf } from "../../actors/instance/reads.ts";
import { findSubnet } from "../../actors/subnet/reads.ts";
import { conflict, type Fault, isFault } from "../contract/fault.ts";
import type { Instance, Nic } from "../contract/instance.ts";
import { TRACE_WAIT_S } from "../contract/limits.ts";
import type { NetworkTrace, TraceAnswer, TraceHop, TraceQuery, TraceQuestion } from "../contract/network-trace.ts";
import { canonicalIp, inCidr, parseCidr, parseIp } from "../lib/net/ip-address.ts";
import { stopsAtRoute, stopsWithoutNic } from "../lib/net/trace-step.ts";
import { whyHostless } from "../lib/placement/nat-gateway-host.ts";
import type { Reads, RouteDeps } from "../routes/deps.ts";

type Deps = Pick<Reads, "kysely"> & Pick<RouteDeps, "networks" | "newId">;

/** Sends a question to a node, and waits for the answer. Returns null if the node does not answer. */
export type Ask = (server_uuid: string, question: TraceQuestion) => Promise<TraceAnswer | null | Fault>;

/**
 * The maximum number of nodes that a packet passes: the sender's node, the node of the NAT gateway, and the node of a
 * floating IP.
 */
const HOPS_MAX = 3;

/** A node that gets the packet, in one VPC. */
type Place = { readonly server_uuid: string; readonly vpc_id: string; readonly source: string };
type Packet = {
  readonly destination: string;
  readonly protocol: TraceQuestion["protocol"];
  readonly port: number | null;
};

/**
 * Traces a packet from an instance. Returns a 409 if the instance cannot send the packet, or if the network changes
 * during the trace.
 */
export async function traceFrom(
  deps: Deps,
  ask: Ask,
  { instance, query }: { readonly instance: Instance; readonly query: TraceQuery },
): Promise<NetworkTrace | Fault> {
  const { protocol, port = null } = query;
  // Documents have addresses in canonical form.
  const destination = canonicalIp(query.destination);
  const nic = await sendingNic(deps, instance, destination);
  const source = nic && addressOf(nic, destination);
  if (nic === null || !source) return conflict(`${instance.name} has no ${familyName(destination)} address`);
  if (instance.host_cn_uuid === null) return conflict(`${instance.name} is on no node`);
  const packet: Packet = { destination, protocol, port };
  const hops: TraceHop[] = [];
  let place: Place | null = { server_uuid: instance.host_cn_uuid, vpc_id: nic.vpc_id, source };
  let answer: TraceAnswer | null = null;
  while (place !== null && hops.length < HOPS_MAX) {
    const hop = await hopAt(deps, ask, place, packet);
    if (isFault(hop)) return hop;
    hops.push(hop.hop);
    answer = hop.answer;
    if (answer === null) break;
    place = answer.passes ? await placeAfter(deps, place, answer, destination) : null;
  }
  const rule = answer?.rule_id ? await findFirewallRule(deps.kysely, answer.rule_id) : undefined;
  const named = rule === undefined ? null : { id: rule.id, name: rule.name };
  const reason = await hostlessReason(deps, nic.subnet_id, destination, answer) ??
    await noUnderlayReason(deps, nic.vpc_id, destination, answer);
  return { ...endOf(hops, answer, { rule: named, reason }), rule: named, hops };
}

/**
 * Returns why a NAT gateway has no node, if the route to this gateway stops the packet; otherwise null. The node does
 * not know this, because its document has a route with the target `reject` instead.
 */
async function hostlessReason(
  { networks }: Deps,
  subnet_id: string,
  destination: string,
  answer: TraceAnswer | null,
): Promise<string | null> {
  if (answer === null || answer.passes) return null;
  const gateways = await networks.hostless(subnet_id, destination);
  const last = answer.steps.at(-1);
  const gateway = gateways.find((each) => last === stopsAtRoute(each.destination, "reject"));
  return gateway === undefined ? null : whyHostless(gateway);
}

/**
 * Returns a reason if the packet stops because the node of the destination's NIC has no underlay address; otherwise
 * null. The sender's node does not know this, because network documents omit such NICs.
 */
async function noUnderlayReason(
  { kysely, networks }: Deps,
  vpc_id: string,
  destination: string,
  answer: TraceAnswer | null,
): Promise<string | null> {
  if (answer?.steps.at(-1) !== stopsWithoutNic(destination)) return null;
  const network = await networks.nodesOf(vpc_id);
  const nic = network?.nics.find(({ ipv4, ipv6, blocks }) =>
    ipv4 === destination || ipv6 === destination || blocks.some((block) => isIn(block, destination))
  );
  const host = network?.hosts.find(({ server_uuid }) => server_uuid === nic?.host_cn_uuid);
  if (nic === undefined || host === undefined || host.underlay_address !== null) return null;
  const cn = await findCn(kysely, host.server_uuid);
  return `${nic.hostname} has this address, but its node ${cn?.hostname ?? host.server_uuid} has no underlay address`;
}

function isIn(block: string, address: string): boolean {
  const [cidr, ip] = [parseCidr(block), parseIp(address)];
  return cidr !== null && ip !== null && inCidr(ip, cidr);
}

async function hopAt(
  { kysely, networks, newId }: Deps,
  ask: Ask,
  { server_uuid, vpc_id, source }: Place,
  packet: Packet,
): Promise<{ readonly hop: TraceHop; readonly answer: TraceAnswer | null } | Fault> {
  const [network, cn] = [await networks.nodesOf(vpc_id), await findCn(kysely, server_uuid)];
  if (network === null || cn === undefined) return conflict("the network changed during the trace; try again");
  const host = network.hosts.find((each) => each.server_uuid === server_uuid);
  const underlay_address = host?.underlay_address ?? null;
  const answer = await ask(server_uuid, { trace_id: newId(), vpc_id, source, ...packet, underlay_address });
  if (answer !== null && isFault(answer)) return answer;
  const hop: TraceHop = {
    ...{ server_uuid, hostname: cn.hostname, vpc_id, desired_generation: network.generation },
    generation: answer?.generation ?? null,
    differences: answer?.differences ?? null,
    steps: answer?.steps ?? [],
  };
  return { hop, answer };
}

/** Returns the node and VPC that get the packet next; null if the packet leaves the VPCs of the site or ends here. */
async function placeAfter(
  { kysely, networks }: Deps,
  { vpc_id, source }: Place,
  { next }: TraceAnswer,
  destination: string,
): Promise<Place | null> {
  if (next === null) return null;
  if (next.kind === "node") {
    const network = await networks.nodesOf(vpc_id);
    const host = network?.hosts.find(({ underlay_address }) => underlay_address === next.underlay_address);
    return host === undefined ? null : { server_uuid: host.server_uuid, vpc_id, source };
  }
  const nic_id = await findNicOfAddress(kysely, destination);
  const nic = nic_id === undefined ? undefined : await findNic(kysely, nic_id);
  const host = nic && (await findInstance(kysely, nic.instance_id))?.host_cn_uuid;
  return nic && host ? { server_uuid: host, vpc_id: nic.vpc_id, source: next.source } : null;
}

/** The beginning of the last step in a node's answer, if the packet stops on this node. */
const STOPS = /^stops: /;

function endOf(
  hops: readonly TraceHop[],
  answer: TraceAnswer | null,
  { rule, reason }: { readonly rule: NetworkTrace["rule"]; readonly reason: string | null },
): Pick<NetworkTrace, "verdict" | "summary"> {
  const { hostname, steps } = hops.at(-1)!;
  if (answer === null) {
    const why = `node ${hostname} did not answer within ${TRACE_WAIT_S} s; its agent is offline or too old`;
    return { verdict: "unknown", summary: `It is unknown where the packet stops: ${why}.` };
  }
  const last = steps.at(-1)!;
  const text = rule === null ? last : last.replace(`the firewall rule ${rule.id}`, `the firewall rule ${rule.name}`);
  if (!answer.passes) {
    return { verdict: "stops", summary: `The packet stops on node ${hostname}: ${reason ?? text.replace(STOPS, "")}.` };
  }
  return { verdict: answer.next === null ? "arrives" : "leaves", summary: `On node ${hostname}, the packet ${text}.` };
}

/**
 * Returns the NIC that sends to the address. This is the NIC whose subnet contains the address. If no subnet contains
 * the address, it is the first NIC with an address of the same family. Returns null without such a NIC.
 */
async function sendingNic({ kysely }: Deps, { id }: Instance, destination: string): Promise<Nic | null> {
  const nics = (await findNicsOf(kysely, id) ?? []).filter((nic) => addressOf(nic, destination) !== null);
  const ip = parseIp(destination);
  for (const nic of nics) {
    const subnet = await findSubnet(kysely, nic.subnet_id);
    const block = subnet && (destination.includes(":") ? subnet.ipv6_block : subnet.ipv4_block);
    const cidr = block ? parseCidr(block) : null;
    if (ip !== null && cidr !== null && inCidr(ip, cidr)) return nic;
  }
  return nics[0] ?? null;
}

function addressOf({ primary_ipv4, primary_ipv6 }: Nic, destination: string): string | null {
  return destination.includes(":") ? primary_ipv6 : primary_ipv4;
}

function familyName(address: string): "IPv4" | "IPv6" {
  return address.includes(":") ? "IPv6" : "IPv4";
}
