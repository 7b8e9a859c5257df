// The functions of this file have no side effects. They return the reply to a DHCP packet and its destination, or the
// reason for no reply. The booter has no address pool: the address comes from the boot record. It sends no NAK. A
// client that is not explicitly allowed gets no answer.
import type { BootRecord } from "../../src/contract/boot.ts";
import { type BootSettings, decide, type Decision, type Silence } from "../decision.ts";
import { DHCP_LEASE_S } from "../limits.ts";
import { ipv4Number, ipv4Text, maskOf, sameNetwork } from "../ipv4.ts";
import type { DhcpClient } from "./client.ts";
import {
  ACK,
  addressOption,
  ascii,
  type DhcpPacket,
  DISCOVER,
  OFFER,
  optionBytes,
  replyBytes,
  REQUEST,
  writeReply,
} from "./packet.ts";

/** One of the booter's own addresses, with the prefix length of the address's network. */
export type Segment = { readonly address: string; readonly prefix_len: number };

export type DhcpRules = {
  readonly segments: readonly Segment[];
  /** The networks of relays that have an address outside the network of their machines. */
  readonly relays: readonly { readonly network: number; readonly prefix_len: number }[];
  readonly relay_reply: "giaddr" | "source";
  /** True if another server assigns the addresses, and the booter only names the boot file (PXE 2.1, 2.2.3). */
  readonly is_proxy: boolean;
};

export type DhcpSilence =
  | Silence
  | "not_for_servers"
  | "declined"
  | "relay_not_known"
  | "no_segment"
  | "other_server"
  | "other_address"
  | "reply_too_large"
  | "no_proxy";

/**
 * The port that received the packet: 67 ("dhcp"), or 4011 ("proxy"), where machines ask a proxy for their boot file.
 */
export type DhcpAsked = "dhcp" | "proxy";

export type DhcpQuestion = {
  readonly packet: DhcpPacket;
  readonly client: DhcpClient;
  readonly source: { readonly address: string; readonly port: number };
  readonly record: Pick<BootRecord, "state" | "address" | "networking" | "rescue" | "assigned_pi" | "hostname"> | null;
  readonly verified: boolean;
  readonly policy: BootSettings;
  readonly rules: DhcpRules;
  readonly asked: DhcpAsked;
  /** Returns the file that a client of this kind loads next from the server at this address. */
  readonly bootFile: (client: DhcpClient["kind"], server: string) => string;
};

export type DhcpAnswer =
  | { readonly kind: "silent"; readonly reason: DhcpSilence }
  | {
    readonly kind: "send";
    readonly bytes: Uint8Array<ArrayBuffer>;
    readonly address: string;
    readonly port: number;
    /** The address of the socket that sends the reply. This address decides on which interface a broadcast is sent. */
    readonly server: string;
  };

type Option = readonly [number, Uint8Array];
type Networking = NonNullable<BootRecord["networking"]>;

const SERVER_PORT = 67;
const CLIENT_PORT = 68;
/**
 * MESSAGE_BYTES_MAX fits one Ethernet frame, and every client must accept MESSAGE_BYTES_MIN (RFC 2131, 2). The headers
 * of IP and UDP are subtracted from both sizes, in case the client counts them.
 */
const MESSAGE_BYTES_MAX = 1_472;
const MESSAGE_BYTES_MIN = 576;
const IP_AND_UDP_BYTES = 28;
/**
 * PXE_DISCOVERY_CONTROL = 8 makes the client load the file of this reply and ask no other server (PXE 2.1). Without it,
 * edk2 with class PXEClient waits forever for an answer from port 4011 (PXE-E16).
 */
const PXE_CLASS: readonly Option[] = [[60, ascii("PXEClient")], [43, Uint8Array.of(6, 1, 8, 255)]];
const HTTP_CLASS: readonly Option[] = [[60, ascii("HTTPClient")]];
/** An option of iPXE. It makes iPXE accept this offer at once, without waiting for an offer of a proxy. */
const IPXE_NO_PROXY: Option = [175, Uint8Array.of(0xb0, 1, 1)];
const IS_OFFER: Option = [53, Uint8Array.of(OFFER)];
const IS_ACK: Option = [53, Uint8Array.of(ACK)];
const LEASE: Option = [51, bytesOf(DHCP_LEASE_S)];
/**
 * Options that identify the client: 97 is its UUID, 61 is its client identifier. The booter copies them to the reply.
 */
