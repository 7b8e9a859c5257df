// Reads and writes DHCPv4 packets (RFC 2131, RFC 2132, RFC 3396). The reader checks every length against the packet and
// refuses malformed packets with a reason for the log. It does not read options in the fields `sname` and `file`
// (option 52), because no netboot client puts options there.
import { macAt } from "../hex.ts";

export type DhcpPacket = {
  readonly xid: number;
  readonly flags: number;
  readonly ciaddr: number;
  readonly giaddr: number;
  /** The client's hardware address as canonical text. */
  readonly mac: string;
  readonly type: number;
  readonly options: ReadonlyMap<number, Uint8Array>;
};

export const DISCOVER = 1;
export const OFFER = 2;
export const REQUEST = 3;
export const DECLINE = 4;
export const ACK = 5;

export type PacketFault =
  | "too_short"
  | "not_a_request"
  | "not_ethernet"
  | "bad_cookie"
  | "bad_option"
  | "bad_message_type"
  | "bad_mac";

const MAC_AT = 28;
const COOKIE_AT = 236;
export const OPTIONS_AT = 240;
export const COOKIE = 0x63825363;
const BOOTREQUEST = 1;
const ETHERNET = 1;
const MAC_BYTES = 6;
const PAD = 0;
const END = 255;

export function readPacket(bytes: Uint8Array): DhcpPacket | PacketFault {
  // The required option, the message type, takes three bytes.
  if (bytes.length < OPTIONS_AT + 3) return "too_short";
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes[0] !== BOOTREQUEST) return "not_a_request";
  if (bytes[1] !== ETHERNET || bytes[2] !== MAC_BYTES) return "not_ethernet";
  if (view.getUint32(COOKIE_AT) !== COOKIE) return "bad_cookie";
  const options = readOptions(bytes);
  if (options === null) return "bad_option";
  const type = options.get(53);
  if (type === undefined || type.length !== 1 || type[0] === 0 || type[0]! > 8) return "bad_message_type";
  const mac = macAt(bytes, MAC_AT);
  // Refuses a multicast address and the zero address of an unprogrammed network card.
  if ((bytes[MAC_AT]! & 1) === 1 || mac === "00:00:00:00:00:00") return "bad_mac";
  return {
    xid: view.getUint32(4),
    flags: view.getUint16(10),
    ciaddr: view.getUint32(12),
    giaddr: view.getUint32(24),
    mac,
    type: type[0]!,
    options,
  };
}

/**
 * The options that the booter uses or copies to its reply. Clients send about twice as many options; the reader skips
 * the others.
 */
const OPTIONS_READ: ReadonlySet<number> = new Set([50, 53, 54, 57, 60, 61, 77, 82, 93, 97]);

/**
 * Returns the values of the options in OPTIONS_READ, by code. Joins the parts of a repeated option (RFC 3396). Returns
 * null if an option exceeds the packet.
 */
function readOptions(bytes: Uint8Array): Map<number, Uint8Array> | null {
  const options = new Map<number, Uint8Array>();
  for (let at = OPTIONS_AT; at < bytes.length;) {
    const code = bytes[at]!;
    if (code === END) return options;
    if (code === PAD) {
      at += 1;
      continue;
    }
    const length = bytes[at + 1];
    if (length === undefined || at + 2 + length > bytes.length) return null;
    if (OPTIONS_READ.has(code)) {
      const value = bytes.subarray(at + 2, at + 2 + length);
      const before = options.get(code);
      options.set(code, before === undefined ? value : joined(before, value));
    }
    at += 2 + length;
  }
  return options;
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}

/** Converts the first 255 bytes to text, one character per byte. */
export function latin(bytes: Uint8Array | undefined): string {
  if (bytes === undefined) return "";
  let text = "";
  for (let at = 0; at < bytes.length && at < 255; at++) text += String.fromCharCode(bytes[at]!);
  return text;
}

/** Returns the address in an option; null if the option is absent or is not four bytes long. */
export function addressOption(packet: DhcpPacket, code: number): number | null {
  const value = packet.options.get(code);
  if (value === undefined || value.length !== 4) return null;
  return new DataView(value.buffer, value.byteOffset, 4).getUint32(0);
}

export type ReplyFields = {
  readonly xid: number;
  readonly flags: number;
  readonly ciaddr: number;
  readonly yiaddr: number;
  readonly siaddr: number;
  readonly giaddr: number;
  readonly mac: string;
  /** The boot file name. A name longer than 127 characters is sent only in option 67. */
  readonly file: string;
  /** The options in the order of the packet. A value above 255 bytes is split. */
  readonly options: readonly (readonly [number, Uint8Array])[];
};

/** Replies are padded to the length of a BOOTP packet, because relays drop shorter replies (opnsense #7744). */
const REPLY_BYTES_MIN = 300;
/** The longest name in the field `file`, which has 128 bytes with its final NUL. */
const FILE_CHARS_MAX = 127;

export function writeReply(fields: ReplyFields): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.max(REPLY_BYTES_MIN, replyBytes(fields.options)));
  const view = new DataView(bytes.buffer);
  bytes[0] = 2;
  bytes[1] = ETHERNET;
  bytes[2] = MAC_BYTES;
  view.setUint32(4, fields.xid);
  view.setUint16(10, fields.flags);
  view.setUint32(12, fields.ciaddr);
  view.setUint32(16, fields.yiaddr);
  view.setUint32(20, fields.siaddr);
  view.setUint32(24, fields.giaddr);
  for (let index = 0; index < MAC_BYTES; index++) {
    bytes[MAC_AT + index] = Number.parseInt(fields.mac.slice(index * 3, index * 3 + 2), 16);
  }
  if (fields.file.length <= FILE_CHARS_MAX) bytes.set(ascii(fields.file), 108);
  view.setUint32(COOKIE_AT, COOKIE);
  let at = OPTIONS_AT;
  for (const [code, value] of fields.options) {
    for (let start = 0; start === 0 || start < value.length; start += 255) {
      const length = Math.min(255, value.length - start);
      bytes[at] = code;
      bytes[at + 1] = length;
      at += 2;
      // A loop is the fastest copy for the few bytes of most options.
      for (let index = 0; index < length; index++) bytes[at + index] = value[start + index]!;
      at += length;
    }
  }
  bytes[at] = END;
  return bytes;
}

/** Returns the length in bytes of a reply with these options and the end mark. */
export function replyBytes(options: ReplyFields["options"]): number {
  return OPTIONS_AT + 1 + optionBytes(options);
}

export function optionBytes(options: ReplyFields["options"]): number {
  let length = 0;
  for (const [, value] of options) length += value.length + 2 * Math.max(1, Math.ceil(value.length / 255));
  return length;
}

export function ascii(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at) & 127;
  return bytes;
}
