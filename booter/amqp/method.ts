// Parses the AMQP 0-9-1 methods of machines and returns plain objects. A method that is not in this file closes the
// connection with reply code 540. The class and method numbers come from amqp0-9-1.xml.
import { Buffer } from "node:buffer";
import { AmqpFault, NOT_IMPLEMENTED, type Reader, readerOf, type Table, u32 } from "../../cli/internal/amqp/wire.ts";

export type Method =
  | { readonly name: "connection.start-ok"; readonly mechanism: string; readonly response: Buffer }
  | {
    readonly name: "connection.tune-ok";
    readonly channel_max: number;
    readonly frame_max: number;
    readonly heartbeat_s: number;
  }
  | { readonly name: "connection.open"; readonly vhost: string }
  | { readonly name: "connection.close" | "connection.close-ok" }
  | { readonly name: "channel.open" | "channel.close" | "channel.close-ok" | "channel.flow-ok" }
  | { readonly name: "exchange.declare"; readonly exchange: string; readonly type: string; readonly no_wait: boolean }
  | { readonly name: "exchange.delete"; readonly no_wait: boolean }
  | {
    readonly name: "queue.declare";
    readonly queue: string;
    readonly passive: boolean;
    readonly exclusive: boolean;
    readonly auto_delete: boolean;
    readonly no_wait: boolean;
  }
  | ({ readonly name: "queue.bind" | "queue.unbind" } & Binding & { readonly no_wait: boolean })
  | { readonly name: "queue.purge" | "queue.delete"; readonly queue: string; readonly no_wait: boolean }
  | { readonly name: "basic.qos"; readonly prefetch: number }
  | {
    readonly name: "basic.consume";
    readonly queue: string;
    readonly tag: string;
    readonly no_ack: boolean;
    readonly no_wait: boolean;
  }
  | { readonly name: "basic.cancel"; readonly tag: string; readonly no_wait: boolean }
  | { readonly name: "basic.publish"; readonly exchange: string; readonly key: string; readonly mandatory: boolean }
  | { readonly name: "basic.get"; readonly queue: string; readonly no_ack: boolean }
  | { readonly name: "basic.ack"; readonly tag: number; readonly multiple: boolean }
  | { readonly name: "basic.nack"; readonly tag: number; readonly multiple: boolean; readonly requeue: boolean }
  | { readonly name: "confirm.select"; readonly no_wait: boolean };

export type Binding = { readonly queue: string; readonly exchange: string; readonly key: string };

type Read = (from: Reader) => Method;
const bit = (bits: number, place: number) => ((bits >> place) & 1) === 1;

