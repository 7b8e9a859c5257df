// Reads and writes the field types of AMQP 0-9-1. The reader never reads past its bytes, and never allocates memory
// for a length that the sender only claims.
import { Buffer } from "node:buffer";
import { AMQP_TABLE_DEPTH_MAX } from "./limits.ts";

/** A protocol error of a client. `code` is the reply code of connection.close or channel.close. */
export class AmqpFault extends Error {
  constructor(readonly code: number, message: string, readonly scope: "connection" | "channel" = "connection") {
    super(message);
  }
}

export const ACCESS_REFUSED = 403;
export const NOT_FOUND = 404;
export const RESOURCE_LOCKED = 405;
export const PRECONDITION_FAILED = 406;
export const CONTENT_TOO_LARGE = 311;
export const FRAME_ERROR = 501;
const SYNTAX_ERROR = 502;
export const COMMAND_INVALID = 503;
export const CHANNEL_ERROR = 504;
export const RESOURCE_ERROR = 506;
export const NOT_ALLOWED = 530;
export const NOT_IMPLEMENTED = 540;

export type Table = ReadonlyMap<string, unknown>;

export type Reader = {
  u8(): number;
  u16(): number;
  u32(): number;
  /** The value is not exact above 2^53; no length here is that large. */
  u64(): number;
  shortText(): string;
  longBytes(): Buffer;
  table(): Table;
  rest(): Buffer;
};

export function readerOf(bytes: Buffer): Reader {
  let at = 0;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new AmqpFault(SYNTAX_ERROR, "a frame ends inside a value");
    at += length;
    return bytes.subarray(at - length, at);
  };
  const reader: Reader = {
    u8: () => take(1)[0]!,
    u16: () => take(2).readUInt16BE(),
    u32: () => take(4).readUInt32BE(),
    u64: () => Number(take(8).readBigUInt64BE()),
    shortText: () => take(reader.u8()).toString("utf8"),
    longBytes: () => take(reader.u32()),
    table: () => readTable(take(reader.u32()), 1),
    rest: () => take(bytes.length - at),
  };
  return reader;
}

function readTable(bytes: Buffer, depth: number): Table {
  if (depth > AMQP_TABLE_DEPTH_MAX) throw new AmqpFault(SYNTAX_ERROR, "tables are nested too deep");
  const found = new Map<string, unknown>();
  let at = 0;
  while (at < bytes.length) {
    const length = bytes[at]!;
    const name = bytes.subarray(at + 1, at + 1 + length).toString("utf8");
    const { value, next } = readValue(bytes, at + 1 + length, depth);
    found.set(name, value);
    at = next;
  }
  return found;
}

type Read = { readonly value: unknown; readonly next: number };

/** Sizes in bytes of the fixed-size field types; their values are not decoded. */
const FIXED: Readonly<Record<string, number>> = {
  t: 1,
  b: 1,
  B: 1,
  U: 2,
  u: 2,
  s: 2,
  I: 4,
  i: 4,
  L: 8,
  l: 8,
  f: 4,
  d: 8,
  D: 5,
  T: 8,
  V: 0,
};

function readValue(bytes: Buffer, at: number, depth: number): Read {
  if (at >= bytes.length) throw new AmqpFault(SYNTAX_ERROR, "a table ends inside a field");
  const type = String.fromCharCode(bytes[at]!);
  const fixed = FIXED[type];
  if (fixed !== undefined) {
    if (at + 1 + fixed > bytes.length) throw new AmqpFault(SYNTAX_ERROR, "a table ends inside a field");
    return { value: bytes.subarray(at + 1, at + 1 + fixed), next: at + 1 + fixed };
  }
  if (!"SxFA".includes(type)) throw new AmqpFault(SYNTAX_ERROR, "a table has a field of an unknown type");
  if (at + 5 > bytes.length) throw new AmqpFault(SYNTAX_ERROR, "a table ends inside a field");
  const next = at + 5 + bytes.readUInt32BE(at + 1);
  if (next > bytes.length) throw new AmqpFault(SYNTAX_ERROR, "a table ends inside a field");
  const inner = bytes.subarray(at + 5, next);
  if (type === "F") return { value: readTable(inner, depth + 1), next };
  if (type === "A") checkArray(inner, depth + 1);
  return { value: inner, next };
}

function checkArray(bytes: Buffer, depth: number): void {
  if (depth > AMQP_TABLE_DEPTH_MAX) throw new AmqpFault(SYNTAX_ERROR, "tables are nested too deep");
  for (let at = 0; at < bytes.length;) at = readValue(bytes, at, depth).next;
}

// ------------------------------------------------------------------------------------------------------------- writing

export function u8(value: number): Buffer {
  return Buffer.of(value);
}
export function u16(value: number): Buffer {
  return Buffer.of(value >>> 8, value);
}
export function u32(value: number): Buffer {
  return Buffer.of(value >>> 24, value >>> 16, value >>> 8, value);
}
export function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
export function shortText(text: string): Buffer {
  const bytes = Buffer.from(text).subarray(0, 255);
  return Buffer.concat([u8(bytes.length), bytes]);
}
export function longText(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([u32(bytes.length), bytes]);
}
/** Encodes a table. The booter sends only texts, booleans and one nested table. */
export function table(fields: Readonly<Record<string, string | boolean | Readonly<Record<string, boolean>>>>): Buffer {
  const parts = Object.entries(fields).flatMap(([name, value]) => [
    shortText(name),
    typeof value === "string"
      ? Buffer.concat([Buffer.from("S"), longText(value)])
      : typeof value === "boolean"
      ? Buffer.of(0x74, value ? 1 : 0)
      : Buffer.concat([Buffer.from("F"), table(value)]),
  ]);
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(body.length), body]);
}