const ECHOED = [97, 61] as const;

export function answerDhcp(question: DhcpQuestion): DhcpAnswer {
  const { packet, client, record, verified, policy, rules, source } = question;
  if (packet.type !== DISCOVER && packet.type !== REQUEST) return silent("not_for_servers");
  const decision = decide({ client: client.kind, architecture: client.architecture, record, verified, policy });
  if (decision.kind === "nothing") return silent(decision.reason);
  const address = ipv4Number(record?.address ?? "");
  const networking = record?.networking ?? null;
  if (record === null || address === null || networking === null) return silent("no_address");
  if (packet.giaddr !== 0 && !relayIsKnown(packet.giaddr, address, networking.prefix_len, rules)) {
    return silent("relay_not_known");
  }
  const segment = segmentOf(packet, address, rules);
  if (segment === null) return silent("no_segment");
  const server = ipv4Number(segment.address)!;
  if (rules.is_proxy) return proxyAnswer(question, { decision, segment, server });
  if (packet.type === REQUEST) {
    const named = addressOption(packet, 54);
    if (packet.options.has(54) && named !== server) return silent("other_server");
    const asked = packet.options.has(50) ? addressOption(packet, 50) : packet.ciaddr;
    // ciaddr is checked too, because the reply is sent to that address.
    if (asked !== address || (packet.ciaddr !== 0 && packet.ciaddr !== address)) return silent("other_address");
  }
  const file = decision.kind === "lease" ? "" : question.bootFile(client.kind, segment.address);
  const bytes = reply({ packet, client, file, address, server, networking, hostname: record.hostname });
  if (bytes === null) return silent("reply_too_large");
  return { kind: "send", bytes, server: segment.address, ...destination(packet, source, rules) };
}

/**
 * Answers as a proxy beside another server. iPXE gets its file only at port 4011: the URL of its script contains the
 * machine's address, which the machine does not have before the offer. Firmware gets the file at once, and gets it
 * again if it asks at port 4011.
 */
function proxyAnswer(
  { packet, client, source, rules, asked, bootFile }: DhcpQuestion,
  { decision, segment, server }: { readonly decision: Decision; readonly segment: Segment; readonly server: number },
): DhcpAnswer {
  if (decision.kind === "lease") return silent("no_proxy");
  const is_request = packet.type === REQUEST;
  if (is_request !== (asked === "proxy")) return silent(is_request ? "other_server" : "no_proxy");
  const file = is_request || client.kind !== "ipxe" ? bootFile(client.kind, segment.address) : "";
  const options: Option[] = [is_request ? IS_ACK : IS_OFFER, [54, bytesOf(server)], ...classOptions(client)];
  if (file !== "") options.push([66, ascii(segment.address)], [67, ascii(`${file}\0`)]);
  for (const code of ECHOED) {
    const echoed = packet.options.get(code);
    if (echoed !== undefined) options.push([code, echoed]);
  }
  const relayed = packet.options.get(82);
  if (relayed !== undefined) options.push([82, relayed]);
  const { xid, flags, ciaddr, giaddr, mac } = packet;
  const bytes = writeReply({ xid, flags, ciaddr, yiaddr: 0, siaddr: server, giaddr, mac, file, options });
  const to = is_request ? source : destination(packet, source, rules);
  return { kind: "send", bytes, server: segment.address, ...to };
}

/**
 * Returns whether the relay is in the machine's network or in a network that the configuration lists. Other relays get
 * no reply.
 */
function relayIsKnown(giaddr: number, address: number, prefix_len: number, { relays }: DhcpRules): boolean {
  return sameNetwork(giaddr, address, prefix_len) ||
    relays.some((each) => sameNetwork(giaddr, each.network, each.prefix_len));
}

/**
 * Returns the booter's segment in the network of the machine or its relay. A broadcast reply must be sent on such a
 * segment. Without such a segment, returns the first segment if the packet has the address of a relay or of the client,
 * because the reply is then no broadcast. Otherwise returns null.
 */
function segmentOf({ giaddr, ciaddr }: DhcpPacket, address: number, { segments }: DhcpRules): Segment | null {
  const near = segments.find((each) => sameNetwork(ipv4Number(each.address) ?? 0, giaddr || address, each.prefix_len));
  return near ?? (giaddr !== 0 || ciaddr !== 0 ? segments[0] ?? null : null);
}

