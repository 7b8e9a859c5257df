// Answers the DHCP requests (RFC 2131) of the guests of one VPC. Every lease is static: the address of the NIC with the
// client's MAC.
import { METADATA_IPV4 } from "../names.ts";
import type { Guest, GuestPlan } from "./guest-plan.ts";
import { nameBytes } from "./name-bytes.ts";

/** Lease time in seconds. A guest always gets the same lease, so the time only decides when the guest renews it. */
const LEASE_S = 86_400;
/** Replies are padded to the length of a BOOTP packet, because some clients drop shorter ones. */
const REPLY_BYTES_MIN = 300;
/** Offset of the options, which follow the fixed fields and the magic cookie. */
const OPTIONS_AT = 240;
const COOKIE = [99, 130, 83, 99];
/** Place of the client's hardware address in the fixed fields. */
const MAC_AT = 28;
const MAC_BYTES = 6;
/** The longest text of an option. */
const TEXT_BYTES_MAX = 255;

const OPTION = {
  subnet_mask: 1,
  router: 3,
  dns: 6,
  hostname: 12,
  domain: 15,
  mtu: 26,
  ntp: 42,
  requested_address: 50,
  lease_time: 51,
  message_type: 53,
  server: 54,
  domain_search: 119,
  classless_routes: 121,
  end: 255,
} as const;

const TYPE = { discover: 1, offer: 2, request: 3, ack: 5, nak: 6, inform: 8 } as const;

const LEASE_TIME = option(OPTION.lease_time, [
  LEASE_S >>> 24,
  LEASE_S >>> 16 & 255,
  LEASE_S >>> 8 & 255,
  LEASE_S & 255,
]);
/** The client's address (yiaddr) in a reply that grants no lease. */
const NO_ADDRESS = "0.0.0.0";

export type DhcpReply = {
  /**
   * The guest's address, even if the reply grants no lease. The router knows the guest's MAC, so it can send to a guest
   * that does not have the address yet.
   */
  readonly to: string;
  readonly packet: Uint8Array;
};

/** Returns the reply to a packet on port 67, or null if the packet needs no reply. */
export function dhcpReply(request: Uint8Array, { guests, mtu }: GuestPlan): DhcpReply | null {
  if (request.length < OPTIONS_AT || request[0] !== 1) return null;
  const mac = [...request.subarray(MAC_AT, MAC_AT + MAC_BYTES)].map((byte) => byte.toString(16).padStart(2, "0"))
    .join(":");
  const guest = guests.find((each) => each.mac === mac);
  if (guest === undefined || guest.ipv4 === null || guest.netmask === null || guest.gateway === null) return null;
  const options = optionsOf(request);
  const type = answerType(request, options, guest.ipv4);
  if (type === null) return null;
  // The sender of an inform message already has an address, so the reply grants no lease (RFC 2131, 4.3.5).
  const has_lease = type !== TYPE.nak && messageType(options) !== TYPE.inform;
  const more = [
    ...(has_lease ? LEASE_TIME : []),
    ...(type === TYPE.nak ? [] : guestOptions(guest, guest.netmask, guest.gateway, mtu)),
  ];
  return { to: guest.ipv4, packet: packetOf(request, type, has_lease ? guest.ipv4 : NO_ADDRESS, more) };
}

function answerType(request: Uint8Array, options: Options, ipv4: string): number | null {
  switch (messageType(options)) {
    case TYPE.discover:
      return TYPE.offer;
    case TYPE.request: {
      const asked = options.get(OPTION.requested_address) ?? request.subarray(12, 16);
      const is_own = asked.every((byte) => byte === 0) || [...asked].join(".") === ipv4;
      return is_own ? TYPE.ack : TYPE.nak;
    }
    case TYPE.inform:
      return TYPE.ack;
    default:
      return null;
  }
}

type Options = ReadonlyMap<number, Uint8Array>;

function messageType(options: Options): number | undefined {
  return options.get(OPTION.message_type)?.[0];
}

function optionsOf(request: Uint8Array): Options {
  const options = new Map<number, Uint8Array>();
  for (let at = OPTIONS_AT; at < request.length && request[at] !== OPTION.end;) {
    const [code = 0, length = 0] = [request[at], request[at + 1]];
    if (code === 0) at += 1;
    else {
      options.set(code, request.subarray(at + 2, at + 2 + length));
      at += 2 + length;
    }
  }
  return options;
}

function guestOptions(guest: Guest, netmask: string, gateway: string, mtu: number): number[] {
  const router = octets(gateway);
  const ntp = guest.ntp_servers.filter((address) => !address.includes(":")).flatMap(octets);
  const hostname = [...new TextEncoder().encode(guest.hostname)].slice(0, TEXT_BYTES_MAX);
  return [
    ...option(OPTION.subnet_mask, octets(netmask)),
    ...option(OPTION.router, router),
    ...option(OPTION.dns, octets(METADATA_IPV4)),
    ...option(OPTION.mtu, [mtu >> 8, mtu & 255]),
    ...(ntp.length === 0 ? [] : option(OPTION.ntp, ntp)),
    ...(hostname.length === 0 ? [] : option(OPTION.hostname, hostname)),
    ...(guest.search === null ? [] : [
      // Some clients read only the option `domain`, others also the option `domain_search`.
      ...option(OPTION.domain, [...new TextEncoder().encode(guest.search)]),
      ...option(OPTION.domain_search, nameBytes(guest.search)),
    ]),
    // A client that reads this option ignores the option `router`, so this option also contains the default route (RFC
    // 3442).
    ...option(OPTION.classless_routes, [32, ...octets(METADATA_IPV4), ...router, 0, ...router]),
  ];
}

function packetOf(request: Uint8Array, type: number, leased: string, more: readonly number[]): Uint8Array {
  const options = [
    ...option(OPTION.message_type, [type]),
    // The router has this address in every VPC, and sends from it.
    ...option(OPTION.server, octets(METADATA_IPV4)),
    ...more,
    OPTION.end,
  ];
  const packet = new Uint8Array(Math.max(REPLY_BYTES_MIN, OPTIONS_AT + options.length));
  packet.set(request.subarray(0, MAC_AT + 16));
  packet[0] = 2;
  packet[3] = 0;
  packet.set(octets(leased), 16);
  packet.set(octets(METADATA_IPV4), 20);
  packet.set(COOKIE, OPTIONS_AT - COOKIE.length);
  packet.set(options, OPTIONS_AT);
  return packet;
}

function option(code: number, bytes: readonly number[]): number[] {
  return [code, bytes.length, ...bytes];
}

function octets(address: string): number[] {
  return address.split(".").map(Number);
}
