// Answers the DNS queries (RFC 1035) of the guests of one VPC for the names of the VPC's instances and the reverse
// names of the VPC's addresses. A resolver answers every other query. Questions about the zone `internal` never leave
// the node.
import { inCidr, type Ip, parseCidr, parseIp } from "../../../src/lib/net/ip-address.ts";
import { addressBytes } from "./address-bytes.ts";
import type { GuestPlan } from "./guest-plan.ts";
import { nameBytes } from "./name-bytes.ts";

/**
 * Seconds for which a guest may cache an answer: a short time, because the name may soon belong to a new instance with
 * another address.
 */
const TTL_S = 10;
const HEADER_BYTES = 12;
/** Bytes of the longest label and of the longest name (RFC 1035). */
const LABEL_BYTES_MAX = 63;
const NAME_BYTES_MAX = 253;
const ZONE = "internal";

/** A name under these zones contains an address with its parts in reverse order (RFC 1035, RFC 3596). */
const REVERSE_ZONE = { ipv4: ".in-addr.arpa", ipv6: ".ip6.arpa" } as const;

const TYPE = { a: 1, pointer: 12, aaaa: 28, any: 255 } as const;
const CLASS_IN = 1;
const CODE = { no_error: 0, server_failure: 2, no_such_name: 3 } as const;
/** Flags of an answer: response, authoritative, recursion available. */
const ANSWER_FLAGS = 0x8480;
const RECURSION_DESIRED = 0x0100;
/** The name of a record: a pointer to the name in the question. */
const POINTER_TO_QUESTION = [0xc0, HEADER_BYTES];

export type Question = {
  /** In lower case, without the final dot. */
  readonly name: string;
  readonly type: number;
  /** End of the question in the message. */
  readonly end: number;
};

/** Reads the question of a query. Returns null unless the message is a query with exactly one question of class IN. */
export function questionOf(message: Uint8Array): Question | null {
  if (message.length < HEADER_BYTES || (message[2]! & 0xf8) !== 0 || message[4] !== 0 || message[5] !== 1) return null;
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (;;) {
    const length = message[at];
    if (length === undefined || length > LABEL_BYTES_MAX) return null;
    at += 1;
    if (length === 0) break;
    if (at + length > message.length) return null;
    labels.push(new TextDecoder().decode(message.subarray(at, at + length)).toLowerCase());
    at += length;
  }
  const name = labels.join(".");
  const [type_high, type_low, class_high, class_low] = message.subarray(at, at + 4);
  if (class_low === undefined || name.length > NAME_BYTES_MAX) return null;
  if (class_high! * 256 + class_low !== CLASS_IN) return null;
  return { name, type: type_high! * 256 + type_low!, end: at + 4 };
}

/** Answers a query about the VPC's own names and addresses; null if a resolver must answer. */
export function localAnswer(query: Uint8Array, question: Question, plan: GuestPlan): Uint8Array | null {
  const { names } = plan;
  const address = reversedAddress(question.name);
  if (address !== null) return reverseAnswer(query, question, address, plan);
  if (question.name !== ZONE && !question.name.endsWith(`.${ZONE}`)) return null;
  const known = names.filter(({ name }) => name.toLowerCase() === question.name);
  if (known.length === 0) return answer(query, question, CODE.no_such_name, []);
  const wants = (type: number) => question.type === type || question.type === TYPE.any;
  const records = known.flatMap(({ ipv4, ipv6 }) => [
    ...(ipv4 !== null && wants(TYPE.a) ? [record(TYPE.a, addressBytes(ipv4))] : []),
    ...(ipv6 !== null && wants(TYPE.aaaa) ? [record(TYPE.aaaa, addressBytes(ipv6))] : []),
  ]);
  return answer(query, question, CODE.no_error, records);
}

/**
 * Answers with the names that have the address. For an address of the VPC without a name, answers that no name exists,
 * because other resolvers do not know the VPC's addresses.
 */
function reverseAnswer(query: Uint8Array, question: Question, address: Ip, plan: GuestPlan): Uint8Array | null {
  const named = plan.names.filter(({ ipv4, ipv6 }) => isSame(address.family === 4 ? ipv4 : ipv6, address));
  if (named.length > 0) {
    const is_wanted = question.type === TYPE.pointer || question.type === TYPE.any;
    const records = is_wanted ? named.map(({ name }) => record(TYPE.pointer, nameBytes(name.toLowerCase()))) : [];
    return answer(query, question, CODE.no_error, records);
  }
  const is_own = plan.blocks.map(parseCidr).some((block) => block !== null && inCidr(address, block));
  return is_own ? answer(query, question, CODE.no_such_name, []) : null;
}

/** Returns the address in a reverse name; null for any other name. */
function reversedAddress(name: string): Ip | null {
  if (name.endsWith(REVERSE_ZONE.ipv4)) {
    const address = parseIp(name.slice(0, -REVERSE_ZONE.ipv4.length).split(".").toReversed().join("."));
    return address?.family === 4 ? address : null;
  }
  if (!name.endsWith(REVERSE_ZONE.ipv6)) return null;
  const digits = name.slice(0, -REVERSE_ZONE.ipv6.length).split(".").toReversed().join("");
  return /^[0-9a-f]{32}$/.test(digits) ? { family: 6, value: BigInt(`0x${digits}`) } : null;
}

function isSame(text: string | null, { family, value }: Ip): boolean {
  const ip = text === null ? null : parseIp(text);
  return ip?.family === family && ip.value === value;
}

/** Returns the answer to a query that no resolver answered. */
export function failure(query: Uint8Array, question: Question): Uint8Array {
  return answer(query, question, CODE.server_failure, []);
}

function answer(query: Uint8Array, { end }: Question, code: number, records: readonly number[][]): Uint8Array {
  const flags = ANSWER_FLAGS | (query[2]! << 8 & RECURSION_DESIRED) | code;
  return Uint8Array.from([
    ...query.subarray(0, 2),
    ...[flags >> 8, flags & 255],
    ...[0, 1, records.length >> 8, records.length & 255, 0, 0, 0, 0],
    ...query.subarray(HEADER_BYTES, end),
    ...records.flat(),
  ]);
}

function record(type: number, data: readonly number[]): number[] {
  const head = [...POINTER_TO_QUESTION, 0, type, 0, CLASS_IN, 0, 0, TTL_S >> 8, TTL_S & 255];
  return [...head, data.length >> 8, data.length & 255, ...data];
}