type ReplyParts = {
  readonly packet: DhcpPacket;
  readonly client: DhcpClient;
  readonly file: string;
  readonly address: number;
  readonly server: number;
  readonly networking: Networking;
  readonly hostname: string | null;
};

function reply(parts: ReplyParts): Uint8Array<ArrayBuffer> | null {
  const { packet, client, file, address, server, networking, hostname } = parts;
  const needed: Option[] = [
    packet.type === DISCOVER ? IS_OFFER : IS_ACK,
    [54, bytesOf(server)],
    LEASE,
    ...networkOptions(networking),
  ];
  const useful: Option[] = [];
  if (hostname !== null) useful.push([12, ascii(hostname)]);
  if (file !== "") {
    // Without the trailing NUL, old ROMs take the end mark as part of the name (netboot.xyz #1198).
    needed.push([67, ascii(`${file}\0`)], ...classOptions(client));
    useful.push([66, ascii(ipv4Text(server))]);
    if (client.kind === "ipxe") useful.push(IPXE_NO_PROXY);
  }
  for (const code of ECHOED) {
    const echoed = packet.options.get(code);
    if (echoed !== undefined) needed.push([code, echoed]);
  }
  // RFC 3046 requires that the relay's own option (82) comes last.
  const relayed = packet.options.get(82);
  const last: Option[] = relayed === undefined ? [] : [[82, relayed]];
  const room = messageLimit(packet) - replyBytes(needed) - optionBytes(last);
  while (optionBytes(useful) > room) if (useful.pop() === undefined) return null;
  return writeReply({
    xid: packet.xid,
    flags: packet.flags,
    ciaddr: packet.type === REQUEST ? packet.ciaddr : 0,
    yiaddr: address,
    siaddr: file === "" ? 0 : server,
    giaddr: packet.giaddr,
    mac: packet.mac,
    file,
    options: [...needed, ...useful, ...last],
  });
}

/**
 * Repeats the client's class. UEFI HTTP ignores an offer without the class. PXE needs both the class and option 43, or
 * neither.
 */
function classOptions({ kind, class: asked }: DhcpClient): readonly Option[] {
  if (kind === "uefi_http") return HTTP_CLASS;
  return asked.startsWith("PXEClient") ? PXE_CLASS : [];
}

/** Returns the options for mask, router and resolvers. The options are built once for each record that was read. */
function networkOptions(networking: Networking): readonly Option[] {
  const known = madeOptions.get(networking);
  if (known !== undefined) return known;
  const made: Option[] = [[1, bytesOf(maskOf(networking.prefix_len))]];
  const gateway = networking.gateway === null ? null : ipv4Number(networking.gateway);
  if (gateway !== null) made.push([3, bytesOf(gateway)]);
  const resolvers = addressBytes(networking.resolvers);
  if (resolvers.length > 0) made.push([6, resolvers]);
  madeOptions.set(networking, made);
  return made;
}
const madeOptions = new WeakMap<Networking, readonly Option[]>();

function messageLimit({ options }: DhcpPacket): number {
  const size = options.get(57);
  const asked = size?.length === 2 ? size[0]! * 256 + size[1]! : MESSAGE_BYTES_MIN;
  return Math.min(Math.max(asked, MESSAGE_BYTES_MIN), MESSAGE_BYTES_MAX) - IP_AND_UDP_BYTES;
}

/**
 * Returns where to send the reply. A machine without an address does not answer ARP, so the reply is a broadcast even
 * if the machine's broadcast flag is off.
 */
function destination(packet: DhcpPacket, source: DhcpQuestion["source"], { relay_reply }: DhcpRules) {
  if (packet.giaddr !== 0) {
    return relay_reply === "source" ? source : { address: ipv4Text(packet.giaddr), port: SERVER_PORT };
  }
  if (packet.type === REQUEST && packet.ciaddr !== 0) return { address: ipv4Text(packet.ciaddr), port: CLIENT_PORT };
  return { address: "255.255.255.255", port: CLIENT_PORT };
}

function bytesOf(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}

/** Concatenates the addresses, without invalid addresses. */
function addressBytes(addresses: readonly string[]): Uint8Array {
  const bytes = new Uint8Array(4 * addresses.length);
  let length = 0;
  for (const text of addresses) {
    const value = ipv4Number(text);
    if (value === null) continue;
    bytes.set(bytesOf(value), length);
    length += 4;
  }
  return bytes.subarray(0, length);
}

function silent(reason: DhcpSilence): DhcpAnswer {
  return { kind: "silent", reason };
}
