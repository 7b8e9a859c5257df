// Answers the DHCPv6 requests (RFC 8415) of the guests of one VPC. Every lease is static: the IPv6 address of the NIC
// whose tap the request came from. A guest cannot choose its tap, so it cannot ask in the name of another guest.
import { GATEWAY_MAC, METADATA_IPV6 } from "../names.ts";
import { addressBytes } from "./address-bytes.ts";
import type { Guest } from "./guest-plan.ts";
import { nameBytes } from "./name-bytes.ts";

/** Lease time in seconds. A guest always gets the same lease, so the time only decides when the guest renews it. */
const LEASE_S = 86_400;
/**
 * Seconds after which the guest asks this server (RENEW_S) or any server (REBIND_S) to renew the lease: the fractions
 * of the lease time that RFC 8415 recommends.
 */
const RENEW_S = LEASE_S * 0.5;
const REBIND_S = LEASE_S * 0.8;

const TYPE = {
  solicit: 1,
  advertise: 2,
  request: 3,
  confirm: 4,
  renew: 5,
  rebind: 6,
  reply: 7,
  release: 8,
  decline: 9,
  information_request: 11,
} as const;
const OPTION = {
  client_id: 1,
  server_id: 2,
  address_request: 3,
  address: 5,
  status: 13,
  rapid_commit: 14,
  dns: 23,
  domain_search: 24,
  ntp: 56,
} as const;
/** The code of the suboption of `ntp` with the address of one server (RFC 5908). */
const NTP_ADDRESS = 1;
const STATUS = { success: 0, no_address: 2, not_on_link: 4 } as const;
/** Bytes of the type and the transaction id. */
const HEADER_BYTES = 4;
/** Bytes of the fixed fields of an address request: id, renew time, rebind time. */
const ADDRESS_REQUEST_BYTES = 12;
const ADDRESS_BYTES = 16;
/**
 * The server's id: kind 3, hardware type 1, and the gateway's MAC. The id is the same on all nodes, so a lease remains
 * valid when the guest moves.
 */
const SERVER_ID = [0, 3, 0, 1, ...GATEWAY_MAC.split(":").map((part) => parseInt(part, 16))];

type Option = { readonly code: number; readonly value: Uint8Array };

/** Returns the reply to a guest's request, or null if the request needs no reply. */
export function dhcp6Reply(
  request: Uint8Array,
  { ipv6, search, ntp_servers }: Pick<Guest, "ipv6" | "search" | "ntp_servers">,
): Uint8Array | null {
  const options = optionsOf(request.subarray(HEADER_BYTES));
  const client = find(options, OPTION.client_id);
  const server = find(options, OPTION.server_id);
  if (ipv6 === null || request.length < HEADER_BYTES) return null;
  const [type] = request;
  const is_for_this_server = server !== undefined && String([...server]) === String(SERVER_ID);
  if (server !== undefined && !is_for_this_server) return null;
  if (client === undefined && type !== TYPE.information_request) return null;
  const own = addressBytes(ipv6);
  const ntp = ntp_servers.filter((address) => address.includes(":"))
    .flatMap((address) => option(OPTION.ntp, option(NTP_ADDRESS, addressBytes(address))));
  const services = [...DNS, ...(search === null ? [] : option(OPTION.domain_search, nameBytes(search))), ...ntp];
  switch (type) {
    case TYPE.solicit: {
      const is_rapid = find(options, OPTION.rapid_commit) !== undefined;
      const commit = is_rapid ? option(OPTION.rapid_commit, []) : [];
      return answer(is_rapid ? TYPE.reply : TYPE.advertise, [...commit, ...addresses(options, own), ...services]);
    }
    case TYPE.request:
    case TYPE.renew:
      return is_for_this_server ? answer(TYPE.reply, [...addresses(options, own), ...services]) : null;
    case TYPE.rebind:
      return answer(TYPE.reply, [...addresses(options, own), ...services]);
    case TYPE.confirm: {
      const is_own = asked(options).every((each) => String(each) === String(own));
      return answer(TYPE.reply, status(is_own ? STATUS.success : STATUS.not_on_link));
    }
    case TYPE.release:
    case TYPE.decline:
      return is_for_this_server ? answer(TYPE.reply, status(STATUS.success)) : null;
    case TYPE.information_request:
      return answer(TYPE.reply, services);
    default:
      return null;
  }

  function answer(kind: number, more: readonly number[]): Uint8Array {
    return Uint8Array.from([
      ...[kind, ...request.subarray(1, HEADER_BYTES)],
      ...(client === undefined ? [] : option(OPTION.client_id, client)),
      ...option(OPTION.server_id, SERVER_ID),
      ...more,
    ]);
  }
}

const DNS = option(OPTION.dns, addressBytes(METADATA_IPV6));

/** Answers the address requests: the first request gets the NIC's address, further requests get no address. */
function addresses(options: readonly Option[], own: readonly number[]): number[] {
  return addressRequests(options).flatMap((value, index) => {
    const id = value.subarray(0, 4);
    if (index > 0) return option(OPTION.address_request, [...id, ...zeros(8), ...status(STATUS.no_address)]);
    // Any other address in the request gets the lifetime 0, so that the guest removes it.
    const wrong = addressesOf(value).filter((each) => String(each) !== String(own));
    return option(OPTION.address_request, [
      ...[...id, ...seconds(RENEW_S), ...seconds(REBIND_S)],
      ...option(OPTION.address, [...own, ...seconds(LEASE_S), ...seconds(LEASE_S)]),
      ...wrong.flatMap((each) => option(OPTION.address, [...each, ...zeros(8)])),
    ]);
  });
}

/** Returns the addresses that the guest lists in its request. */
function asked(options: readonly Option[]): readonly (readonly number[])[] {
  return addressRequests(options).flatMap(addressesOf);
}

function addressRequests(options: readonly Option[]): readonly Uint8Array[] {
  return options.filter(({ code, value }) => code === OPTION.address_request && value.length >= ADDRESS_REQUEST_BYTES)
    .map(({ value }) => value);
}

function addressesOf(request: Uint8Array): readonly (readonly number[])[] {
  return optionsOf(request.subarray(ADDRESS_REQUEST_BYTES))
    .filter(({ code, value }) => code === OPTION.address && value.length >= ADDRESS_BYTES)
    .map(({ value }) => [...value.subarray(0, ADDRESS_BYTES)]);
}

/** Reads the options. Stops at an option whose length exceeds the packet. */
function optionsOf(bytes: Uint8Array): readonly Option[] {
  const options: Option[] = [];
  for (let at = 0; at + 4 <= bytes.length;) {
    const [code_high = 0, code_low = 0, length_high = 0, length_low = 0] = bytes.subarray(at, at + 4);
    const end = at + 4 + length_high * 256 + length_low;
    if (end > bytes.length) break;
    options.push({ code: code_high * 256 + code_low, value: bytes.subarray(at + 4, end) });
    at = end;
  }
  return options;
}

function find(options: readonly Option[], code: number): Uint8Array | undefined {
  return options.find((each) => each.code === code)?.value;
}

function option(code: number, value: readonly number[] | Uint8Array): number[] {
  return [code >> 8, code & 255, value.length >> 8, value.length & 255, ...value];
}

function status(code: number): number[] {
  return option(OPTION.status, [0, code]);
}

function seconds(value: number): number[] {
  return [value >>> 24, value >>> 16 & 255, value >>> 8 & 255, value & 255];
}

function zeros(length: number): number[] {
  return Array<number>(length).fill(0);
}
