// Reads TFTP requests. Writes data packets, error packets and acknowledgements of options (RFC 1350, 2347, 2348, 2349,
// 7440).
export const RRQ = 1;
export const WRQ = 2;
export const DATA = 3;
export const ACK = 4;
export const ERROR = 5;
const OACK = 6;

export type TftpRequest = {
  readonly opcode: typeof RRQ | typeof WRQ;
  readonly name: string;
  readonly mode: string;
  /** Option values by option name in lower case. */
  readonly options: ReadonlyMap<string, string>;
};

/** The largest request, with its name and all options. Firmware sends some 100 bytes. */
const REQUEST_BYTES_MAX = 1_024;

export function opcodeOf(bytes: Uint8Array): number {
  return bytes.length < 2 ? 0 : bytes[0]! * 256 + bytes[1]!;
}

/** Parses a read or write request. Returns null if it is malformed. */
export function readRequest(bytes: Uint8Array): TftpRequest | null {
  const opcode = opcodeOf(bytes);
  if ((opcode !== RRQ && opcode !== WRQ) || bytes.length > REQUEST_BYTES_MAX || bytes.at(-1) !== 0) return null;
  const words = String.fromCharCode(...bytes.subarray(2, -1)).split("\0");
  const [name = "", mode, ...rest] = words;
  if (mode === undefined || name === "") return null;
  const options = new Map<string, string>();
  for (let at = 0; at + 1 < rest.length; at += 2) options.set(rest[at]!.toLowerCase(), rest[at + 1]!);
  return { opcode, name: plainName(name), mode: mode.toLowerCase(), options };
}

/** Cleans a file name: old ROMs double the slash and append the byte that follows option 67 (bootimus #117). */
function plainName(name: string): string {
  const path = name.replaceAll("\\", "/").replace(/^\/+/, "");
  let end = path.length;
  while (end > 0 && (path.charCodeAt(end - 1) < 32 || path.charCodeAt(end - 1) === 255)) end--;
  return path.slice(0, end);
}

export function dataPacket(block: number, part: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(4 + part.length);
  bytes.set([0, DATA, (block >> 8) & 255, block & 255]);
  bytes.set(part, 4);
  return bytes;
}

export function oackPacket(options: ReadonlyMap<string, string>): Uint8Array {
  return packet(OACK, [...options].flatMap(([name, value]) => [name, value]).map((word) => `${word}\0`).join(""));
}

export function errorPacket(code: number, message: string): Uint8Array {
  return packet(ERROR, `${String.fromCharCode(code >> 8, code & 255)}${message}\0`);
}

function packet(opcode: number, text: string): Uint8Array {
  return Uint8Array.from(`\0${String.fromCharCode(opcode)}${text}`, (character) => character.charCodeAt(0) & 255);
}
