// From a packet and what is known of its sender to a reply and where it goes, or to silence. Pure. There is no NAK and
// no pool: the address is the record's, and what is not positively allowed hears nothing. Document 2, Booter behaviour.
import type { BootRecord } from "../../src/contract/boot.ts";
import { type BootSettings, decide, type Silence } from "../decision.ts";
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
  replyBytes,
  REQUEST,
  writeReply,
} from "./packet.ts";

/** One of the booter's own addresses and the network it stands in. */
export type Segment = { readonly address: string; readonly prefix_len: number };

export type DhcpRules = {
  readonly segments: readonly Segment[];
  /** Relays outside the network of the machine they speak for. */
  readonly relays: readonly { readonly network: number; readonly prefix_len: number }[];
  readonly relay_reply: "giaddr" | "source";
};

export type DhcpSilence =
  | Silence
  | "not_for_servers"
  | "declined"
  | "relay_not_known"
  | "no_segment"
  | "other_server"
  | "other_address"
  | "reply_too_large";

export type DhcpQuestion = {
  readonly packet: DhcpPacket;
  readonly client: DhcpClient;
  readonly source: { readonly address: string; readonly port: number };
  readonly record: BootRecord | null;
  readonly verified: boolean;
  readonly policy: BootSettings;
  readonly rules: DhcpRules;
  /** The file that a client of this kind loads next from the server at this address. */
  readonly bootFile: (client: DhcpClient["kind"], server: string) => string;
};

export type DhcpAnswer =
  | { readonly kind: "silent"; readonly reason: DhcpSilence }
  | {
    readonly kind: "send";
    readonly bytes: Uint8Array<ArrayBuffer>;
    readonly address: string;
    readonly port: number;
    /** Whose socket sends it: the bound address decides which wire a broadcast leaves by. */
    readonly server: string;
  };

const SERVER_PORT = 67;
const CLIENT_PORT = 68;
/** The largest UDP payload that fits one Ethernet frame, and what every client must take (RFC 2131, 2). */
const MESSAGE_BYTES_MAX = 1_472;
const MESSAGE_BYTES_MIN = 576;
const IP_AND_UDP_BYTES = 28;
/** PXE_DISCOVERY_CONTROL = 8: load the file of this reply, ask no other server (PXE 2.1). Without it, class PXEClient
 * makes edk2 wait on port 4011 for ever (PXE-E16). */
const PXE_OPTIONS = Uint8Array.of(6, 1, 8, 255);
/** Tells iPXE that no other offer will follow. */
const IPXE_NO_PROXY = Uint8Array.of(0xb0, 1, 1);

export function answerDhcp(question: DhcpQuestion): DhcpAnswer {
  const { packet, client, record, verified, policy, rules, source } = question;
  if (packet.type !== DISCOVER && packet.type !== REQUEST) return silent("not_for_servers");
  const decision = decide({ client: client.kind, record, verified, policy });
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
  if (packet.type === REQUEST) {
    const named = addressOption(packet, 54);
    if (packet.options.has(54) && named !== server) return silent("other_server");
    const asked = packet.options.has(50) ? addressOption(packet, 50) : packet.ciaddr;
    // Both, since the reply may go to the one while the other is asked for.
    if (asked !== address || (packet.ciaddr !== 0 && packet.ciaddr !== address)) return silent("other_address");
  }
  const file = decision.kind === "lease" ? "" : question.bootFile(client.kind, segment.address);
  const bytes = reply({ packet, client, file, address, server, networking, hostname: record.hostname });
  if (bytes === null) return silent("reply_too_large");
  return { kind: "send", bytes, server: segment.address, ...destination(packet, source, rules) };
}

/** A relay stands in the machine's own network or is named in the configuration: no stranger gets replies sent to him. */
function relayIsKnown(giaddr: number, address: number, prefix_len: number, { relays }: DhcpRules): boolean {
  return sameNetwork(giaddr, address, prefix_len) ||
    relays.some((each) => sameNetwork(giaddr, each.network, each.prefix_len));
}

/** The booter's address that the machine shall speak to. Only a broadcast must leave by the machine's own wire. */
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
  readonly networking: NonNullable<BootRecord["networking"]>;
  readonly hostname: string | null;
};

function reply(parts: ReplyParts): Uint8Array<ArrayBuffer> | null {
  const { packet, client, file, address, server, networking, hostname } = parts;
  const needed: [number, Uint8Array][] = [
    [53, Uint8Array.of(packet.type === DISCOVER ? OFFER : ACK)],
    [54, word(server)],
    [51, word(DHCP_LEASE_S)],
    [1, word(maskOf(networking.prefix_len))],
  ];
  const gateway = networking.gateway === null ? null : ipv4Number(networking.gateway);
  if (gateway !== null) needed.push([3, word(gateway)]);
  const resolvers = networking.resolvers.flatMap((text) => ipv4Number(text) ?? []);
  if (resolvers.length > 0) needed.push([6, Uint8Array.from(resolvers.flatMap((each) => [...word(each)]))]);
  const useful: [number, Uint8Array][] = [];
  if (hostname !== null) useful.push([12, ascii(hostname)]);
  if (file !== "") {
    // The trailing NUL keeps old ROMs from reading on into the end mark (netboot.xyz #1198).
    needed.push([67, ascii(`${file}\0`)], ...classOptions(client));
    useful.push([66, ascii(ipv4Text(server))]);
    if (client.kind === "ipxe") useful.push([175, IPXE_NO_PROXY]);
  }
  for (const code of [97, 61]) {
    const echoed = packet.options.get(code);
    if (echoed !== undefined) needed.push([code, echoed]);
  }
  // RFC 3046: the relay's own option comes last.
  const relayed = packet.options.get(82);
  const last: [number, Uint8Array][] = relayed === undefined ? [] : [[82, relayed]];
  const limit = messageLimit(packet);
  while (replyBytes([...needed, ...useful, ...last]) > limit) if (useful.pop() === undefined) return null;
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

/** The class the client knows itself by; without it UEFI HTTP boot ignores the offer, and PXE wants both or neither. */
function classOptions({ kind, class: asked }: DhcpClient): [number, Uint8Array][] {
  if (kind === "uefi_http") return [[60, ascii("HTTPClient")]];
  if (!asked.startsWith("PXEClient")) return [];
  return [[60, ascii("PXEClient")], [43, PXE_OPTIONS]];
}

function messageLimit({ options }: DhcpPacket): number {
  const told = options.get(57);
  const asked = told?.length === 2 ? told[0]! * 256 + told[1]! : MESSAGE_BYTES_MIN;
  return Math.min(Math.max(asked, MESSAGE_BYTES_MIN), MESSAGE_BYTES_MAX) - IP_AND_UDP_BYTES;
}

/**
 * A machine without an address cannot be sent to by its address: there is no ARP entry, so it hears a broadcast whatever
 * its flag says.
 */
function destination(packet: DhcpPacket, source: DhcpQuestion["source"], { relay_reply }: DhcpRules) {
  if (packet.giaddr !== 0) {
    return relay_reply === "source" ? source : { address: ipv4Text(packet.giaddr), port: SERVER_PORT };
  }
  if (packet.type === REQUEST && packet.ciaddr !== 0) return { address: ipv4Text(packet.ciaddr), port: CLIENT_PORT };
  return { address: "255.255.255.255", port: CLIENT_PORT };
}

function word(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}

function silent(reason: DhcpSilence): DhcpAnswer {
  return { kind: "silent", reason };
}