/** Parsers of the supported methods. The key is class * 65536 + method. */
const METHODS: ReadonlyMap<number, Read> = new Map<number, Read>([
  [id(10, 11), (r) => {
    r.table();
    return { name: "connection.start-ok", mechanism: r.shortText(), response: r.longBytes() };
  }],
  [id(10, 31), (r) => ({ name: "connection.tune-ok", channel_max: r.u16(), frame_max: r.u32(), heartbeat_s: r.u16() })],
  [id(10, 40), (r) => ({ name: "connection.open", vhost: r.shortText() })],
  [id(10, 50), () => ({ name: "connection.close" })],
  [id(10, 51), () => ({ name: "connection.close-ok" })],
  [id(20, 10), () => ({ name: "channel.open" })],
  [id(20, 21), () => ({ name: "channel.flow-ok" })],
  [id(20, 40), () => ({ name: "channel.close" })],
  [id(20, 41), () => ({ name: "channel.close-ok" })],
  [id(40, 10), (r) => {
    r.u16();
    const [exchange, type, bits] = [r.shortText(), r.shortText(), r.u8()];
    return { name: "exchange.declare", exchange, type, no_wait: bit(bits, 4) };
  }],
  [id(40, 20), (r) => {
    r.u16();
    r.shortText();
    return { name: "exchange.delete", no_wait: bit(r.u8(), 1) };
  }],
  [id(50, 10), (r) => {
    r.u16();
    const [queue, bits] = [r.shortText(), r.u8()];
    return {
      name: "queue.declare",
      queue,
      passive: bit(bits, 0),
      exclusive: bit(bits, 2),
      auto_delete: bit(bits, 3),
      no_wait: bit(bits, 4),
    };
  }],
  [id(50, 20), (r) => ({ name: "queue.bind", ...binding(r), no_wait: bit(r.u8(), 0) })],
  [id(50, 50), (r) => ({ name: "queue.unbind", ...binding(r), no_wait: false })],
  [id(50, 30), (r) => ({ name: "queue.purge", ...queueAndBits(r, 0) })],
  [id(50, 40), (r) => ({ name: "queue.delete", ...queueAndBits(r, 2) })],
  [id(60, 10), (r) => {
    r.u32();
    return { name: "basic.qos", prefetch: r.u16() };
  }],
  [id(60, 20), (r) => {
    r.u16();
    const [queue, tag, bits] = [r.shortText(), r.shortText(), r.u8()];
    return { name: "basic.consume", queue, tag, no_ack: bit(bits, 1), no_wait: bit(bits, 3) };
  }],
  [id(60, 30), (r) => ({ name: "basic.cancel", tag: r.shortText(), no_wait: bit(r.u8(), 0) })],
  [id(60, 40), (r) => {
    r.u16();
    const [exchange, key, bits] = [r.shortText(), r.shortText(), r.u8()];
    return { name: "basic.publish", exchange, key, mandatory: bit(bits, 0) };
  }],
  [id(60, 70), (r) => {
    r.u16();
    return { name: "basic.get", queue: r.shortText(), no_ack: bit(r.u8(), 0) };
  }],
  [id(60, 80), (r) => ({ name: "basic.ack", tag: r.u64(), multiple: bit(r.u8(), 0) })],
  [id(60, 90), (r) => ({ name: "basic.nack", tag: r.u64(), multiple: false, requeue: bit(r.u8(), 0) })],
  [id(60, 120), (r) => {
    const [tag, bits] = [r.u64(), r.u8()];
    return { name: "basic.nack", tag, multiple: bit(bits, 0), requeue: bit(bits, 1) };
  }],
  [id(85, 10), (r) => ({ name: "confirm.select", no_wait: bit(r.u8(), 0) })],
]);

function id(class_id: number, method_id: number): number {
  return class_id * 65_536 + method_id;
}

function binding(reader: Reader): Binding {
  reader.u16();
  return { queue: reader.shortText(), exchange: reader.shortText(), key: reader.shortText() };
}

function queueAndBits(reader: Reader, no_wait_at: number) {
  reader.u16();
  return { queue: reader.shortText(), no_wait: bit(reader.u8(), no_wait_at) };
}

/**
 * Parses the payload of a method frame.
 * @throws AmqpFault if the method is not supported or its payload is truncated
 */
export function readMethod(payload: Buffer): Method {
  const reader = readerOf(payload);
  const read = METHODS.get(id(reader.u16(), reader.u16()));
  if (read === undefined) throw new AmqpFault(NOT_IMPLEMENTED, "this broker does not support the method");
  return read(reader);
}

/**
 * Reads a login with PLAIN (NUL user NUL password) or AMQPLAIN (a table without its length). Returns null for another
 * mechanism, if the user or the password is missing, or if PLAIN has a further field. Throws an AmqpFault if the table
 * of AMQPLAIN is truncated.
 */
export function readLogin(mechanism: string, response: Buffer): { user: string; password: string } | null {
  if (mechanism === "PLAIN") {
    const [, user, password, ...more] = response.toString("utf8").split("\0");
    return user === undefined || password === undefined || more.length > 0 ? null : { user, password };
  }
  if (mechanism !== "AMQPLAIN") return null;
  const fields = plainTable(response);
  const [user, password] = [fields.get("LOGIN"), fields.get("PASSWORD")];
  return isBuffer(user) && isBuffer(password)
    ? { user: user.toString("utf8"), password: password.toString("utf8") }
    : null;
}

/** Reads a table that lacks the length at its start. */
function plainTable(response: Buffer): Table {
  return readerOf(Buffer.concat([u32(response.length), response])).table();
}

function isBuffer(value: unknown): value is Buffer {
  return value instanceof Uint8Array;
}
